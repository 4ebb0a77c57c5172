import type { Request } from '../request/request.js';

/** Completes a path with scheme, host and port as `absolute_redirect` and its kin say. */
export function absoluteLocation(r: Request, path: string): string {
  const settings = r.location.settings;
  const tls = r.connection.tls !== undefined;
  let host: string;
  if (settings.serverNameInRedirect) {
    host = r.server.settings.serverName;
  } else {
    host = r.head.host === '' ? r.connection.localAddress : r.head.host;
  }
  let port = '';
  if (settings.portInRedirect) {
    const local = r.connection.localPort;
    if (local !== 0 && local !== (tls ? 443 : 80)) {
      port = `:${local}`;
    }
  }
  return `${tls ? 'https' : 'http'}://${host}${port}${path}`;
}
