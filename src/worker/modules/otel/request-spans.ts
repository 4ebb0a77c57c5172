import type { ComplexValue } from '../../../shared/value/complex.js';
import type { Request } from '../../http/request/request.js';
import type { RequestTrace, TracedAttempt } from '../../http/request/request-trace.js';
import { nameSlot } from '../../http/request/server-names.js';
import { type Attributes, CLIENT, SERVER, type SpanEvent } from '../../trace/span.js';
import type { SpanExporter } from '../../trace/span-exporter.js';
import { newSpanId, type TraceContext } from './trace-context.js';

/** A page may have thousands of subrequests, each with events of its own: what is beyond so many is only counted. */
const MAX_EVENTS = 64;

/** What a location says of the spans of its requests. */
export interface SpanSettings {
  readonly spanName: ComplexValue<Request> | undefined;
  readonly attributes: readonly { readonly name: string; readonly value: ComplexValue<Request> }[];
}

/** Milliseconds since 1970 at a moment of the monotonic clock. */
const wallClock = (monotonic: number): number => Date.now() - performance.now() + monotonic;

/** The spans of one request that is traced: its own, and one for each attempt at a backend. */
export class RequestSpans implements RequestTrace {
  readonly #context: TraceContext;
  readonly #exporter: SpanExporter;
  /** Attempts get spans of their own. */
  readonly #attempts: boolean;
  #events: SpanEvent[] = [];
  #dropped = 0;

  constructor(context: TraceContext, exporter: SpanExporter, attempts: boolean) {
    this.#context = context;
    this.#exporter = exporter;
    this.#attempts = attempts;
  }

  event(name: 'cache' | 'limit_req' | 'limit_conn', status: string, detail: string): void {
    if (this.#events.length >= MAX_EVENTS) {
      this.#dropped++;
      return;
    }
    const attributes: (string | number)[] = [`sluice.${name}.status`, status];
    if (detail !== '') {
      attributes.push(name === 'cache' ? 'sluice.cache.reason' : `sluice.${name}.zone`, detail);
    }
    this.#events.push([name, Date.now(), attributes]);
  }

  attempt(r: Request, attempt: TracedAttempt, start: number, end: number): void {
    // The entry between two rounds of attempts has no peer, and asked nobody.
    if (!this.#attempts || attempt.peer === undefined) {
      return;
    }
    const { peer, status, connectTime, headerTime, reason, bytesSent, bytesReceived } = attempt;
    const { traceId, spanId, state } = this.#context;
    const from = wallClock(start);
    const events: SpanEvent[] = [];
    if (connectTime !== -1) {
      events.push(['connected', from + connectTime, []]);
    }
    if (headerTime !== -1) {
      events.push(['response head', from + headerTime, []]);
    }
    const attributes: (string | number)[] = ['http.method', r.method];
    if (status !== 0) {
      attributes.push('http.status_code', status);
    }
    const port = /^(.*):(\d+)$/.exec(peer);
    attributes.push('net.peer.name', port === null ? peer : port[1]!);
    if (port !== null) {
      attributes.push('net.peer.port', Number(port[2]));
    }
    attributes.push('sluice.upstream.bytes_sent', bytesSent, 'sluice.upstream.bytes_received', bytesReceived);
    if (r !== r.main) {
      attributes.push('sluice.subrequest', r.uri);
    }
    const failed = reason !== '' || status >= 500;
    const span = [`upstream ${peer}`, CLIENT, traceId, newSpanId(), spanId, state, from, from + end - start] as const;
    this.#exporter.add([...span, failed, reason, attributes, events, 0]);
  }

  /** The request is over. nginx-otel: onRequestEnd. */
  end(r: Request, { spanName, attributes: own }: SpanSettings): void {
    const { traceId, spanId, parentId, state } = this.#context;
    const attributes = attributesOf(r);
    for (let i = 0; i < own.length; i++) {
      const { name, value } = own[i]!;
      const text = value.eval(r);
      attributes.push(name, /^http\.(request|response)\.header\./.test(name) ? [text] : text);
    }
    const name = spanName === undefined ? r.location.info.name : spanName.eval(r);
    const span = [name, SERVER, traceId, spanId, parentId ?? '', state, wallClock(r.startTime), Date.now()] as const;
    this.#exporter.add([...span, statusOf(r) >= 500, '', attributes, this.#events, this.#dropped]);
    this.#events = [];
  }
}

const statusOf = (r: Request): number => (r.errStatus !== 0 ? r.errStatus : r.out.status);

/** The attributes that every span of a request has. nginx-otel: addDefaultAttrs. */
function attributesOf(r: Request): (string | number | readonly string[])[] {
  const { head, connection, server, location } = r;
  const tls = connection.tls !== undefined;
  const attributes: Attributes[number][] = ['http.method', r.method, 'http.target', r.unparsedUri];
  if (location.info.name !== '') {
    attributes.push('http.route', location.info.name);
  }
  attributes.push('http.scheme', tls ? 'https' : 'http');
  if (head.protocol !== undefined && head.protocol.length > 5) {
    attributes.push('http.flavor', head.protocol.slice(5));
  }
  const userAgent = r.header('user-agent');
  if (userAgent !== undefined) {
    attributes.push('http.user_agent', userAgent);
  }
  attributes.push('http.request_content_length', Math.max(r.contentLength, 0));
  attributes.push('http.response_content_length', Math.max(r.bytesSent - r.headerSize, 0));
  const status = statusOf(r);
  if (status !== 0) {
    attributes.push('http.status_code', status);
  }
  attributes.push('net.host.name', server.conf(nameSlot).serverName || head.host);
  if (connection.localPort !== (tls ? 443 : 80)) {
    attributes.push('net.host.port', connection.localPort);
  }
  attributes.push('net.sock.peer.addr', connection.remoteAddress, 'net.sock.peer.port', connection.remotePort);
  return attributes;
}
