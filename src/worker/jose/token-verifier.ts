import { Lru } from '../../shared/collection/lru.js';
import { decryptJwe } from './jwe.js';
import type { KeySet } from './key-set.js';
import { tokenOf, type VerifiedToken, verifySigned } from './verified-token.js';

/** What a token is expected to be: signed (JWS), encrypted (JWE), or signed and then encrypted. NGINX Plus: auth_jwt_type. */
export type TokenType = 'signed' | 'encrypted' | 'nested';

/** Bytes that the tokens remembered for one list of keys may take, roughly. */
const MEMORY = 4 * 1024 * 1024;
/** What a token's claims, ready for use, take beside its text: times its length, and for each. */
const WEIGHT_FACTOR = 4;
const WEIGHT_EACH = 1024;

/**
 * A token is found by its last characters, which are of its signature: to make a hash of all its characters would cost as much as the
 * rest of a request's check.
 */
const TAIL = 32;

interface Known {
  readonly token: string;
  readonly verified: VerifiedToken;
}

/** Verifies tokens by one list of key sets, and remembers those that were right. */
export class TokenVerifier {
  readonly sets: readonly KeySet[];
  readonly type: TokenType;
  readonly #known = new Lru<Known>(MEMORY);

  constructor(sets: readonly KeySet[], type: TokenType) {
    this.sets = sets;
    this.type = type;
  }

  /** A token that was right before. */
  recall(token: string): VerifiedToken | undefined {
    const known = this.#known.get(token.slice(-TAIL));
    return known !== undefined && known.token === token ? known.verified : undefined;
  }

  /** Forgets a token, which has expired. */
  forget(token: string): void {
    if (this.recall(token) !== undefined) {
      this.#known.delete(token.slice(-TAIL));
    }
  }

  /** Verifies a token that is only signed; a text says why it is refused. */
  verify(token: string): VerifiedToken | string {
    return this.recall(token) ?? this.#remember(token, verifySigned(token, this.sets));
  }

  /** Decrypts a token, and verifies a nested one; calls back later, with a text where it is refused. */
  open(token: string, done: (result: VerifiedToken | string) => void): void {
    decryptJwe(token, this.sets, (jwe) => {
      if (typeof jwe === 'string') {
        done(jwe);
        return;
      }
      const { header, plaintext } = jwe;
      const inside = plaintext.toString('latin1');
      if (this.type === 'encrypted') {
        done(this.#remember(token, tokenOf(header, plaintext, inside)));
        return;
      }
      const signed = verifySigned(inside, this.sets);
      done(typeof signed === 'string' ? signed : this.#remember(token, signed.within(header, inside)));
    });
  }

  #remember(token: string, result: VerifiedToken | string): VerifiedToken | string {
    if (typeof result !== 'string') {
      // A copy: the token may be a part of a long text, which would stay in memory with it.
      const own = Buffer.from(token, 'latin1').toString('latin1');
      this.#known.set(own.slice(-TAIL), { token: own, verified: result }, token.length * WEIGHT_FACTOR + WEIGHT_EACH);
    }
    return result;
  }
}
