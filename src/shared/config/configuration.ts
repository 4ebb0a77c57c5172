import type { ErrorLogSpec } from '../log/error-log-spec.js';
import type { Level } from '../log/level.js';
import type { AnyZoneRef } from '../zone/kind.js';
import type { FileVersion } from './named-files.js';

/**
 * The texts that a configuration consists of, exactly as the master read them, and what it looked up for them. Workers build their
 * configuration from it and read nothing themselves.
 */
export interface Snapshot {
  /** Full path of the main file. */
  readonly entry: string;
  /** Folder that relative paths start from; ends in `/`. */
  readonly prefix: string;
  /** Folder of the main file, where relative `include` paths start; ends in `/`. */
  readonly confPrefix: string;
  /** The directives of `-g`. */
  readonly globals: string;
  /** The path of `-e` as it was given, or its default; the empty text for standard error. */
  readonly errorLog?: string | undefined;
  /** Text (latin1) by full path, in the order of reading. */
  readonly files: Readonly<Record<string, string>>;
  /** Matches of each `include` pattern. */
  readonly globs: Readonly<Record<string, readonly string[]>>;
  /** Content (latin1) by full path of files that settings name, such as certificates and their keys. Not to be shown. */
  readonly named: Readonly<Record<string, string>>;
  /** Addresses by host name. */
  readonly hosts: Readonly<Record<string, readonly string[]>>;
}

/** One thing that is wrong with a configuration, or odd about it, ready to be shown. */
export interface Finding {
  readonly level: Level;
  /** nginx's one line, without `[emerg] `: `unknown directive "x" in /etc/sluice/sluice.conf:3`. */
  readonly message: string;
  /** Lines for a person, printed below that one; empty or ending in a line feed. */
  readonly detail: string;
}

/** Settings of the main and `events` contexts, merged with their defaults. */
export interface ProcessConf {
  readonly daemon: boolean;
  readonly masterProcess: boolean;
  /** At least 1; `auto` is resolved. */
  readonly workerProcesses: number;
  /** The user that workers become when the master runs as root; undefined when it does not. */
  readonly user: string | undefined;
  readonly group: string | undefined;
  /** Full path. */
  readonly pid: string;
  /** Full path. */
  readonly lockFile: string;
  readonly workerConnections: number;
  readonly rlimitNofile: number | undefined;
  /** Bytes. */
  readonly rlimitCore: number | undefined;
  /** nice value of workers; 0 leaves it alone. */
  readonly priority: number;
  /** The arguments of `worker_cpu_affinity`: one bit mask ("0101", lowest CPU last) a worker, or `auto` and perhaps the CPUs to use. */
  readonly cpuAffinity: readonly string[] | undefined;
  /** Milliseconds that old workers may take after a reload; 0 for any time. */
  readonly shutdownTimeout: number;
  readonly workingDirectory: string | undefined;
  /** `NAME` or `NAME=value`, in the order of the directives. */
  readonly env: readonly string[];
  /** Full path of the folder in which the shared zones' files are kept; undefined for the default. */
  readonly zoneDirectory: string | undefined;
  /** Full path of the folder in which configurations that served are kept; undefined when they are not. */
  readonly history: string | undefined;
  /**
   * A reload begins with one worker that takes this share of new connections (0 to 1) for at most `time` milliseconds; undefined when all
   * new workers take over at once.
   */
  readonly canary: { readonly share: number; readonly time: number } | undefined;
  /** Workers use io_uring where they can. */
  readonly ring: boolean;
  /** Workers keep the right to send from addresses of others (CAP_NET_RAW). */
  readonly transparent: boolean;
  readonly nginxCompatibility: boolean;
}

/** Options of a listening socket that Node cannot set. Undefined, or 0 of the probes: left as the system has it. */
export interface SocketExtras {
  /** Bytes. */
  readonly rcvbuf: number | undefined;
  readonly sndbuf: number | undefined;
  /** How many connections of TCP Fast Open may wait for the end of their handshake. */
  readonly fastopen: number | undefined;
  /** The kernel keeps connections back until their clients send something. */
  readonly deferred: boolean;
  /** After so many idle seconds, so many seconds apart, and so many before the connection counts as dead. */
  readonly probes: { readonly idle: number; readonly interval: number; readonly count: number } | undefined;
}

