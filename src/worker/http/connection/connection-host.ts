import type { ConnectionCounters } from '../../connections/counters.js';
import type { HeldConnection } from '../../connections/held-list.js';
import type { IdleQueue } from '../../connections/idle-queue.js';
import type { WorkerEnv } from '../../env.js';
import type { Request } from '../request/request.js';
import type { HeadLimits, HeadOwner, HeadParser } from '../syntax/head-parser.js';

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
