import type { Socket } from 'node:net';
import type { Block } from '../../../shared/config/block.js';
import type { Scope } from '../../../shared/config/define.js';
import type { Logger } from '../../../shared/log/error-log.js';
import { ALERT, ERROR, type Level } from '../../../shared/log/level.js';
import type { ClientSocket } from '../../../shared/net/client-socket.js';
import type { PlainSocket } from '../../../shared/net/plain-socket.js';
import type { ComplexValue, RegexValue, VariableTable } from '../../../shared/value/value.js';
import { HotFiles } from '../../io/hot-files.js';
import { ReadBuffers } from '../../io/read-buffers.js';
import { ReadTurns } from '../../io/read-turns.js';
import type { WorkerEnv } from '../../module.js';
import type { Resolver } from '../../resolver/resolver.js';
import type { TlsPeer } from '../../tls/peer.js';
import type { LocationBackend } from '../../upstream/exchange/location-backend.js';
import type { UpstreamGroup } from '../../upstream/group/group.js';
import { UpstreamGroups } from '../../upstream/group/groups.js';
import type { ClientContext } from '../../upstream/tls/tls-client.js';
import type { GzipRules } from '../message/accept-gzip.js';
import type { HeadLimits } from '../syntax/head-parser.js';
import type { BodyFilter, HeaderFilter } from './body-stage.js';
import type { ErrorPage } from './error-page.js';
import type { FileSettings } from './file-settings.js';
import type { LocationInfo } from './location-info.js';
import type { LocationTree } from './location-tree.js';
import type { PhaseHandler } from './phase-handler.js';
import type { Request } from './request.js';

/** What a bound address serves: which server answers for which name. nginx: ngx_http_addr_conf_t. */
export interface AddressRuntime {
  /** Local address as text, or undefined for "any". */
  readonly address: string | undefined;
  readonly port: number;
  /** Takes TLS off connections; undefined for plain HTTP. */
  readonly tls: TlsTerminator | undefined;
  readonly http2: boolean;
  readonly proxyProtocol: boolean;
  readonly defaultServer: ServerRuntime;
  /** No name needs looking up: the default server answers for all. */
  readonly single: boolean;
  /** Some server's name is a regular expression. */
  readonly patterns: boolean;
  /** The server for a host name (lower case, without port). Named groups of a regular expression are kept on `r`, which may be null without {@link patterns}. */
  find(host: string, r: Request | null): ServerRuntime | undefined;
}

/** Runs the TLS handshake of a connection. */
export interface TlsTerminator {
  /** It can work on libuv's handles: otherwise it wants Node's sockets. */
  readonly direct: boolean;
  /** Calls back once, with what was agreed or with what failed. */
  accept(socket: Socket, done: TlsDone): void;
  /**
   * The same for a connection that has no `net.Socket`, which it closes if the handshake fails; the bytes, which are good for the call, are all
   * that came of it so far. Returns undefined when more must come before the handshake can begin.
   */
  acceptPlain(socket: PlainSocket, bytes: Buffer, done: TlsDone): Handshaking | undefined;
}

/** A handshake under way. */
export interface Handshaking {
  /** Gives it up, and closes the connection; nobody is called back. */
  close(): void;
}

export type TlsDone = (result: TlsAccepted | TlsFailure) => void;

/** A finished TLS handshake. */
export interface TlsAccepted {
  /** Decrypts. */
  readonly socket: ClientSocket;
  readonly peer: TlsPeer;
  /** The server that the client named in its hello, or the address's default server. */
  readonly server: ServerRuntime;
  /** The name in the hello, in lower case, when a server answers to it. */
  readonly serverName: string | undefined;
}

/** A handshake that failed, in nginx's words. */
export interface TlsFailure {
  readonly level: Level;
  readonly message: string;
}

/** One listening socket. */
export interface ListenerRuntime {
  readonly key: string;
  readonly unix: boolean;
  readonly soKeepalive: boolean | undefined;
  /** Addresses served on the socket; more than one when a wildcard socket stands in for specific addresses. */
  readonly addresses: readonly AddressRuntime[];
}

