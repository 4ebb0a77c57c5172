import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY = 32;
const NONCE = 12;
const TAG = 16;
const ID = 4;
/** `ID.BYTES`: which key it was, and what was encrypted, in base64url. */
const SEALED = /^([0-9a-f]{8})\.([\w-]{38,})$/;

/** A text that another key was used for, or that is no sealed text at all. */
export type NotOpened = 'foreign' | 'damaged';

interface Key {
  readonly id: string;
  readonly secret: Buffer;
}

/**
 * Encrypts what machines keep in their store, so that nobody reads it, or puts something else in its place, who has not the keys that the
 * configuration names. Each text belongs to a name: moved to another name it cannot be opened.
 */
export class Seals {
  readonly #keys: readonly Key[];

  /** `keys` of 32 bytes: the first encrypts, all decrypt. `purpose` keeps texts of one kind from being taken for those of another. */
  constructor(keys: readonly Buffer[], purpose: string) {
    const derive = (key: Buffer, what: string, bytes: number): Buffer =>
      Buffer.from(hkdfSync('sha256', key, '', `sluice shared_store ${what} ${purpose}`, bytes));
    this.#keys = keys.map((key) => ({ id: derive(key, 'id', ID).toString('hex'), secret: derive(key, 'key', KEY) }));
  }

  /** The bytes in a form that {@link open} reads: letters, digits, `.`, `-` and `_`. */
  seal(name: string, bytes: Buffer): string {
    const { id, secret } = this.#keys[0]!;
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv(CIPHER, secret, nonce, { authTagLength: TAG }).setAAD(Buffer.from(name));
    return `${id}.${Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]).toString('base64url')}`;
  }

  /** What was sealed under a name. Text of any kind may be given. */
  open(name: string, text: string): Buffer | NotOpened {
    const [, id, encoded] = SEALED.exec(text) ?? [];
    if (encoded === undefined) {
      return 'damaged';
    }
    const key = this.#keys.find((each) => each.id === id);
    if (key === undefined) {
      return 'foreign';
    }
    const all = Buffer.from(encoded, 'base64url');
    try {
      const decipher = createDecipheriv(CIPHER, key.secret, all.subarray(0, NONCE), { authTagLength: TAG }).setAAD(Buffer.from(name));
      decipher.setAuthTag(all.subarray(all.length - TAG));
      return Buffer.concat([decipher.update(all.subarray(NONCE, all.length - TAG)), decipher.final()]);
    } catch {
      return 'damaged';
    }
  }
}
