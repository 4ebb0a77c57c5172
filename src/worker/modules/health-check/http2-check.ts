import { Gathered } from '../../bytes/gathered.js';
import { backgroundRequest } from '../../http/request/background-request.js';
import type { Peer } from '../../upstream/balancing/peer.js';
import type { Channel, ChannelOwner } from '../../upstream/connection/channel.js';
import { backendHandshakeFailure, connectFailure, transferFailure } from '../../upstream/connection/wire-errors.js';
import type { Http2Exchange } from '../../upstream/exchange/http2-exchange.js';
import { openHttp2 } from '../../upstream/exchange/open-channel.js';
import type { UpstreamRequest } from '../../upstream/exchange/upstream-request.js';
import { type CheckResult, PeerCheck } from '../../upstream/health/peer-check.js';
import { Http2Pool } from '../../upstream/http2/http2-pool.js';
import { HEAD_AGAIN, HEAD_INTERIM, HEAD_OK } from '../../upstream/response/head-codes.js';
import type { PieceSink } from '../../upstream/response/http1-reader.js';
import { doing, P } from './check-phase.js';
import { HEALTH_PATH, healthFailure, healthRequest } from './grpc-health.js';
import { type HttpCheckPlan, MAX_BODY } from './plan.js';

/** The checks of a peer over HTTP/2: of its answer to a URI, or of the health that a server of gRPC tells. */
export class Http2Check extends PeerCheck implements ChannelOwner, PieceSink {
  readonly r = null;
  readonly #plan: HttpCheckPlan;
  /** Has the connection that serves one check after the other; undefined: each has its own. */
  readonly #pool: Http2Pool | undefined;
  #phase: number = P.IDLE;
  #stream: Channel | null = null;
  #u!: UpstreamRequest;
  #exchange!: Http2Exchange;
  readonly #body = new Gathered();

  constructor(plan: HttpCheckPlan, peer: Peer, verdict: number, result: CheckResult) {
    super(plan.settings, peer, verdict, result);
    this.#plan = plan;
    const { keepaliveTime: time } = plan.settings;
    const requests = Number.POSITIVE_INFINITY;
    this.#pool = time === 0 ? undefined : new Http2Pool({ connections: 1, requests, time, timeout: time, local: false });
  }

  override stop(): void {
    super.stop();
    this.#pool?.close();
  }

