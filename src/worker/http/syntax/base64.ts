/** The bytes of a text in base64. Undefined for anything that is not exactly what the bytes are written as, padding included. */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
