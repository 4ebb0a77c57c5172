/**
 * The bytes of a text in base64url without padding. Undefined for anything that is not exactly what the bytes are written as: other
 * characters, padding, spaces, and bits left over that are not zero, by which one token could be written in several ways.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
