import type { Request } from '../request/request.js';
import { METHOD } from '../syntax/method.js';

/** User and password of Basic authentication, latin1. */
export interface BasicCredentials {
  readonly user: string;
  readonly password: string;
}

/** Whether a request asks for a tunnel, so that credentials are those for a proxy. nginx: ngx_http_proxy_auth. */
export const asksProxy = (r: Request): boolean => r.methodBit === METHOD.CONNECT;

/**
 * What the Authorization header says, or for a tunnel the Proxy-Authorization header; undefined when it has no Basic credentials. nginx:
 * ngx_http_auth_basic_user.
 */
export function basicCredentials(r: Request): BasicCredentials | undefined {
  const header = r.header(asksProxy(r) ? 'proxy-authorization' : 'authorization');
  if (header === undefined || !/^basic /i.test(header)) {
    return undefined;
  }
  const encoded = header.slice(6).replace(/^ +/, '');
  if (encoded === '' || !/^[A-Za-z0-9+/]*={0,2}\s*$/.test(encoded)) {
    return undefined;
  }
  const text = Buffer.from(encoded, 'base64').toString('latin1');
  const colon = text.indexOf(':');
  return colon <= 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
