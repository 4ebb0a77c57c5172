import type { Request } from '../request/request.js';
import { asksProxy } from './basic-credentials.js';

const SCHEME = 'bearer ';

/**
 * The token of the Authorization header, or for a tunnel of the Proxy-Authorization header (RFC 6750); empty when there is none.
 */
export function bearerToken(r: Request): string {
  const header = r.header(asksProxy(r) ? 'proxy-authorization' : 'authorization');
  if (header === undefined || header.length <= SCHEME.length || header.slice(0, SCHEME.length).toLowerCase() !== SCHEME) {
    return '';
  }
  const token = header.slice(SCHEME.length);
  return token.charCodeAt(0) === 32 ? token.trimStart() : token;
}

/** Asks for a token; the realm is left out where it is empty. Returns the status to answer with. */
export function challengeBearer(r: Request, realm: string, error: string): 401 | 407 {
  const parts = [...(realm === '' ? [] : [`realm="${realm}"`]), ...(error === '' ? [] : [`error="${error}"`])];
  const text = parts.length === 0 ? 'Bearer' : `Bearer ${parts.join(', ')}`;
  if (asksProxy(r)) {
    r.out.proxyAuthenticate = text;
    return 407;
  }
  // Beside what another module asks for: with `satisfy any`, either is enough.
  r.out.adopt('wwwAuthenticate', 'WWW-Authenticate', text);
  return 401;
}
