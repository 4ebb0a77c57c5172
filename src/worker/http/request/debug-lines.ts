import { DEBUG } from '../../../shared/log/level.js';
import type { Request } from './request.js';

/** nginx: the first line of ngx_http_finalize_request. */
export function logFinalize(r: Request, code: number): void {
  r.log(DEBUG, `http finalize request: ${code}, "${r.uri}?${r.args}"`);
}

/** nginx: ngx_http_core_find_config_phase. */
export function logLocation(r: Request): void {
  const { kind, name } = r.location.info;
  r.log(DEBUG, `using configuration "${kind === 'nameless' || kind === 'root' ? '*' : kind === 'exact' ? '=' : ''}${name}"`);
}

/** Writes the lines that say, at level debug, what a client asked for. Called only where they are wanted. */
export function logHead(r: Request): void {
  r.log(DEBUG, `http request line: "${r.line}"`);
  r.log(DEBUG, `http uri: "${r.uri}"`);
  r.log(DEBUG, `http args: "${r.args}"`);
  r.log(DEBUG, `http exten: "${r.exten}"`);
  const { headers } = r.head;
  for (let i = 0; i < headers.length; i += 2) {
    r.log(DEBUG, `http header: "${headers[i]}: ${headers[i + 1]}"`);
  }
  r.log(DEBUG, 'http header done');
}
