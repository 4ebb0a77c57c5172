import { cpus } from 'node:os';
import { parseTime } from '../../shared/config/language/units.js';
import { ERROR, type Level } from '../../shared/log/level.js';
import type { LogContext } from '../../shared/log/log-line.js';
import { requestSteps } from '../../shared/regex/compile.js';
import { setTimer } from '../../shared/time/timer.js';
import type { WorkerEnv } from '../env.js';
import type { SharedContext } from '../module.js';
import type { Client } from '../task/client.js';
import type { ClientTask } from '../task/client-task.js';
import type { ProtocolRuntime } from '../task/protocol-runtime.js';
import type { FetchScope } from './fetch-settings.js';
import { rawVariablesOf, variablesOf } from './named-variables.js';
import type { ScriptFunction, Scripts } from './scripts.js';
import { Task, type TaskOwner } from './task.js';

/** One `js_periodic`. Times are in milliseconds. */
export interface Periodic {
  readonly name: string;
  readonly interval: number;
  readonly jitter: number;
  /** In which workers it runs, by number; undefined: in the first. */
  readonly affinity: 'all' | string | undefined;
}

/** Reads a `js_periodic` line. nginx: ngx_http_js_periodic. */
export function readPeriodic(ctx: SharedContext): Periodic {
  const [name, ...parameters] = ctx.node.args;
  if (name === undefined) {
    ctx.fail('method name is required');
  }
  let interval = 5000;
  let jitter = 0;
  let affinity: string | undefined;
  for (const [i, text] of parameters.entries()) {
    const [key, value] = text.split(/=(.*)/s) as [string, string | undefined];
    const time = value === undefined ? undefined : parseTime(value, 'ms');
    if (key === 'interval' && time !== undefined && time > 0) {
      interval = time;
    } else if (key === 'jitter' && time !== undefined) {
      jitter = time;
    } else if (key === 'worker_affinity' && value !== undefined) {
      affinity = readAffinity(value, i + 1, ctx);
    } else {
      ctx.fail(`invalid parameter "${text}"`, { arg: i + 1 });
    }
  }
  return { name, interval, jitter, affinity };
}

/** Reads in which workers a function runs: all of them, or those whose number has a 1. */
function readAffinity(value: string, arg: number, ctx: SharedContext): string {
  const workers = workersOf(ctx);
  if (workers === undefined) {
    ctx.fail('"worker_affinity" is not supported with unset "worker_processes" directive', { arg });
  }
  if (value.startsWith('all')) {
    return 'all';
  }
  if (value.length !== workers) {
    ctx.fail('the number of "worker_processes" is not equal to the size of "worker_affinity" mask', { arg });
  }
  const bad = /[^01]/.exec(value)?.[0];
  if (bad !== undefined) {
    ctx.fail(`invalid character "${bad}" in "worker_affinity="`, { arg });
  }
  return value;
}

/** How many workers the configuration has asked for so far; undefined when it has not said. */
function workersOf(ctx: SharedContext): number | undefined {
  let { block } = ctx;
  while (block.parent !== undefined) {
    block = block.parent;
  }
  const given = block.seen('worker_processes')?.args[0];
  return given === undefined ? undefined : given === 'auto' ? cpus().length : Number(given);
}

/** Where a periodic function runs: a location of `http` or a server of `stream`. */
export interface PeriodicPlace {
  readonly protocol: ProtocolRuntime;
  readonly log: { log(level: Level, message: string): void };
  readonly fetchScope: FetchScope;
  /** undefined where nothing is imported. */
  readonly scripts: Scripts | undefined;
  /** `http` or `stream`, for the log. */
  readonly kind: string;
  /** What the variables of the block expect of a request or session, beside what every task has. */
  readonly shape: object;
}

/** Calls functions again and again, until the worker takes no more connections. nginx: ngx_http_js_periodic_init. */
export function startPeriodics(periodics: readonly Periodic[], place: PeriodicPlace, env: WorkerEnv): void {
  for (const periodic of periodics) {
    const { affinity } = periodic;
    if (affinity === undefined ? env.slot === 0 : affinity === 'all' || affinity[env.slot] === '1') {
      const run = new PeriodicRun(periodic, place);
      env.onDrain(() => run.stop());
      env.onClose(() => run.stop());
      run.start();
    }
  }
}

class PeriodicRun {
  readonly #periodic: Periodic;
  readonly #place: PeriodicPlace;
  #timer: NodeJS.Timeout | undefined = undefined;
  #session: PeriodicSession | undefined = undefined;

  constructor(periodic: Periodic, place: PeriodicPlace) {
    this.#periodic = periodic;
    this.#place = place;
  }

  start(): void {
    this.#wait(1);
  }

