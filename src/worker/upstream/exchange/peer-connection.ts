import { DEBUG, ERROR, INFO, type Level } from '../../../shared/log/level.js';
import { EMPTY } from '../../bytes/empty.js';
import { CLIENT_CLOSED_REQUEST } from '../../http/request/codes.js';
import type { Request } from '../../http/request/request.js';
import { now } from '../../task/at-work.js';
import { asStatus } from '../../task/codes.js';
import { resolverSlot } from '../../task/resolver-slot.js';
import { Attempt } from '../balancing/attempt.js';
import type { Picker } from '../balancing/balancer.js';
import { PEER_FAILED, PEER_NEXT, PEER_OK, type Peer } from '../balancing/peer.js';
import type { Channel, ChannelOwner } from '../connection/channel.js';
import { backendHandshakeFailure, connectFailure } from '../connection/wire-errors.js';
import type { UpstreamGroup } from '../group/group.js';
import { PeerChoice } from '../group/peer-choice.js';
import { type ResolvedTarget, startResolving } from '../group/resolve-target.js';
import { FailureType, failureStatus } from '../settings/failure.js';
import { countAttempt } from './count-attempt.js';
import { mayTryNext } from './next-upstream.js';
import { openHttp1, openHttp2 } from './open-channel.js';
import { ResponseHeadReader } from './response-head-reader.js';
import { traceChoice, traceRequest } from './trace-exchange.js';
import type { UpstreamRequest } from './upstream-request.js';
import { heedsClient } from './watch-client.js';

/** After so many refusals another one counts as any failure does. */
const REFUSALS = 3;
/** What a peer may answer without being counted as failed. */
const NO_FAULT: ReadonlySet<number> = new Set([FailureType.HTTP_403, FailureType.HTTP_404, FailureType.REFUSED, FailureType.UNSUITED]);

/**
 * A request's way to a backend: chooses a peer, connects to it, and turns to another one when that fails. It owns the
 * connection until the request is sent on it. nginx: ngx_peer_connection_t, ngx_http_upstream_connect, ngx_http_upstream_next.
 */
export class PeerConnection extends PeerChoice implements ChannelOwner {
  readonly #u: UpstreamRequest;
  connection: Channel | null = null;
  /** The connection at hand served another request before. */
  reused = false;
  /** How often a backend has refused the request without a look. */
  #refusals = 0;
  /** The latest attempt was refused so, and that counts as none. */
  #refused = false;

  constructor(u: UpstreamRequest) {
    super();
    this.#u = u;
  }

  get r(): Request {
    return this.#u.r;
  }

  /** The group whose peers are asked, or the host that stands for one. */
  get groupName(): string | undefined {
    return this.group?.name;
  }

  /** Puts the attempts of a request behind those that it made elsewhere. */
  continueFrom(before: PeerConnection): void {
    this.attempts = before.attempts;
  }

  /** Goes to one peer that others have chosen and connect to, as a check of its health does. */
  goTo(peer: Peer, listed: string, tlsName: string): void {
    const attempt = new Attempt();
    attempt.peer = listed;
    this.attempt = attempt;
    this.attempts = [attempt];
    this.name = peer.name;
    this.unix = peer.port === 0;
    this.tlsName = tlsName;
  }

  // ---------------------------------------------------------------- the choice

