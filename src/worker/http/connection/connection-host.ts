import type { WorkerEnv } from '../../env.js';
import type { Request } from '../request/request.js';
import type { HeadLimits, HeadOwner, HeadParser } from '../syntax/head-parser.js';
import type { ConnectionCounters } from './counters.js';
import type { IdleQueue } from './idle-queue.js';

/** A client connection in whatever state, as far as all of them together are concerned. */
export interface HeldConnection {
  /** The worker is about to leave: an idle connection is closed when nothing can be on its way any more. `now`: monotonic milliseconds. */
  drain(now: number): void;
  /** Ends the connection whatever it is doing: the worker must go. */
  kill(): void;
}

/** What a protocol's connections are given by whoever accepts them. */
export interface ConnectionHost {
  readonly env: WorkerEnv;
  readonly counters: ConnectionCounters;
  /** The connections on which nothing is under way. */
  readonly idle: IdleQueue;
  /** The worker is leaving: responses say `Connection: close`. */
  readonly draining: boolean;
  /** A parser for one head; it comes back by {@link giveParser}. */
  takeParser(limits: HeadLimits, owner: HeadOwner): HeadParser;
  giveParser(parser: HeadParser): void;
  /** Counts a finished request under its status. */
  countStatus(r: Request): void;
  /** A connection is about to be closed: nobody who sees its end may find it counted still. */
  uncount(connection: HeldConnection): void;
  /** Called by each connection as it ends. */
  connectionClosed(connection: HeldConnection): void;
}
