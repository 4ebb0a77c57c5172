import type { Block } from '../../../shared/config/block.js';
import type { Scope } from '../../../shared/config/define.js';
import type { Logger } from '../../../shared/log/error-log.js';
import { ALERT, ERROR } from '../../../shared/log/level.js';
import type { VariableTable } from '../../../shared/value/variables.js';
import type { WorkerEnv } from '../../env.js';
import { FairShare } from '../../io/fair-share.js';
import { HotFiles } from '../../io/hot-files.js';
import { ReadBuffers } from '../../io/read-buffers.js';
import type { Resolver } from '../../resolver/resolver.js';
import type { HeadLimits } from '../syntax/head-parser.js';
import type { ListenerRuntime } from './address-runtime.js';
import type { BodyFilter, HeaderFilter } from './body-stage.js';
import type { LocationInfo } from './location-info.js';
import { LocationSettings } from './location-settings.js';
import type { LocationTree } from './location-tree.js';
import type { PhaseHandler } from './phase-handler.js';
import type { Request } from './request.js';

/** The settings of a `server {}` that the engine itself reads; filled by the `server` and `client` modules. */
export interface ServerSettings {
  headLimits: HeadLimits;
  /** Milliseconds. */
  clientHeaderTimeout: number;
  serverName: string;
  /** HTTP/2 is spoken with clients that ask for it. */
  http2: boolean;
  /** How many requests of one HTTP/2 connection are served at a time. */
  http2MaxConcurrentStreams: number;
  /** How much of a body may come on an HTTP/2 stream before somebody reads it, in bytes. */
  http2BodyPrereadSize: number;
}

/** A `server {}` as it runs. */
export class ServerRuntime {
  readonly settings = {} as ServerSettings;
  /** Settings and handlers in force outside all locations. */
  root!: LocationRuntime;
  locations!: LocationTree;
  readonly named = new Map<string, LocationRuntime>();
  /** Set by the ssl module: what a TLS listener needs of this server. */
  tls: unknown;
  readonly http: HttpRuntime;
  constructor(http: HttpRuntime) {
    this.http = http;
  }
}

/**
 * What the request's methods of these names do. Handlers and stages call the methods, so that they need not import the code that resumes
 * and ends requests.
 */
export interface RequestLife {
  resume(r: Request, code: number): void;
  finalize(r: Request, code: number): void;
  terminate(r: Request, code: number): void;
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
  postRead: readonly PhaseHandler[] = [];
  serverRewrite: readonly PhaseHandler[] = [];
  rewrite: readonly PhaseHandler[] = [];
  preaccess: readonly PhaseHandler[] = [];
  access: readonly PhaseHandler[] = [];
  precontent: readonly PhaseHandler[] = [];
  content: readonly PhaseHandler[] = [];
  logPhase: readonly PhaseHandler[] = [];
  /** The only content handler, when a directive claimed the location. */
  handler: PhaseHandler | undefined;
  headerFilters: readonly HeaderFilter[] = [];
  bodyFilters: readonly BodyFilter[] = [];
  /** Which methods leave this location for the `limit_except` block; set by its module. */
  limitExcept: { readonly allowed: number; readonly inside: LocationRuntime } | undefined;

  constructor(info: LocationInfo, server: ServerRuntime, parent: LocationRuntime | undefined) {
    this.info = info;
    this.server = server;
    this.parent = parent;
  }
}

/** The whole `http {}` block as it runs. */
export class HttpRuntime {
  readonly variables: VariableTable<Request>;
  readonly env: WorkerEnv;
  /** How its requests go on and end. */
  readonly life: RequestLife;
  readonly servers: ServerRuntime[] = [];
  readonly listeners: ListenerRuntime[] = [];
  readonly hotFiles = new HotFiles();
  readonly readBuffers = new ReadBuffers();
  readonly fairShare = new FairShare();
  /** Requests note why they are refused, for `$error_reason`. */
  explains = false;
  /** Some log or some client wants lines of level debug: asked first, since requests ask often. */
  debugs = false;
  /** By what the configuration says of each. */
  readonly resolvers = new Map<object, Resolver>();
  /** What other rooms keep for the whole block, by the key of {@link httpPart}. */
  readonly parts = new Map<object, unknown>();
  /** The settings in force at any block, for directives that refer to blocks inside theirs. */
  readonly settings: <C extends object>(scope: Scope<C, Request>, block: Block) => Readonly<C>;
  /** The merged settings of a scope at the level of the whole `http` block. */
  readonly mainSettings: <C extends object>(scope: Scope<C, Request>) => Readonly<C>;
  /** The compiled form of each server and location block, for directives that refer to blocks inside them. */
  readonly locationOf = new Map<Block, LocationRuntime>();
  constructor(variables: VariableTable<Request>, env: WorkerEnv, life: RequestLife, settings: HttpRuntime['settings'], block: Block) {
    this.variables = variables;
    variables.onCycle = (r, name) => r.log(ERROR, `cycle while evaluating variable "${name}"`);
    variables.onRegexFailure = (r, message) => r.log(ALERT, message);
    this.mainSettings = (scope) => settings(scope, block);
    this.settings = settings;
    this.env = env;
    this.life = life;
  }
}

/**
 * A thing that each `http` block has one of, made when it is first asked for: so a room above this one keeps what is its own.
 */
export function httpPart<T>(make: () => T): (http: HttpRuntime) => T {
  const key = {};
  return (http) => {
    let part = http.parts.get(key) as T | undefined;
    if (part === undefined) {
      http.parts.set(key, (part = make()));
    }
    return part;
  };
}
