import { connect, isIP, type Socket } from 'node:net';
import { lookupHost } from '../../shared/address/lookup-host.js';
import { askedName, RESOLVE, type Resolver, resolveErrorText } from '../resolver/resolver.js';
import { HeaderKind } from '../upstream/response/header-kinds.js';
import { type ResponseFault, WholeResponse } from '../upstream/response/whole-response.js';

/** Where a responder is asked. */
export interface Responder {
  readonly host: string;
  readonly port: number;
  /** As it stands in the request line; `/` when the address names none. */
  readonly uri: string;
}

/** What may stand in a request line: the address of a responder may come with a client's certificate. */
const IN_REQUEST = /^[\x21-\x7e]*$/;

/** Reads `http://HOST[:PORT][/URI]`; returns nginx's complaint for anything else. nginx: ngx_ssl_stapling_responder. */
export function parseResponder(url: string): Responder | string {
  if (!/^http:\/\/./i.test(url)) {
    return `invalid URL prefix in OCSP responder "${url}"`;
  }
  const rest = url.slice(7);
  const parts = /^(\[[^\]]*\]|[^:/?]*)(?::([^/?]*))?(.*)$/s.exec(rest);
  const [, host = '', portText, uri = ''] = parts ?? [];
  if (host === '') {
    return `no host in OCSP responder "${rest}"`;
  }
  if (!IN_REQUEST.test(host + uri)) {
    return `invalid host or URI in OCSP responder "${rest}"`;
  }
  const port = portText === undefined ? 80 : /^\d{1,5}$/.test(portText) ? Number(portText) : 0;
  if (port < 1 || port > 65535) {
    return `invalid port in OCSP responder "${rest}"`;
  }
  return { host: host.replace(/^\[|\]$/g, ''), port, uri: uri === '' ? '/' : uri };
}

/** The responder that a certificate names; undefined for none. */
export function responderUrl(infoAccess: string | undefined): string | undefined {
  return /^OCSP - URI:"?([^"\n]*)/m.exec(infoAccess ?? '')?.[1];
}

/** How the host of a responder is found. */
export interface ResponderLookup {
  readonly resolver: Resolver | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  /** Without a `resolver`, the system is asked; what a client's certificate says is not looked up that way. */
  readonly system: boolean;
}

/** Milliseconds for each step: nginx's own, which no directive changes. */
const TIMEOUT = 60_000;
/** Bytes of a responder's answer: a longer one is no OCSP response. */
const LIMITS = { head: 16 * 1024, body: 64 * 1024, chunked: 64 * 1024, headOnly: false };

/** Asks a responder. Calls back once: with the response, or with nginx's line for what went wrong. Returns what gives the question up. */
export function fetchOcsp(
  responder: Responder,
  request: Buffer,
  by: ResponderLookup,
  done: (response: Buffer | undefined, problem: string) => void,
): () => void {
  const question = new Question(responder, request, done);
  question.resolve(by);
  return () => question.cancel();
}

class Question {
  readonly #responder: Responder;
  readonly #request: Buffer;
  readonly #done: (response: Buffer | undefined, problem: string) => void;
  #ended = false;
  #cancelResolve: (() => void) | undefined = undefined;
  #socket: Socket | undefined = undefined;

  constructor(responder: Responder, request: Buffer, done: (response: Buffer | undefined, problem: string) => void) {
    this.#responder = responder;
    this.#request = request;
    this.#done = done;
  }

  resolve({ resolver, timeout, system }: ResponderLookup): void {
    const { host } = this.#responder;
    if (isIP(host) !== 0) {
      this.#connect([host], 0, '');
    } else if (resolver !== undefined) {
      this.#cancelResolve = resolver.resolve(host, timeout, ({ state, addresses }) => {
        this.#cancelResolve = undefined;
        if (state === RESOLVE.OK) {
          this.#connect(addresses, 0, '');
        } else {
          this.#end(undefined, `${askedName(host)} could not be resolved (${state}: ${resolveErrorText(state)})`);
        }
      });
      if (this.#ended) {
        this.#cancelResolve = undefined;
      }
    } else if (system) {
      lookupHost(host).then(
        (addresses) => this.#connect(addresses, 0, ''),
        (error: NodeJS.ErrnoException) => this.#end(undefined, `${host} could not be resolved (${error.code})`),
      );
    } else {
      this.#end(undefined, `no resolver defined to resolve ${host}`);
    }
  }

  /** Asks the addresses one after the other. nginx: ngx_ssl_ocsp_next. */
  #connect(addresses: readonly string[], i: number, problem: string): void {
    if (this.#ended) {
      return;
    }
    const address = addresses[i];
    if (address === undefined) {
      this.#end(undefined, problem || 'no addresses of the OCSP responder');
      return;
    }
    const response = new WholeResponse(LIMITS);
    const socket = connect({ host: address, port: this.#responder.port });
    this.#socket = socket;
    let over = false;
    const next = (why: string): void => {
      if (over) {
        return;
      }
      over = true;
      socket.destroy();
      this.#connect(addresses, i + 1, why);
    };
    socket.setTimeout(TIMEOUT, () => next('OCSP responder timed out (110: Connection timed out)'));
    socket.on('connect', () => socket.write(this.#head(), 'latin1'));
    const look = (fault: ResponseFault | undefined): void => {
      if (over || (fault === undefined && !response.complete)) {
        return;
      }
      const body = fault === undefined ? readAnswer(response) : faultText(fault);
      if (typeof body === 'string') {
        next(body);
      } else {
        over = true;
        socket.destroy();
        this.#end(body, '');
      }
    };
    socket.on('data', (bytes: Buffer) => look(response.take(bytes)));
    socket.on('end', () => look(response.end()));
    socket.on('error', (error: NodeJS.ErrnoException) => next(`connect() failed (${error.code}) to the OCSP responder`));
  }

  #head(): string {
    const { uri, host } = this.#responder;
    const slash = uri.endsWith('/') ? '' : '/';
    return `GET ${uri}${slash}${encodeURIComponent(this.#request.toString('base64'))} HTTP/1.0\r\nHost: ${host}\r\n\r\n`;
  }

  cancel(): void {
    this.#ended = true;
    this.#cancelResolve?.();
    this.#socket?.destroy();
  }

  #end(response: Buffer | undefined, problem: string): void {
    if (this.#ended) {
      return;
    }
    this.#ended = true;
    this.#done(response, problem);
  }
}

const faultText = (fault: ResponseFault): string =>
  fault === 'short' ? 'OCSP responder prematurely closed connection' : 'OCSP responder sent invalid response';

/** The body of a response, or nginx's words for what is wrong with it. nginx: ngx_ssl_ocsp_parse_status_line and its followers. */
function readAnswer(response: WholeResponse): Buffer | string {
  const { head } = response;
  if (head.status !== 200) {
    return `OCSP responder answered with status ${head.status}`;
  }
  const type = head.value(HeaderKind.CONTENT_TYPE);
  if (type !== undefined && type.toLowerCase() !== 'application/ocsp-response') {
    return `OCSP responder sent invalid "Content-Type" header: "${type}"`;
  }
  return response.body();
}
