import type { EvpCalls } from './quic-library.js';

/** How many contexts of one cipher there are: more keys than that are in use at a time on a busy server alone. */
const MOST = 1024;

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

/** The contexts of one cipher. Who needs one while all are lent gets that of a key which was not used for a while. */
export class CipherContexts {
  readonly #evp: EvpCalls;
  readonly #make: (context: number) => void;
  readonly #contexts: number[] = [];
  readonly #users: (ContextUser | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #most: number;
  #hand = 0;

  /** `make` begins a new context. */
  constructor(evp: EvpCalls, make: (context: number) => void, most = MOST) {
    this.#evp = evp;
    this.#make = make;
    this.#most = most;
  }

  /** Lends a context, into which the key is put. */
  lend(user: ContextUser): number {
    const place = this.#free.pop() ?? (this.#contexts.length < this.#most ? this.#add() : this.#unused());
    const context = this.#contexts[place]!;
    this.#users[place] = user;
    user.place = place;
    user.context = context;
    user.prepare(context);
    return context;
  }

  #add(): number {
    const context = this.#evp.newContext();
    if (context === 0) {
      throw new Error('EVP_CIPHER_CTX_new() failed');
    }
    this.#make(context);
    return this.#contexts.push(context) - 1;
  }

  /** Takes a context back from a key that was not used since the last look at it. */
  #unused(): number {
    for (;;) {
      const place = this.#hand;
      this.#hand = (place + 1) % this.#most;
      const user = this.#users[place]!;
      if (!user.used) {
        user.context = 0;
        user.place = -1;
        return place;
      }
      user.used = false;
    }
  }

  /** The key is not used any more. */
  giveBack(user: ContextUser): void {
    if (user.place >= 0) {
      this.#users[user.place] = undefined;
      this.#free.push(user.place);
      user.context = 0;
      user.place = -1;
    }
  }
}
