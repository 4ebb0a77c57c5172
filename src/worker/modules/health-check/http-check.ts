import { Gathered } from '../../bytes/gathered.js';
import { backgroundRequest } from '../../http/request/background-request.js';
import type { BackendTls } from '../../net/secure-backend-socket.js';
import type { Peer } from '../../upstream/balancing/peer.js';
import type { ChannelOwner } from '../../upstream/connection/channel.js';
import type { UpstreamConnection } from '../../upstream/connection/connection.js';
import { connectPeer } from '../../upstream/connection/connector.js';
import { localAddress } from '../../upstream/connection/local-address.js';
import { backendHandshakeFailure, connectFailure, transferFailure } from '../../upstream/connection/wire-errors.js';
import type { Exchange } from '../../upstream/exchange/exchange.js';
import type { UpstreamRequest } from '../../upstream/exchange/upstream-request.js';
import { type CheckResult, PeerCheck } from '../../upstream/health/peer-check.js';
import { HEAD_AGAIN, HEAD_INTERIM, HEAD_OK } from '../../upstream/response/head-codes.js';
import { type HeldHead, holdHead } from '../../upstream/response/held-head.js';
import type { Http1Reader, PieceSink } from '../../upstream/response/http1-reader.js';
import { doing, P } from './check-phase.js';
import { type HttpCheckPlan, MAX_BODY } from './plan.js';

/** Checks by requests of HTTP/1. */
export class HttpCheck extends PeerCheck implements ChannelOwner, PieceSink {
  readonly r = null;
  readonly #plan: HttpCheckPlan;
  #phase: number = P.IDLE;
  #connection: UpstreamConnection | null = null;
  #u!: UpstreamRequest;
  #reader!: Http1Reader & Exchange;
  /** An unfinished head, and how much of it has been read. */
  #held: HeldHead | null = null;
  readonly #body = new Gathered();

  constructor(plan: HttpCheckPlan, peer: Peer, verdict: number, result: CheckResult) {
    super(plan.settings, peer, verdict, result);
    this.#plan = plan;
  }

  protected begin(): void {
    const { location, backend, settings } = this.#plan;
    const r = backgroundRequest(location, settings.uri);
    const { u, reader } = backend.ask!(r);
    this.#u = u;
    this.#reader = reader;
    this.#held = null;
    this.#body.clear();
    u.attach();
    u.peer.goTo(this.target, this.peer.name, backend.group.name);
    if (!reader.createRequest(u)) {
      this.#end('creating the request', false);
      return;
    }
    const kept = this.#connection;
    if (kept !== null) {
      kept.deadline.clear();
      this.#send(kept);
      return;
    }
    const local = localAddress(u, u.conf.settings);
    let tls: BackendTls | undefined;
    if (u.tls) {
      const purpose = u.conf.tls!.purpose(u);
      const options = purpose && u.conf.tls!.options(u, this.target, purpose);
      if (options === null) {
        this.#end('loading the certificate', false);
        return;
      }
      tls = options;
    }
    this.#phase = P.CONNECTING;
    const c = connectPeer(this.target, this, local, tls);
    this.#connection = c;
    if (tls !== undefined) {
      u.conf.tls!.opened(null, c, this.target, tls);
    }
    c.deadline.set(performance.now(), u.conf.settings.connectTimeout);
  }

  connected(): void {}

  ready(c: UpstreamConnection): void {
    const failure = c.tls ? this.#u.conf.tls!.check(this.#u, c) : undefined;
    if (failure !== undefined) {
      this.#end(`SSL handshaking: ${failure}`, false);
    } else {
      this.#send(c);
    }
  }

