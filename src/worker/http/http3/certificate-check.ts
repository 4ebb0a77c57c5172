import type { TlsConnection } from '../../task/client.js';
import { checkStatus } from '../../tls/client-status.js';
import type { TlsPeer } from '../../tls/peer.js';
import type { ServerRuntime } from '../request/http-runtime.js';

/** A question for the status of a client's certificate that is not answered yet. */
export interface CertificateCheck {
  cancel(): void;
}

const NOT_BEGUN: CertificateCheck = { cancel() {} };

/** What stands for the question until the handshake is over, where the server asks one (`ssl_ocsp`); null: none will be asked. */
export function checkLater(tls: TlsConnection | undefined): CertificateCheck | null {
  return (tls as TlsPeer | undefined)?.server.statusRules === undefined ? null : NOT_BEGUN;
}

/**
 * Asks for the status of the certificate of a client whose handshake is over. Calls back once it is known, perhaps at once. Returns null
 * where
 * nothing is asked, or not any more. nginx: ngx_ssl_ocsp_validate.
 */
export function certificateCheck(tls: TlsConnection | undefined, server: ServerRuntime, done: () => void): CertificateCheck | null {
  const peer = tls as TlsPeer | undefined;
  const rules = peer?.server.statusRules;
  if (peer === undefined || rules === undefined) {
    return null;
  }
  if (peer.failure !== null || peer.certificate === null) {
    done();
    return null;
  }
  let open = true;
  const cancel = checkStatus(peer.certificate, rules, server.root, (verdict) => {
    open = false;
    peer.status = verdict;
    done();
  });
  return open ? { cancel } : null;
}
