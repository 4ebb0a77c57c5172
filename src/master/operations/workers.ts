import cluster, { type Worker } from 'node:cluster';
import type { Configuration } from '../../shared/config/configuration.js';
import { WorkerChannel } from '../../shared/ipc/channel.js';
import type { Role } from '../../shared/ipc/messages.js';
import { BROKEN_RING_EXIT, FATAL_EXIT, ROLE_NAMES } from '../../shared/ipc/role.js';
import { numberOfSignal } from '../../shared/lib/signal.js';
import { setTimer } from '../../shared/lib/timer.js';
import type { Logger } from '../../shared/log/error-log.js';
import { ALERT, EMERG, NOTICE, WARN } from '../../shared/log/level.js';
import type { ZonePlan } from '../../shared/zone/plan.js';
import type { Listeners } from '../cycle/listeners.js';
import { withoutDebugger } from '../processes/no-debugger.js';
import { removeControl } from '../processes/orphans.js';

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
/** So many processes may end because their io_uring broke; then no other one makes one, until the master is started again. */
const MOST_BROKEN_RINGS = 3;
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 10_000;
/** Milliseconds until the master kills a process that it told to end at once. nginx: the termination cycle. */
const KILL_AFTER = 1_500;

/** What all processes of one configuration have in common. */
export interface GenerationSpec {
  readonly configuration: Configuration;
  readonly listeners: Listeners;
  readonly zones: ZonePlan | undefined;
  /** Folder of the processes' control sockets; undefined when there is none. */
  readonly control: string | undefined;
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
  readonly worker: Worker;
  readonly channel: WorkerChannel;
  readonly pid: number;
  readonly role: Role;
  readonly slot: number;
  readonly generation: Generation;
  readonly born: number;
  /** The master told it to end, and does not replace it. */
  leaving: boolean;
  ready: boolean;
  settle: ((problem?: string) => void) | undefined;
  /** How often in a row this place's process died young. */
  readonly failures: number;
}

