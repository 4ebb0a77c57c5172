import cluster from 'node:cluster';
import { PrivateFolder } from '../shared/files/private-folder.js';
import { onMasterMessage, sendToMaster } from '../shared/ipc/channel.js';
import { FIRST_SOCKET_FD, type Role, type Start } from '../shared/ipc/messages.js';
import { BROKEN_RING_EXIT, FATAL_EXIT, ROLE_NAMES } from '../shared/ipc/role.js';
import type { Serve, Server } from '../shared/ipc/serve.js';
import { ErrorLog, type Logger } from '../shared/log/error-log.js';
import { openErrorLog } from '../shared/log/error-log-spec.js';
import { ALERT, NOTICE, WARN } from '../shared/log/level.js';
import { LogFiles } from '../shared/log/log-files.js';
import { redirectStandardError } from '../shared/log/standard-error.js';
import { loadWinston } from '../shared/log/winston.js';
import { forgoNative, loadNative } from '../shared/native/native.js';
import { giveSpareMemoryBack } from '../shared/native/spare-memory.js';
import { socketKey } from '../shared/net/listen-key.js';
import { ListenSocket, type SocketHandle } from '../shared/net/listen-socket.js';
import { RingError } from '../shared/net/uring/memory.js';
import { errnoText } from '../shared/system/errno.js';
import { signalText } from '../shared/system/signal.js';
import { lineOf } from '../shared/text/error-text.js';
import { setTimer } from '../shared/time/timer.js';
import { loadSqlite } from '../shared/zone/sqlite.js';
import { ControlSocket } from './orphan.js';
import { applyAffinity, applyLimits, dropRights, enterDirectory, FatalSettings, filterEnvironment } from './process-settings.js';
import { Questions } from './questions.js';

/** The signals a worker knows, with what nginx says of them. */
const SIGNALS = {
  SIGTERM: ', exiting',
  SIGINT: ', exiting',
  SIGQUIT: ', shutting down',
  SIGUSR1: ', reopening logs',
  SIGHUP: ', ignoring',
  SIGUSR2: ', ignoring',
  SIGWINCH: '',
} as const;

/** What runs in a process of each role. */
export type Roles = { readonly [role in Role]?: Serve };

type WorkerSignal = keyof typeof SIGNALS;

/** One forked process from its first message to its end. nginx: ngx_worker_process_cycle. */
export class Lifecycle {
  readonly #roles: Roles;
  #start: Start | undefined;
  #log: Logger = new ErrorLog([]);
  #logFiles = new LogFiles();
  #sockets: readonly ListenSocket[] = [];
  /** Sockets that came with messages. */
  #handed: SocketHandle[] = [];
  #server: Server | undefined;
  #control: ControlSocket | undefined;
  /** Accepts no more than its share, until the master promotes it. */
  #canary = false;
  /** The sockets that it accepts on from then on. */
  #later: readonly ListenSocket[] = [];
  #observing: NodeJS.Timeout | undefined;
  readonly #questions = new Questions();
  #quitting = false;
  #exiting = false;

