import { RESOLVER } from '../../shared/zone/meter-kinds.js';
import type { Meter } from '../../shared/zone/meters.js';
import { RESOLVE, type Resolved, type ResolvedServices, type Resolver } from './resolver.js';

/** Where outcomes are counted. */
const OUTCOMES = new Map<number, number>([
  [RESOLVE.OK, RESOLVER.noerror],
  [RESOLVE.FORMERR, RESOLVER.formerr],
  [RESOLVE.SERVFAIL, RESOLVER.servfail],
  [RESOLVE.NXDOMAIN, RESOLVER.nxdomain],
  [RESOLVE.NOTIMP, RESOLVER.notimp],
  [RESOLVE.REFUSED, RESOLVER.refused],
  [RESOLVE.TIMED_OUT, RESOLVER.timedout],
]);

/** Counts what a resolver is asked, and what comes of it. */
export class CountedResolver implements Resolver {
  readonly #inner: Resolver;
  readonly #meter: Meter;

  constructor(inner: Resolver, meter: Meter) {
    this.#inner = inner;
    this.#meter = meter;
  }

  resolve(name: string, timeoutMs: number, done: (result: Resolved) => void): () => void {
    this.#meter.count(RESOLVER.name);
    return this.#inner.resolve(name, timeoutMs, (result) => {
      this.#outcome(result.state);
      done(result);
    });
  }

  resolveService(service: string, host: string, timeoutMs: number, done: (result: ResolvedServices) => void): () => void {
    this.#meter.count(RESOLVER.srv);
    return this.#inner.resolveService(service, host, timeoutMs, (result) => {
      this.#outcome(result.state);
      done(result);
    });
  }

  #outcome(state: number): void {
    this.#meter.count(OUTCOMES.get(state) ?? RESOLVER.unknown);
  }
}
