import type { Block } from '../../../shared/config/block.js';
import type { Scope } from '../../../shared/config/define.js';
import type { Logger } from '../../../shared/log/error-log.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { VariableTable } from '../../../shared/value/variables.js';
import { peerKind } from '../../../shared/zone/meter-kinds.js';
import type { Meter, Meters } from '../../../shared/zone/meters.js';
import type { WorkerEnv } from '../../env.js';
import { HotFiles } from '../../files/hot-files.js';
import type { Resolver } from '../../resolver/resolver.js';
import type { Result } from '../../task/codes.js';
import { type ProtocolRuntime, reportVariables } from '../../task/protocol-runtime.js';
import { FairShare } from '../../time/fair-share.js';
import type { HeadLimits } from '../syntax/head-parser.js';
import type { ListenerRuntime } from './address-runtime.js';
import type { BodyFilter, HeaderFilter } from './body-stage.js';
import type { LocationInfo } from './location-info.js';
import { LocationSettings } from './location-settings.js';
import type { LocationSlot } from './location-slot.js';
import type { LocationTree } from './location-tree.js';
import type { PhaseHandler } from './phase-handler.js';
import type { Request } from './request.js';
import type { Tracer } from './trace.js';

/** The settings of a `server {}` that the engine itself reads; filled by the `server` and `client` modules. */
export interface ServerSettings {
  headLimits: HeadLimits;
  /** Milliseconds. */
  clientHeaderTimeout: number;
  serverName: string;
  /** Requests without TLS are sent to this port; 0 for none. */
  httpsPort: number;
  /** The `Alt-Svc` of responses over TLS; empty for none. */
  alternative: string;
  /** `client_body_early_read`: a request's body is read before its phases begin if one of these is true. */
  bodyEarlyRead: readonly ComplexValue<Request>[];
  /** HTTP/2 is spoken with clients that ask for it. */
  http2: boolean;
  /** How many requests of one HTTP/2 connection are served at a time. */
  http2MaxConcurrentStreams: number;
  /** How much of a body may come on an HTTP/2 stream before somebody reads it, in bytes. */
  http2BodyPrereadSize: number;
  /** What QUIC does for addresses whose default server this is. */
  quic: QuicServerSettings;
  /** HTTP/3 is spoken, and HTTP/0.9 over QUIC, with clients that ask for it. */
  http3: boolean;
  http3Hq: boolean;
  /** How many requests of one HTTP/3 connection are served at a time. */
  http3MaxConcurrentStreams: number;
  /** How many bytes are kept of each stream in either direction. */
  http3StreamBufferSize: number;
}

/** The settings of `quic_*`. */
export interface QuicServerSettings {
  readonly retry: boolean;
  readonly segments: boolean;
  /** A secret, a character for a byte; undefined for one of the server's own. */
  readonly hostKey: string | undefined;
  /** So many connection IDs of a client are kept. */
  readonly idLimit: number;
}

/** Shared by the many servers and locations that have nothing of a sort. */
const NO_LOCATIONS: ReadonlyMap<string, LocationRuntime> = new Map();
const NONE: readonly never[] = [];

/** A `server {}` as it runs. */
export class ServerRuntime {
  readonly settings = {} as ServerSettings;
  /** Settings and handlers in force outside all locations. */
  root!: LocationRuntime;
  locations!: LocationTree;
  named: ReadonlyMap<string, LocationRuntime> = NO_LOCATIONS;
  /** Set by the ssl module: what a TLS listener needs of this server. */
  tls: unknown;
  /** Counts its requests; null: they are not counted. */
  zone: Meter | null = null;
  readonly http: HttpRuntime;

  constructor(http: HttpRuntime) {
    this.http = http;
  }

  get meters(): Meters | null {
    return this.http.meters;
  }
}

/**
 * What the request's methods of these names do. Handlers and stages call the methods, so that they need not import the code that resumes
 * and ends requests.
 */
export interface RequestLife {
  resume(r: Request, code: Result): void;
  finalize(r: Request, code: Result): void;
  terminate(r: Request, code: Result): void;
  kill(r: Request, code: Result): void;
}

