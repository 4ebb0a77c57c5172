import { backendTlsKind, PEER, TLS_METER } from '../../../shared/zone/meter-kinds.js';
import type { Meter, Meters } from '../../../shared/zone/meters.js';
import { failurePlace, verifyPlace } from '../../tls/count-handshakes.js';

/** Counts what becomes of one handshake with a backend, for the peer and for all of them. */
export class HandshakeCount {
  readonly #peer: Meter | null;
  readonly #all: Meter;
  #over = false;

  constructor(peer: Meter | null, meters: Meters) {
    this.#peer = peer;
    this.#all = meters.meter(backendTlsKind, '');
  }

  done(resumed: boolean): void {
    if (this.#end(TLS_METER.handshakes) && resumed) {
      this.#count(TLS_METER.reuses);
    }
  }

  /** `message`: what OpenSSL or the system says. */
  failed(message: string): void {
    const place = failurePlace(message);
    if (this.#end(TLS_METER.failed) && place !== undefined) {
      this.#count(place);
    }
  }

  timedOut(): void {
    if (this.#end(TLS_METER.failed)) {
      this.#count(TLS_METER.timeout);
    }
  }

  /** The certificate is not trusted, by OpenSSL's number. */
  distrusted(code: number): void {
    this.#count(verifyPlace(code));
  }

  /** The certificate is somebody else's. */
  mismatched(): void {
    this.#count(TLS_METER.hostnameMismatch);
  }

  /** False: it was over before. */
  #end(place: number): boolean {
    if (this.#over) {
      return false;
    }
    this.#over = true;
    this.#count(place);
    return true;
  }

  #count(place: number): void {
    this.#peer?.count(PEER.tls + place);
    this.#all.count(place);
  }
}
