// Memory in which the pieces of a message are put together, the same each time: a Buffer for each costs more than to fill it.
import { spoil } from '../system/spoil.js';

/** As much as can be put together. */
const SIZE = 32 * 1024;

/** Up to this size a loop copies faster than a call does. */
const BY_HAND = 48;

interface Latin1Writable {
  latin1Write(text: string, offset: number, length: number): number;
}

let workspace: Buffer | undefined;
/** The part of it that was used last: mostly the next message is as long. */
let part: Buffer | undefined;

function partOf(size: number): Buffer {
  workspace ??= Buffer.allocUnsafeSlow(SIZE);
  if (part === undefined || part.length !== size) {
    part = workspace.subarray(0, size);
  }
  spoil(part);
  return part;
}

const putText = (into: Buffer, text: string, at: number): number => (into as unknown as Latin1Writable).latin1Write(text, at, text.length);

/** Text, the bytes `start..end` and text (latin1) in one piece, of 32 KB at most, which is good until the next call. */
export function joined(before: string, bytes: Buffer, start: number, end: number, after: string): Buffer {
  const size = end - start;
  const at = before.length;
  const whole = partOf(at + size + after.length);
  if (at > 0) {
    putText(whole, before, 0);
  }
  if (size === bytes.length) {
    whole.set(bytes, at);
  } else if (size > BY_HAND) {
    bytes.copy(whole, at, start, end);
  } else {
    for (let i = 0; i < size; i++) {
      whole[at + i] = bytes[start + i]!;
    }
  }
  if (after !== '') {
    putText(whole, after, at + size);
  }
  return whole;
}

/** A text's bytes, in memory that is used again for the next one. */
export function joinedText(text: string): Buffer {
  const whole = partOf(text.length);
  putText(whole, text, 0);
  return whole;
}

/** What was put together last is still in use: the next call takes other memory. */
export function keepJoined(): void {
  workspace = undefined;
  part = undefined;
}
