import type { X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import type { Meter } from '../../../shared/zone/meters.js';
import { md5Hex } from '../../digest/md5.js';
import type { Membership } from './membership.js';
import type { Rotation } from './rotation.js';

/** Values of {@link Peer.down}. */
export const UP = 0;
export const DOWN = 1;
/** Takes only requests that `sticky` sends its way. */
export const DRAINING = 8;

/** Values of {@link Peer.health}; requests go to healthy peers alone. */
export const HEALTHY = 0;
export const UNHEALTHY = 1;
/** The first check is not over. */
export const UNKNOWN = 2;

/** How an attempt ended, for {@link Picker.done}. nginx: NGX_PEER_*. */
export const PEER_OK = 0;
/** The peer works but another one is asked, as after a 404. */
export const PEER_NEXT = 2;
export const PEER_FAILED = 4;

/** What the configuration says about a peer. */
export interface PeerOptions {
  readonly weight: number;
  /** 0: no limit. */
  readonly maxConns: number;
  /** 0: failures are not counted. */
  readonly maxFails: number;
  /** Seconds. */
  readonly failTimeout: number;
  /** Milliseconds; 0: at full weight at once. */
  readonly slowStart: number;
  readonly down: number;
  /** The `route` of sticky sessions; empty: made from the address. */
  readonly route: string;
}

export const defaultPeerOptions: PeerOptions = {
  weight: 1,
  maxConns: 0,
  maxFails: 1,
  failTimeout: 10,
  slowStart: 0,
  down: UP,
  route: '',
};

/** Who a backend showed itself to be in a whole TLS handshake; Node tells once only, and not when the session is resumed. */
export interface TlsIdentity {
  certificate: X509Certificate | undefined;
}

/** A TLS session that can be resumed. */
export interface SavedSession {
  readonly session: Buffer;
  readonly identity: TlsIdentity;
  /** The keys were agreed on with one of X25519, and with none that a quantum computer could not find out: the backend has none. */
  readonly classic: boolean;
}

/** One address of a backend group, with its standing. nginx: ngx_http_upstream_rr_peer_t. */
export class Peer {
  /** Address and port, or `unix:` and the path. */
  readonly name: string;
  /** The `server` line's name, shared by all addresses of a host. */
  readonly server: string;
  /** Numeric address without brackets; the path of a unix socket. */
  readonly address: string;
  /** 0 for unix sockets. */
  readonly port: number;
  weight: number;
  effectiveWeight: number;
  currentWeight = 0;
  conns = 0;
  maxConns: number;
  fails = 0;
  /** Seconds of the wall clock at the last failure. */
  accessed = 0;
  /** Seconds of the wall clock at the last failure or trial. */
  checked = 0;
  maxFails: number;
  failTimeout: number;
  slowStart: number;
  /** Milliseconds of the wall clock since which the peer works again; 0 when it always did. */
  recoveredAt = 0;
  down: number;
  /** What the active health checks found: one of HEALTHY, UNHEALTHY and UNKNOWN. */
  health = HEALTHY;
  readonly sid: string;
  readonly hasRoute: boolean;
  /** Running means in milliseconds, for `least_time`; 0 until measured. */
  headerTime = 0;
  responseTime = 0;
  inflightTime = 0;
  inflightLast = 0;
  inflightChanged = 0;
  inflightRequests = 0;
  /** The last TLS session of each context, for resumption; a session means nothing to another one. */
  sessions: WeakMap<SecureContext, SavedSession> | undefined = undefined;
  /** Counts what is asked of it; null where nothing is counted. */
  meter: Meter | null = null;
  /** What the API calls it. */
  id = 0;
  /** Tells servers that were added apart, whatever address they had when; 0: it is of the configuration. */
  serial = 0;
  /** Place in its set. */
  index = 0;

  /** The peer is not of the configuration, but was added since. */
  get added(): boolean {
    return this.serial !== 0;
  }

  constructor(name: string, server: string, address: string, port: number, options: PeerOptions) {
    this.name = name;
    this.server = server;
    this.address = address;
    this.port = port;
    this.weight = options.weight;
    this.effectiveWeight = options.weight;
    this.maxConns = options.maxConns;
    this.maxFails = options.maxFails;
    this.failTimeout = options.failTimeout;
    this.slowStart = options.slowStart;
    this.down = options.down;
    this.hasRoute = options.route !== '';
    this.sid = this.hasRoute ? options.route : md5Hex(name);
  }
}

/** The peers of a group among which a balancer chooses, and the backup ones behind them. nginx: ngx_http_upstream_rr_peers_t. */
export class PeerSet {
  readonly name: string;
  peers: readonly Peer[];
  totalWeight = 0;
  /** Peers that are not down: how often a request may be tried. */
  tries = 0;
  /** The weights differ. */
  weighted = false;
  /** One peer and no backup: it is always asked, whatever happened before. */
  single = false;
  readonly backup: PeerSet | null;
  /** Spares round robin a look at each peer; null where others than this worker's round robin choose among them. */
  rotation: Rotation | null = null;
  /** How the peers differ from the configuration. */
  membership: Membership = { added: [], removed: [], last: 0 };
  /** Changes when a list of peers does; one for a set and its backup. */
  readonly config: { version: number };

  /** `backup` is the set behind this one; the set that stands behind another is made with `undefined` there. */
  constructor(name: string, peers: readonly Peer[], backup: PeerSet | null | undefined) {
    this.name = name;
    this.peers = peers;
    this.backup = backup ?? null;
    this.#behind = backup === undefined;
    this.config = backup?.config ?? { version: 0 };
    this.count();
  }

  readonly #behind: boolean;

  /** The health of peers that are added. */
  #firstHealth: ((peer: Peer) => number) | undefined = undefined;

  #meterOf: ((peer: Peer) => Meter) | null = null;

  /** Has all peers, and those to come, counted. */
  countWith(meterOf: (peer: Peer) => Meter): void {
    this.#meterOf = meterOf;
    for (const peer of this.peers) {
      peer.meter = meterOf(peer);
    }
  }

  /** Called when the list has changed, by whatever; the caller may be inside a transaction. */
  onChange: (() => void) | undefined = undefined;

  /** Gives all peers, and those to come, the health that they begin with. */
  beginWith(health: (peer: Peer) => number): void {
    this.#firstHealth = health;
    for (const peer of this.peers) {
      peer.health = health(peer);
    }
  }

  /** Replaces the peers, as after a name was resolved anew. */
  replace(peers: readonly Peer[]): void {
    this.rotation?.settle();
    const meterOf = this.#meterOf;
    if (meterOf !== null) {
      for (const peer of peers) {
        peer.meter ??= meterOf(peer);
      }
    }
    const first = this.#firstHealth;
    if (first !== undefined) {
      for (const peer of peers) {
        if (!this.peers.includes(peer)) {
          peer.health = first(peer);
        }
      }
    }
    this.peers = peers;
    this.config.version++;
    this.count();
    this.onChange?.();
  }

  /** Computes what depends on the whole list. */
  count(): void {
    const peers = this.peers;
    this.totalWeight = 0;
    this.tries = 0;
    for (let i = 0; i < peers.length; i++) {
      const peer = peers[i]!;
      peer.index = i;
      this.totalWeight += peer.weight;
      if (peer.down === UP) {
        this.tries++;
      }
    }
    this.weighted = this.totalWeight !== peers.length;
    this.single = !this.#behind && peers.length === 1 && (this.backup === null || this.backup.peers.length === 0);
  }

  /** How often a request may be tried. nginx: ngx_http_upstream_tries. */
  get allTries(): number {
    return this.tries + (this.backup === null ? 0 : this.backup.tries);
  }
}
