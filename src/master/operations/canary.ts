import type { Observation } from '../../shared/ipc/messages.js';
import { ERROR, type Level, NOTICE } from '../../shared/log/level.js';
import { setTimer } from '../../shared/time/timer.js';
import { BUCKETS } from '../../shared/zone/histogram.js';
import { CanaryJudge, nothing, type Tally, tallyText } from '../canary/judge.js';
import type { Cycle } from '../cycle/cycle.js';
import type { AskedReload } from '../history/history.js';
import type { Master } from './master.js';
import type { CanaryStart, GenerationSpec } from './workers.js';

/** How often workers tell what they have done, and the canary is told what it may accept (milliseconds). */
const EVERY = 200;

/** Why a configuration does not come into force, and how grave that is. */
export interface CanaryRefusal {
  readonly level: Level;
  readonly text: string;
}

/** What became of a canary: a refusal, or what is to be known of it. */
export type CanaryResult = { readonly refusal: CanaryRefusal } | { readonly text: string };

/**
 * Starts the workers of a new configuration by way of `reload_canary`: one first, whose share of new connections shows whether the others
 * may follow. Resolves to undefined where there is nothing to compare: when no address is the same as before, or no worker serves.
 */
export async function startByCanary(
  master: Master,
  spec: GenerationSpec,
  previous: Cycle,
  asked: AskedReload,
): Promise<CanaryResult | undefined> {
  const { pool, context, history } = master;
  const { canary } = spec.configuration.process;
  const keys = [...spec.listeners.values()]
    .filter(({ spec: { key, udp } }) => !udp && previous.listeners.has(key))
    .map((socket) => socket.spec.key);
  if (canary === undefined || keys.length === 0 || !pool.serving) {
    return undefined;
  }
  const started = pool.startCanary(spec, keys);
  let abandoned: string | undefined;
  master.canary = {
    abandon(why) {
      abandoned = why;
    },
  };
  const problem = await started.ready;
  master.canary = undefined;
  if (problem !== undefined) {
    return { refusal: { level: ERROR, text: `the canary could not start: ${problem}` } };
  }
  if (abandoned !== undefined) {
    started.giveUp();
    return { refusal: { level: NOTICE, text: `the canary is given up: ${abandoned}` } };
  }
  const share = `${Number((canary.share * 100).toFixed(2))}%`;
  const begun = `the canary, worker process ${started.pid}, takes ${share} of new connections for ${canary.time / 1000}s`;
  context.log.log(NOTICE, begun);
  history.running(asked, begun);
  const watch = new CanaryWatch(master, started, canary.share);
  const decision = await watch.decide(canary.time);
  if (decision.refusal === undefined) {
    const failed = await started.complete();
    return failed === undefined ? decision : { refusal: { level: ERROR, text: failed } };
  }
  started.giveUp();
  return { refusal: decision.refusal };
}

/** What is known of one worker: what it had done when it was first asked, and what it has done now. */
interface Watched {
  readonly first: Observation;
  last: Observation;
}

/** One canary while nobody has decided about it. */
class CanaryWatch {
  readonly #master: Master;
  readonly #canary: CanaryStart;
  readonly #share: number;
  readonly #workers = new Map<number, Watched>();
  #judge: CanaryJudge | undefined;

  constructor(master: Master, canary: CanaryStart, share: number) {
    this.#master = master;
    this.#canary = canary;
    this.#share = share;
  }

  /** Resolves once it is decided: at the latest after so many milliseconds. */
  async decide(time: number): Promise<{ readonly refusal?: CanaryRefusal; readonly text: string }> {
    const { pool } = this.#master;
    let timer: NodeJS.Timeout | undefined;
    const decision = await new Promise<{ refusal?: CanaryRefusal; text: string }>((done) => {
      const refuse = (level: Level, text: string): void => done({ refusal: { level, text }, text });
      this.#master.canary = {
        abandon: (why) => refuse(NOTICE, `the canary is given up: ${why}`),
      };
      pool.observe(EVERY, (pid, observation) => {
        const worse = this.#observed(pid, observation);
        if (worse !== undefined) {
          refuse(ERROR, `the canary failed: ${worse}; the old configuration stays`);
        }
      });
      void this.#canary.ended.then((why) => refuse(ERROR, `the canary failed: ${why}; the old configuration stays`));
      timer = setTimer(() => {
        const [canary, old] = this.#tallies();
        this.#judge ??= new CanaryJudge(this.#before());
        const worse = this.#judge.last(canary, old);
        if (worse === undefined) {
          done({ text: `the canary passed: ${tallyText(canary)}; the old workers: ${tallyText(old)}` });
        } else {
          refuse(ERROR, `the canary failed: ${worse}; the old configuration stays`);
        }
      }, time);
    });
    clearTimeout(timer);
    pool.observe(0, undefined);
    this.#master.canary = undefined;
    return decision;
  }

  /** Takes a worker's numbers in. Returns why the canary is worse, if it is. */
  #observed(pid: number, observation: Observation): string | undefined {
    const known = this.#workers.get(pid);
    if (known === undefined) {
      this.#workers.set(pid, { first: observation, last: observation });
      return undefined;
    }
    known.last = observation;
    this.#ration(this.#workers.get(this.#canary.pid)?.first.accepted ?? 0);
    // By its second report all others have given their first.
    if (pid !== this.#canary.pid) {
      return undefined;
    }
    const [canary, old] = this.#tallies();
    this.#judge ??= new CanaryJudge(this.#before());
    return this.#judge.look(canary, old);
  }

  /** Lets the canary have its share of all connections since it began; the first one is never kept from it. */
  #ration(before: number): void {
    let all = 0;
    for (const { first, last } of this.#workers.values()) {
      all += last.accepted - first.accepted;
    }
    this.#canary.ration(before + 1 + Math.floor(all * this.#share));
  }

  /** What has been done since each worker was first asked: by the canary, and by the others together. */
  #tallies(): [canary: Tally, old: Tally] {
    const sums = [empty(), empty()] as [Sum, Sum];
    for (const [pid, { first, last }] of this.#workers) {
      const sum = sums[pid === this.#canary.pid ? 0 : 1];
      sum.requests += last.requests - first.requests;
      sum.errors += last.errors - first.errors;
      for (let i = 0; i < BUCKETS; i++) {
        sum.times[i]! += (last.times[i] ?? 0) - (first.times[i] ?? 0);
      }
    }
    return sums;
  }

  /** What the old workers had done before the canary. */
  #before(): Tally {
    const sum = empty();
    for (const [pid, { first }] of this.#workers) {
      if (pid !== this.#canary.pid) {
        for (let i = 0; i < BUCKETS; i++) {
          sum.times[i]! += first.times[i] ?? 0;
        }
      }
    }
    return sum;
  }
}

type Sum = { -readonly [name in keyof Tally]: Tally[name] };

const empty = (): Sum => nothing();
