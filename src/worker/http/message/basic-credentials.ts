import type { Request } from '../request/request.js';

/** User and password of Basic authentication, latin1. */
export interface BasicCredentials {
  readonly user: string;
  readonly password: string;
}

/** What the Authorization header says, or undefined when it has no Basic credentials. nginx: ngx_http_auth_basic_user. */
export function basicCredentials(r: Request): BasicCredentials | undefined {
  const header = r.header('authorization');
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
