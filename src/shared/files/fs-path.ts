/**
 * Converts a latin1 path (one character per byte) into what node:fs needs to reach exactly those bytes.
 * A plain ASCII path stays a string; one with a byte of 0x80 or above becomes a Buffer, because fs would
 * otherwise encode the string as UTF-8 and look for another name.
 */
export function fsPath(latin1: string): string | Buffer {
  for (let i = 0; i < latin1.length; i++) {
    if (latin1.charCodeAt(i) >= 0x80) {
      return Buffer.from(latin1, 'latin1');
    }
  }
  return latin1;
}
