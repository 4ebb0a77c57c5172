import { setTimer } from '../../../shared/time/timer.js';
import type { EvpCalls } from './quic-library.js';

/** How many contexts of one cipher there are: more keys than that are in use at a time on a busy server alone. */
const MOST = 1024;
/** How often, in milliseconds, is looked for contexts that nobody has used meanwhile. */
const LOOK = 10_000;

/** A key, which has one of OpenSSL's contexts while it is used: that takes several times the memory of the key itself. */
export abstract class ContextUser {
  /** The context; 0 while there is none. */
  context = 0;
  /** The place of the context among those of its cipher. */
  place = -1;
  /** The context was used since somebody looked for a context that nobody uses. */
  used = false;

  /** Puts the key into a context, which may have had another one. */
  abstract prepare(context: number): void;
}

/**
 * The contexts of one cipher. Who needs one while all are lent gets that of a key which was not used for a while; what nobody uses is freed
 * after some seconds, so that idle connections keep none.
 */
export class CipherContexts {
  readonly #evp: EvpCalls;
  readonly #configure: (context: number) => void;
  /** The contexts by their places; 0: none is there. */
  readonly #contexts: number[] = [];
  readonly #users: (ContextUser | undefined)[] = [];
  /** The places whose contexts are not lent. */
  #free: number[] = [];
  readonly #most: number;
  readonly #lookAfter: number;
  /** Somebody looks for unused contexts soon. */
  #looks = false;
  #hand = 0;

  /** `configure` makes a new context fit for the cipher. */
  constructor(evp: EvpCalls, configure: (context: number) => void, most = MOST, look = LOOK) {
    this.#evp = evp;
    this.#configure = configure;
    this.#most = most;
    this.#lookAfter = look;
  }

  /** Lends a context, into which the key is put. */
  lend(user: ContextUser): number {
    const place = this.#free.pop() ?? (this.#contexts.length < this.#most ? this.#contexts.push(0) - 1 : this.#unused());
    const context = this.#contexts[place] || this.#make(place);
    this.#users[place] = user;
    user.place = place;
    user.context = context;
    user.prepare(context);
    return context;
  }

  #make(place: number): number {
    const context = this.#evp.newContext();
    if (context === 0) {
      this.#free.push(place);
      throw new Error('EVP_CIPHER_CTX_new() failed');
    }
    this.#configure(context);
    this.#contexts[place] = context;
    this.#lookLater();
    return context;
  }

  #lookLater(): void {
    if (!this.#looks) {
      this.#looks = true;
      setTimer(() => this.#look(), this.#lookAfter).unref();
    }
  }

  /** Frees what is not lent, and what was not used since the last look. */
  #look(): void {
    let kept = 0;
    const free: number[] = [];
    for (let place = this.#contexts.length - 1; place >= 0; place--) {
      const user = this.#users[place];
      if (user?.used) {
        user.used = false;
        kept++;
        continue;
      }
      this.#takeBack(place);
      free.push(place);
      if (this.#contexts[place] !== 0) {
        this.#evp.freeContext(this.#contexts[place]!);
        this.#contexts[place] = 0;
      }
    }
    this.#free = free;
    this.#looks = false;
    if (kept > 0) {
      this.#lookLater();
    }
  }

  #takeBack(place: number): void {
    const user = this.#users[place];
    if (user !== undefined) {
      this.#users[place] = undefined;
      user.context = 0;
      user.place = -1;
    }
  }

  /** Takes a context back from a key that was not used since the last look at it. */
  #unused(): number {
    for (;;) {
      const place = this.#hand;
      this.#hand = (place + 1) % this.#most;
      const user = this.#users[place]!;
      if (!user.used) {
        this.#takeBack(place);
        return place;
      }
      user.used = false;
    }
  }

  /** The key is not used any more. */
  giveBack(user: ContextUser): void {
    const { place } = user;
    if (place >= 0) {
      this.#takeBack(place);
      this.#free.push(place);
    }
  }
}
