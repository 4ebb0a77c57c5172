import { randomBytes } from 'node:crypto';
import type { Configuration } from '../../shared/config/configuration.js';
import type { AskMaster } from '../../shared/ipc/messages.js';
import type { Serve, Server } from '../../shared/ipc/serve.js';
import { EMERG, NOTICE, WARN } from '../../shared/log/level.js';
import { isStandardError, redirectStandardError } from '../../shared/log/standard-error.js';
import type { ListenSocket } from '../../shared/net/listen-socket.js';
import { errnoText } from '../../shared/system/errno.js';
import { signalText } from '../../shared/system/signal.js';
import { lineOf } from '../../shared/text/error-text.js';
import { setTimer } from '../../shared/time/timer.js';
import type { Context } from '../cycle/context.js';
import { type Cycle, closeLogs, openCycle } from '../cycle/cycle.js';
import { closeListeners, removeListeners } from '../cycle/listeners.js';
import { History } from '../history/history.js';
import { tellOperator } from '../history/tell.js';
import { PidFile, runningInstance } from '../processes/pid-file.js';
import { onSignals, type Verb } from '../processes/signals.js';
import { logsToTerminal } from '../processes/terminal.js';
import { tryRingApart } from '../processes/try-ring.js';
import { loadAsked } from './load-asked.js';

/** Serves in this process, without workers; for development and small containers. nginx: ngx_single_process_cycle. */
export async function serveAlone(
  context: Context,
  configuration: Configuration,
  serve: Serve,
  serveAcme: Serve,
  ready: () => void,
): Promise<number | undefined> {
  const { log } = context;
  const running = runningInstance(configuration.process.pid);
  if (running !== undefined) {
    log.log(EMERG, running);
    return 1;
  }
  if (configuration.process.ring) {
    // Begins while the configuration's files are opened.
    void tryRingApart();
  }
  const cycle = await openCycle(configuration, context, { held: new Map(), testing: false });
  if (cycle === undefined) {
    return 1;
  }
  context.zones.commit(cycle.zones);
  const pidFile = new PidFile(configuration.process.pid, log);
  const alone = new SingleProcess(context, cycle, { serve, serveAcme }, pidFile);
  try {
    await pidFile.lock();
    await alone.begin();
    alone.history.started(configuration);
    pidFile.write();
  } catch (error) {
    log.log(EMERG, (error as Error).message);
    return 1;
  }
  log.leaveTerminal();
  context.zones.ready();
  ready();
  return undefined;
}

/** What runs in the one process. */
interface Parts {
  readonly serve: Serve;
  readonly serveAcme: Serve;
}

class SingleProcess {
  readonly history: History;
  readonly #context: Context;
  readonly #parts: Parts;
  readonly #pidFile: PidFile;
  #cycle: Cycle;
  readonly #standardError: boolean;
  #generation = 1;
  readonly #secret = randomBytes(32).toString('hex');
  #server: Server | undefined;
  #reloads: Promise<void> = Promise.resolve();
  #ending = false;
  #warned = false;

  constructor(context: Context, cycle: Cycle, parts: Parts, pidFile: PidFile) {
    this.#context = context;
    this.history = new History(context.log);
    this.#cycle = cycle;
    this.#standardError = isStandardError(cycle.configuration.errorLogs, cycle.logFiles);
    this.#parts = parts;
    this.#pidFile = pidFile;
  }

  /** No other process is asked. */
  readonly #ask: AskMaster = (question, answer) => {
    const timer = setImmediate(() => answer(tellOperator(question, this.history, this.#cycle.configuration.errorLogs)));
    return () => clearImmediate(timer);
  };

  /** Builds the server and opens the sockets; rejects with an Error for the log when that fails. */
  async begin(): Promise<void> {
    onSignals(this.#context.early, (verb, signal) => this.#act(verb, signal));
    this.#server = await this.#open(this.#cycle);
  }

  async #open(cycle: Cycle): Promise<Server> {
    const { configuration, log, logFiles, listeners } = cycle;
    const zones = cycle.zones ?? { directory: undefined, files: {} };
    const { snapshot, process } = configuration;
    const sockets = [...listeners.values()];
    const withoutRing = await this.#withoutRing(process.ring);
    const generation = this.#generation++;
    // One process stands for all its configurations, so their numbers take the place of process ids.
    const what = {
      slot: 0,
      id: -generation,
      generation,
      snapshot,
      cacheWork: undefined,
      process,
      zones,
      withoutRing,
      onRing: noOne,
      onForwards: noOne,
      sockets,
      secret: this.#secret,
      ask: this.#ask,
      log,
      logFiles,
    };
    const { serve, serveAcme } = this.#parts;
    const server = configuration.acme ? together(serve(what), serveAcme(what)) : serve(what);
    server.start();
    const problem = await new Promise<string | undefined>((done) =>
      server.prepare === undefined ? done(undefined) : server.prepare(done),
    );
    if (problem !== undefined) {
      server.terminate();
      throw new Error(problem);
    }
    await Promise.all(sockets.map(openSocket));
    return server;
  }

  /** Whether this process, which nobody would start again, would die of a ring. */
  async #withoutRing(wanted: boolean): Promise<boolean> {
    if (!wanted) {
      return false;
    }
    const { fatal, why } = await tryRingApart();
    if (fatal && !this.#warned) {
      this.#warned = true;
      this.#context.log.log(WARN, `${why}, using "libuv"`);
    }
    return fatal;
  }

  #act(verb: Verb, signal: NodeJS.Signals): void {
    const { log } = this.#context;
    log.log(NOTICE, `${signalText(signal)} received${ACTIONS[verb]}`);
    switch (verb) {
      case 'terminate':
        this.#server?.terminate();
        this.#leave();
        break;
      case 'quit':
        this.#quit();
        break;
      case 'reload':
        this.#then(() => this.#reload());
        break;
      case 'reopen':
        log.log(NOTICE, 'reopening logs');
        this.#cycle.logFiles.reopenAll();
        // Not while a reload looks names up: its threads open descriptors.
        this.#then(async () => {});
    }
  }

