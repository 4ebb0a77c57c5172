import type { DnsRecord } from './message.js';
import { RESOLVE, type Resolved, type ResolvedName, type ResolvedService, type ResolvedServices, type Resolver } from './resolver.js';

/** Resolves the targets of SRV records once those are known. nginx: ngx_resolver_resolve_srv_names, ngx_resolver_report_srv. */
export class ServiceLookup {
  readonly #resolver: Resolver;
  readonly #timeoutMs: number;
  readonly #done: (result: ResolvedServices) => void;
  cancelRecords: () => void = () => {};
  readonly #cancels: (() => void)[] = [];
  #records: readonly DnsRecord[] = [];
  #results: (Resolved | undefined)[] = [];
  #left = 0;
  #validUntil = 0;
  #cancelled = false;

  constructor(resolver: Resolver, timeoutMs: number, done: (result: ResolvedServices) => void) {
    this.#resolver = resolver;
    this.#timeoutMs = timeoutMs;
    this.#done = done;
  }

  /** Takes the SRV records, or why there are none. */
  records(result: ResolvedName): void {
    if (result.state !== RESOLVE.OK) {
      this.#done({ state: result.state, services: [], failures: [], validUntil: result.validUntil });
      return;
    }
    this.#records = result.services;
    this.#validUntil = result.validUntil;
    this.#left = result.services.length;
    this.#results = new Array(this.#left);
    for (const [i, { text }] of result.services.entries()) {
      this.#cancels.push(this.#resolver.resolve(text, this.#timeoutMs, (addresses) => this.#resolved(i, addresses)));
    }
  }

  #resolved(i: number, result: Resolved): void {
    this.#results[i] = result;
    if (result.state === RESOLVE.OK) {
      this.#validUntil = Math.min(this.#validUntil, result.validUntil);
    }
    if (--this.#left > 0 || this.#cancelled) {
      return;
    }
    const services: ResolvedService[] = [];
    const failures: { host: string; state: number }[] = [];
    for (const [n, { text, port, priority, weight }] of this.#records.entries()) {
      const { addresses, state } = this.#results[n]!;
      if (state !== RESOLVE.OK) {
        failures.push({ host: text, state });
      }
      if (addresses.length > 0) {
        services.push({ host: text, port, priority, weight, addresses });
      }
    }
    if (services.length > 0) {
      this.#done({ state: RESOLVE.OK, services, failures, validUntil: this.#validUntil });
      return;
    }
    const states = this.#results.map((each) => each!.state);
    const state = states.includes(RESOLVE.NXDOMAIN) ? RESOLVE.NXDOMAIN : states[0]!;
    this.#done({ state, services: [], failures, validUntil: Math.min(...this.#results.map((each) => each!.validUntil)) });
  }

  cancel(): void {
    this.#cancelled = true;
    this.cancelRecords();
    for (const cancel of this.#cancels) {
      cancel();
    }
  }
}
