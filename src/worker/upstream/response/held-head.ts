import { Growing } from '../../bytes/growing.js';
import { areQuiet, NO_BYTES, type QuietBytes } from '../../http/syntax/quiet-bytes.js';

/** The beginning of a head that is not complete. */
export class HeldHead extends Growing {
  /** How many of the bytes have been read. */
  read = 0;

  /** Keeps `start..end`, of which what is before `next` has been read. The bytes may be its own. */
  keep(bytes: Buffer, start: number, end: number, next: number): void {
    if (bytes === this.bytes) {
      this.drop(start);
    } else {
      this.length = 0;
      this.add(bytes, start, end);
    }
    this.read = next - start;
  }

  /** Takes more bytes. Returns whether they may end the head, or spoil it: quiet ones do not. */
  goesOn(bytes: Buffer, start: number, end: number, quiet: QuietBytes = NO_BYTES): boolean {
    this.add(bytes, start, end);
    return !areQuiet(quiet, bytes, start, end);
  }
}
