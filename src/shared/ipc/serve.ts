import type { CacheWork, ProcessConf, Snapshot } from '../config/configuration.js';
import type { Logger } from '../log/error-log.js';
import type { LogFiles } from '../log/log-files.js';
import type { ListenSocket } from '../net/listen-socket.js';
import type { ZonePlan } from '../zone/plan.js';
import type { AskMaster, Observation } from './messages.js';

/** What the process gives to the server that runs in it. */
export interface WorkerProcess {
  /** Number of the worker among those of its configuration, from 0; its replacement gets the same. */
  readonly slot: number;
  /** Names the process in the shared zones: no other living process of the service has this number. */
  readonly id: number;
  readonly generation: number;
  readonly snapshot: Snapshot;
  /** Undefined for others than the helper processes of the caches. */
  readonly cacheWork: CacheWork | undefined;
  readonly process: ProcessConf;
  readonly zones: ZonePlan;
  /** Rings have broken too often: libuv serves, whatever `net_engine` says. */
  readonly withoutRing: boolean;
  /** Hears that the process begins to use io_uring, of which it may die, and that there is none for it. */
  readonly onRing: (on: boolean) => void;
  /** Hears at which port of the loopback interface the process takes datagrams that came to others. */
  readonly onForwards: (port: number) => void;
  readonly sockets: readonly ListenSocket[];
  /** What all processes of one master know, and nobody else: 32 bytes in hexadecimal. */
  readonly secret: string;
  readonly ask: AskMaster;
  /** The log of the main context. */
  readonly log: Logger;
  readonly logFiles: LogFiles;
}

/**
 * What the process asks of the server that runs in it. The process itself opens and closes the sockets, reopens the log files and drops
 * root's rights.
 */
export interface Server {
  /** Called with the rights that the process keeps, right before the sockets are opened. */
  start(): void;
  /** Does what the sockets are opened after, which takes time. Calls back once, with why the server cannot serve, or with undefined. */
  prepare?(done: (problem: string | undefined) => void): void;
  /**
   * The sockets are closed: finishes what is under way, closes idle connections, and calls back once none is left, which may be at once.
   */
  drain(done: () => void): void;
  /** An exception was thrown that nobody caught. Ends what it belongs to and returns true, or false when that is unknown. */
  failed?(error: unknown): boolean;
  /** What it has done since it began. */
  observe?(): Observation;
  /** A number that grows by one with each connection and each request. */
  work?(): number;
  /** Accepts no more than so many connections since it began; undefined for as many as come. */
  ration?(accepts: number | undefined): void;
  /** All processes, this one among them, take datagrams that came to others at these ports. */
  others?(ports: readonly number[]): void;
  /** Closes every connection now; a drain that was asked for calls back. */
  terminate(): void;
}

/**
 * Builds the server. It runs with all rights the master has, so everything that needs them (keys, log files) is opened here; each socket is
 * given to a node:net server by `attach`. Throws an Error whose message goes into the log, level emerg, when it cannot be built.
 */
export type Serve = (worker: WorkerProcess) => Server;
