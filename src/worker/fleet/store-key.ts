import { hash } from 'node:crypto';

/** What stands in a key of the store as it is. Braces would choose the place in a cluster, which is not a client's to choose. */
const PLAIN = /^[\x20-z|][\x20-z|]{0,127}$/;
/** Longer texts are known by a digest. */
const MAX_HEX = 48;

/**
 * A text, one character a byte, in the form that it has in keys of the store: as it is, where an operator can read it; otherwise in
 * hexadecimal digits or as a digest, behind a sign that no other form begins with.
 */
export function storeKey(text: string): string {
  if (PLAIN.test(text)) {
    return text;
  }
  const bytes = Buffer.from(text, 'latin1');
  return bytes.length <= MAX_HEX ? `~${bytes.toString('hex')}` : `~~${hash('sha256', bytes, 'hex')}`;
}
