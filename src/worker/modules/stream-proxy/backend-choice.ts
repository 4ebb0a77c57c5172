import { DEBUG, ERROR, type Level } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { parseBackendUrl } from '../../address/backend-url.js';
import { countBytes } from '../../stream/session/count-session.js';
import type { StreamSession } from '../../stream/session/session.js';
import type { SessionUpstream } from '../../stream/session/session-upstream.js';
import { BAD_GATEWAY, INTERNAL_SERVER_ERROR } from '../../stream/session/status.js';
import type { ClientTask } from '../../task/client-task.js';
import { DONE, type Result } from '../../task/codes.js';
import { resolverSlot } from '../../task/resolver-slot.js';
import { sizeOf } from '../../task/size-of.js';
import type { Attempt } from '../../upstream/balancing/attempt.js';
import { PEER_FAILED, PEER_OK } from '../../upstream/balancing/peer.js';
import type { BackendUser } from '../../upstream/connection/backend-user.js';
import { PeerChoice } from '../../upstream/group/peer-choice.js';
import { type ResolvedTarget, startResolving, type TargetUser } from '../../upstream/group/resolve-target.js';
import { countSessionAttempt, countTransfer } from './count-attempt.js';
import type { ProxiedServer } from './proxied-server.js';

/**
 * A session's choice of a peer: from the text of `proxy_pass` over the group to one peer after another. What is done with a peer, a
 * connection's proxy and a proxy of datagrams know. nginx: ngx_stream_proxy_handler, ngx_stream_proxy_connect.
 */
export abstract class BackendChoice extends PeerChoice implements SessionUpstream, BackendUser, TargetUser {
  readonly r: StreamSession;
  protected readonly server: ProxiedServer;
  override readonly attempts: Attempt[] = [];
  /** How much of what goes from and to the backend has been counted. */
  #countedFrom = 0;
  #countedTo = 0;
  /** The second of the clock in which the session came here. */
  readonly #startSecond: number;

  constructor(s: StreamSession, server: ProxiedServer) {
    super();
    this.r = s;
    this.server = server;
    this.group = server.group;
    this.#startSecond = Math.floor(Date.now() / 1000);
  }

  /** Closes the connection to the peer at hand, if there is one. */
  protected abstract disconnect(): void;
  /** Bytes so far from and to the backend. */
  protected abstract readonly bytesFromBackend: number;
  protected abstract readonly bytesToBackend: number;
  abstract transferred(): string;

  get peer(): this {
    return this;
  }

  get done(): boolean {
    return this.r.finished;
  }

  /** Seconds of the clock since the session came here. */
  seconds(): number {
    return Math.floor(Date.now() / 1000) - this.#startSecond;
  }

  log(level: Level, message: string): void {
    this.r.log(level, message);
  }

  finalize(status: number): void {
    this.r.finalize(status);
  }

  start(): Result {
    const { r } = this;
    r.upstream = this;
    if (r.debugging) {
      r.log(DEBUG, 'proxy connection handler');
    }
    const dynamic = this.server.settings.pass?.dynamic;
    if (dynamic === undefined) {
      this.useGroup(this.group!);
      return DONE;
    }
    const target = this.#evaluate(dynamic);
    if (target === undefined) {
      return INTERNAL_SERVER_ERROR;
    }
    const { resolver, resolverTimeout } = r.server.conf(resolverSlot);
    this.cancelResolve = startResolving(this, target, { resolver, resolverTimeout, failed: INTERNAL_SERVER_ERROR });
    return DONE;
  }

