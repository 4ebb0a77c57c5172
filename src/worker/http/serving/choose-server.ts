import { INFO } from '../../../shared/log/level.js';
import { asksForCertificates } from '../../tls/request-check.js';
import type { Request } from '../request/request.js';

/**
 * Gives a request to the server that its host names. `negotiated` is the name that the TLS handshake was for, when a server answers to it.
 * Returns 0, or the status to refuse the request with. nginx: ngx_http_set_virtual_server.
 */
export function chooseServer(r: Request, host: string, negotiated: string | undefined): number {
  const { address } = r.connection;
  let found = address.find(host, r);
  if (negotiated !== undefined && negotiated !== host) {
    found ??= address.defaultServer;
    if (asksForCertificates(found)) {
      r.log(INFO, 'client attempted to request the server name different from the one that was negotiated');
      return 421;
    }
  }
  if (found !== undefined && found !== r.server) {
    r.server = found;
    r.location = found.root;
  }
  return 0;
}
