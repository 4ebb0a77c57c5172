import type { Block } from '../../../shared/config/block.js';
import type { Scope } from '../../../shared/config/define.js';
import type { Logger } from '../../../shared/log/error-log.js';
import type { VariableTable } from '../../../shared/value/variables.js';
import { peerKind } from '../../../shared/zone/meter-kinds.js';
import type { Meter, Meters } from '../../../shared/zone/meters.js';
import type { WorkerEnv } from '../../env.js';
import { HotFiles } from '../../files/hot-files.js';
import type { Resolver } from '../../resolver/resolver.js';
import type { Result } from '../../task/codes.js';
import { type ProtocolRuntime, reportVariables } from '../../task/protocol-runtime.js';
import { type LocationSlot, NO_SETTINGS, type ServerSlot, withSettings } from '../../task/settings-slot.js';
import { FairShare } from '../../time/fair-share.js';
import type { ListenerRuntime } from './address-runtime.js';
import type { BodyFilter, HeaderFilter } from './body-stage.js';
import type { LocationInfo } from './location-info.js';
import { LocationTree } from './location-tree.js';
import type { PhaseHandler } from './phase-handler.js';
import type { Request } from './request.js';
import type { Tracer } from './trace.js';

/** Shared by the many servers and locations that have nothing of a sort. */
const NO_LOCATIONS: ReadonlyMap<string, LocationRuntime> = new Map();
const NO_TREE = new LocationTree([]);
const NONE: readonly never[] = [];

/** A `server {}` as it runs. */
export class ServerRuntime {
  /** The settings that modules have here, by the index of their slots. */
  confs: readonly unknown[] = NO_SETTINGS;
  /** Settings and handlers in force outside all locations. */
  readonly root: LocationRuntime;
  locations: LocationTree = NO_TREE;
  named: ReadonlyMap<string, LocationRuntime> = NO_LOCATIONS;
  /** Counts its requests; null: they are not counted. */
  zone: Meter | null = null;
  readonly http: HttpRuntime;

  constructor(http: HttpRuntime, info: LocationInfo) {
    this.http = http;
    this.root = new LocationRuntime(info, this, undefined);
  }

  /** The settings that a module has here. */
  conf<C>(slot: ServerSlot<C>): C {
    return this.confs[slot.index] as C;
  }

  /** Puts in what was made for this server alone. */
  put<C>(slot: ServerSlot<C>, settings: NoInfer<C>): void {
    this.confs = withSettings(this.confs, slot, settings);
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
  log: Logger;
  /** The settings that modules have here, by the index of their slots; one list for locations that have the same. */
  confs: readonly unknown[] = NO_SETTINGS;
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
    this.log = server.http.env.log;
  }

  /** The settings that a module has here. */
  conf<C>(slot: LocationSlot<C>): C {
    return this.confs[slot.index] as C;
  }

  /** Puts in what was made for this location alone. */
  put<C>(slot: LocationSlot<C>, settings: NoInfer<C>): void {
    this.confs = withSettings(this.confs, slot, settings);
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