  constructor(roles: Roles) {
    this.#roles = roles;
    if (cluster.worker !== undefined) {
      // node:cluster ends a worker whose master is gone, unless it believes that the worker asked for that.
      cluster.worker.exitedAfterDisconnect = true;
    }
    process.on('disconnect', () => this.#orphaned());
    process.on('uncaughtException', (error) => this.#crashed(error));
    for (const signal of Object.keys(SIGNALS) as WorkerSignal[]) {
      if (signal !== 'SIGUSR1') {
        process.on(signal, () => this.signalled(signal));
      }
    }
    onMasterMessage((message, handle) => {
      if (handle) {
        this.#handed.push(handle);
      }
      switch (message.t) {
        case 'start':
          this.#begin(message);
          break;
        case 'reopen':
          this.#reopen();
          break;
        case 'quit':
          this.#quit(message.dropped, message.last);
          break;
        case 'terminate':
          this.#exit();
          break;
        case 'observe':
          this.#observe(message.every);
          break;
        case 'ration':
          this.#server?.ration?.(message.accepts);
          break;
        case 'others':
          this.#server?.others?.(message.ports);
          break;
        case 'promote':
          this.#promote();
          break;
        case 'told':
          this.#questions.told(message.number, message.text);
      }
    });
    loadAhead();
  }

  /** Acts on a signal. nginx: ngx_signal_handler. */
  signalled(signal: WorkerSignal): void {
    this.#log.log(NOTICE, `${signalText(signal)} received${SIGNALS[signal]}`);
    switch (signal) {
      case 'SIGTERM':
      case 'SIGINT':
        this.#exit();
        break;
      case 'SIGQUIT':
        this.#quit();
        break;
      case 'SIGUSR1':
        this.#reopen();
    }
  }

  #begin(start: Start): void {
    const { process: conf, slot, role } = start;
    this.#start = start;
    process.title = `${start.name}: ${ROLE_NAMES[role]}`;
    if (start.withoutNative !== '') {
      forgoNative(start.withoutNative);
    }
    try {
      this.#openLogs(start);
      const folder = this.#takeDescriptors(start);
      this.#control = new ControlSocket(folder, this.#log);
      filterEnvironment(conf.env);
      applyLimits(conf, slot, this.#log);
      const { generation, snapshot, cacheWork } = start;
      const serve = this.#roles[role];
      if (serve === undefined) {
        throw new Error(`no ${ROLE_NAMES[role]} in this build`);
      }
      const server = serve({
        slot,
        id: process.pid,
        generation,
        snapshot,
        cacheWork,
        process: conf,
        zones: start.zones,
        withoutRing: start.withoutRing,
        ask: this.#questions.ask,
        secret: start.secret,
        onRing: (on) => sendToMaster({ t: 'ring', on }),
        onForwards: (port) => sendToMaster({ t: 'forwards', port }),
        sockets: this.#sockets,
        log: this.#log,
        logFiles: this.#logFiles,
      });
      giveSpareMemoryBack(() => server.work?.() ?? 0, role !== 'worker');
      // What that needs later may be out of reach of the user that this process becomes.
      loadNative();
      dropRights(conf, this.#log);
      applyAffinity(conf, slot, this.#log);
      enterDirectory(conf, this.#log);
      server.start();
      this.#server = server;
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#server.prepare === undefined) {
      this.#serve(start);
      return;
    }
    this.#server.prepare((problem) => {
      if (this.#quitting || this.#exiting) {
        return;
      }
      if (problem === undefined) {
        this.#serve(start);
      } else {
        this.#fail(new Error(problem));
      }
    });
  }

  #serve({ canary }: Start): void {
    if (canary === undefined) {
      this.#accept(this.#sockets);
      return;
    }
    // The first connection is allowed; the master says what else.
    this.#server?.ration?.(1);
    this.#canary = true;
    const [now, later] = [[], []] as [ListenSocket[], ListenSocket[]];
    for (const socket of this.#sockets) {
      (canary.includes(socket.spec.key) ? now : later).push(socket);
    }
    this.#later = later;
    this.#accept(now);
  }

  /** Takes the listening sockets, and returns the folder of the control sockets. */
  #takeDescriptors({ control, listens, handed }: Start): PrivateFolder | undefined {
    if (handed !== undefined) {
      process.umask(handed.umask);
      this.#sockets = listens.map((spec, i) => ListenSocket.from(spec, this.#handed[i]!));
      this.#handed = [];
      return control === undefined ? undefined : openFolder(control);
    }
    this.#sockets = listens.map((spec, i) => ListenSocket.adopt(spec, FIRST_SOCKET_FD + i));
    return control === undefined ? undefined : PrivateFolder.adopt(control, FIRST_SOCKET_FD + listens.length);
  }

  /** The canary becomes a worker like all others. */
  #promote(): void {
    this.#canary = false;
    this.#server?.ration?.(undefined);
    this.#accept(this.#later);
    this.#later = [];
  }

  /** Tells the master what the worker has done, now and again and again. */
  #observe(every: number): void {
    clearTimeout(this.#observing);
    // The workers of two configurations accept meanwhile.
    for (const socket of this.#sockets) {
      socket.share(every > 0);
    }
    const { observe } = this.#server ?? {};
    if (every === 0 || observe === undefined) {
      return;
    }
    const tell = (): void => sendToMaster({ t: 'observed', ...observe() });
    tell();
    const timer = setTimer(() => {
      tell();
      timer.refresh();
    }, every).unref();
    this.#observing = timer;
  }

