import { ERROR } from '../../../shared/log/level.js';
import type { Request } from '../../http/request/request.js';
import { readUnsafeUri } from '../../http/request/unsafe-uri.js';

export const INFINITE = -1;
export const INVALID = -2;

/** The request announces a body. */
export const hasBody = (r: Request): boolean => r.contentLength > 0 || r.chunkedIn;

/** How deep a request means: 0, 1, INFINITE or, with a log line, INVALID. nginx: ngx_http_dav_depth. */
export function depthOf(r: Request, unsaid: number): number {
  const depth = r.header('depth');
  if (depth === undefined) {
    return unsaid;
  }
  if (depth === '0' || depth === '1') {
    return Number(depth);
  }
  if (depth === 'infinity') {
    return INFINITE;
  }
  r.log(ERROR, `client sent invalid "Depth" header: "${depth}"`);
  return INVALID;
}

/** Whether an existing destination may be replaced; undefined, with a log line, for a malformed header. */
export function mayOverwrite(r: Request): boolean | undefined {
  const overwrite = r.header('overwrite');
  if (overwrite === undefined || /^t$/i.test(overwrite)) {
    return true;
  }
  if (/^f$/i.test(overwrite)) {
    return false;
  }
  r.log(ERROR, `client sent invalid "Overwrite" header: "${overwrite}"`);
  return undefined;
}

/** The decoded path that `Destination` names on this server; undefined, with a log line, when it names none. */
export function destinationOf(r: Request, destination: string): string | undefined {
  const path = pathOf(r, destination);
  if (path === undefined) {
    return undefined;
  }
  const uri = readUnsafeUri(r, path)?.uri;
  return uri ?? invalid(r, destination);
}

function pathOf(r: Request, destination: string): string | undefined {
  if (destination.startsWith('/')) {
    return destination;
  }
  const host = r.head.host;
  if (host === '') {
    r.log(ERROR, 'client sent no "Host" header');
    return undefined;
  }
  const scheme = r.connection.tls === undefined ? 'http://' : 'https://';
  if (!destination.startsWith(scheme)) {
    return invalid(r, destination);
  }
  if (!destination.startsWith(host, scheme.length)) {
    r.log(ERROR, `"Destination" URI "${destination}" is handled by different repository than the source URI`);
    return undefined;
  }
  const slash = destination.indexOf('/', scheme.length + host.length);
  return slash === -1 ? invalid(r, destination) : destination.slice(slash);
}

function invalid(r: Request, destination: string): undefined {
  r.log(ERROR, `client sent invalid "Destination" header: "${destination}"`);
  return undefined;
}