/** The settings of a `server {}` that the engine itself reads; filled by the `server` and `client` modules. */
export interface ServerSettings {
  headLimits: HeadLimits;
  /** Milliseconds. */
  clientHeaderTimeout: number;
  serverName: string;
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
 * The settings of a location that the engine itself reads. Each field is filled by the module that declares its directive.
 * A class, since V8 makes a hash table of an object that gets so many fields one by one, and every request reads dozens.
 */
export class LocationSettings {
  clientMaxBodySize!: number;
  clientBodyBufferSize!: number;
  clientBodyTimeout!: number;
  clientBodyTempPath!: TempPath;
  clientBodyInFileOnly!: 'off' | 'on' | 'clean';
  clientBodyInSingleBuffer!: boolean;
  sendTimeout!: number;
  keepaliveTimeout!: number;
  /** Seconds in the `Keep-Alive` header; 0 for none. */
  keepaliveHeader!: number;
  keepaliveRequests!: number;
  keepaliveTime!: number;
  keepaliveMinTimeout!: number;
  /** Bit 1: MSIE 6, bit 2: Safari. */
  keepaliveDisable!: number;
  lingeringClose!: 'off' | 'on' | 'always';
  lingeringTime!: number;
  lingeringTimeout!: number;
  resetTimedoutConnection!: boolean;
  chunkedTransferEncoding!: boolean;
  msiePadding!: boolean;
  msieRefresh!: boolean;
  tcpNodelay!: boolean;
  root!: ComplexValue<Request>;
  /**
   * Not 0: `root` holds an `alias`, which replaces that many characters at the start of the URI instead of standing
   * before it; -1 in a regular expression's location: it replaces the whole URI.
   */
  alias!: number;
  files!: FileSettings;
  /** How much of a subrequest's response is kept in memory where it is wanted there. */
  subrequestOutputBufferSize!: number;
  types!: ReadonlyMap<string, string>;
  defaultType!: string;
  etag!: boolean;
  ifModifiedSince!: 'off' | 'exact' | 'before';
  internal!: boolean;
  satisfy!: 'all' | 'any';
  /** How long, in milliseconds, a 401 is held back. */
  authDelay!: number;
  errorPages!: readonly ErrorPage[];
  recursiveErrorPages!: boolean;
  serverTokens!: ComplexValue<Request>;
  serverNameInRedirect!: boolean;
  portInRedirect!: boolean;
  absoluteRedirect!: boolean;
  /** URI or `@name` that requests are sent to once their response is over. */
  postAction: string | undefined = undefined;
  logNotFound!: boolean;
  logSubrequest!: boolean;
  uninitializedVariableWarn!: boolean;
  gzip!: GzipRules;
  /** How `$fastcgi_script_name` and `$fastcgi_path_info` are made. */
  fastcgi!: { readonly index: string; readonly split: RegexValue<Request> | undefined };
  earlyHints!: readonly ComplexValue<Request>[];
  /** Looks names up at request time. */
  resolver: Resolver | undefined = undefined;
  /** Milliseconds. */
  resolverTimeout!: number;
  limitRate: ComplexValue<Request> | undefined = undefined;
  limitRateAfter: ComplexValue<Request> | undefined = undefined;
}

/** A folder for temporary files with nginx's hashed sub-folders. */
export interface TempPath {
  readonly path: string;
  readonly levels: readonly number[];
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
  /** Asks the location's backends, when they always are the same group. */
  backend: LocationBackend | undefined;
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
  readonly servers: ServerRuntime[] = [];
  readonly listeners: ListenerRuntime[] = [];
  readonly hotFiles = new HotFiles();
  readonly readBuffers = new ReadBuffers();
  readonly readTurns = new ReadTurns();
  readonly upstreams = new UpstreamGroups();
  /** Requests note why they are refused, for `$error_reason`. */
  explains = false;
  /** The active checks of groups; their module knows what they are. */
  readonly checks = new Map<UpstreamGroup, object>();
  /** By what the configuration says of each. */
  readonly resolvers = new Map<object, Resolver>();
  /** Contexts of TLS connections to backends, by their settings. */
  readonly clientContexts = new Map<string, ClientContext>();
  /** The settings in force at any block, for directives that refer to blocks inside theirs. */
  readonly settings: <C extends object>(scope: Scope<C, Request>, block: Block) => Readonly<C>;
  /** The merged settings of a scope at the level of the whole `http` block. */
  readonly mainSettings: <C extends object>(scope: Scope<C, Request>) => Readonly<C>;
  /** The compiled form of each server and location block, for directives that refer to blocks inside them. */
  readonly locationOf = new Map<Block, LocationRuntime>();
  constructor(variables: VariableTable<Request>, env: WorkerEnv, settings: HttpRuntime['settings'], block: Block) {
    this.variables = variables;
    variables.onCycle = (r, name) => r.log(ERROR, `cycle while evaluating variable "${name}"`);
    variables.onRegexFailure = (r, message) => r.log(ALERT, message);
    this.mainSettings = (scope) => settings(scope, block);
    this.settings = settings;
    this.env = env;
  }
}

export type { RegexValue };
