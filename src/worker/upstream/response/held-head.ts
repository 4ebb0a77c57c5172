import { GrowingBytes } from '../../bytes/growing-bytes.js';
import { areQuiet, NO_BYTES, type QuietBytes } from '../../http/syntax/quiet-bytes.js';

/** The beginning of a head, or of trailers, that is not complete. */
export class HeldHead extends GrowingBytes {
  /** How many of the bytes have been read. */
  read = 0;

  /** Takes more bytes. Returns whether they may end the head, or spoil it: quiet ones do not. */
  goesOn(bytes: Buffer, start: number, end: number, quiet: QuietBytes = NO_BYTES): boolean {
    this.add(bytes.subarray(start, end));
    return !areQuiet(quiet, bytes, start, end);
  }
}

/** Keeps `start..end`, of which what is before `next` has been read. The bytes are those of `held`, if there is one. */
export function holdHead(held: HeldHead | null, bytes: Buffer, start: number, end: number, next: number): HeldHead {
  const kept = held ?? new HeldHead(Buffer.from(bytes.subarray(start, end)));
  held?.drop(start);
  kept.read = next - start;
  return kept;
}