  /** Does something after the reloads that are under way. What the system refuses is no reason to refuse what follows. */
  #then(work: () => Promise<void>): void {
    this.#reloads = this.#reloads
      .then(work)
      .then(() => this.#followErrorLog())
      .catch((error: unknown) => this.#context.log.log(EMERG, `the reload failed: ${lineOf(error)}`));
  }

  #followErrorLog(): void {
    if (this.#standardError) {
      redirectStandardError(this.#cycle.configuration.errorLogs, this.#cycle.logFiles);
    }
  }

  #quit(): void {
    if (this.#ending) {
      return;
    }
    this.#ending = true;
    this.#context.zones.ending();
    removeListeners(this.#cycle.listeners.values(), this.#context.log);
    const { shutdownTimeout } = this.#cycle.configuration.process;
    if (shutdownTimeout > 0) {
      setTimer(() => this.#server?.terminate(), shutdownTimeout).unref();
    }
    this.#server?.drain(() => this.#leave());
  }

  async #reload(): Promise<void> {
    const { log } = this.#context;
    log.log(NOTICE, 'reconfiguring');
    const asked = this.history.take();
    log.forget();
    const configuration = await loadAsked(this.#context, this.#cycle.configuration, this.history, asked);
    if (configuration === undefined || this.#ending) {
      this.history.refused(asked, log.reason);
      return;
    }
    const previous = this.#cycle;
    const cycle = await openCycle(configuration, this.#context, { held: previous.listeners, previous, testing: false });
    if (cycle === undefined) {
      this.history.refused(asked, log.reason);
      return;
    }
    const added = [...cycle.listeners].filter(([key]) => !previous.listeners.has(key)).map(([, socket]) => socket);
    const removed = [...previous.listeners].filter(([key]) => !cycle.listeners.has(key)).map(([, socket]) => socket);
    try {
      const server = await this.#open(cycle);
      const before = this.#server;
      this.#server = server;
      this.#cycle = cycle;
      this.#context.zones.commit(cycle.zones);
      log.use(cycle.log, logsToTerminal(configuration));
      this.history.replaced(configuration, asked, '');
      removeListeners(removed, log);
      const old = this.#generation - 2;
      before?.drain(() => {
        closeLogs(previous);
        this.#context.zones.release(-old);
        this.#context.zones.retire(previous.zones);
      });
    } catch (error) {
      log.log(EMERG, (error as Error).message);
      this.history.refused(asked, (error as Error).message);
      closeListeners(added);
      closeLogs(cycle);
      this.#context.zones.retire(cycle.zones);
    }
  }

  #leave(): void {
    const { log } = this.#context;
    if (!this.#ending) {
      removeListeners(this.#cycle.listeners.values(), log);
    }
    this.history.ended(this.#ending ? 'the server was told to quit' : 'the server was told to stop');
    this.#ending = true;
    this.#pidFile.remove();
    log.log(NOTICE, 'exit');
    process.exit(0);
  }
}

function noOne(): void {
  // That the ring works was found out before.
}

const ACTIONS: Readonly<Record<Verb, string>> = {
  terminate: ', exiting',
  quit: ', shutting down',
  reload: ', reconfiguring',
  reopen: ', reopening logs',
  upgrade: ', ignoring',
  noaccept: '',
};

/** A server with a helper that ends when it stops to accept. */
function together(server: Server, helper: Server): Server {
  return {
    start() {
      server.start();
      helper.start();
    },
    prepare: (done) => (server.prepare === undefined ? done(undefined) : server.prepare(done)),
    drain(done) {
      helper.terminate();
      server.drain(done);
    },
    failed: (error) => server.failed?.(error) ?? false,
    terminate() {
      helper.terminate();
      server.terminate();
    },
  };
}

function openSocket(socket: ListenSocket): Promise<void> {
  return new Promise((done, fail) => {
    const { text, backlog } = socket.spec;
    socket.open((error) => {
      if (error === undefined) {
        done();
      } else {
        fail(new Error(`listen() to ${text}, backlog ${backlog} failed (${errnoText(error)})`));
      }
    });
  });
}
