import { ERROR, INFO, type Level, WARN } from '../../shared/log/level.js';
import { setTimer } from '../../shared/time/timer.js';
import { EMPTY } from '../bytes/empty.js';
import { type KeySet, readKeySet } from '../jose/key-set.js';
import type { FetchAnswer } from '../js/fetch-answer.js';
import { FetchExchange } from '../js/fetch-exchange.js';
import { describeRequest } from '../js/fetch-message.js';
import type { FetchScope } from '../js/fetch-settings.js';
import type { KeyZone } from './key-zone.js';

/** All of one question, name look-up and handshake included, may take so many milliseconds. */
const DEADLINE = 30_000;
/** The first repetition after a failure comes this much later, in milliseconds; each further one waits twice as long. */
const FIRST_PAUSE = 1000;
/** A key that is not in the set has it asked for again, but no sooner than this after the last time; milliseconds. */
const UNKNOWN_KEY_PAUSE = 10_000;
const MAX_BYTES = 1024 * 1024;
const OPTIONS = { bufferSize: 16 * 1024, maxResponse: MAX_BYTES, verify: true, proxy: undefined, keepalive: false } as const;

/** What a {@link RemoteKeySet} says of itself. */
export interface RemoteLog {
  log(level: Level, message: string): void;
}

/**
 * The JSON Web Key Set at a URL. It is asked for at once and then from time to time; after a failure the last good set stays, and the next
 * question comes soon, then ever later. The zone has the set for workers that start meanwhile.
 */
export class RemoteKeySet {
  readonly url: string;
  /** Milliseconds from one question to the next. */
  readonly #refresh: number;
  readonly #scope: FetchScope;
  readonly #log: RemoteLog;
  readonly #zone: KeyZone | undefined;
  /** Name of the set in the zone: who trusts others does not take what they gave. */
  readonly #name: string;
  readonly #waiting = new Set<() => void>();
  #keys: KeySet | undefined = undefined;
  #body: Buffer = EMPTY;
  #exchange: FetchExchange | undefined = undefined;
  #deadline: NodeJS.Timeout | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  #failures = 0;
  /** When it was asked for last, in milliseconds of the monotonic clock. */
  #askedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(url: string, refresh: number, scope: FetchScope, log: RemoteLog, zone?: KeyZone, trusted = '') {
    this.url = url;
    this.#name = trusted === '' ? url : `${url} ${trusted}`;
    this.#refresh = refresh;
    this.#scope = scope;
    this.#log = log;
    this.#zone = zone;
  }

  /** Begins with what another worker had not long ago, and asks. */
  start(): void {
    const kept = this.#zone?.find(this.#name);
    const age = kept === undefined ? 0 : Date.now() - kept.at;
    if (kept !== undefined && age >= 0 && age < this.#refresh) {
      this.#read(Buffer.from(kept.body));
    }
    this.ask();
  }

  /** The last good set; undefined as long as there was none. */
  get keys(): KeySet | undefined {
    return this.#keys;
  }

  /** Somebody is being asked now. */
  get asking(): boolean {
    return this.#exchange !== undefined;
  }

  /** Calls back when the question under way has its answer, or none. Returns what gives the wait up. */
  wait(then: () => void): () => void {
    this.#waiting.add(then);
    return () => this.#waiting.delete(then);
  }

  /** A token was made with a key that is not in the set: asks again, unless that was just done. Returns whether to wait for it. */
  askForNewer(): boolean {
    if (!this.asking && performance.now() - this.#askedAt >= UNKNOWN_KEY_PAUSE) {
      this.ask();
    }
    return this.asking;
  }

  /** Asks now. */
  ask(): void {
    if (this.asking || this.#closed) {
      return;
    }
    clearTimeout(this.#timer);
    this.#askedAt = performance.now();
    const exchange = new FetchExchange(
      this.#scope,
      describeRequest(this.url, { headers: { Accept: 'application/json', 'User-Agent': 'sluice' } }),
      EMPTY,
      OPTIONS,
      {
        done: (answer) => this.#end(this.#take(answer)),
        failed: (error) => this.#end(error.message),
        log: (level, message) => this.#log.log(level, `${message} while getting the JSON Web Key Set "${this.url}"`),
      },
    );
    this.#exchange = exchange;
    this.#deadline = setTimer(() => {
      exchange.cancel();
      this.#end('it took too long');
    }, DEADLINE);
    exchange.start();
  }

  /** Gives up what is under way, and asks no more. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
    this.#exchange?.cancel();
    this.#exchange = undefined;
    this.#tell();
  }

  /** Takes an answer; a text says why it is none. */
  #take({ status, body }: FetchAnswer): string | undefined {
    if (status !== 200) {
      return `unexpected status: ${status}`;
    }
    // The same bytes are the same set: what was verified by it stays verified.
    const problem = this.#keys !== undefined && body.equals(this.#body) ? undefined : this.#read(body);
    if (problem === undefined) {
      this.#zone?.keep(this.#name, body);
    }
    return problem;
  }

  #read(body: Buffer): string | undefined {
    const keys = readKeySet(body);
    if (typeof keys === 'string') {
      return keys;
    }
    for (const complaint of keys.complaints) {
      this.#log.log(WARN, `JSON Web Key Set "${this.url}": ${complaint}`);
    }
    this.#keys = keys;
    this.#body = body;
    return undefined;
  }

  #end(problem: string | undefined): void {
    if (!this.asking) {
      return;
    }
    clearTimeout(this.#deadline);
    this.#exchange = undefined;
    this.#failures = problem === undefined ? 0 : this.#failures + 1;
    if (problem !== undefined && this.#keys === undefined) {
      const kept = this.#zone?.find(this.#name);
      if (kept !== undefined) {
        this.#read(Buffer.from(kept.body));
      }
    }
    if (problem !== undefined) {
      this.#log.log(
        ERROR,
        `JSON Web Key Set "${this.url}" could not be had: ${problem}${this.#keys === undefined ? '' : '; the last one stays'}`,
      );
    } else {
      this.#log.log(INFO, `JSON Web Key Set "${this.url}" was had: ${this.#keys!.keys.length} keys`);
    }
    const pause = problem === undefined ? this.#refresh : Math.min(this.#refresh, FIRST_PAUSE * 2 ** Math.min(this.#failures - 1, 20));
    this.#timer = setTimer(() => this.ask(), pause).unref();
    this.#tell();
  }

  #tell(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const then of waiting) {
      then();
    }
  }
}
