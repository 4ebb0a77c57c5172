import type { Snapshot } from '../shared/config/configuration.js';
import type { NamedFiles } from '../shared/config/named-files.js';
import type { AskMaster } from '../shared/ipc/messages.js';
import type { Logger } from '../shared/log/error-log.js';
import type { LogFiles } from '../shared/log/log-files.js';
import type { ZoneStore } from '../shared/zone/store.js';
import type { Replicas } from './fleet/replicas.js';
import type { SharedStore } from './fleet/shared-store.js';
import type { Resolver } from './resolver/resolver.js';

/** Something that a worker waits for before it serves; called back with why the worker cannot serve, or with undefined. */
export type Prepare = (done: (problem: string | undefined) => void) => void;

/** What a worker offers to the parts that are built in it. */
export interface WorkerEnv {
  /** The worker's number, from 0; stays the same when a dead worker is replaced. */
  readonly slot: number;
  /** How many workers the configuration asks for. */
  readonly workers: number;
  readonly zones: ZoneStore;
  /** The log of the main context. */
  readonly log: Logger;
  readonly logFiles: LogFiles;
  /** Files that belong to the configuration, as the master has read them. */
  readonly named: NamedFiles;
  /** Folder that relative paths start from, with its slash. */
  readonly prefix: string;
  /** Folder of the main configuration file, with its slash. */
  readonly confPrefix: string;
  /** The main configuration file. */
  readonly confFile: string;
  /** The path of `-e`; the empty text for standard error. */
  readonly errorLogPath: string;
  /** The configuration's texts, and where they are from. Its named files are not to be shown. */
  readonly snapshot?: Pick<Snapshot, 'entry' | 'globals' | 'files'>;
  readonly ask?: AskMaster;
  /** File whose text is shown in place of pages while it exists (`dev_report`). */
  readonly devReport: string | undefined;
  /** `nginx_compatibility on`. */
  readonly compatible: boolean;
  /** What the machines of a fleet share; undefined without `shared_store`. */
  readonly store?: SharedStore | undefined;
  /** Keeps zones the same on all machines; undefined in all workers but one. */
  readonly replicas?: Replicas | undefined;
  /** Requests are only tried out: nothing is written, and no connection is made. */
  readonly rehearsing?: true;
  /** Decides which requests are traced; see {@link HttpRuntime.tracer}. */
  readonly tracer?: { begin(r: object): void };
  /** Answers for all name servers. */
  readonly resolver?: Resolver;
  /** Has the worker wait for something before it serves. Undefined where nobody is served. */
  readonly beforeReady?: (work: Prepare) => void;
  /** Runs when this worker takes no more connections, and before {@link onClose}: it may serve on for long. */
  onDrain(callback: () => void): void;
  /** Runs when this worker's configuration goes out of use: close sockets, stop timers. */
  onClose(callback: () => void): void;
}