  #openLogs(start: Start): void {
    const log = openErrorLog(start.errorLogs, this.#logFiles, ({ host }) => start.snapshot.hosts[host]?.[0] ?? host);
    this.#log = log;
    this.#logFiles.failures = log;
    this.#redirect(start);
    loadWinston();
  }

  #redirect({ standardError, errorLogs }: Start): void {
    if (standardError) {
      redirectStandardError(errorLogs, this.#logFiles);
    }
  }

  #accept(sockets: readonly ListenSocket[]): void {
    let waiting = sockets.length;
    const opened = (): void => {
      if (waiting === 0) {
        sendToMaster({ t: 'ready' });
      }
    };
    for (const socket of sockets) {
      const { text, backlog } = socket.spec;
      socket.open((error) => {
        waiting--;
        if (error === undefined) {
          opened();
        } else {
          this.#fail(new Error(`listen() to ${text}, backlog ${backlog} failed (${errnoText(error)})`));
        }
      });
    }
    if (sockets.length === 0) {
      opened();
    }
  }

  #reopen(): void {
    this.#log.log(NOTICE, 'reopening logs');
    this.#logFiles.reopenAll();
    if (this.#start !== undefined) {
      this.#redirect(this.#start);
    }
  }

  /** Lets every client finish. nginx: ngx_quit in ngx_worker_process_cycle. */
  #quit(dropped: readonly string[] = [], last = false): void {
    const [start, server] = [this.#start, this.#server];
    if (this.#quitting || start === undefined || server === undefined) {
      if (server === undefined) {
        this.#exit();
      }
      return;
    }
    this.#quitting = true;
    for (const socket of this.#sockets) {
      const gone = dropped.includes(socketKey(socket.spec));
      socket.close(gone, gone || last);
    }
    // Whoever reads this may rely on it that the next client is not served here.
    this.#log.log(NOTICE, 'gracefully shutting down');
    process.title = `${start.name}: ${ROLE_NAMES[start.role]} is shutting down`;
    const { shutdownTimeout } = start.process;
    if (shutdownTimeout > 0) {
      setTimer(() => server.terminate(), shutdownTimeout).unref();
    }
    server.drain(() => this.#exit());
  }

  #exit(): void {
    if (this.#exiting) {
      return;
    }
    this.#exiting = true;
    this.#log.log(NOTICE, 'exiting');
    this.#server?.terminate();
    this.#log.log(NOTICE, 'exit');
    process.exit(0);
  }

  #fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    sendToMaster({ t: 'failed', message }, () => process.exit(error instanceof FatalSettings ? FATAL_EXIT : 1));
  }

  #crashed(error: unknown): void {
    // A process that ends has no work that it could go on with.
    if (!this.#exiting && this.#server?.failed?.(error)) {
      return;
    }
    this.#log.log(ALERT, `uncaught exception: ${lineOf(error)}`);
    process.exit(error instanceof RingError ? BROKEN_RING_EXIT : 1);
  }

  #orphaned(): void {
    const start = this.#start;
    if (start === undefined || this.#server === undefined) {
      process.exit(1);
    }
    if (this.#quitting) {
      return;
    }
    if (this.#canary) {
      // Nobody is there any more who could say whether its configuration is right; the other workers serve on.
      this.#quit();
      return;
    }
    this.#log.log(WARN, 'the master process is gone, serving on until a new one takes over');
    this.#control?.awaitMaster(this.#sockets, () => this.#quit());
  }
}

/** Loads what each process needs, while the master has not yet said what this one is to do. */
function loadAhead(): void {
  try {
    loadWinston();
    loadSqlite();
  } catch {
    // Whoever needs it tells.
  }
}

/** The folder by its path; undefined when it is not as the master left it. */
function openFolder(path: string): PrivateFolder | undefined {
  try {
    return PrivateFolder.make(path);
  } catch {
    return undefined;
  }
}