/** One address that the master binds. Two specs are the same socket when their `key` and their `worker` are equal. */
export interface ListenSpec {
  /** Names the address among all others. */
  readonly key: string;
  /** The socket is of this worker alone, by its slot; undefined for one that all workers accept from. */
  readonly worker?: number | undefined;
  /** As nginx writes it in messages: `127.0.0.1:8080`, `0.0.0.0:80`, `[::]:80`, `unix:/path`. */
  readonly text: string;
  readonly family: 'ipv4' | 'ipv6' | 'unix';
  /** Numeric address without brackets, or the full path of the socket. */
  readonly address: string;
  /** 0 for `unix`. */
  readonly port: number;
  readonly backlog: number;
  readonly ipv6only: boolean;
  readonly reuseport: boolean;
  /** `listen ... udp` of a stream server, and `listen ... quic`. */
  readonly udp: boolean;
  /** Connections of QUIC come, which one of the workers has. */
  readonly quic?: boolean | undefined;
  /** Undefined when the configuration names none. */
  readonly extras?: SocketExtras | undefined;
}

/** The folder of a `*_cache_path`, whose index needs helper processes. */
export interface CachePathSpec {
  readonly path: string;
  readonly manager: boolean;
  readonly loader: boolean;
  /** The cache's zone, for those processes, which read no configuration: what kind of cache it is, and its data. */
  readonly zone: { readonly family: string; readonly name: string; readonly bytes: number; readonly data: object };
}

/** What the helper processes of the caches look after. */
export interface CacheWork {
  readonly caches: readonly CachePathSpec[];
  /** The folders of the configuration in which temporary files may lie. */
  readonly folders: readonly string[];
}

/** A valid configuration, in the parts that the master works with. Workers build the rest from `snapshot`. */
export interface Configuration {
  readonly snapshot: Snapshot;
  /** What the next configuration may take over instead of reading it again. */
  readonly inheritable: ReadonlyMap<string, FileVersion>;
  readonly process: ProcessConf;
  readonly listens: readonly ListenSpec[];
  /** The addresses for a person to open: `http://127.0.0.1:8080/`. */
  readonly urls: readonly string[];
  /** The logs of the main context; the default one is there when no directive names one. */
  readonly errorLogs: readonly ErrorLogSpec[];
  /** Full paths of all further log files, those of all levels, which have to be opened at start. */
  readonly logFiles: readonly string[];
  /** Full paths of folders that are created, and given to the workers' user, at start. */
  readonly tempPaths: readonly string[];
  readonly cachePaths: readonly CachePathSpec[];
  /** Some server wants certificates from a CA, which a helper process gets. */
  readonly acme: boolean;
  /** Full path of the root certificate of `https internal`; undefined where no server has that. */
  readonly internalRoot: string | undefined;
  readonly zones: readonly AnyZoneRef[];
  /** Findings that do not stop the server, in the order they were made. */
  readonly warnings: readonly Finding[];
  /** What an operator may want to decide, told by `-t` alone (latin1); undefined where there is nothing, or nobody tests. */
  readonly advice: string | undefined;
}

/** Thrown when a configuration cannot be used: all that is wrong with it, gravest reason to stop first, warnings included. */
export class ConfigErrors extends Error {
  readonly findings: readonly Finding[];
  /** The syntax is right and the error is of another kind; nginx prints "syntax is ok" before it. */
  readonly parsed: boolean;

  constructor(findings: readonly Finding[], parsed = false) {
    super(findings[0]?.message ?? 'invalid configuration');
    this.name = 'ConfigErrors';
    this.findings = findings;
    this.parsed = parsed;
  }
}

/** What the command line says about the configuration. All folders end in `/`. */
export interface LoadOptions {
  /** Full path of the main file. */
  readonly entry: string;
  readonly prefix: string;
  readonly confPrefix: string;
  /** Path of the error log when no directive names one (`-e`), relative to the prefix; the empty string for standard error. */
  readonly errorLog: string;
  /** The directives of `-g`. */
  readonly globals: string;
  /** Default of `pid`, relative to the prefix. */
  readonly pid: string;
  /** True when nothing is going to be started (`-s`): only the process settings are needed, and hosts need not be looked up. */
  readonly signalling: boolean;
  /** The prefix is the folder of the file that was named: its folder `logs` is made if it is missing. */
  readonly project?: true;
  /** {@link Configuration.inheritable} of the configuration before. */
  readonly inherited?: ReadonlyMap<string, FileVersion>;
  /** Nothing is going to be started (`-t`), and all is looked at that a start would find. */
  readonly testing?: boolean;
  /** The texts of a configuration that served before, which are read in place of the files. */
  readonly kept?: Pick<Snapshot, 'files' | 'globs'>;
  /** Files that settings name as the process that started this one has read them: pipes, which give their text once. */
  readonly piped?: Snapshot['named'];
}

/** Reads and validates a configuration; throws {@link ConfigErrors}. */
export type LoadConfiguration = (options: LoadOptions) => Configuration | Promise<Configuration>;