/** What the pool needs from the rest of the master. */
export interface PoolOptions {
  /** Path of the worker's program. */
  readonly program: string;
  readonly name: string;
  readonly log: Logger;
  /** Descriptor 2 follows the error log. */
  readonly standardError: boolean;
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
  #brokenRings = 0;
  /** Replacements that wait, by their timer. */
  readonly #pauses = new Map<NodeJS.Timeout, Generation>();
  #generations = 0;
  #ending = false;
  /** The newest configuration whose processes were told to end. */
  #quitted = 0;
  #whenEmpty: (() => void)[] = [];

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#members.size;
  }

  /**
   * Starts the processes of a configuration. Resolves to undefined once all workers accept; when one cannot, all of them are
   * ended and the result is the reason.
   */
  async start(spec: GenerationSpec): Promise<string | undefined> {
    const generation: Generation = { ...spec, number: ++this.#generations };
    const { workerProcesses } = spec.configuration.process;
    const started = Array.from({ length: workerProcesses }, (_, slot) => this.#fork(generation, 'worker', slot, 0));
    const { log } = this.#options;
    for (const line of spec.announce ?? []) {
      log.log(NOTICE, line);
    }
    log.log(NOTICE, 'start worker processes');
    for (const { member } of started) {
      log.log(NOTICE, `start ${ROLE_NAMES[member.role]} ${member.pid}`);
    }
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
      const { member } = this.#fork(generation, role, -1, 1);
      this.#options.log.log(NOTICE, `start ${ROLE_NAMES[role]} ${member.pid}`);
    }
  }

  /** Lets processes finish their clients and end: all, or all but those of the newest configuration. */
  quit(which: 'all' | 'old'): void {
    this.#dropPauses(which);
    if (which === 'all') {
      this.#quitted = this.#generations;
    }
    for (const member of this.#members) {
      if (!member.leaving && (which === 'all' || this.#isOld(member.generation))) {
        member.leaving = true;
        member.channel.send({ t: 'quit' });
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
      member.worker.process.kill('SIGTERM');
      setTimer(() => member.worker.process.kill('SIGKILL'), KILL_AFTER).unref();
    }
  }

  #fork(generation: Generation, role: Role, slot: number, failures: number): { member: Member; ready: Promise<string | undefined> } {
    const { configuration, listeners, control } = generation;
    const sockets = role === 'worker' ? [...listeners.values()] : [];
    cluster.setupPrimary({
      exec: this.#options.program,
      // Room for the titles, which replace the command line where it stands.
      args: [' '.repeat(40)],
      execArgv: [...withoutDebugger()],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...sockets.map(({ fd }) => fd)],
    });
    const worker = cluster.fork();
    let settle: (problem?: string) => void = () => {};
    const ready = new Promise<string | undefined>((done) => {
      settle = done;
    });
    let reason: string | undefined;
    const channel = new WorkerChannel(worker, (message) => {
      if (message.t === 'failed') {
        reason = message.message;
      } else {
        member.ready = true;
        settle();
      }
    });
    const member: Member = {
      worker,
      channel,
      pid: worker.process.pid ?? 0,
      role,
      slot,
      generation,
      born: Date.now(),
      leaving: false,
      ready: false,
      settle,
      failures,
    };
    this.#members.add(member);
    channel.send({
      t: 'start',
      role,
      generation: generation.number,
      slot,
      snapshot: configuration.snapshot,
      process: configuration.process,
      zones: generation.zones ?? { directory: undefined, files: {} },
      errorLogs: configuration.errorLogs,
      standardError: this.#options.standardError,
      withoutRing: this.#brokenRings >= MOST_BROKEN_RINGS,
      listens: sockets.map(({ spec }) => spec),
      control,
      name: this.#options.name,
    });
    worker.process.on('error', (error) => {
      reason = `fork() failed while spawning "${ROLE_NAMES[role]}" (${error.message})`;
      this.#ended(member, 1, null, reason);
    });
    worker.process.on('exit', (code, signal) => this.#ended(member, code, signal, reason));
    return { member, ready };
  }

  #ended(member: Member, code: number | null, signal: NodeJS.Signals | null, reason: string | undefined): void {
    if (!this.#members.delete(member)) {
      return;
    }
    const { log } = this.#options;
    const { pid, role, generation } = member;
    if (generation.control !== undefined) {
      removeControl(generation.control, pid);
    }
    if (code === BROKEN_RING_EXIT && ++this.#brokenRings === MOST_BROKEN_RINGS) {
      log.log(WARN, `${MOST_BROKEN_RINGS} processes ended because their io_uring broke, using "libuv" from now on`);
    }
    const clean = signal === null && code === 0;
    if (signal === null) {
      log.log(NOTICE, `${ROLE_NAMES[role]} ${pid} exited with code ${code}`);
    } else {
      // A process that was told to end before it could listen for that is no reason for an alarm.
      const level = member.leaving && signal === 'SIGTERM' ? NOTICE : ALERT;
      log.log(level, `${ROLE_NAMES[role]} ${pid} exited on signal ${numberOfSignal(signal)}`);
    }
    this.#options.onEnd(pid);
    if (role === 'cache-loader' && clean) {
      // It has done its work, perhaps before its first message was read.
      member.settle?.();
    } else if (!member.ready && !this.#startAgain(member, signal)) {
      // While a configuration starts, the starting code logs why it cannot run; for a replacement only this code can.
      if (member.settle !== undefined && reason !== undefined && member.failures > 0) {
        log.log(EMERG, reason);
      }
      member.settle?.(reason ?? `${ROLE_NAMES[role]} ${pid} ended before it could serve`);
    }
    this.#replace(member, code, signal);
    if (![...this.#members].some((other) => other.generation.zones === generation.zones)) {
      this.#options.onPlanUnused(generation.zones);
    }
    if (this.#members.size === 0) {
      const callbacks = this.#whenEmpty;
      this.#whenEmpty = [];
      for (const done of callbacks) {
        done();
      }
    }
  }

  /** Forks a process of a new configuration again if a signal ended it before it could listen for signals; the new one takes its place. */
  #startAgain({ leaving, failures, settle, generation, role, slot }: Member, signal: NodeJS.Signals | null): boolean {
    if (leaving || this.#ending || failures > 0 || settle === undefined || signal === null || !SURVIVED.has(signal)) {
      return false;
    }
    const { member, ready } = this.#fork(generation, role, slot, 0);
    this.#options.log.log(NOTICE, `start ${ROLE_NAMES[role]} ${member.pid}`);
    void ready.then(settle);
    return true;
  }

  #replace(member: Member, code: number | null, signal: NodeJS.Signals | null): void {
    const { role, slot, generation, pid } = member;
    if (member.leaving || this.#ending || (role === 'cache-loader' && code === 0)) {
      return;
    }
    if (!member.ready && member.failures === 0) {
      return;
    }
    if (code === FATAL_EXIT) {
      this.#options.log.log(ALERT, `${ROLE_NAMES[role]} ${pid} exited with fatal code ${FATAL_EXIT} and cannot be respawned`);
      return;
    }
    const ownFault = code !== 0 && (signal === null || OWN_FAULTS.has(signal));
    const failures = ownFault && Date.now() - member.born < HEALTHY ? member.failures + 1 : 1;
    const needed = role === 'worker' && !this.#hasWorkers();
    const pause = failures === 1 || needed ? 0 : Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - 2));
    const again = (): void => {
      const { member: fresh } = this.#fork(generation, role, slot, failures);
      this.#options.onRespawn();
      this.#options.log.log(NOTICE, `start ${ROLE_NAMES[role]} ${fresh.pid}`);
    };
    if (pause === 0) {
      again();
      return;
    }
    const timer = setTimer(() => {
      this.#pauses.delete(timer);
      again();
    }, pause);
    this.#pauses.set(timer, generation);
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
