import type { BinaryToTextEncoding, Hmac } from 'node:crypto';
import { Lru } from '../../shared/collection/lru.js';

// `createHmac` of scripts, which remembers what was signed of JSON Web Tokens: programs compute it anew with each request of a client.

/** Bytes that this may take in a worker, roughly. */
const MEMORY = 1024 * 1024;
/** Longer texts are computed each time. */
const LONGEST = 4096;
/** What an entry takes beside its text. */
const WEIGHT_EACH = 256;

/**
 * What a token's signature is made of: two objects of JSON in base64url. Nothing else is remembered, since the time of an answer tells
 * whether a text was there before: this one is no secret, other texts may be passwords.
 */
const SIGNED_TEXT = /^eyJ[\w-]+\.eyJ[\w-]+$/;

/** The usual algorithms; Node looks at the names of others. */
const ALGORITHMS = new Set(['sha1', 'sha224', 'sha256', 'sha384', 'sha512']);

/** What a result is asked for as; of other encodings Node says what it thinks. */
const ENCODINGS: ReadonlySet<unknown> = new Set(['base64', 'base64url', 'hex', undefined]);

/** A result, and the text that was last made of it. */
interface Known {
  readonly bytes: Buffer;
  encoding: string | undefined;
  text: string;
}

/** By algorithm, key and text. Whoever has another key never finds what this one has made. */
const known = new Lru<Known>(MEMORY);

type Create = typeof import('node:crypto').createHmac;

/** One HMAC: a text is held until its end is known, everything else is Node's object, which is made when it is needed. */
class ScriptHmac {
  readonly #make: () => Hmac;
  readonly #algorithm: string;
  readonly #key: string;
  #text = '';
  #real: Hmac | undefined = undefined;
  #done = false;

  constructor(create: Create, algorithm: string, key: string) {
    this.#make = () => create(algorithm, key);
    this.#algorithm = algorithm;
    this.#key = key;
  }

  /** Node's object, with what was given so far. */
  static real(hmac: ScriptHmac): Hmac {
    if (hmac.#real === undefined) {
      hmac.#real = hmac.#make();
      if (hmac.#text !== '') {
        hmac.#real.update(hmac.#text);
      }
    }
    return hmac.#real;
  }

  update(data: unknown, encoding?: unknown): this {
    this.#check();
    if (typeof data === 'string' && encoding === undefined && this.#real === undefined && this.#text.length + data.length <= LONGEST) {
      this.#text += data;
    } else {
      ScriptHmac.real(this).update(data as string, encoding as 'utf8');
    }
    return this;
  }

  digest(encoding?: unknown): Buffer | string {
    this.#check();
    this.#done = true;
    if (this.#real !== undefined || !ENCODINGS.has(encoding) || !SIGNED_TEXT.test(this.#text)) {
      return ScriptHmac.real(this).digest(encoding as BinaryToTextEncoding);
    }
    const result = this.#result();
    if (encoding === undefined) {
      return Buffer.from(result.bytes);
    }
    if (encoding !== result.encoding) {
      result.encoding = encoding as BinaryToTextEncoding;
      result.text = result.bytes.toString(encoding as BinaryToTextEncoding);
    }
    return result.text;
  }

  #result(): Known {
    const name = `${this.#algorithm}\0${this.#key}\0${this.#text}`;
    let result = known.get(name);
    if (result === undefined) {
      const bytes = this.#make().update(this.#text).digest();
      result = { bytes, encoding: undefined, text: '' };
      // A copy: the text may be a part of a long one, which would stay in memory with it.
      known.set(Buffer.from(name).toString(), result, name.length + WEIGHT_EACH);
    }
    return result;
  }

  #check(): void {
    if (this.#done) {
      throw new Error('Digest already called');
    }
  }

  get [Symbol.toStringTag](): string {
    return 'Hmac';
  }
}

/** Lets everything that Node's objects have, such as being a stream, be done by one. */
function completeWith(prototype: object): void {
  for (let of: object | null = prototype; of !== null && of !== Object.prototype; of = Object.getPrototypeOf(of) as object | null) {
    for (const name of Reflect.ownKeys(of)) {
      if (name !== 'constructor' && !Object.hasOwn(ScriptHmac.prototype, name)) {
        Object.defineProperty(ScriptHmac.prototype, name, {
          configurable: true,
          get(this: ScriptHmac) {
            const real = ScriptHmac.real(this);
            const value: unknown = Reflect.get(real, name, real);
            return typeof value === 'function' ? value.bind(real) : value;
          },
          set(this: ScriptHmac, value: unknown) {
            Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true });
          },
        });
      }
    }
  }
  Object.setPrototypeOf(ScriptHmac.prototype, prototype);
  Reflect.deleteProperty(ScriptHmac.prototype, 'constructor');
}

/** `createHmac`. nginx: njs_crypto_create_hmac. */
export function scriptCreateHmac({ createHmac, Hmac: base }: Pick<typeof import('node:crypto'), 'createHmac' | 'Hmac'>): Create {
  completeWith(base.prototype);
  return ((algorithm: unknown, key: unknown, ...rest: unknown[]) =>
    typeof algorithm === 'string' && typeof key === 'string' && key.length <= LONGEST && rest.length === 0 && ALGORITHMS.has(algorithm)
      ? new ScriptHmac(createHmac, algorithm, key)
      : createHmac(algorithm as string, key as string, ...(rest as []))) as Create;
}
