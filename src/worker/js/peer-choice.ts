import { Lru } from '../../shared/collection/lru.js';
import { ERROR } from '../../shared/log/level.js';
import { nowSeconds } from '../../shared/time/unix-time.js';
import { addressText, parseBackendUrl } from '../address/backend-url.js';
import type { ClientTask } from '../task/client-task.js';
import type { Attempt } from '../upstream/balancing/attempt.js';
import type { Balancer, PICKING, Picker, PickerOwner } from '../upstream/balancing/balancer.js';
import { DRAINING, defaultPeerOptions, HEALTHY, PEER_FAILED, Peer, type PeerSet, UNKNOWN, UP } from '../upstream/balancing/peer.js';
import type { ScriptFunction } from './scripts.js';
import { bytesOf, integer } from './text.js';

/** Calls a function of a script's with the request or session and what it may choose among. undefined: it has failed, as the log says. */
export type CallBalancer = (r: ClientTask, run: ScriptFunction, choice: ScriptPeerChoice, name: string) => unknown;

/** Addresses that are remembered with what is known of them. */
const MOST_OUTSIDE = 1024;
/** What a function may raise its tries to. */
const MOST_TRIES = 100;

/** A peer that is none of the group's: a function has named its address. */
class OutsidePeer extends Peer {}

/** Has a function choose among the peers of a group; where it chooses none, the group's own method does. */
export class ScriptBalancer implements Balancer {
  readonly name: string;
  readonly run: ScriptFunction;
  readonly call: CallBalancer;
  readonly set: PeerSet;
  readonly #inner: Balancer;
  #views: readonly PeerView[] = [];
  #version = -1;
  readonly #outside = new Lru<OutsidePeer>(MOST_OUTSIDE);

  constructor(inner: Balancer, set: PeerSet, name: string, run: ScriptFunction, call: CallBalancer) {
    this.#inner = inner;
    this.set = set;
    this.name = name;
    this.run = run;
    this.call = call;
  }

  begin(r: ClientTask): ScriptPicker {
    return new ScriptPicker(this, this.#inner.begin(r), r);
  }

  /** The peers as functions see them. */
  get views(): readonly PeerView[] {
    const { config, peers } = this.set;
    if (this.#version !== config.version) {
      this.#version = config.version;
      this.#views = Object.freeze(peers.map((peer) => new PeerView(peer)));
    }
    return this.#views;
  }

  /** The peer at a numeric address; undefined where the text is no such address. */
  outside(text: string): Peer | undefined {
    const known = this.#outside.get(text);
    if (known !== undefined) {
      return known;
    }
    const url = parseBackendUrl(text, { defaultPort: 0, uriPart: false });
    if (typeof url === 'string' || (url.family !== 'unix' && (url.address === undefined || url.port === 0))) {
      return undefined;
    }
    const peer =
      url.family === 'unix'
        ? new OutsidePeer(`unix:${url.host}`, text, url.host, 0, defaultPeerOptions)
        : new OutsidePeer(addressText(url.address!, url.port), text, url.address!, url.port, defaultPeerOptions);
    this.#outside.set(text, peer);
    return peer;
  }
}

/** One request's or session's peers, each asked for from the function. */
class ScriptPicker implements Picker {
  readonly groupName: string;
  readonly balancer: ScriptBalancer;
  readonly #inner: Picker;
  readonly #r: ClientTask;
  readonly #choice: ScriptPeerChoice;
  #tries: number;
  /** What `proxy_next_upstream_tries` leaves. */
  #limit = MOST_TRIES;
  failed: FailedTry[] | undefined = undefined;

  constructor(balancer: ScriptBalancer, inner: Picker, r: ClientTask) {
    this.balancer = balancer;
    this.#inner = inner;
    this.#r = r;
    this.groupName = inner.groupName;
    this.#tries = inner.tries;
    this.#choice = new ScriptPeerChoice(this);
  }

  get tries(): number {
    return this.#tries;
  }

  set tries(tries: number) {
    if (tries < this.#tries) {
      this.#limit = tries;
    }
    this.#tries = tries;
  }

  /** The function wants so many tries, this one included. */
  want(tries: number): void {
    this.#tries = Math.max(1, Math.min(tries, this.#limit));
  }

  next(owner: PickerOwner): Peer | null | typeof PICKING {
    const inner = this.#inner;
    const peer = this.#ask();
    if (peer instanceof OutsidePeer) {
      peer.conns++;
      return peer;
    }
    inner.hint = peer?.sid;
    return inner.next(owner);
  }

  #ask(): Peer | undefined {
    const { balancer } = this;
    const { call, run, name } = balancer;
    const value = call(this.#r, run, this.#choice, name);
    if (value === undefined || value === null) {
      return undefined;
    }
    const peer = this.#meant(value);
    if (peer === undefined) {
      const shown = typeof value === 'string' || typeof value === 'number' ? `"${bytesOf(value)}"` : 'what it returned';
      this.#r.log(ERROR, `js_balancer "${name}": ${shown} is no server of upstream "${this.groupName}" and no address with a port`);
    }
    return peer;
  }

