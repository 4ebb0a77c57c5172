import type { AcmeZone, CertificatePair, OrderReport } from '../acme/acme-zone.js';
import type { Order } from '../acme/settings.js';
import { certificateSpan, renewalId } from './check-certificate.js';
import { type FailureKind, pauseAfter, randomMoment, type Span, usualWindow } from './schedule.js';

/** So long (milliseconds) a machine waits at most because of what happened to another one. */
const LONGEST_INHERITED = 600_000;

/** One certificate over its life: what there is, and when something has to be done about it. nginx-acme: CertificateContext. */
export class CertificateTask {
  readonly order: Order;
  readonly #zone: AcmeZone;
  #pair: CertificatePair | undefined = undefined;
  #valid: Span | undefined = undefined;
  /** The moment of the next attempt, as it was reported last. */
  #reported = 0;
  #renewalId: string | undefined = undefined;
  /** When to ask for a new certificate. Milliseconds of the wall clock, as all times here. */
  #renewAt = 0;
  /** When to ask the CA when it wants the certificate renewed; infinite when it does not say. */
  #askAt = 0;
  #fails = 0;
  /** Of the last failure, and how many of that kind there were in a row. */
  #kind: FailureKind | undefined = undefined;
  #alike = 0;
  #error = '';
  running = false;

  constructor(order: Order, zone: AcmeZone) {
    this.order = order;
    this.#zone = zone;
    this.#report();
  }

  /** Names the certificate that is in use to the CA; undefined while there is none. */
  get renewalId(): string | undefined {
    return this.#renewalId;
  }

  /** When the next thing has to be done. */
  get next(): number {
    return Math.min(this.#renewAt, this.#askAt);
  }

  /** The time for another certificate has come. */
  get renews(): boolean {
    return this.#renewAt <= Date.now();
  }

  /** Takes over a certificate from an earlier run. */
  restore(pair: CertificatePair): void {
    this.#adopt(pair);
    this.#report();
  }

  /** Another machine has tried and failed: the next attempt is when that one would have made it, but not in a long time. */
  inherit({ fails, next, error }: OrderReport): void {
    this.#fails = fails;
    this.#alike = Math.min(fails, 1);
    this.#error = error;
    this.#renewAt = Math.min(next, Date.now() + LONGEST_INHERITED);
    this.#askAt = Number.POSITIVE_INFINITY;
    this.#report();
  }

  /** Puts the certificate in use, and what is told of it, back into a zone that came to harm. `reported` has the ids it tells of. */
  mendZone(reported: ReadonlySet<string>): void {
    const { zoneId } = this.order;
    const pair = this.#pair;
    const found = pair && this.#zone.pair(zoneId, undefined);
    if (pair !== undefined && (found?.chain !== pair.chain || found.key !== pair.key)) {
      this.#zone.setPair(zoneId, pair);
    }
    if (!reported.has(zoneId)) {
      this.#report(this.#reported);
    }
  }

  /** A certificate was issued. Returns when it is to be renewed. */
  issued(pair: CertificatePair): number {
    this.#adopt(pair);
    this.#fails = 0;
    this.#kind = undefined;
    this.#error = '';
    this.#report();
    return this.#renewAt;
  }

  #adopt(pair: CertificatePair): void {
    const { chain } = pair;
    this.#pair = pair;
    this.#valid = certificateSpan(chain);
    this.#renewalId = renewalId(chain);
    this.#renewAt = randomMoment(usualWindow(this.#valid));
    // The CA is asked at once, since it may have reasons of its own.
    this.#askAt = this.#renewalId === undefined ? Number.POSITIVE_INFINITY : 0;
  }

  /** The CA has no opinion on when certificates are renewed. */
  noRenewalInfo(): void {
    this.#askAt = Number.POSITIVE_INFINITY;
    this.#report();
  }

  /** The CA wants the certificate renewed in this span, and to be asked again after some milliseconds. False when that cannot be. */
  suggested(window: Span, askAgain: number): boolean {
    if (this.#valid === undefined || window.start >= this.#valid.end) {
      this.#askAt = Date.now() + askAgain;
      return false;
    }
    // The moment is chosen once for a window, or else asking often would move it.
    if (this.#renewAt < window.start || this.#renewAt > window.end) {
      this.#renewAt = randomMoment(window);
    }
    this.#askAt = Date.now() + askAgain;
    this.#report();
    return true;
  }

  /** The CA was asked when it wants the certificate renewed, and did not tell. */
  notTold(kind: FailureKind): void {
    this.#askAt = Date.now() + Math.max(60_000, pauseAfter(this.#fails + 1, kind));
  }

  /** An attempt failed; the next one is a matter of this certificate alone. */
  failed(error: string, kind: FailureKind): void {
    this.#fails++;
    this.#alike = kind === this.#kind ? this.#alike + 1 : 1;
    this.#kind = kind;
    this.#error = error;
    this.#renewAt = Date.now() + pauseAfter(this.#alike, kind);
    this.#askAt = Number.POSITIVE_INFINITY;
    this.#report();
  }

  /** The issuer as a whole has to wait until this moment, and this certificate with it if it is due. */
  held(error: string, until: number): void {
    if (this.next > Date.now()) {
      return;
    }
    this.#error = error;
    this.#report(until);
  }

  #report(next = this.#renewAt): void {
    this.#reported = next;
    const { zoneId, issuer, identifiers } = this.order;
    const state: OrderReport['state'] = this.#error !== '' ? 'failing' : this.#valid === undefined ? 'waiting' : 'issued';
    this.#zone.setReport({
      id: zoneId,
      issuer: issuer.name,
      identifiers: identifiers.map(({ value }) => value).join(' '),
      state,
      notAfter: this.#valid?.end ?? 0,
      next,
      fails: this.#fails,
      error: this.#error,
    });
  }
}
