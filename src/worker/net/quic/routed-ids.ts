import { randomFillSync } from 'node:crypto';
import { extract } from '../openssl/packet-keys.js';

/**
 * The bytes of a connection ID: one that the number of workers leaves the worker's number of, a random part, where the process takes what
 * other processes get of its datagrams, and a proof that it was made here.
 */
export const ID_LENGTH = 12;
const [RANDOM_AT, PORT_AT, PROOF_AT] = [1, 6, 8];
const BYTE = 256;
const POOL = 4096;

/** Makes connection IDs that tell every process of the server whose they are, and nobody else. */
export class RoutedIds {
  readonly #key: Buffer;
  readonly #worker: number;
  readonly #workers: number;
  readonly #port: number;
  readonly #pool: Buffer = Buffer.alloc(POOL);
  #at = POOL;

  /** `key`: the processes' own. `port`: where this one takes what others get; 0 where there are no others. */
  constructor(key: Buffer, worker: number, workers: number, port: number) {
    this.#key = key;
    this.#workers = Math.max(1, Math.min(BYTE, workers));
    this.#worker = worker % this.#workers;
    this.#port = port;
  }

  make(): Buffer {
    if (this.#at + PORT_AT > POOL) {
      randomFillSync(this.#pool);
      this.#at = 0;
    }
    const id = Buffer.alloc(ID_LENGTH);
    this.#pool.copy(id, 0, this.#at, this.#at + PORT_AT);
    this.#at += PORT_AT;
    const first = id[0]! - (id[0]! % this.#workers) + this.#worker;
    id[0] = first < BYTE ? first : this.#worker;
    id.writeUInt16BE(this.#port ^ this.#mask(id, 0), PORT_AT);
    this.#proof(id, 0).copy(id, PROOF_AT, 0, ID_LENGTH - PROOF_AT);
    return id;
  }

  /** Where the process is whose the ID at this place is; 0 for this one itself, and for one that was not made by any of them. */
  portOf(bytes: Buffer, at: number): number {
    const proof = this.#proof(bytes, at);
    if (proof.compare(bytes, at + PROOF_AT, at + ID_LENGTH, 0, ID_LENGTH - PROOF_AT) !== 0) {
      return 0;
    }
    const port = bytes.readUInt16BE(at + PORT_AT) ^ this.#mask(bytes, at);
    return port === this.#port ? 0 : port;
  }

  /** Nobody else sees which IDs are of one process. */
  #mask(bytes: Buffer, at: number): number {
    return extract(this.#key, bytes.subarray(at + RANDOM_AT, at + PORT_AT)).readUInt16BE(0);
  }

  #proof(bytes: Buffer, at: number): Buffer {
    return extract(this.#key, bytes.subarray(at, at + PROOF_AT));
  }
}
