import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, renameSync, unlinkSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import { writeFresh } from '../../shared/files/state-file.js';
import type { AcmeZone, CertificatePair } from './acme-zone.js';

/** What a file is called until it is complete. */
const NEW = '.new';

/** Where an issuer's account, its certificates and its orders under way are kept. */
export interface StateStore {
  /** undefined: there is no such text, or it cannot be read. */
  read(name: string): string | undefined;
  /** Throws the system's error when the text cannot be stored; what was there before is then still there. */
  write(name: string, text: string): void;
  remove(name: string): void;
  /** The certificate of an order with its key, if both are there and belong together. */
  readPair(id: string): CertificatePair | undefined;
  /** Stores both or none. Throws the system's error. */
  writePair(id: string, pair: CertificatePair): void;
}

/** State in the files of a folder, which outlives a restart. nginx-acme: StateDir. */
export class StateFolder implements StateStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(name: string): string | undefined {
    try {
      return readFileSync(this.#path(name), 'latin1');
    } catch {
      return undefined;
    }
  }

  write(name: string, text: string): void {
    this.#prepare(name, text);
    this.#rename(name);
  }

  remove(name: string): void {
    try {
      unlinkSync(this.#path(name));
    } catch {
      // It is not there.
    }
  }

  /**
   * A process that ended between the two renames of {@link writePair} leaves the new key beside the old certificate, and the new
   * certificate under its first name.
   */
  readPair(id: string): CertificatePair | undefined {
    const key = this.read(`${id}.key`);
    if (key === undefined) {
      return undefined;
    }
    for (const name of [`${id}.crt`, `${id}.crt${NEW}`]) {
      const chain = this.read(name);
      if (chain !== undefined && belongTogether({ chain, key })) {
        return { chain, key };
      }
    }
    return undefined;
  }

  writePair(id: string, { chain, key }: CertificatePair): void {
    this.#prepare(`${id}.crt`, chain);
    this.#prepare(`${id}.key`, key);
    this.#rename(`${id}.key`);
    this.#rename(`${id}.crt`);
  }

  #path(name: string): string | Buffer {
    return fsPath(`${this.#folder}/${name}`);
  }

  /** Writes the whole file under its first name. */
  #prepare(name: string, text: string): void {
    // An account or a key that is lost is lost for good.
    writeFresh(this.#path(name + NEW), Buffer.from(text, 'latin1'), { onDisk: 'before' });
  }

  #rename(name: string): void {
    renameSync(this.#path(name + NEW), this.#path(name));
  }
}

/** State that is gone when the server ends: `state_path off`. */
export class StateInZone implements StateStore {
  readonly #zone: AcmeZone;
  readonly #issuer: string;

  constructor(zone: AcmeZone, issuer: string) {
    this.#zone = zone;
    this.#issuer = issuer;
  }

  read(name: string): string | undefined {
    return this.#zone.kept(`${this.#issuer}/${name}`);
  }

  write(name: string, text: string): void {
    this.#zone.keep(`${this.#issuer}/${name}`, text);
  }

  remove(name: string): void {
    this.#zone.dropKept(`${this.#issuer}/${name}`);
  }

  /** Certificates are in the zone as they are. */
  readPair(): undefined {
    return undefined;
  }

  writePair(): void {}
}

/** Whether this is a key with its certificate. */
export function belongTogether({ chain, key }: CertificatePair): boolean {
  try {
    return new X509Certificate(chain).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