  #wait(ms: number): void {
    this.#timer = setTimer(() => this.#fire(), ms + Math.random() * this.#periodic.jitter);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#session?.end();
    this.#session = undefined;
  }

  #fire(): void {
    const { name, interval } = this.#periodic;
    const place = this.#place;
    this.#wait(interval);
    if (this.#session !== undefined) {
      place.log.log(ERROR, `${place.kind} js periodic "${name}" is already running, killing previous instance`);
      this.#session.end();
      this.#session = undefined;
    }
    const run = place.scripts?.find(name);
    if (run === undefined) {
      place.log.log(
        ERROR,
        place.scripts === undefined
          ? `no "js_import" directives found for "js_periodic" handler "${name}" in the current scope`
          : `js function "${name}" not found`,
      );
      return;
    }
    const session: PeriodicSession = new PeriodicSession(place, () => {
      if (this.#session === session) {
        this.#session = undefined;
      }
    });
    this.#session = session;
    session.run(run);
  }
}

/** What variables see of a call that no client asked for. */
class PeriodicSubject implements ClientTask {
  readonly connection: Client = NOBODY;
  readonly protocol: ProtocolRuntime;
  readonly vars: (string | null | undefined)[] = [];
  captures: readonly (string | undefined)[] | null = null;
  evaluating = 0;
  matchSteps = requestSteps;
  readonly lasting: unknown[] = [];
  /** State of modules that belongs to a request. */
  readonly ctx: unknown[] = [];
  finished = false;
  // What variables tell of a request or session that has sent and taken nothing.
  readonly args = '';
  readonly status = 0;
  readonly errStatus = 0;
  readonly requestLength = 0;
  readonly headerSize = 0;
  readonly bytesSent = 0;
  readonly bytesReceived = 0;
  readonly startTime = performance.now();
  readonly acceptedAt = this.startTime;
  readonly debugging = false;
  readonly spans = null;
  readonly connectionId = 0;
  readonly #place: PeriodicPlace;
  readonly #ends: (() => void)[] = [];

  constructor(place: PeriodicPlace) {
    this.#place = place;
    this.protocol = place.protocol;
    Object.assign(this, place.shape);
  }

  get main(): this {
    return this;
  }

  log(level: Level, message: string): void {
    this.#place.log.log(level, message);
  }

  logContext(): LogContext {
    return {};
  }

  onFinish(callback: () => void): void {
    this.#ends.push(callback);
  }

  resume(): void {}

  giveUp(): void {}

  breakOff(): void {}

  end(): void {
    this.finished = true;
    for (const callback of this.#ends.reverse()) {
      callback();
    }
  }
}

const NOBODY: Client & { readonly requests: number } = {
  requests: 0,
  id: 0,
  remoteAddress: '',
  remotePort: 0,
  localAddress: '',
  localPort: 0,
  acceptedAt: 0,
  debugging: false,
  tls: undefined,
  proxyProtocol: undefined,
  closed: true,
  sni: undefined,
};

/** What a periodic function is given. nginx: ngx_http_js_ext_periodic_session. */
class PeriodicObject {
  readonly #subject: PeriodicSubject;
  #variables: object | undefined = undefined;
  #rawVariables: object | undefined = undefined;

  constructor(subject: PeriodicSubject) {
    this.#subject = subject;
  }

  get variables(): object {
    this.#variables ??= variablesOf(this.#subject);
    return this.#variables;
  }

  get rawVariables(): object {
    this.#rawVariables ??= rawVariablesOf(this.#subject);
    return this.#rawVariables;
  }

  get [Symbol.toStringTag](): string {
    return 'PeriodicSession';
  }
}

/** A call of a periodic function. nginx: ngx_http_js_periodic_session. */
class PeriodicSession implements TaskOwner {
  readonly njs = true;
  readonly subject: PeriodicSubject;
  readonly fetchScope: FetchScope;
  readonly engineId: number;
  readonly #task: Task;
  readonly #given: object;
  readonly #done: () => void;

  constructor(place: PeriodicPlace, done: () => void) {
    this.subject = new PeriodicSubject(place);
    this.fetchScope = place.fetchScope;
    this.engineId = place.scripts?.id ?? 0;
    this.#done = done;
    this.#task = new Task(this, { settled: () => this.#over(), failed: () => this.#over() });
    this.#given = new PeriodicObject(this.subject);
  }

  run(handler: ScriptFunction): void {
    this.#task.run(() => handler(this.#given));
  }

  log(level: Level, message: string): void {
    this.subject.log(level, message);
  }

  #over(): void {
    this.subject.end();
    this.#done();
  }

  /** Nothing of it runs any more. */
  end(): void {
    this.#task.cancel();
    this.subject.end();
  }
}