  #send(c: UpstreamConnection): void {
    this.#phase = P.HEAD;
    c.requests++;
    c.writeText(this.#reader.requestText);
    c.deadline.set(performance.now(), this.#u.conf.settings.readTimeout);
  }

  received(_c: UpstreamConnection, bytes: Buffer, end: number): void {
    if (this.#phase === P.HEAD) {
      this.#readHead(bytes, end);
    } else if (this.#phase === P.BODY) {
      this.#readBody(bytes, 0, end);
    } else {
      this.drop();
    }
  }

  #readHead(given: Buffer, size: number): void {
    const u = this.#u;
    const reader = this.#reader;
    const { bufferSize } = u.conf.settings;
    let bytes = given;
    let end = size;
    let start = 0;
    const held = this.#held;
    if (held !== null) {
      if (!held.goesOn(given, 0, size, reader.quiet) && held.length < bufferSize) {
        return;
      }
      bytes = held.all;
      end = held.length;
      start = held.read;
    }
    let base = 0;
    for (;;) {
      const limit = Math.min(end, base + bufferSize);
      const code = reader.readHead(u, bytes, start, limit);
      start = reader.next;
      if (code === HEAD_INTERIM) {
        if (!u.head.countInterim()) {
          this.#end('reading response header from upstream: upstream sent too many interim responses', false);
          return;
        }
        u.head.clear();
        base = start;
        continue;
      }
      if (code === HEAD_AGAIN) {
        if (limit - base === bufferSize) {
          this.#end('reading response header from upstream: upstream sent too big header', false);
          return;
        }
        this.#held = holdHead(this.#held, bytes, base, end, start);
        return;
      }
      if (code !== HEAD_OK) {
        this.#end('reading response header from upstream: upstream sent no valid header', false);
        return;
      }
      break;
    }
    u.peer.attempt!.status = u.head.status;
    const failure = this.#plan.test.testHead(u.r, u.head);
    const keeps = this.#plan.settings.keepaliveTime !== 0;
    if (failure !== undefined || (!this.#plan.test.wantsBody && !keeps)) {
      this.#end(failure === undefined ? undefined : `checking ${failure}`, false);
      return;
    }
    reader.expectBody(u.head, false, false, u.conf.settings.bufferSize);
    this.#phase = P.BODY;
    this.#readBody(bytes, start, end);
  }

  #readBody(bytes: Buffer, start: number, end: number): void {
    const u = this.#u;
    const reader = this.#reader;
    const behind = reader.complete && start < end;
    if (!reader.complete && !reader.body(u.head, u, this, bytes, start, end)) {
      this.#end('reading upstream: upstream sent invalid response', false);
    } else if (reader.complete) {
      this.#finishBody(reader.keepalive && !behind);
    } else if (this.#body.length >= MAX_BODY) {
      this.#finishBody(false);
    }
  }

  /** Takes a piece of the body. */
  add(bytes: Buffer, start: number, end: number): void {
    if (!this.#plan.test.wantsBody || this.#body.length >= MAX_BODY) {
      return;
    }
    this.#body.add(bytes, start, end);
  }

  #finishBody(keepalive: boolean): void {
    const text = this.#body.joined().toString('latin1', 0, MAX_BODY);
    const failure = this.#plan.test.testBody(this.#u.r, text);
    this.#end(failure === undefined ? undefined : `checking ${failure}`, keepalive);
  }

  ended(): void {
    if (this.#phase === P.BODY && this.#reader.endsWithConnection) {
      this.#finishBody(false);
    } else if (this.#phase === P.IDLE) {
      this.drop();
    } else {
      this.#end(`${doing(this.#phase)}: upstream prematurely closed connection`, false);
    }
  }

  failed(c: UpstreamConnection, error: Error): void {
    if (this.#phase === P.IDLE) {
      this.drop();
      return;
    }
    let message: string;
    if (this.#phase !== P.CONNECTING) {
      ({ message } = transferFailure(error));
    } else {
      ({ message } = c.connected && c.tls ? backendHandshakeFailure(error) : connectFailure(this.#u, error));
    }
    this.#end(`${doing(this.#phase)}: ${message}`, false);
  }

  drained(): void {}

  timedOut(): void {
    if (this.#phase === P.IDLE) {
      this.drop();
    } else {
      this.#end(`${doing(this.#phase)}: upstream timed out (110: Connection timed out)`, false);
    }
  }

  #end(failure: string | undefined, keepalive: boolean): void {
    this.#phase = P.IDLE;
    const c = this.#connection;
    const { keepaliveTime } = this.#plan.settings;
    const now = performance.now();
    if (c !== null && keepalive && now - c.startedAt < keepaliveTime && c.flushed) {
      c.deadline.set(c.startedAt, keepaliveTime);
    } else {
      this.drop();
    }
    this.finish(failure);
  }

  protected drop(): void {
    const c = this.#connection;
    this.#connection = null;
    c?.close();
  }
}
