import { DEBUG } from '../../../shared/log/level.js';
import { clientSlot } from './client-settings.js';
import type { Request } from './request.js';

// Lines of level debug of the engine itself. A caller asks `r.debugging`, which compares integers, before it calls one of these.

/** By the phases' numbers. */
const PHASES = ['generic', 'rewrite', '', 'rewrite', '', 'generic', 'access', '', 'generic', 'content'] as const;

/** A handler of a phase is about to run. Where nginx has the handler's number, this has the phase's. nginx: the phase checkers. */
export function logPhase(r: Request): void {
  r.log(DEBUG, `${PHASES[r.phase]} phase: ${r.phase}`);
}

/** nginx: the first line of ngx_http_finalize_request. */
export function logFinalize(r: Request, code: number): void {
  r.log(DEBUG, `http finalize request: ${code}, "${r.uri}?${r.args}"`);
}

/** A location is compared with the URI. nginx: ngx_http_core_find_location and ngx_http_core_find_static_location. */
export function logTest(r: Request, kind: string, name: string): void {
  r.log(DEBUG, `test location: ${kind === 'regex' ? '~ ' : ''}"${name}"`);
}

/** nginx: ngx_http_core_find_config_phase. */
export function logLocation(r: Request): void {
  const { kind, name } = r.location.info;
  r.log(DEBUG, `using configuration "${kind === 'nameless' || kind === 'root' ? '*' : kind === 'exact' ? '=' : ''}${name}"`);
  r.log(DEBUG, `http cl:${r.contentLength} max:${r.location.conf(clientSlot).clientMaxBodySize}`);
}

/** Writes the lines that say, at level debug, what a client asked for. Called only where they are wanted. */
export function logHead(r: Request): void {
  r.log(DEBUG, 'http process request line');
  r.log(DEBUG, `http request line: "${r.line}"`);
  r.log(DEBUG, `http uri: "${r.uri}"`);
  r.log(DEBUG, `http args: "${r.args}"`);
  r.log(DEBUG, `http exten: "${r.exten}"`);
  r.log(DEBUG, 'http process request header line');
  const { headers } = r.head;
  for (let i = 0; i < headers.length; i += 2) {
    r.log(DEBUG, `http header: "${headers[i]}: ${headers[i + 1]}"`);
  }
  r.log(DEBUG, 'http header done');
}

/** Writes the head of a response, a line for each of its lines. nginx: the end of ngx_http_header_filter. */
export function logResponseHead(r: Request, head: string): void {
  for (const line of head.split('\r\n')) {
    if (line !== '') {
      r.log(DEBUG, line);
    }
  }
}

/** Says something about the request's present URI. nginx: the many lines of the form `TEXT: "%V?%V"`. */
export function logUri(r: Request, text: string): void {
  r.log(DEBUG, `${text} "${r.uri}?${r.args}"`);
}
