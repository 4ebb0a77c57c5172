// Memory in which the pieces of a message are put together, the same each time: a Buffer for each costs more than to fill it.

/** As much as can be put together. */
const SIZE = 32 * 1024;

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
  return part;
}

const putText = (into: Buffer, text: string, at: number): number => (into as unknown as Latin1Writable).latin1Write(text, at, text.length);

/** Text, bytes and text (latin1) in one piece, of 32 KB at most, which is good until the next call. */
export function joined(before: string, bytes: Buffer, after: string): Buffer {
  const start = before.length;
  const end = start + bytes.length;
  const whole = partOf(end + after.length);
  putText(whole, before, 0);
  whole.set(bytes, start);
  if (after !== '') {
    putText(whole, after, end);
  }
  return whole;
}

/** The same for text alone. */
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
