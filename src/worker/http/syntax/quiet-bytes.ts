/**
 * A table of bytes: 0 for those that may end or spoil an unfinished line, which need not be read anew for the others. What is read byte by
 * byte would cost its square otherwise.
 */
export type QuietBytes = Uint8Array;

/** No byte is quiet. */
export const NO_BYTES: QuietBytes = new Uint8Array(256);

/** The bytes of a string are quiet. */
export const quietBytes = (text: string): QuietBytes => mark(new Uint8Array(256), text, 1);

/** All bytes but those of a string are quiet. */
export const allBut = (text: string): QuietBytes => mark(new Uint8Array(256).fill(1), text, 0);

function mark(table: Uint8Array, text: string, value: number): Uint8Array {
  for (let i = 0; i < text.length; i++) {
    table[text.charCodeAt(i)] = value;
  }
  return table;
}

/** Whether the bytes `start..end` are all quiet. */
export function areQuiet(quiet: QuietBytes, bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    if (quiet[bytes[i]!] === 0) {
      return false;
    }
  }
  return true;
}
