import type { Block } from '../../../shared/config/block.js';
import type { Scope } from '../../../shared/config/define.js';
import type { Logger } from '../../../shared/log/error-log.js';
import type { VariableTable } from '../../../shared/value/variables.js';
import { streamPeerKind } from '../../../shared/zone/meter-kinds.js';
import type { Meter, Meters } from '../../../shared/zone/meters.js';
import type { WorkerEnv } from '../../env.js';
import type { Resolver } from '../../resolver/resolver.js';
import type { Result } from '../../task/codes.js';
import { type ProtocolRuntime, reportVariables } from '../../task/protocol-runtime.js';
import { type LocationSlot, NO_SETTINGS, type ServerSlot, withSettings } from '../../task/settings-slot.js';
import type { TlsTerminator } from '../../task/tls-terminator.js';
import type { StreamSession } from './session.js';
import type { MakeSessionFilter } from './session-filter.js';

/** A step of a phase. Returns one of the codes, or a status to end the session with. */
export type SessionHandler = (s: StreamSession) => Result;

/** The phases with handlers before the content, in the order in which they run. nginx: ngx_stream_phases. */
export const PHASES = ['postAccept', 'preaccess', 'access', 'ssl', 'preread'] as const;
export const PREREAD: number = PHASES.indexOf('preread');

/** A `server {}` of `stream` as it runs. */
export class StreamServer {
  /** The settings that modules have here, by the index of their slots. */
  confs: readonly unknown[] = NO_SETTINGS;
  readonly stream: StreamRuntime;
  log: Logger;
  /** What counts its sessions; null where nothing is counted. */
  zone: Meter | null = null;
  /** By the index of {@link PHASES}. Features that are not configured are absent. */
  phases: readonly (readonly SessionHandler[])[] = [];
  logPhase: readonly SessionHandler[] = [];
  /** What the session is for. */
  handler: SessionHandler | undefined = undefined;
  /** Makes what stands between the client and whatever the session is for; undefined: nothing does. */
  makeFilter: MakeSessionFilter | undefined = undefined;

  constructor(stream: StreamRuntime) {
    this.stream = stream;
    this.log = stream.env.log;
  }

  /** The settings that a module has here. */
  conf<C>(slot: LocationSlot<C> | ServerSlot<C>): C {
    return this.confs[slot.index] as C;
  }

  /** Puts in what was made for this server alone. */
  put<C>(slot: LocationSlot<C> | ServerSlot<C>, settings: NoInfer<C>): void {
    this.confs = withSettings(this.confs, slot, settings);
  }

  get meters(): Meters | null {
    return this.stream.meters;
  }

  /** Where handshakes log to, and how they look names up: there are no locations in it. */
  get root(): this {
    return this;
  }
}

/** What a bound address serves. nginx: ngx_stream_addr_conf_t. */
export interface StreamAddress {
  /** Local address as text, or undefined for "any". */
  readonly address: string | undefined;
  readonly port: number;
  /** Takes TLS off connections; undefined for plain ones. */
  readonly tls: TlsTerminator<StreamServer> | undefined;
  readonly proxyProtocol: boolean;
  readonly defaultServer: StreamServer;
  /** The server for a host name (lower case); named groups of a regular expression are kept on the session. */
  find(host: string, s: StreamSession): StreamServer | undefined;
}

/** One listening socket. */
export interface StreamListener {
  /** The socket's, among those of the worker. */
  readonly socketKey: string;
  /** As nginx writes it in messages. */
  readonly key: string;
  readonly unix: boolean;
  readonly udp: boolean;
  readonly soKeepalive: boolean | undefined;
  /** Addresses served on the socket; more than one when a wildcard socket stands in for specific addresses. */
  readonly addresses: readonly StreamAddress[];
}

/** The whole `stream {}` block as it runs. */
export class StreamRuntime implements ProtocolRuntime {
  readonly variables: VariableTable<StreamSession>;
  readonly env: WorkerEnv;
  /** Counts servers, groups, limits and handshakes by their names; null with `status_zones off`. */
  meters: Meters | null = null;
  readonly peerKind = streamPeerKind;
  readonly servers: StreamServer[] = [];
  readonly listeners: StreamListener[] = [];
  readonly resolvers = new Map<object, Resolver>();
  readonly parts = new Map<object, unknown>();
  /** Some log or some client wants lines of level debug: asked first. */
  debugs = false;
  /** Some server hands its connections to other listeners. */
  passes = false;
  /** The merged settings of a scope at the level of the whole `stream` block. */
  readonly mainSettings: <C extends object>(scope: Scope<C, StreamSession>) => Readonly<C>;

  constructor(
    variables: VariableTable<StreamSession>,
    env: WorkerEnv,
    settings: <C extends object>(scope: Scope<C, StreamSession>, block: Block) => Readonly<C>,
    block: Block,
  ) {
    this.variables = variables;
    this.env = env;
    this.mainSettings = (scope) => settings(scope, block);
    reportVariables(variables);
  }
}