/** What a merged location compiles to. Features that are not configured there are absent. */
export class LocationRuntime {
  readonly info: LocationInfo;
  readonly server: ServerRuntime;
  readonly parent: LocationRuntime | undefined;
  /** Nested locations, for prefix locations that hold regular expressions or deeper prefixes. */
  children: LocationTree | undefined;
  /** The `limit_except` or `if` blocks inside, in order; directives find theirs by block. */
  readonly nameless: LocationRuntime[] = [];
  log!: Logger;
  readonly settings = new LocationSettings();
  /** The settings of the modules that have a slot, by its index; one list for locations that have the same. */
  confs: readonly object[] = NONE;
  postRead: readonly PhaseHandler[] = NONE;
  serverRewrite: readonly PhaseHandler[] = NONE;
  rewrite: readonly PhaseHandler[] = NONE;
  preaccess: readonly PhaseHandler[] = NONE;
  access: readonly PhaseHandler[] = NONE;
  precontent: readonly PhaseHandler[] = NONE;
  content: readonly PhaseHandler[] = NONE;
  logPhase: readonly PhaseHandler[] = NONE;
  /** The only content handler, when a directive claimed the location. */
  handler: PhaseHandler | undefined;
  headerFilters: readonly HeaderFilter[] = NONE;
  bodyFilters: readonly BodyFilter[] = NONE;
  /** Which methods leave this location for the `limit_except` block; set by its module. */
  limitExcept: { readonly allowed: number; readonly inside: LocationRuntime } | undefined;

  constructor(info: LocationInfo, server: ServerRuntime, parent: LocationRuntime | undefined) {
    this.info = info;
    this.server = server;
    this.parent = parent;
  }

  /** The settings that a module has here. */
  conf<C extends object>(slot: LocationSlot<C>): Readonly<C> {
    return this.confs[slot.index] as C;
  }
}

/** The whole `http {}` block as it runs. */
export class HttpRuntime implements ProtocolRuntime {
  readonly variables: VariableTable<Request>;
  readonly env: WorkerEnv;
  /** How its requests go on and end. */
  readonly life: RequestLife;
  readonly servers: ServerRuntime[] = [];
  readonly listeners: ListenerRuntime[] = [];
  readonly hotFiles = new HotFiles();
  readonly fairShare = new FairShare();
  /** Counts servers, groups, caches, limits and handshakes by their names; null with `status_zones off`. */
  meters: Meters | null = null;
  /** The `stream` block beside it. */
  stream: ProtocolRuntime | undefined = undefined;
  readonly peerKind = peerKind;
  /** Requests note why they are refused, for `$error_reason`. */
  explains = false;
  /** Some log or some client wants lines of level debug: asked first, since requests ask often. */
  debugs = false;
  /** Decides which requests get a {@link Trace}; null where none may. */
  tracer: Tracer | null;
  /** By what the configuration says of each. */
  readonly resolvers = new Map<object, Resolver>();
  /** What other rooms keep for the whole block, by the key of runtimePart. */
  readonly parts = new Map<object, unknown>();
  /** The settings in force at any block, for directives that refer to blocks inside theirs. */
  readonly settings: <C extends object>(scope: Scope<C, Request>, block: Block) => Readonly<C>;
  /** The merged settings of a scope at the level of the whole `http` block. */
  readonly mainSettings: <C extends object>(scope: Scope<C, Request>) => Readonly<C>;
  /** The compiled form of each server and location block, for directives that refer to blocks inside them. */
  readonly locationOf = new Map<Block, LocationRuntime>();
  readonly block: Block;
  constructor(variables: VariableTable<Request>, env: WorkerEnv, life: RequestLife, settings: HttpRuntime['settings'], block: Block) {
    this.block = block;
    this.variables = variables;
    reportVariables(variables);
    this.mainSettings = (scope) => settings(scope, block);
    this.settings = settings;
    this.env = env;
    this.tracer = env.tracer ?? null;
    this.life = life;
  }
}
