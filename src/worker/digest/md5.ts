import { hash } from 'node:crypto';

/** Returns the MD5 of a latin1 string as 32 lower-case hexadecimal digits. */
export function md5Hex(bytes: string): string {
  return hash('md5', Buffer.from(bytes, 'latin1'), 'hex');
}

/** Returns the MD5 of a latin1 string as 16 bytes. */
export function md5Bytes(bytes: string): Buffer {
  return hash('md5', Buffer.from(bytes, 'latin1'), 'buffer');
}
