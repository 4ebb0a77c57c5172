import { WARN } from '../../shared/log/level.js';
import { setTimer } from '../../shared/time/timer.js';
import type { Journal } from '../../shared/zone/journal.js';
import { runtimePart } from '../task/protocol-runtime.js';
import { difference, join, type Sample, takeTotals } from './history-sample.js';
import type { StatusSource } from './source.js';

/** Seconds between two samples, and what they are put together to. */
export const FINE = 10;
export const COARSE = 300;
/** For so many seconds samples are kept. */
const KEPT = 24 * 3600;

/**
 * What happened in the last day, as the dashboard shows it: samples of 10 seconds, and of 5 minutes. One worker writes them, and all
 * read them.
 */
export class StatusHistory {
  readonly #journal: Journal;
  readonly #source: StatusSource;
  #before: Sample | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  #told = false;

  constructor(path: string, source: StatusSource) {
    this.#journal = source.env.zones.journal(path);
    this.#source = source;
  }

  /** Begins to take samples. What was counted before belongs to none. */
  start(): void {
    this.#before = takeTotals(this.#source);
    this.#wait();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  close(): void {
    this.stop();
    this.#journal.close();
  }

  /** The samples of an interval from a time (seconds) on. */
  read(interval: number, from: number): [at: number, sample: Sample][] {
    return this.#journal.read(interval, from).map(([at, text]) => [at, JSON.parse(text)]);
  }

  #wait(): void {
    const ms = FINE * 1000;
    this.#timer = setTimer(() => this.#take(), ms - (Date.now() % ms) + 1).unref();
  }

  #take(): void {
    const now = Math.floor(Date.now() / 1000 / FINE) * FINE;
    const totals = takeTotals(this.#source);
    this.#add(FINE, now, difference(totals, this.#before), now);
    this.#before = totals;
    if (now % COARSE === 0) {
      const all = this.read(FINE, now - COARSE + 1).map(([, sample]) => sample);
      this.#add(COARSE, now, join(all), now);
    }
    this.#wait();
  }

  #add(interval: number, at: number, sample: Sample, now: number): void {
    const error = this.#journal.add(interval, at, JSON.stringify(sample), now - KEPT);
    if (error !== undefined && !this.#told) {
      this.#told = true;
      this.#source.env.log.log(WARN, `the history of the dashboard cannot be written (${error.message})`);
    }
  }
}

/** The history of an `http` block; undefined where none is kept. */
export const historyOf = runtimePart<{ history: StatusHistory | undefined }>(() => ({ history: undefined }));
