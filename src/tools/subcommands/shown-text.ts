/** Control characters but the tabulator, those of Latin 1 in UTF-8, and what does not fit into a byte and would be cut off. */
const UNSAFE = /[\0-\x08\n-\x1f\x7f]|\xc2[\x80-\x9f]|[^\0-\xff]+/g;

/**
 * A line of text (latin1) that others have chosen, for a terminal: control characters, which could command it, as `\x1B`, and characters
 * that do not fit in a byte as their UTF-8 bytes.
 */
export const shownText = (line: string): string => line.replace(UNSAFE, escaped);

function escaped(found: string): string {
  const bytes = Buffer.from(found, found.charCodeAt(0) > 0xff ? 'utf8' : 'latin1');
  if (found.charCodeAt(0) > 0xff) {
    return bytes.toString('latin1');
  }
  return [...bytes].map((byte) => `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}
