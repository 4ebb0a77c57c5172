import type { Result } from '../../task/codes.js';
import { METHOD } from '../syntax/method.js';
import { RequestHead } from '../syntax/request-head.js';
import type { AddressRuntime } from './address-runtime.js';
import type { BodySink, ClientConnection, ClientExchange, ClientTunnel } from './client-exchange.js';
import type { LocationRuntime, ServerRuntime } from './http-runtime.js';
import { Request } from './request.js';

/** The client of a request that nobody sent. */
class NoClient implements ClientConnection, ClientExchange {
  readonly id = 0;
  readonly descriptor = -1;
  readonly remoteAddress = '';
  readonly remotePort = 0;
  readonly localAddress = '';
  readonly localPort = 0;
  readonly address: AddressRuntime;
  readonly requests = 1;
  readonly acceptedAt = performance.now();
  readonly debugging = false;
  readonly tls = undefined;
  readonly proxyProtocol = undefined;
  readonly closed = false;
  readonly sni = undefined;
  readonly clientGone = false;
  readonly unsent = (): number => 0;
  action: string | undefined = undefined;

  constructor(server: ServerRuntime) {
    this.address = {
      address: undefined,
      port: 0,
      listener: '',
      tls: undefined,
      http2: false,
      proxyProtocol: false,
      defaultServer: server,
      single: true,
      patterns: false,
      find: () => undefined,
    };
  }

  get connection(): ClientConnection {
    return this;
  }

  bodyDone(): boolean {
    return true;
  }

  bodyAhead(): number {
    return 0;
  }

  readBody(_r: Request, sink: BodySink): void {
    sink.end();
  }

  discardBody(): Result {
    return 0;
  }

  upgrade(): ClientTunnel {
    throw new Error('no client to speak another protocol with');
  }

  offerLimit(): number {
    return 0;
  }

  offer(): number {
    return 0;
  }

  offerFile(): number {
    return -1;
  }

  sendHead(): void {}
  flush(): void {}
  send(): void {}
  sendLent(): void {}
  resumeBody(): void {}
  leaveBody(): void {}
  sendContinue(): void {}
  sendInformational(): void {}
  finish(): void {}
  terminate(): void {}
}

/**
 * A GET request for `target` that no client sent and that no phase runs for. It lets a location's settings be evaluated for what the
 * server asks of its own accord.
 */
export function backgroundRequest(location: LocationRuntime, target: string): Request {
  const head = new RequestHead();
  const question = target.indexOf('?');
  head.method = 'GET';
  head.methodBit = METHOD.GET;
  head.unparsedUri = target;
  head.uri = question === -1 ? target : target.slice(0, question);
  head.args = question === -1 ? '' : target.slice(question + 1);
  const r = new Request(new NoClient(location.server), location.server, head, null, performance.now());
  r.location = location;
  r.method = head.method;
  r.methodBit = head.methodBit;
  r.unparsedUri = target;
  r.uri = head.uri;
  r.args = head.args;
  return r;
}
