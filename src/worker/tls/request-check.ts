import { INFO } from '../../shared/log/level.js';
import { CERT_ERROR, NO_CERT } from '../http/request/codes.js';
import type { Request } from '../http/request/request.js';
import { OPTIONAL_FAILURES, peerOf } from './peer.js';
import type { ServerTls } from './server-tls.js';

/** Refuses a request whose client shows no certificate that its server wants. Returns 0, or the status. nginx: ngx_http_process_request. */
export function checkClientCertificate(r: Request): number {
  const tls = r.server.tls as ServerTls | undefined;
  const peer = peerOf(r.connection);
  if (tls === undefined || peer === undefined || tls.settings.verify === 'off') {
    return 0;
  }
  const { failure } = peer;
  if (failure !== null && (tls.settings.verify !== 'optional_no_ca' || !OPTIONAL_FAILURES.has(failure.code))) {
    r.log(INFO, `client SSL certificate verify error: (${failure.code}:${failure.text})`);
    return CERT_ERROR;
  }
  if (tls.settings.verify === 'on' && peer.certificate === null) {
    r.log(INFO, 'client sent no required SSL certificate');
    return NO_CERT;
  }
  if (peer.status !== null) {
    r.log(INFO, `client SSL certificate verify error: ${peer.status}`);
    return CERT_ERROR;
  }
  return 0;
}

/** Whether a server may answer a request on a connection whose handshake was for another name. nginx: ngx_http_set_virtual_server. */
export function asksForCertificates(tls: unknown): boolean {
  return tls !== undefined && (tls as ServerTls).settings.verify !== 'off';
}
