import type { AcmeZone, CertificatePair } from './acme-zone.js';
import { INTERNAL_PAIR } from './settings.js';
import { StateFolder, StateInZone, type StateStore } from './state-folder.js';

/** The text under which a root is kept, for all machines. */
export const ROOT_TEXT: string = `${INTERNAL_PAIR}.pair`;

/**
 * State of an issuer that the machines of a fleet share: it is in the zone, which is the same on all, and in the folder of each, so that it
 * outlives a restart without the store. What a machine had in its folder before becomes the fleet's, where that has nothing.
 */
export class FleetState implements StateStore {
  readonly #shared: StateInZone;
  readonly #folder: StateFolder | undefined;

  constructor(zone: AcmeZone, issuer: string, statePath: string | undefined) {
    this.#shared = new StateInZone(zone, issuer);
    this.#folder = statePath === undefined ? undefined : new StateFolder(statePath);
  }

  read(name: string): string | undefined {
    const shared = this.#shared.read(name);
    if (shared !== undefined) {
      return shared;
    }
    const own = this.#folder?.read(name);
    if (own !== undefined) {
      this.#shared.write(name, own);
    }
    return own;
  }

  write(name: string, text: string): void {
    this.#shared.write(name, text);
    this.#folder?.write(name, text);
  }

  remove(name: string): void {
    this.#shared.remove(name);
    this.#folder?.remove(name);
  }

  /** Certificates themselves are in the zone, where the caller looks first. */
  readPair(id: string): CertificatePair | undefined {
    const shared = id === INTERNAL_PAIR ? readRoot(this.#shared.read(ROOT_TEXT)) : undefined;
    if (shared !== undefined) {
      return shared;
    }
    const own = this.#folder?.readPair(id);
    if (own !== undefined && id === INTERNAL_PAIR) {
      this.#shared.write(ROOT_TEXT, JSON.stringify(own));
    }
    return own;
  }

  writePair(id: string, pair: CertificatePair): void {
    if (id === INTERNAL_PAIR) {
      this.#shared.write(ROOT_TEXT, JSON.stringify(pair));
    }
    this.#folder?.writePair(id, pair);
  }
}

/** A root as it is kept; undefined where it is none. */
export function readRoot(text: string | undefined): CertificatePair | undefined {
  try {
    const { chain, key } = JSON.parse(text ?? '{}') as Partial<CertificatePair>;
    return typeof chain === 'string' && typeof key === 'string' ? { chain, key } : undefined;
  } catch {
    return undefined;
  }
}