  // nginx: ngx_stream_proxy_eval.
  #evaluate(dynamic: ComplexValue<ClientTask>): ResolvedTarget | undefined {
    const text = dynamic.eval(this.r);
    const url = parseBackendUrl(text, { defaultPort: 0, uriPart: false });
    if (typeof url === 'string') {
      this.log(ERROR, `${url} in upstream "${text}"`);
      return undefined;
    }
    const unix = url.family === 'unix';
    return { host: url.host, port: url.port, noPort: url.noPort, unix, address: url.address };
  }

  /** A rate of the configuration for this session, in bytes a second; 0 for no limit. nginx: ngx_stream_complex_value_size. */
  protected rate(value: ComplexValue<ClientTask> | undefined): number {
    return value === undefined ? 0 : sizeOf(this, value.eval(this.r));
  }

  protected get over(): boolean {
    return this.r.finished;
  }

  protected get mostTries(): number {
    return this.server.settings.nextUpstreamTries;
  }

  protected override choose(now: number): void {
    this.r.action = 'connecting to upstream';
    super.choose(now);
  }

  protected noPeer(): void {
    this.blameGroup();
    this.log(ERROR, 'no live upstreams');
    this.r.finalize(BAD_GATEWAY);
  }

  /** The connection to the peer at hand is there. nginx: NGX_STREAM_UPSTREAM_NOTIFY_CONNECT. */
  protected peerReached(now: number): void {
    const attempt = this.attempt!;
    attempt.connectTime = now - this.attemptStart;
    this.picker!.connected?.(this.chosen!, attempt);
  }

  /** The peer at hand has sent something, be it its end alone. nginx: NGX_STREAM_UPSTREAM_NOTIFY_FIRST_BYTE. */
  protected heard(): void {
    const attempt = this.attempt!;
    if (attempt.headerTime === -1) {
      attempt.headerTime = performance.now() - this.attemptStart;
      this.picker!.headerReceived?.(this.chosen!, attempt);
    }
  }

  /** The attempt failed: another peer is asked, or the session ends. nginx: ngx_stream_proxy_next_upstream. */
  protected next(): void {
    const { r } = this;
    const picker = this.picker!;
    const { settings } = this.server;
    if (r.debugging) {
      r.log(DEBUG, 'stream proxy next upstream');
    }
    this.#giveBack(PEER_FAILED);
    const late = settings.nextUpstreamTimeout !== 0 && performance.now() - this.startTime >= settings.nextUpstreamTimeout;
    if (picker.tries === 0 || !settings.nextUpstream || late) {
      r.finalize(BAD_GATEWAY);
      return;
    }
    this.disconnect();
    this.choose(performance.now());
  }

  #giveBack(state: number): void {
    const peer = this.chosen;
    if (peer !== null) {
      this.countBytes();
      countSessionAttempt(peer, state, this.attempt!, performance.now() - this.attemptStart);
      this.chosen = null;
      this.picker!.done(peer, state, this.attempt);
    }
  }

  /** The bytes of the attempt that begins are told from nothing on. */
  protected countAnew(): void {
    this.#countedFrom = 0;
    this.#countedTo = 0;
  }

  /** Counts what has gone both ways by now. */
  protected countBytes(): void {
    countBytes(this.r);
    const { bytesFromBackend, bytesToBackend } = this;
    countTransfer(this.chosen!, bytesFromBackend - this.#countedFrom, bytesToBackend - this.#countedTo);
    this.#countedFrom = bytesFromBackend;
    this.#countedTo = bytesToBackend;
  }

  protected endAttempt(now: number): void {
    const attempt = this.attempt;
    if (attempt === null) {
      return;
    }
    if (attempt.responseTime === -1) {
      attempt.responseTime = now - this.attemptStart;
    }
    attempt.bytesReceived = this.bytesFromBackend;
    attempt.bytesSent = this.bytesToBackend;
  }

  /** The peer at hand has failed, though the session did not turn to another one. */
  protected readonly peerFailed: boolean = false;

  // nginx: ngx_stream_proxy_finalize.
  release(): void {
    this.cancelResolve?.();
    this.cancelResolve = null;
    this.endAttempt(performance.now());
    this.#giveBack(this.peerFailed ? PEER_FAILED : PEER_OK);
    this.disconnect();
  }
}
