import { setTimer } from '../../shared/time/timer.js';
import type { WorkerEnv } from '../env.js';
import type { AcmeZone, CertificatePair, VersionedPair } from './acme-zone.js';
import { NameError, orderId, parseIdentifiers } from './identifier.js';
import { USUAL_KEY } from './key-kind.js';
import type { AcmeIssuer, Issuer, Order } from './settings.js';
import { belongTogether } from './state-folder.js';

/** How often (milliseconds) a worker looks whether a certificate has come. */
const LOOK = 200;
/** How long (milliseconds) a worker gives a certificate without noting that its name was asked for. */
const NOTED = 3600 * 1000;

/** The order for a name. @throws NameError for what is no name of one host. */
export function orderFor(issuer: Issuer, name: string): Order {
  const identifiers = parseIdentifiers(name);
  const [only] = identifiers;
  if (identifiers.length !== 1 || only!.type !== 'dns' || only!.value.startsWith('*')) {
    throw new NameError('is not the name of one host');
  }
  const id = orderId(identifiers, USUAL_KEY);
  return { id, zoneId: `${issuer.name}/${id}`, issuer, identifiers, key: USUAL_KEY };
}

/** The issuers that give certificates for names which the configuration does not have. */
export class OnDemand {
  readonly #zone: AcmeZone;
  readonly #issuers: ReadonlyMap<string, AcmeIssuer>;
  readonly #known = new Map<string, VersionedPair>();
  /** When this worker noted last that a name was asked for, by the certificate's id; milliseconds of the monotonic clock. */
  readonly #noted = new Map<string, number>();

  constructor(zone: AcmeZone, issuers: ReadonlyMap<string, AcmeIssuer>) {
    this.#zone = zone;
    this.#issuers = issuers;
  }

  /**
   * Finds the certificate of a name, or has it ordered; calls back once it is there, or with why there is none. Returns what stops the
   * waiting: the order goes on. @throws TypeError for an issuer or a name that cannot be.
   */
  certificate(issuerName: string, name: string, done: (result: CertificatePair | Error) => void): () => void {
    const issuer = this.#issuers.get(issuerName);
    if (issuer === undefined || issuer.onDemand === 0) {
      throw new TypeError(`there is no acme_issuer "${issuerName}" with "on_demand"`);
    }
    const { zoneId, identifiers } = orderOf(issuer, name);
    let timer: NodeJS.Timeout | undefined;
    let over = false;
    const end = (result: CertificatePair | Error): void => {
      if (!over) {
        over = true;
        done(result);
      }
    };
    const look = (): void => {
      const pair = this.#pair(zoneId);
      const report = pair === undefined ? this.#zone.reports().find(({ id }) => id === zoneId) : undefined;
      if (pair !== undefined) {
        end(pair);
      } else if (report?.state === 'failing') {
        end(new Error(`there is no certificate for "${name}": ${report.error}`));
      } else if (!over) {
        timer = setTimer(look, LOOK).unref();
      }
    };
    const stop = (): void => {
      over = true;
      clearTimeout(timer);
    };
    const there = this.#isNoted(zoneId) ? this.#pair(zoneId) : undefined;
    if (there !== undefined) {
      setImmediate(end, there);
      return stop;
    }
    this.#zone.want({ issuer: issuerName, name: identifiers[0]!.value }, issuer.onDemand, (accepted) => {
      if (!over) {
        if (accepted) {
          this.#noted.set(zoneId, performance.now());
          look();
        } else {
          end(new Error(`acme_issuer "${issuerName}" has ${issuer.onDemand} names on demand, "${name}" is one too many`));
        }
      }
    });
    return stop;
  }

  /** Handshakes are many: the zone need not hear of each that a name is still asked for. */
  #isNoted(zoneId: string): boolean {
    const at = this.#noted.get(zoneId);
    return at !== undefined && performance.now() - at < NOTED;
  }

  /** A pair is checked once. */
  #pair(zoneId: string): CertificatePair | undefined {
    const known = this.#known.get(zoneId);
    const pair = this.#zone.pair(zoneId, known);
    if (pair === undefined || (pair !== known && !belongTogether(pair))) {
      return undefined;
    }
    this.#known.set(zoneId, pair);
    return pair;
  }
}

function orderOf(issuer: Issuer, name: string): Order {
  try {
    return orderFor(issuer, name);
  } catch (error) {
    throw error instanceof NameError ? new TypeError(`no certificate can be had for "${name}": ${error.message}`) : error;
  }
}

const onDemand = new WeakMap<WorkerEnv, OnDemand>();

/** Who gives certificates on demand to the scripts of a worker; undefined where no issuer does. */
export const onDemandOf = (env: WorkerEnv): OnDemand | undefined => onDemand.get(env);

/** Names who gives certificates on demand to the scripts of a worker. */
export const setOnDemand = (env: WorkerEnv, given: OnDemand): void => void onDemand.set(env, given);