  /** Begins a round of attempts at the peers of a group, or of a backend that was named at request time. */
  start(group: UpstreamGroup | undefined, target: ResolvedTarget | null): void {
    if (this.attempts !== null) {
      this.attempts.push(new Attempt());
    }
    if (target === null) {
      this.useGroup(group!);
      return;
    }
    // An attempt at a name that is not found counts as a round, too.
    this.attempts ??= [];
    const { resolver, resolverTimeout } = this.r.location.conf(resolverSlot);
    this.cancelResolve = startResolving(this.#u, target, { resolver, resolverTimeout, failed: 502 });
  }

  protected get over(): boolean {
    return this.#u.done;
  }

  protected get mostTries(): number {
    return this.#u.conf.settings.nextUpstreamTries;
  }

  /** A peer besides the one at hand may still be asked. */
  get mayTryAnother(): boolean {
    return this.picker!.tries > 1;
  }

  protected override choose(now: number): void {
    this.#u.action = 'connecting to upstream';
    super.choose(now);
  }

  protected override pick(picker: Picker, now: number): void {
    if (this.r.debugging) {
      this.r.log(DEBUG, `get rr peer, try: ${picker.tries}`);
    }
    super.pick(picker, now);
  }

  protected noPeer(now: number): void {
    if (this.#refused && this.group !== undefined) {
      this.#beginAgain(this.group, now);
      return;
    }
    if (this.r.trace !== null) {
      traceChoice(this.#u, null);
    }
    this.blameGroup();
    this.report(ERROR, 'no live upstreams');
    this.next(FailureType.NOLIVE);
  }

  protected ask(peer: Peer, now: number): void {
    const u = this.#u;
    if (u.r.trace !== null) {
      traceChoice(u, peer);
    }
    u.reinit();
    const { http2User } = u.exchange;
    const c =
      http2User === undefined ? openHttp1(u, peer, this.group?.idle, this) : openHttp2(u, peer, this.group?.streams, this, http2User, now);
    if (c === null) {
      u.finalize(500);
      return;
    }
    this.connection = c;
    this.reused = c.ready;
    if (this.r.debugging) {
      this.r.log(DEBUG, c.ready ? `get keepalive peer: using connection to ${peer.name}` : `connect to ${peer.name}`);
    }
    if (c.ready) {
      this.#sendRequest(c, now);
    } else {
      c.deadline.set(this.attemptStart, u.conf.settings.connectTimeout);
    }
  }

  /** Every peer was asked, but those that refused the request without a look may be asked again: theirs was a connection's end. */
  #beginAgain(group: UpstreamGroup, now: number): void {
    const { tries } = this.picker!;
    const picker = group.balancer.begin(this.r);
    picker.tries = tries;
    this.picker = picker;
    this.#refused = false;
    super.pick(picker, now);
  }

  #sendRequest(c: Channel, now: number): void {
    const attempt = this.attempt!;
    if (attempt.connectTime === -1) {
      attempt.connectTime = now - this.attemptStart;
    }
    const reader = new ResponseHeadReader(this.#u);
    c.owner = reader;
    if (this.r.trace !== null) {
      traceRequest(this.#u, this.reused);
    }
    this.#u.sendRequest(c, now);
    if (this.#u.exchange.makesHead) {
      reader.received(c, EMPTY, 0);
    }
  }

  // ---------------------------------------------------------------- the connection, until the request is sent

  connected(c: Channel): void {
    if (!c.tls) {
      return;
    }
    this.#u.action = 'SSL handshaking to upstream';
    c.deadline.set(performance.now(), this.#u.conf.settings.connectTimeout);
  }

  ready(c: Channel): void {
    if (c.tls) {
      const failure = this.#u.conf.tls!.check(this.#u, c.carrier);
      if (failure !== undefined) {
        this.report(ERROR, failure);
        this.next(FailureType.ERROR);
        return;
      }
    }
    this.#sendRequest(c, performance.now());
  }

  received(c: Channel): void {
    c.close();
  }

  ended(): void {
    this.report(ERROR, 'peer closed connection in SSL handshake');
    this.next(FailureType.ERROR);
  }

  failed(c: Channel, error: Error): void {
    if (c.connected) {
      const { level, message } = backendHandshakeFailure(error);
      this.report(level, message);
      this.next(FailureType.ERROR);
      return;
    }
    const { level, message, fatal } = connectFailure(this.#u, error);
    this.report(level, message);
    if (fatal) {
      this.attempt!.unbegun = true;
      this.#u.finalize(500);
    } else {
      this.next(FailureType.ERROR);
    }
  }

  drained(): void {}

  timedOut(): void {
    this.next(FailureType.TIMEOUT);
  }

  // ---------------------------------------------------------------- what became of it

  /** Logs what went wrong with the attempt at hand, and keeps it for `$error_reason`. */
  report(level: Level, message: string): void {
    this.r.log(level, message);
    this.blame(message);
  }

  /** Keeps what went wrong with the attempt at hand, for `$error_reason`. */
  blame(message: string): void {
    this.r.trace?.add(this.r, 'upstream', `${this.name}: ${message}`, undefined, { peer: this.name, failed: true });
    this.attempt!.reason = message;
  }

  /** A response head was read `now`. */
  headRead(now: number): void {
    this.attempt!.headerTime = now - this.attemptStart;
  }

  /** The head that was read goes to the client. */
  headAccepted(): void {
    this.picker!.headerReceived?.(this.chosen!, this.attempt!);
  }

  /** An attempt failed: another peer is asked, or the client is told. nginx: ngx_http_upstream_next. */
  next(failure: number): void {
    const u = this.#u;
    const picker = this.picker!;
    const attempt = this.attempt!;
    if (this.r.debugging) {
      this.r.log(DEBUG, `http next upstream, ${failure.toString(16)}`);
    }
    if (this.chosen !== null) {
      if (this.connection !== null) {
        attempt.bytesSent = this.connection.sent;
      }
      const state = NO_FAULT.has(failure) ? PEER_NEXT : PEER_FAILED;
      countAttempt(this.chosen, state, attempt, u, this.attemptStart);
      picker.done(this.chosen, state, attempt);
      this.chosen = null;
    }
    if (failure === FailureType.TIMEOUT) {
      this.r.log(ERROR, 'upstream timed out (110: Connection timed out)');
      attempt.reason = 'upstream timed out';
    }
    this.#refused = failure === FailureType.REFUSED && ++this.#refusals <= REFUSALS;
    if (this.#refused || (this.reused && failure === FailureType.ERROR)) {
      picker.tries++;
    }
    const status = failure === FailureType.NOLIVE ? this.#noLiveStatus() : failureStatus(failure);
    if (this.r.connection.closed && heedsClient(u)) {
      u.finalize(CLIENT_CLOSED_REQUEST);
      return;
    }
    attempt.status = status;
    if (picker.tries === 0 || !mayTryNext(u, failure)) {
      if (u.conf.cache?.failed(u, failure, false)) {
        return;
      }
      // Refusals are no errors as long as somebody else can be asked.
      if (failure === FailureType.REFUSED) {
        this.r.log(ERROR, attempt.reason);
      }
      u.finalize(asStatus(status));
      return;
    }
    if (failure === FailureType.REFUSED) {
      this.r.log(INFO, attempt.reason);
    }
    this.#close();
    this.choose(now());
  }

  /** The status when there is no peer to ask; a group that waits for its first addresses is not there yet. */
  #noLiveStatus(): number {
    const waiting = this.group?.lazySet;
    return waiting !== undefined && waiting.peers.length === 0 ? 503 : this.#u.conf.noLiveStatus;
  }

  #close(): void {
    const c = this.connection;
    if (c === null) {
      return;
    }
    this.connection = null;
    this.#u.output?.stop();
    c.close();
  }

  protected endAttempt(now: number): void {
    const attempt = this.attempt;
    if (attempt === null || attempt.responseTime !== -1) {
      return;
    }
    attempt.responseTime = now - this.attemptStart;
    if (this.connection !== null) {
      attempt.bytesSent = this.connection.sent;
    }
    const { r } = this;
    r.main.spans?.attempt(r, attempt, this.attemptStart, now);
  }

  /** Gives back the peer and the connection, which is kept for another request if it may serve one (`reusable`). */
  release(now: number, reusable: boolean): void {
    if (this.cancelResolve !== null) {
      this.cancelResolve();
      this.cancelResolve = null;
    }
    this.endAttempt(now);
    const c = this.connection;
    const peer = this.chosen;
    this.connection = null;
    if (peer !== null) {
      this.chosen = null;
      countAttempt(peer, PEER_OK, this.attempt!, this.#u, this.attemptStart);
      this.picker!.done(peer, PEER_OK, this.attempt);
    }
    if (c === null) {
      return;
    }
    const kept = reusable && c === c.carrier && (this.group?.idle?.put(c.carrier, peer?.name ?? '', this.#u.conf, now) ?? false);
    if (kept && this.r.debugging) {
      this.r.log(DEBUG, `free keepalive peer: saving connection to ${peer?.name}`);
    }
    if (!kept) {
      c.close();
    }
  }
}
