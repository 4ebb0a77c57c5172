import type { ConfigContext, LevelName, ModuleScopes, Scope } from '../shared/config/define.js';
import type { Variable as AnyVariable } from '../shared/value/variables.js';
import type { WorkerEnv } from './env.js';
import type { BodyFilter, HeaderFilter } from './http/request/body-stage.js';
import type { HttpRuntime, LocationRuntime, ServerRuntime } from './http/request/http-runtime.js';
import type { PhaseHandler } from './http/request/phase-handler.js';
import type { Request } from './http/request/request.js';
import type { SessionHandler, StreamRuntime, StreamServer } from './stream/session/runtime.js';
import type { StreamSession } from './stream/session/session.js';
import type { ClientTask } from './task/client-task.js';
import type { ProtocolRuntime } from './task/protocol-runtime.js';
import type { LocationSlot, ServerSlot } from './task/settings-slot.js';

export type Variable = AnyVariable<Request>;
/** A variable of `http` and of `stream`. */
export type SharedVariable = AnyVariable<ClientTask>;
export type StreamVariable = AnyVariable<StreamSession>;
export type Context = ConfigContext<Request>;
/** What directives of both `http` and `stream` are given. */
export type SharedContext = ConfigContext<ClientTask>;

/** The phases a module can put a handler in. nginx: ngx_http_phases. */
export type Phase = 'postRead' | 'serverRewrite' | 'rewrite' | 'preaccess' | 'access' | 'precontent' | 'content' | 'log';

/** Makes what runs at request time from merged settings. undefined: the feature is off here and costs nothing. */
export type Build<L, T> = (conf: Readonly<NoInfer<L>>, env: WorkerEnv, location: LocationRuntime) => T | undefined;

/** The phases of a session that a module can put a handler in. nginx: ngx_stream_phases. */
export type StreamPhase = 'postAccept' | 'preaccess' | 'access' | 'ssl' | 'preread' | 'log';

/** Makes a handler of sessions from merged settings. undefined: the feature is off here and costs nothing. */
export type BuildStream<L> = (conf: Readonly<NoInfer<L>>, env: WorkerEnv, server: StreamServer) => SessionHandler | undefined;

/** What a slot holds where that is not a module's settings themselves. One result serves all places with the same settings. */
export interface Made<S, C> {
  readonly slot: S;
  make(conf: Readonly<C>, env: WorkerEnv, protocol: ProtocolRuntime): unknown;
}

/** Says what a slot holds: what is made of settings while a worker starts. */
export function made<C, T>(
  slot: LocationSlot<T>,
  make: (conf: Readonly<C>, env: WorkerEnv, protocol: ProtocolRuntime) => NoInfer<T>,
): Made<LocationSlot<never>, C>;
export function made<C, T>(
  slot: ServerSlot<T>,
  make: (conf: Readonly<C>, env: WorkerEnv, protocol: ProtocolRuntime) => NoInfer<T>,
): Made<ServerSlot<never>, C>;
export function made<S, C>(slot: S, make: Made<S, C>['make']): Made<S, C> {
  return { slot, make };
}

/** The slots of a module: what locations and servers keep of its settings for code that asks while a request or a session runs. */
export interface Slots<S extends object, L extends object> {
  /** Of each location of `http`, or of each server of `stream`: the settings of `location`, or what is made of them. */
  readonly slot?: LocationSlot<L> | Made<LocationSlot<never>, NoInfer<L>>;
  /** Of each server: the settings of `server`, or what is made of them. */
  readonly serverSlot?: ServerSlot<S> | Made<ServerSlot<never>, NoInfer<S>>;
}

/**
 * What a module does in `stream`. Its directives stand in the same scopes as those of `http`; servers of `stream` have settings of the
 * levels server and location.
 */
