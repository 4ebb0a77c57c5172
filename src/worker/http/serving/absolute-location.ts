import { LocationSlot } from '../../task/settings-slot.js';
import type { Request } from '../request/request.js';
import { nameSlot } from '../request/server-names.js';

/** How redirects name this server. */
export interface RedirectSettings {
  absoluteRedirect: boolean;
  portInRedirect: boolean;
  serverNameInRedirect: boolean;
}

export const redirectSlot = new LocationSlot<Readonly<RedirectSettings>>();

/** Completes a path with scheme, host and port as `absolute_redirect` and its kin say. */
export function absoluteLocation(r: Request, path: string): string {
  const settings = r.location.conf(redirectSlot);
  const tls = r.connection.tls !== undefined;
  let host: string;
  if (settings.serverNameInRedirect) {
    host = r.server.conf(nameSlot).serverName;
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