  #meant(value: unknown): Peer | undefined {
    const { balancer } = this;
    const { peers } = balancer.set;
    if (typeof value === 'number') {
      return peers[value];
    }
    if (value instanceof PeerView) {
      return PeerView.peer(value);
    }
    if (typeof value !== 'string') {
      return undefined;
    }
    let same: Peer | undefined;
    for (let i = 0; i < peers.length; i++) {
      const peer = peers[i]!;
      if (peer.name === value) {
        return peer;
      }
      // One name may stand for many addresses.
      if (peer.server === value && (same === undefined || (!isAvailable(same) && isAvailable(peer)))) {
        same = peer;
      }
    }
    return same ?? balancer.outside(bytesOf(value));
  }

  done(peer: Peer, state: number, attempt: Attempt | null): void {
    if ((state & PEER_FAILED) !== 0) {
      this.failed ??= [];
      this.failed.push(new FailedTry(peer, attempt));
    }
    this.#limit--;
    if (this.#tries > 0) {
      this.#tries--;
    }
    if (peer instanceof OutsidePeer) {
      peer.conns--;
    } else {
      this.#inner.done(peer, state, attempt);
    }
  }

  get timesConnections(): boolean {
    return this.#inner.timesConnections === true;
  }

  connected(peer: Peer, attempt: Attempt | null): void {
    if (!(peer instanceof OutsidePeer)) {
      this.#inner.connected?.(peer, attempt);
    }
  }

  headerReceived(peer: Peer, attempt: Attempt): void {
    if (!(peer instanceof OutsidePeer)) {
      this.#inner.headerReceived?.(peer, attempt);
    }
  }
}

/** What a function chooses among. */
export class ScriptPeerChoice {
  readonly #picker: ScriptPicker;

  constructor(picker: ScriptPicker) {
    this.#picker = picker;
  }

  get name(): string {
    return this.#picker.groupName;
  }

  get peers(): readonly PeerView[] {
    return this.#picker.balancer.views;
  }

  /** The tries of this request that have failed. */
  get failures(): readonly FailedTry[] {
    return this.#picker.failed ?? [];
  }

  /** How many tries are left, with the one that is being made. */
  get tries(): number {
    return this.#picker.tries;
  }

  set tries(tries: unknown) {
    this.#picker.want(integer(tries));
  }
}

/** A try that failed. */
class FailedTry {
  readonly name: string;
  readonly #attempt: Attempt | null;

  constructor(peer: Peer, attempt: Attempt | null) {
    this.name = peer.name;
    this.#attempt = attempt;
  }

  /** 502, 504 or what the peer has answered; 0 in `stream`. */
  get status(): number {
    return this.#attempt?.status ?? 0;
  }
}

/** Whether requests go to a peer at the moment. */
function isAvailable(peer: Peer): boolean {
  const resting = peer.maxFails !== 0 && peer.fails >= peer.maxFails && nowSeconds() - peer.checked <= peer.failTimeout;
  return peer.down === UP && peer.health === HEALTHY && !resting && (peer.maxConns === 0 || peer.conns < peer.maxConns);
}

/** A peer as functions see it, as far as this worker knows. */
class PeerView {
  readonly #peer: Peer;

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  static peer(view: PeerView): Peer {
    return view.#peer;
  }

  get index(): number {
    return this.#peer.index;
  }

  /** Address and port, or `unix:` and the path. */
  get name(): string {
    return this.#peer.name;
  }

  /** As the `server` line has it. */
  get server(): string {
    return this.#peer.server;
  }

  get weight(): number {
    return this.#peer.weight;
  }

  /** Requests and sessions under way. */
  get conns(): number {
    return this.#peer.conns;
  }

  /** 0 for no limit. */
  get maxConns(): number {
    return this.#peer.maxConns;
  }

  /** Failures since the last success, within `fail_timeout`. */
  get fails(): number {
    return this.#peer.fails;
  }

  /** `up`, `down`, `draining`, `unhealthy`, `checking`, `unavail` after failures, or `busy` at its limit of connections. */
  get state(): string {
    const peer = this.#peer;
    if (peer.down !== UP) {
      return peer.down === DRAINING ? 'draining' : 'down';
    }
    if (peer.health !== HEALTHY) {
      return peer.health === UNKNOWN ? 'checking' : 'unhealthy';
    }
    if (isAvailable(peer)) {
      return 'up';
    }
    return peer.maxConns !== 0 && peer.conns >= peer.maxConns ? 'busy' : 'unavail';
  }

  /** Requests may go to it. */
  get available(): boolean {
    return isAvailable(this.#peer);
  }
}
