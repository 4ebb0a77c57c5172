import { bcrypt as hash } from 'hash-wasm';

/** bcrypt's digits of base64, and those that Node reads. */
const DIGITS = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const NODE_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const SETTINGS = /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})/;
/** How many bytes of a password count. */
const MOST_BYTES = 72;

/**
 * Hashes a password by bcrypt with the cost and salt of a stored hash; `$2a$`, `$2b$` and `$2y$` mean the same here.
 * The time doubles with each unit of cost: about 60 ms at the usual 10. Resolves to undefined for a malformed setting.
 */
export async function bcrypt(password: Buffer, stored: string): Promise<string | undefined> {
  const [, cost, salt] = SETTINGS.exec(stored) ?? [];
  const costFactor = Number(cost);
  if (salt === undefined || costFactor < 4 || costFactor > 31) {
    return undefined;
  }
  // The key is the password and its final NUL, over and over: that of an empty one, which the package refuses, is a single NUL.
  const key = password.length === 0 ? Buffer.alloc(1) : password.subarray(0, MOST_BYTES);
  const hashed = await hash({ password: key, salt: decode(salt), costFactor });
  // The package writes `$2a$`.
  return stored.slice(0, 4) + hashed.slice(4);
}

function decode(text: string): Buffer {
  return Buffer.from(
    text.replace(/./g, (digit) => NODE_DIGITS.charAt(DIGITS.indexOf(digit))),
    'base64',
  );
}
