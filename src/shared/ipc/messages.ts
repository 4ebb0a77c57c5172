import type { CacheWork, ListenSpec, ProcessConf, Snapshot } from '../config/configuration.js';
import type { ErrorLogSpec } from '../log/error-log-spec.js';
import type { ZonePlan } from '../zone/plan.js';

/** What a process that the master forks is there for. */
export type Role = 'worker' | 'cache-manager' | 'cache-loader' | 'acme';

/** The first message to every worker: all that it is to be. */
export interface Start {
  readonly t: 'start';
  readonly role: Role;
  /** Counts the configurations since the master started, from 1. */
  readonly generation: number;
  /** Number of the worker in its generation, from 0; its replacement gets the same. A helper process has -1. */
  readonly slot: number;
  /** Without texts for a process that has `cacheWork`. */
  readonly snapshot: Snapshot;
  /** Undefined for others than the helper processes of the caches. */
  readonly cacheWork: CacheWork | undefined;
  readonly process: ProcessConf;
  readonly zones: ZonePlan;
  readonly errorLogs: readonly ErrorLogSpec[];
  /** Descriptor 2 follows the first error log that is a file. */
  readonly standardError: boolean;
  /** Rings have broken too often: libuv serves, whatever `net_engine` says. */
  readonly withoutRing: boolean;
  /** Why the process is not to call the system by koffi at all; empty where it may. */
  readonly withoutNative: string;
  /** The sockets, in the order of the descriptors that the process inherits from {@link FIRST_SOCKET_FD} on. */
  readonly listens: readonly ListenSpec[];
  /**
   * Path of the folder of the sockets by which a new master reaches workers that lost theirs; undefined when there is none. The process
   * inherits the folder itself, after the sockets.
   */
  readonly control: string | undefined;
  /**
   * The keys of the listeners that the process accepts on at once, and no more than it is allowed to, until it is promoted; undefined for a
   * process that is no canary.
   */
  readonly canary: readonly string[] | undefined;
  /**
   * The process was started before these sockets were there: they came with the messages before this one and with this one, in the order of
   * `listens`, and the folder of `control` is yet to be opened. Undefined for a process that has inherited all that.
   */
  readonly handed: { readonly umask: number } | undefined;
  /** What all processes of one master know, and nobody else: 32 bytes in hexadecimal. */
  readonly secret: string;
  /** The name that messages begin with: `sluice`, or `nginx` when called so. */
  readonly name: string;
}

/** Descriptors below are standard input, output, error and the channel to the master. */
export const FIRST_SOCKET_FD = 4;

/** What a worker has done since it began. */
export interface Observation {
  /** Connections, without clients that send datagrams. */
  readonly accepted: number;
  /** Finished requests, and those among them that were answered with a 5xx. */
  readonly requests: number;
  readonly errors: number;
  /** How long requests took: how many in each bucket of shared/zone/histogram.ts. Empty where requests are not counted. */
  readonly times: Float64Array;
}

/**
 * What an operator wants to see that only the master may read: the configurations that served, without their secrets; one of them with its
 * texts, by its number; the last lines of the error log.
 */
export type OperatorQuestion = 'history' | 'log' | number;

/** Asks the master. The answer is JSON text, `null` where there is none. Returns what takes the question back. */
export type AskMaster = (question: OperatorQuestion, answer: (text: string) => void) => () => void;

export type ToWorker =
  | Start
  | { readonly t: 'reopen' | 'terminate' }
  /** A socket comes with it. */
  | { readonly t: 'socket' }
  /** Lets every client finish. No other process has the sockets of these keys any more. */
  | { readonly t: 'quit'; readonly dropped: readonly string[]; readonly last: boolean }
  /** The canary has become a worker like all others. */
  | { readonly t: 'promote' }
  /** Tells what it has done now, and every so many milliseconds from now on; 0 for no more. */
  | { readonly t: 'observe'; readonly every: number }
  /** The canary may have accepted so many connections since it began. */
  | { readonly t: 'ration'; readonly accepts: number }
  /** Where all workers take datagrams that came to others: ports of the loopback interface. */
  | { readonly t: 'others'; readonly ports: readonly number[] }
  /** What an operator asked for by {@link OperatorQuestion}, as JSON text. */
  | { readonly t: 'told'; readonly number: number; readonly text: string };

export type ToMaster =
  /** The process listens to messages now; what node:cluster gets before that is lost. */
  | { readonly t: 'hello' }
  /** Every listener accepts; of a canary, those that it may accept on. */
  | { readonly t: 'ready' }
  /** The process begins to use io_uring, of which it may die; or there is none for it. */
  | { readonly t: 'ring'; readonly on: boolean }
  /** The process takes datagrams that came to others there. */
  | { readonly t: 'forwards'; readonly port: number }
  | ({ readonly t: 'observed' } & Observation)
  | { readonly t: 'ask'; readonly number: number; readonly question: OperatorQuestion }
  /** The process cannot do its work and ends; the message is for the error log, level emerg. */
  | { readonly t: 'failed'; readonly message: string };

/** What a worker without a master sends to a new one after the last of its sockets. */
export const HANDED_OVER = 'all';

/** What that master answers once its own workers accept. */
export const LET_GO = 'let go';
