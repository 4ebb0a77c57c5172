import { DATA } from '../tls/pem.js';
import type { AcmeZone, CertificatePair, VersionedPair } from './acme-zone.js';
import { belongTogether } from './state-folder.js';

/** A certificate as a worker's handshakes ask for it. The zone has the newest one; each version is made into a value once. */
export class ServedCertificate {
  readonly #zone: AcmeZone;
  readonly #id: string;
  #pair: VersionedPair | undefined = undefined;
  /** The version of a pair that is of no use. */
  #refused: number | undefined = undefined;
  #certificate: string;
  #key: string;

  /** `stored`: what an earlier run has left behind, until the zone has something. */
  constructor(zone: AcmeZone, id: string, stored: CertificatePair | undefined) {
    this.#zone = zone;
    this.#id = id;
    this.#certificate = DATA + (stored?.chain ?? '');
    this.#key = DATA + (stored?.key ?? '');
  }

  /** As `ssl_certificate` takes it; `data:` alone before there is one. */
  get certificate(): string {
    this.#refresh();
    return this.#certificate;
  }

  /** As `ssl_certificate_key` takes it. */
  get key(): string {
    this.#refresh();
    return this.#key;
  }

  #refresh(): void {
    const pair = this.#zone.pair(this.#id, this.#pair);
    if (pair === undefined || pair === this.#pair || pair.version === this.#refused) {
      return;
    }
    if (belongTogether(pair)) {
      this.#pair = pair;
      this.#certificate = DATA + pair.chain;
      this.#key = DATA + pair.key;
    } else {
      // Its row in the zone came to harm.
      this.#refused = pair.version;
    }
  }
}