export interface StreamPart<M extends object, S extends object, L extends object, U extends object> extends Slots<S, L> {
  readonly variables?: readonly StreamVariable[];
  readonly phases?: { readonly [X in StreamPhase]?: BuildStream<L> };
  /** What sessions are for, in servers whose directive claimed them (see {@link claimContent}). nginx: cscf->handler. */
  readonly handler?: BuildStream<L>;
  readonly installMain?: (conf: Readonly<NoInfer<M>>, stream: StreamRuntime, env: WorkerEnv) => void;
  readonly installServer?: (conf: Readonly<NoInfer<S>>, server: StreamServer, env: WorkerEnv) => void;
  readonly installLocation?: (conf: Readonly<NoInfer<L>>, server: StreamServer, env: WorkerEnv) => void;
  readonly installUpstream?: (conf: Readonly<NoInfer<U>>, stream: StreamRuntime, env: WorkerEnv) => void;
}

/**
 * The unit of extension: one folder's directives with defaults, its variables, and what runs at request time.
 * `P`, `M`, `S`, `L`, `U` are the settings at the levels process, main (`http` or `stream`), server, location and `upstream {}`.
 */
export interface Module<
  P extends object = object,
  M extends object = object,
  S extends object = object,
  L extends object = object,
  U extends object = object,
> extends Slots<S, L> {
  readonly name: string;
  readonly process?: Scope<P, Request>;
  readonly main?: Scope<M, Request>;
  readonly server?: Scope<S, Request>;
  readonly location?: Scope<L, Request>;
  readonly upstream?: Scope<U, Request>;
  /** What it does in `stream`. */
  readonly stream?: StreamPart<M, S, L, U>;
  readonly variables?: readonly Variable[];
  readonly phases?: { readonly [X in Phase]?: Build<L, PhaseHandler> };
  /**
   * The location's only content handler, for modules whose directive claimed the location (see {@link claimContent}).
   * nginx: clcf->handler.
   */
  readonly handler?: Build<L, PhaseHandler>;
  readonly headerFilter?: Build<L, HeaderFilter>;
  readonly bodyFilter?: Build<L, BodyFilter>;
  /** Make what a block, a server or a location has of its own; see `put`. */
  readonly installMain?: (conf: Readonly<NoInfer<M>>, http: HttpRuntime, env: WorkerEnv) => void;
  readonly installServer?: (conf: Readonly<NoInfer<S>>, server: ServerRuntime, env: WorkerEnv) => void;
  readonly installLocation?: (conf: Readonly<NoInfer<L>>, location: LocationRuntime, env: WorkerEnv) => void;
  /** Runs once the blocks inside the location are made, for settings that point at them. */
  readonly finishLocation?: (conf: Readonly<NoInfer<L>>, location: LocationRuntime, env: WorkerEnv) => void;
  /** Runs for each `upstream {}` block when a worker starts. */
  readonly installUpstream?: (conf: Readonly<NoInfer<U>>, http: HttpRuntime, env: WorkerEnv) => void;
}

/** Declares a module; infers the settings types from its scopes. */
export const defineModule = <
  P extends object = object,
  M extends object = object,
  S extends object = object,
  L extends object = object,
  U extends object = object,
>(
  module: Module<P, M, S, L, U>,
): Module<P, M, S, L, U> => module;

/** Declares the settings of one level; a constant of its own lets other directives of the module refer to it. */
export const defineScope = <C extends object>(scope: Scope<C, Request>): Scope<C, Request> => scope;

/** Defines a level whose directives stand in `stream` too. */
export const defineSharedScope = <C extends object>(scope: Scope<C, ClientTask>): Scope<C, ClientTask> => scope;

// biome-ignore lint/suspicious/noExplicitAny: the registry holds modules of all settings types
export type AnyModule = Module<any, any, any, any, any>;

/** The scopes of a module in the form the configuration pipeline reads. */
export function scopesOf(module: AnyModule): ModuleScopes<ClientTask> {
  const scopes: { level: LevelName; scope: Scope<object, ClientTask> }[] = [];
  for (const level of ['process', 'main', 'server', 'location', 'upstream'] as const) {
    const scope = module[level];
    if (scope !== undefined) {
      scopes.push({ level, scope });
    }
  }
  return { name: module.name, scopes };
}

/**
 * Makes this module the content handler of the location or `stream` server around the directive; the last claim wins, as the last of
 * `proxy_pass` and `stub_status` does in nginx. Inside `if` and `limit_except` it claims that block.
 */
export function claimContent(ctx: SharedContext, module: string): void {
  (ctx.block.info as { handler?: string }).handler = module;
}
