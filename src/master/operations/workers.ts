// Longer than others: starting, judging, replacing and ending processes work on the same set of them.
import cluster, { type Worker } from 'node:cluster';
import { randomBytes } from 'node:crypto';
import type { Configuration } from '../../shared/config/configuration.js';
import { WorkerChannel } from '../../shared/ipc/channel.js';
import type { Observation, OperatorQuestion, Role, Start } from '../../shared/ipc/messages.js';
import { FATAL_EXIT, ROLE_NAMES } from '../../shared/ipc/role.js';
import type { Logger } from '../../shared/log/error-log.js';
import { ALERT, EMERG, NOTICE } from '../../shared/log/level.js';
import { socketKey } from '../../shared/net/listen-key.js';
import type { ListenSocket } from '../../shared/net/listen-socket.js';
import { errnoText } from '../../shared/system/errno.js';
import { numberOfSignal } from '../../shared/system/signal.js';
import { setTimer } from '../../shared/time/timer.js';
import type { ZonePlan } from '../../shared/zone/plan.js';
import { type Listeners, socketsOf } from '../cycle/listeners.js';
import type { ControlFolder } from '../processes/orphans.js';
import { type SpareWorker, workerSettings } from '../processes/spare-worker.js';
import { BrokenRings } from './broken-rings.js';

/** Signals that a process which runs does not end upon; one that has only begun to start does. */
const SURVIVED: ReadonlySet<NodeJS.Signals> = new Set(['SIGHUP', 'SIGUSR1', 'SIGUSR2']);
/** Signals that come of the process's own mistakes; others are sent from outside. */
const OWN_FAULTS: ReadonlySet<NodeJS.Signals> = new Set([
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
  'SIGSEGV',
  'SIGSYS',
  'SIGTRAP',
  'SIGXCPU',
  'SIGXFSZ',
]);
/** Milliseconds a process has to live for its end to be no sign that its replacement ends as quickly. */
const HEALTHY = 3_000;
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 10_000;
/** The longest pause (milliseconds) while no worker is there. */
const LONGEST_PAUSE_WITHOUT = 1_000;
/** Milliseconds until the master kills a process that it told to end at once. nginx: the termination cycle. */
const KILL_AFTER = 1_500;

/** What all processes of one configuration have in common. */
export interface GenerationSpec {
  readonly configuration: Configuration;
  readonly listeners: Listeners;
  readonly zones: ZonePlan | undefined;
  /** Folder of the processes' control sockets. */
  readonly control: ControlFolder;
  /**
   * Lines for the log before those of the start. The master writes them once it has forked the processes, since the first line loads
   * the logger.
   */
  readonly announce?: readonly string[];
}

interface Generation extends GenerationSpec {
  readonly number: number;
}

interface Member {
  /** Undefined when the system could not fork. */
  readonly worker: Worker | undefined;
  readonly channel: WorkerChannel;
  /** 0 when the system could not fork. */
  readonly pid: number;
  readonly role: Role;
  readonly slot: number;
  readonly generation: Generation;
  readonly born: number;
  /** The master told it to end, and does not replace it. */
  leaving: boolean;
  ready: boolean;
  /** The worker uses io_uring. */
  ring: boolean;
  /** Where it takes datagrams that came to others; 0 for nowhere. */
  port: number;
  settle: ((problem?: string) => void) | undefined;
  /** Of a canary that nobody has decided about: hears of its end. */
  canary: ((why: string) => void) | undefined;
  /** How often in a row this place's process died young. */
  readonly failures: number;
}

/** A configuration of which one worker serves, with a share of the connections, until it is decided about. */
export interface CanaryStart {
  readonly pid: number;
  /** Undefined once it accepts, else why it cannot. */
  readonly ready: Promise<string | undefined>;
  /** Why it has ended, if it does before it is decided about. */
  readonly ended: Promise<string>;
  /** Lets the worker have accepted `accepts` connections since it began. */
  ration(accepts: number): void;
  /** The configuration is to serve: starts the other workers. Resolves as {@link WorkerPool.start} does. */
  complete(): Promise<string | undefined>;
  /** The configuration is not to serve: the worker lets its clients finish, and ends. */
  giveUp(): void;
}

/** Hears what a worker has done since it began. */
export type OnObserved = (pid: number, observation: Observation) => void;