  protected begin(): void {
    const { location, backend, settings } = this.#plan;
    const { grpc } = settings;
    const r = backgroundRequest(location, grpc === undefined ? settings.uri : HEALTH_PATH);
    const { u, exchange } = backend.askByHttp2!(r, grpc === undefined ? undefined : healthRequest(grpc.service));
    this.#u = u;
    this.#exchange = exchange;
    exchange.sink = this;
    this.#body.clear();
    u.attach();
    u.peer.goTo(this.target, this.peer.name, backend.group.name);
    if (!exchange.createRequest(u)) {
      this.#finish('creating the request');
      return;
    }
    const now = performance.now();
    const stream = openHttp2(u, this.target, this.#pool, this, exchange.http2User, now);
    if (stream === null) {
      this.#finish('loading the certificate');
      return;
    }
    this.#stream = stream;
    if (stream.ready) {
      this.#send(stream);
    } else {
      this.#phase = P.CONNECTING;
      stream.deadline.set(now, u.conf.settings.connectTimeout);
    }
  }

  connected(): void {}

  ready(c: Channel): void {
    const failure = c.tls ? this.#u.conf.tls!.check(this.#u, c.carrier) : undefined;
    if (failure !== undefined) {
      this.#finish(`SSL handshaking: ${failure}`);
    } else {
      this.#send(c);
    }
  }

  #send(c: Channel): void {
    this.#phase = P.HEAD;
    c.writeText(this.#exchange.requestText);
    c.finishRequest();
    c.deadline.set(performance.now(), this.#u.conf.settings.readTimeout);
  }

  received(_c: Channel, bytes: Buffer, end: number): void {
    if (this.#phase === P.HEAD) {
      this.#readHead(bytes, end);
    } else if (this.#phase === P.BODY) {
      this.#readBody(bytes, end);
    }
  }

  #readHead(bytes: Buffer, end: number): void {
    const u = this.#u;
    const exchange = this.#exchange;
    const code = exchange.readHead(u, bytes, 0, end);
    if (code === HEAD_AGAIN) {
      return;
    }
    if (code === HEAD_INTERIM) {
      if (!u.head.countInterim()) {
        this.#finish('reading response header from upstream: upstream sent too many interim responses');
        return;
      }
      u.head.clear();
      return;
    }
    if (code !== HEAD_OK) {
      this.#finish('reading response header from upstream: upstream sent no valid header');
      return;
    }
    u.peer.attempt!.status = u.head.status;
    const { grpc } = this.#plan.settings;
    const failure = grpc === undefined ? this.#plan.test.testHead(u.r, u.head) : statusFailure(u.head.status);
    if (failure !== undefined || (grpc === undefined && !this.#plan.test.wantsBody && this.#pool === undefined)) {
      this.#finish(failure === undefined ? undefined : `checking ${failure}`);
      return;
    }
    exchange.beginBody(u);
    this.#phase = P.BODY;
    if (exchange.complete) {
      this.#finishBody();
    }
  }

  #readBody(bytes: Buffer, end: number): void {
    const exchange = this.#exchange;
    if (!exchange.readBody(this.#u, bytes, 0, end)) {
      this.#finish('reading upstream: upstream sent invalid response');
    } else if (exchange.complete || this.#body.length >= MAX_BODY) {
      this.#finishBody();
    }
  }

  /** Takes a piece of the body. */
  add(bytes: Buffer, start: number, end: number): void {
    if (this.#body.length < MAX_BODY) {
      this.#body.add(bytes, start, end);
    }
  }

  #finishBody(): void {
    const u = this.#u;
    const { grpc } = this.#plan.settings;
    const body = this.#body.length === 0 ? Buffer.alloc(0) : this.#body.joined();
    const failure =
      grpc === undefined ? this.#plan.test.testBody(u.r, body.toString('latin1', 0, MAX_BODY)) : grpcFailure(u, body, grpc.status);
    this.#finish(failure === undefined ? undefined : `checking ${failure}`);
  }

  ended(): void {
    this.#finish(`${doing(this.#phase)}: upstream prematurely closed connection`);
  }

  failed(c: Channel, error: Error): void {
    let message: string;
    if (this.#phase !== P.CONNECTING) {
      ({ message } = transferFailure(error));
    } else {
      ({ message } = c.connected && c.tls ? backendHandshakeFailure(error) : connectFailure(this.#u, error));
    }
    this.#finish(`${doing(this.#phase)}: ${message}`);
  }

  drained(): void {}

  timedOut(): void {
    this.#finish(`${doing(this.#phase)}: upstream timed out (110: Connection timed out)`);
  }

  #finish(failure: string | undefined): void {
    this.#phase = P.IDLE;
    this.drop();
    this.finish(failure);
  }

  protected drop(): void {
    const stream = this.#stream;
    this.#stream = null;
    stream?.close();
  }
}

/** A call of gRPC has the status 200, whatever became of it. */
const statusFailure = (status: number): string | undefined => (status === 200 ? undefined : 'status code');

/** What is wrong with the answer to a call; `accepted` is a status besides 0 that will do. */
function grpcFailure({ head }: UpstreamRequest, body: Buffer, accepted: number): string | undefined {
  const at = head.trailers.indexOf('grpc-status');
  const status = at === -1 ? head.joined('grpc-status') : head.trailers[at + 2];
  if (status === '0') {
    return healthFailure(body);
  }
  return accepted !== 0 && status === String(accepted) ? undefined : `grpc-status ${status ?? 'that was not sent'}`;
}
