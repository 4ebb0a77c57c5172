import { type Level, NOTICE } from '../../shared/log/level.js';
import type { CertificatePair } from '../acme/acme-zone.js';
import { generateKey, USUAL_KEY } from '../acme/key-kind.js';
import { INTERNAL_PAIR, type Order } from '../acme/settings.js';
import { belongTogether, type StateStore } from '../acme/state-folder.js';
import type { Authority } from './authority.js';
import { certificateSpan } from './check-certificate.js';
import { issueCertificate, makeRoot } from './issue-certificate.js';

const DAY = 24 * 3600 * 1000;
/** How long certificates are valid; milliseconds. */
const LEAF_LIFE = 90 * DAY;
const ROOT_LIFE = 3650 * DAY;

/** A CA of our own, for names that no public CA can check. Its root is kept with the state. */
export class InternalAuthority implements Authority {
  readonly foreign = false;
  readonly #state: StateStore;
  readonly #say: (level: Level, message: string) => void;
  #root: Promise<CertificatePair> | undefined = undefined;

  constructor(state: StateStore, say: (level: Level, message: string) => void) {
    this.#state = state;
    this.#say = say;
  }

  async certificate({ identifiers, key: kind }: Order): Promise<CertificatePair> {
    this.#root ??= this.#findRoot();
    const root = await this.#root;
    const key = await generateKey(kind);
    return { chain: await issueCertificate(root, identifiers, key, LEAF_LIFE), key };
  }

  stored(): void {}

  async renewalInfo(): Promise<undefined> {
    return undefined;
  }

  rest(): void {
    this.#root = undefined;
  }

  stop(): void {}

  async #findRoot(): Promise<CertificatePair> {
    const stored = this.#state.readPair(INTERNAL_PAIR);
    // What a root signs must not outlive it.
    if (stored !== undefined && belongTogether(stored) && certificateSpan(stored.chain).end > Date.now() + LEAF_LIFE) {
      return stored;
    }
    const key = await generateKey(USUAL_KEY);
    const root = { chain: await makeRoot(key, ROOT_LIFE), key };
    this.#state.writePair(INTERNAL_PAIR, root);
    this.#say(NOTICE, 'a new root certificate was made, "sluice trust" installs it');
    return root;
  }
}