/** What the pool needs from the rest of the master. */
export interface PoolOptions {
  /** The first worker, if one was started ahead. */
  readonly spare: SpareWorker | undefined;
  readonly name: string;
  readonly log: Logger;
  /** Descriptor 2 follows the error log. */
  readonly standardError: boolean;
  /** Answers what operators want to see, as JSON text. */
  readonly tell: (question: OperatorQuestion) => string;
  /** A process has ended, however it did. */
  readonly onEnd: (pid: number) => void;
  /** A process that ended by itself is replaced. */
  readonly onRespawn: () => void;
  /** The last process with this plan of the shared zones has ended. */
  readonly onPlanUnused: (zones: ZonePlan | undefined) => void;
}

/** The processes that the master forked. nginx: ngx_processes. */
export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #members = new Set<Member>();
  readonly #brokenRings: BrokenRings;
  /** Replacements that wait, by their timer. */
  readonly #pauses = new Map<NodeJS.Timeout, Generation>();
  #generations = 0;
  readonly #secret = randomBytes(32).toString('hex');
  #ending = false;
  /** The newest configuration whose processes were told to end. */
  #quitted = 0;
  #whenEmpty: (() => void)[] = [];
  #every = 0;
  #onObserved: OnObserved | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#brokenRings = new BrokenRings(options.log);
  }

  get size(): number {
    return this.#members.size;
  }

  /**
   * Starts the processes of a configuration. Resolves to undefined once all workers accept; when one cannot, all of them are
   * ended and the result is the reason.
   */
  async start(spec: GenerationSpec): Promise<string | undefined> {
    return this.#startWorkers({ ...spec, number: ++this.#generations }, 0, []);
  }

  /** Starts the workers of a configuration from a slot on; `begun`: what else has to succeed. */
  async #startWorkers(generation: Generation, from: number, begun: readonly Promise<string | undefined>[]): Promise<string | undefined> {
    const { workerProcesses } = generation.configuration.process;
    const forked = Array.from({ length: workerProcesses - from }, (_, i) => this.#fork(generation, 'worker', from + i, 0));
    const { log } = this.#options;
    for (const line of generation.announce ?? []) {
      log.log(NOTICE, line);
    }
    log.log(NOTICE, 'start worker processes');
    for (const { member } of forked) {
      this.#logStart(member);
    }
    const started = [...begun.map((ready) => ({ ready })), ...forked];
    const problems = await Promise.race([
      Promise.all(started.map(({ ready }) => ready)),
      // The first that fails decides; the others may take long.
      ...started.map(({ ready }) => ready.then((problem) => (problem === undefined ? new Promise<never>(() => {}) : [problem]))),
    ]);
    const problem = problems.find((text) => text !== undefined);
    if (problem !== undefined) {
      this.#terminate((member) => member.generation === generation);
    } else {
      this.#startHelpers(generation);
    }
    return problem;
  }

  /**
   * Starts one worker of a configuration, which accepts on the listeners of these keys alone. It is not replaced when it ends, and the
   * workers of before go on.
   */
  startCanary(spec: GenerationSpec, keys: readonly string[]): CanaryStart {
    const generation: Generation = { ...spec, number: ++this.#generations };
    let tell: (why: string) => void = () => {};
    const ended = new Promise<string>((done) => {
      tell = done;
    });
    const { member, ready } = this.#fork(generation, 'worker', 0, 0, keys);
    member.canary = tell;
    this.#logStart(member);
    return {
      pid: member.pid,
      ready,
      ended,
      ration: (accepts) => member.channel.send({ t: 'ration', accepts }),
      complete: () => this.#complete(member),
      giveUp: () => {
        if (!member.leaving) {
          member.leaving = true;
          member.canary = undefined;
          member.channel.send({ t: 'quit', dropped: [], last: false });
        }
      },
    };
  }

  #complete(member: Member): Promise<string | undefined> {
    if (!this.#members.has(member) || member.leaving) {
      return Promise.resolve(`${ROLE_NAMES[member.role]} ${member.pid} has ended`);
    }
    // From here on it is a worker that starts: it accepts on all listeners, and then is replaced when it ends.
    member.canary = undefined;
    member.ready = false;
    const ready = new Promise<string | undefined>((done) => {
      member.settle = done;
    });
    member.channel.send({ t: 'promote' });
    return this.#startWorkers(member.generation, 1, [ready]);
  }

  /** Has all workers, those that are forked later too, tell what they have done, every so many milliseconds; 0 for no more. */
  observe(every: number, onObserved: OnObserved | undefined): void {
    this.#every = every;
    this.#onObserved = onObserved;
    for (const { role, leaving, channel } of this.#members) {
      if (role === 'worker' && !leaving) {
        channel.send({ t: 'observe', every });
      }
    }
  }

  /** Whether some worker serves. */
  get serving(): boolean {
    return this.#hasWorkers();
  }

  /** Starts what looks after caches and certificates. Nobody waits for it, and it takes no time from workers that are about to accept. */
  #startHelpers(generation: Generation): void {
    if (this.#ending || this.#isOld(generation) || generation.number <= this.#quitted) {
      return;
    }
    const { cachePaths, acme } = generation.configuration;
    const roles: Role[] = [];
    if (cachePaths.some(({ manager }) => manager)) {
      roles.push('cache-manager');
    }
    if (cachePaths.some(({ loader }) => loader)) {
      roles.push('cache-loader');
    }
    if (acme) {
      roles.push('acme');
    }
    for (const role of roles) {
      // One that fails is tried again after a pause.
      this.#logStart(this.#fork(generation, role, -1, 1).member);
    }
  }

  /**
   * Lets processes finish their clients and end: all, or all but those of the newest configuration. `dropped`: the keys of sockets that
   * nobody takes over.
   */
  quit(which: 'all' | 'old', dropped: readonly string[] = []): void {
    this.#dropPauses(which);
    if (which === 'all') {
      this.#quitted = this.#generations;
    }
    for (const member of this.#members) {
      if (!member.leaving && (which === 'all' || this.#isOld(member.generation))) {
        member.leaving = true;
        member.channel.send({ t: 'quit', dropped, last: which === 'all' });
      }
    }
  }

  /** Ends all processes at once, the obstinate ones by force, and replaces none any more. */
  terminate(): void {
    this.#ending = true;
    this.#dropPauses('all');
    this.#terminate(() => true);
  }

  /** Tells all processes to reopen their logs. */
  reopen(): void {
    for (const { channel } of this.#members) {
      channel.send({ t: 'reopen' });
    }
  }

  /** Resolves once no process is left. */
  empty(): Promise<void> {
    return this.#members.size === 0 ? Promise.resolve() : new Promise((done) => this.#whenEmpty.push(done));
  }

  #terminate(which: (member: Member) => boolean): void {
    for (const member of [...this.#members].filter(which)) {
      member.leaving = true;
      const { worker, pid } = member;
      if (worker !== undefined && pid !== 0) {
        // Of one that was never forked, Node would send it to 0: this process's whole group.
        worker.process.kill('SIGTERM');
        setTimer(() => worker.process.kill('SIGKILL'), KILL_AFTER).unref();
      }
    }
  }

  #fork(
    generation: Generation,
    role: Role,
    slot: number,
    failures: number,
    canary?: readonly string[],
  ): { member: Member; ready: Promise<string | undefined> } {
    const { configuration, listeners } = generation;
    const control = generation.control.current();
    const listens = role === 'worker' ? socketsOf(configuration).filter(({ worker = slot }) => worker === slot) : [];
    const sockets = listens.map((spec) => listeners.get(socketKey(spec)) as ListenSocket);
    const spare = role === 'worker' ? this.#options.spare?.take() : undefined;
    const forked = spare ?? fork(role, [...sockets.map(({ fd }) => fd), ...(control === undefined ? [] : [control.fd])]);
    const worker = forked instanceof Error ? undefined : forked;
    let settle: (problem?: string) => void = () => {};
    const ready = new Promise<string | undefined>((done) => {
      settle = done;
    });
    let reason: string | undefined;
    const channel = new WorkerChannel(worker, (message) => {
      if (message.t === 'failed') {
        reason = message.message;
      } else if (message.t === 'observed') {
        this.#onObserved?.(member.pid, message);
      } else if (message.t === 'ring') {
        member.ring = message.on;
      } else if (message.t === 'forwards') {
        member.port = message.port;
        this.#tellPorts();
      } else if (message.t === 'ask') {
        channel.send({ t: 'told', number: message.number, text: this.#options.tell(message.question) });
      } else {
        member.ready = true;
        member.settle?.();
      }
    });
    const member: Member = {
      worker,
      channel,
      pid: worker?.process.pid ?? 0,
      role,
      slot,
      generation,
      born: Date.now(),
      leaving: false,
      ready: false,
      ring: false,
      port: 0,
      settle,
      canary: undefined,
      failures,
    };
    this.#members.add(member);
    const forCaches = role === 'cache-manager' || role === 'cache-loader';
    const cacheWork = forCaches ? { caches: configuration.cachePaths, folders: configuration.tempPaths } : undefined;
    const start: Start = {
      t: 'start',
      role,
      generation: generation.number,
      slot,
      snapshot: cacheWork === undefined ? configuration.snapshot : { ...configuration.snapshot, files: {}, named: {} },
      cacheWork,
      process: configuration.process,
      zones: generation.zones ?? { directory: undefined, files: {} },
      errorLogs: configuration.errorLogs,
      standardError: this.#options.standardError,
      withoutRing: this.#brokenRings.lost,
      secret: this.#secret,
      withoutNative: this.#brokenRings.noNative,
      listens,
      control: control?.path,
      canary,
      name: this.#options.name,
      handed: spare === undefined ? undefined : { umask: ownUmask() },
    };
    if (spare === undefined) {
      channel.send(start);
    } else {
      channel.handOver(start, sockets);
    }
    if (this.#every > 0 && role === 'worker') {
      channel.send({ t: 'observe', every: this.#every });
    }
    const failed = (error: Error): void => {
      if (member.pid !== 0) {
        this.#options.log.log(ALERT, `${ROLE_NAMES[role]} ${member.pid}: ${error.message}`);
        return;
      }
      if (worker !== undefined) {
        // node:cluster does so when a process ends, and this one never began.
        delete cluster.workers?.[worker.id];
      }
      this.#ended(member, 1, null, `fork() failed while spawning "${ROLE_NAMES[role]}" (${errnoText(error)})`);
    };
    if (worker === undefined) {
      setImmediate(() => failed(forked as Error));
    } else {
      // node:cluster passes errors of the process on to this, and throws those that nobody listens for.
      worker.on('error', failed);
      worker.process.on('exit', (code, signal) => this.#ended(member, code, signal, reason));
    }
    return { member, ready };
  }

  /** Has each worker know where the others take datagrams. */
  #tellPorts(): void {
    const all = [...this.#members].filter(({ port }) => port !== 0);
    const ports = all.map(({ port }) => port);
    for (const { channel } of all) {
      channel.send({ t: 'others', ports });
    }
  }

  #logStart({ role, pid }: Member): void {
    if (pid !== 0) {
      this.#options.log.log(NOTICE, `start ${ROLE_NAMES[role]} ${pid}`);
    }
  }

  #ended(member: Member, code: number | null, signal: NodeJS.Signals | null, reason: string | undefined): void {
    if (!this.#members.delete(member)) {
      return;
    }
    const { pid, generation } = member;
    generation.control.removeSocket(pid);
    if (member.port !== 0) {
      this.#tellPorts();
    }
    const ofRing = this.#brokenRings.ended({ ...member, code, signal });
    try {
      // What is left to do for the one that ended costs a tenth of the time for which nobody may be there to serve.
      const tell = this.#replace(member, code, signal);
      this.#logEnd(member, code, signal, reason);
      this.#follow(member, code, signal, ofRing, reason);
      tell();
    } finally {
      // Whatever went wrong: a master that waits for the end of its last process must hear of it.
      if (this.#members.size === 0) {
        const callbacks = this.#whenEmpty;
        this.#whenEmpty = [];
        for (const done of callbacks) {
          done();
        }
      }
    }
  }

  #logEnd({ pid, role, failures, leaving }: Member, code: number | null, signal: NodeJS.Signals | null, reason: string | undefined): void {
    const { log } = this.#options;
    if (pid === 0) {
      // Of a configuration that starts, the starting code says so.
      if (failures > 0) {
        log.log(ALERT, reason ?? '');
      }
    } else if (signal === null) {
      log.log(NOTICE, `${ROLE_NAMES[role]} ${pid} exited with code ${code}`);
    } else {
      // A process that was told to end before it could listen for that is no reason for an alarm.
      const level = leaving && signal === 'SIGTERM' ? NOTICE : ALERT;
      log.log(level, `${ROLE_NAMES[role]} ${pid} exited on signal ${numberOfSignal(signal)}`);
    }
  }

  /** Tells all who wait for a process of its end, and frees what it held. */
  #follow(member: Member, code: number | null, signal: NodeJS.Signals | null, ofRing: boolean, reason: string | undefined): void {
    const { log } = this.#options;
    const { pid, role, generation } = member;
    if (pid !== 0) {
      this.#options.onEnd(pid);
    }
    member.canary?.(reason ?? (signal === null ? `it exited with code ${code}` : `it was ended by signal ${numberOfSignal(signal)}`));
    if (role === 'cache-loader' && signal === null && code === 0) {
      // It has done its work, perhaps before its first message was read.
      member.settle?.();
    } else if (!member.ready && !this.#startAgain(member, signal, ofRing)) {
      // While a configuration starts, the starting code logs why it cannot run; for a replacement only this code can.
      if (member.settle !== undefined && reason !== undefined && member.failures > 0 && pid !== 0) {
        log.log(EMERG, reason);
      }
      member.settle?.(reason ?? `${ROLE_NAMES[role]} ${pid} ended before it could serve`);
    }
    if (![...this.#members].some((other) => other.generation.zones === generation.zones)) {
      this.#options.onPlanUnused(generation.zones);
    }
  }

  /**
   * Forks a process of a new configuration again if its ring ended it, or a signal before it could listen for signals; the new one takes
   * its place.
   */
  #startAgain(
    { leaving, canary, failures, settle, generation, role, slot }: Member,
    signal: NodeJS.Signals | null,
    ofRing: boolean,
  ): boolean {
    if (
      leaving ||
      canary !== undefined ||
      this.#ending ||
      failures > 0 ||
      settle === undefined ||
      signal === null ||
      !(ofRing || SURVIVED.has(signal))
    ) {
      return false;
    }
    const { member, ready } = this.#fork(generation, role, slot, 0);
    this.#logStart(member);
    void ready.then(settle);
    return true;
  }

  /** Puts another process in the place of one that has ended. Returns what tells of it, for which the end has to be told first. */
  #replace(member: Member, code: number | null, signal: NodeJS.Signals | null): () => void {
    const { role, slot, generation, pid } = member;
    if (member.leaving || member.canary !== undefined || this.#ending || (role === 'cache-loader' && code === 0)) {
      return NOTHING;
    }
    if (!member.ready && member.failures === 0) {
      return NOTHING;
    }
    if (code === FATAL_EXIT) {
      return () => this.#options.log.log(ALERT, `${ROLE_NAMES[role]} ${pid} exited with fatal code ${FATAL_EXIT} and cannot be respawned`);
    }
    const ownFault = code !== 0 && (signal === null || OWN_FAULTS.has(signal));
    const failures = ownFault && Date.now() - member.born < HEALTHY ? member.failures + 1 : 1;
    const needed = role === 'worker' && !this.#hasWorkers();
    const longest = needed ? LONGEST_PAUSE_WITHOUT : LONGEST_PAUSE;
    // A system that cannot fork is not asked again at once, even if nobody serves.
    const pause = failures === 1 || (needed && pid !== 0) ? 0 : Math.min(longest, FIRST_PAUSE * 2 ** (failures - 2));
    const again = (): (() => void) => {
      const { member: fresh } = this.#fork(generation, role, slot, failures);
      return () => {
        this.#options.onRespawn();
        this.#logStart(fresh);
      };
    };
    if (pause === 0) {
      return again();
    }
    const timer = setTimer(() => {
      this.#pauses.delete(timer);
      again()();
    }, pause);
    this.#pauses.set(timer, generation);
    return NOTHING;
  }

  /** Whether a worker serves, or is about to. */
  #hasWorkers(): boolean {
    for (const { role, leaving } of this.#members) {
      if (role === 'worker' && !leaving) {
        return true;
      }
    }
    return false;
  }

  #isOld(generation: Generation): boolean {
    return generation.number !== this.#generations;
  }

  #dropPauses(which: 'all' | 'old'): void {
    for (const [timer, generation] of this.#pauses) {
      if (which === 'all' || this.#isOld(generation)) {
        clearTimeout(timer);
        this.#pauses.delete(timer);
      }
    }
  }
}

const NOTHING = (): void => {};

/**
 * A new process with these descriptors beside the usual ones, or why there is none. Node throws some of the system's errors, and reports
 * others later.
 */
function fork(role: Role, descriptors: readonly number[]): Worker | Error {
  cluster.setupPrimary({ ...workerSettings(role), stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...descriptors] });
  try {
    return cluster.fork();
  } catch (error) {
    return error as Error;
  }
}

function ownUmask(): number {
  const umask = process.umask(0);
  process.umask(umask);
  return umask;
}
