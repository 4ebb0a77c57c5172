const BYTES = 32;

/** The key in a file of `encryption_key_file`: 32 bytes, or 64 hexadecimal digits. undefined: it is neither. */
export function parseEncryptionKey(text: string): Buffer | undefined {
  if (text.length === BYTES) {
    return Buffer.from(text, 'latin1');
  }
  const digits = text.trim();
  return /^[0-9A-Fa-f]{64}$/.test(digits) ? Buffer.from(digits, 'hex') : undefined;
}
