import { INFO } from '../../shared/log/level.js';
import { CERT_ERROR, NO_CERT } from '../http/request/codes.js';
import type { Request } from '../http/request/request.js';
import type { Client } from '../task/client.js';
import { countVerifyFailure } from './count-handshakes.js';
import { OPTIONAL_FAILURES, peerOf } from './peer.js';
import { tlsSlot } from './server-tls.js';
import type { TlsServer } from './tls-address.js';

/** Why a client is refused: the line for the log, and the status for a client of HTTP. */
interface ClientFailure {
  readonly message: string;
  readonly status: number;
  /** OpenSSL's number; 0: there is no certificate. */
  readonly code: number;
}

const REVOKED = 23;

/** What is wrong with a client's certificates, by what its server wants of them; undefined when nothing is. */
export function clientFailure(client: Client, server: TlsServer): ClientFailure | undefined {
  const peer = peerOf(client);
  if (peer === undefined) {
    return undefined;
  }
  const { verify } = server.conf(tlsSlot).settings;
  if (verify === 'off') {
    return undefined;
  }
  const { failure } = peer;
  if (failure !== null && (verify !== 'optional_no_ca' || !OPTIONAL_FAILURES.has(failure.code))) {
    const { code, text } = failure;
    return { message: `client SSL certificate verify error: (${code}:${text})`, status: CERT_ERROR, code };
  }
  if (verify === 'on' && peer.certificate === null) {
    return { message: 'client sent no required SSL certificate', status: NO_CERT, code: 0 };
  }
  if (peer.status === null) {
    return undefined;
  }
  return { message: `client SSL certificate verify error: ${peer.status}`, status: CERT_ERROR, code: REVOKED };
}

/** Refuses a request whose client shows no certificate that its server wants. Returns 0, or the status. nginx: ngx_http_process_request. */
export function checkClientCertificate(r: Request): number {
  const failure = clientFailure(r.connection, r.server);
  if (failure === undefined) {
    return 0;
  }
  countVerifyFailure(r.server, failure.code);
  r.log(INFO, failure.message);
  return failure.status;
}

/** Whether a server may answer a request on a connection whose handshake was for another name. nginx: ngx_http_set_virtual_server. */
export function asksForCertificates(server: TlsServer): boolean {
  return server.conf(tlsSlot).settings.verify !== 'off';
}
