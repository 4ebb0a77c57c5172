import type { X509Certificate } from 'node:crypto';
import type { SharedVariable } from '../../module.js';
import { whyNoRecords } from '../../net/openssl/records.js';
import type { Agreed } from '../../net/tls-binding.js';
import { certificateNames, sessionId } from '../../tls/der.js';
import { legacyName, rfc2253 } from '../../tls/distinguished-name.js';
import { cipherName, curveName, hexNumber, negotiatedCurve } from '../../tls/names.js';
import { peerOf, type TlsPeer } from '../../tls/peer.js';

/** A variable of TLS connections; an empty value counts as none. nginx: ngx_http_ssl_variable. */
function ofTls(name: string, get: (peer: TlsPeer) => string | undefined): SharedVariable {
  return {
    name: `ssl_${name}`,
    changeable: true,
    get: (r) => {
      const peer = peerOf(r.connection);
      return peer === undefined ? undefined : get(peer) || undefined;
    },
  };
}

const ofCertificate = (name: string, get: (certificate: X509Certificate) => string): SharedVariable =>
  ofTls(`client_${name}`, (peer) => (peer.certificate === null ? undefined : get(peer.certificate)));

/** An algorithm that only OpenSSL itself knows. nginx: ngx_ssl_get_sigalg. */
const ofHandshake = (name: 'sigalg' | 'client_sigalg', get: (agreed: Agreed) => string): SharedVariable => ({
  ...ofTls(name, ({ agreed }) => (agreed === undefined ? undefined : get(agreed))),
  warning: () => {
    const why = whyNoRecords();
    return why === ''
      ? undefined
      : `the "$ssl_${name}" variable is always empty: Node does not tell it, and OpenSSL cannot be asked because ${why}`;
  },
});

const DAY_MS = 24 * 60 * 60 * 1000;

/** `$ssl_*`. nginx: ngx_http_ssl_vars. */
export const variables: readonly SharedVariable[] = [
  ofTls('protocol', ({ cipher }) => cipher?.getProtocol() ?? undefined),
  ofTls('cipher', ({ cipher }) => cipher?.getCipher()?.name),
  ofTls('ciphers', ({ hello }) => hello?.ciphers.map(cipherName).join(':')),
  ofTls('curve', (peer) => peer.agreed?.group ?? negotiatedCurve(peer)),
  ofTls('curves', ({ hello }) => hello?.groups.map(curveName).join(':')),
  ofHandshake('sigalg', ({ signature }) => signature),
  ofTls('sigalgs', ({ hello }) => hello?.signatureAlgorithms.map(hexNumber).join(':')),
  ofTls('session_id', ({ cipher }) => {
    const session = cipher?.getSession?.();
    const id = session === undefined ? cipher?.sessionId?.() : sessionId(session);
    return id?.toString('hex');
  }),
  ofTls('session_reused', ({ cipher }) => (cipher === null ? undefined : cipher.isSessionReused() ? 'r' : '.')),
  { ...ofTls('early_data', ({ early }) => (early ? '1' : undefined)), cacheable: false },
  // Also known while the handshake runs, for names of certificates.
  { name: 'ssl_server_name', changeable: true, get: (r) => r.connection.sni || undefined },
  ofTls('alpn_protocol', ({ cipher }) => cipher?.getALPNNegotiatedProtocol() || undefined),
  ofTls('ech_status', () => undefined),
  ofTls('ech_outer_server_name', () => undefined),
  ofCertificate('cert', (certificate) => certificate.toString().trimEnd().replaceAll('\n', '\n\t')),
  ofCertificate('raw_cert', (certificate) => certificate.toString()),
  ofCertificate('escaped_cert', (certificate) => encodeURIComponent(certificate.toString())),
  ofCertificate('s_dn', (certificate) => rfc2253(certificateNames(certificate.raw).subject)),
  ofCertificate('i_dn', (certificate) => rfc2253(certificateNames(certificate.raw).issuer)),
  ofCertificate('s_dn_legacy', (certificate) => legacyName(certificateNames(certificate.raw).subject)),
  ofCertificate('i_dn_legacy', (certificate) => legacyName(certificateNames(certificate.raw).issuer)),
  ofCertificate('serial', (certificate) => certificate.serialNumber),
  ofCertificate('fingerprint', (certificate) => certificate.fingerprint.replaceAll(':', '').toLowerCase()),
  ofTls('client_verify', (peer) => {
    if (peer.certificate === null) {
      return 'NONE';
    }
    const failure = peer.failure?.text ?? peer.status;
    return failure === null ? 'SUCCESS' : `FAILED:${failure}`;
  }),
  ofCertificate('v_start', (certificate) => certificate.validFrom),
  ofCertificate('v_end', (certificate) => certificate.validTo),
  ofCertificate('v_remain', (certificate) => {
    const left = Date.parse(certificate.validTo) - Date.now();
    return left < DAY_MS ? '0' : String(Math.floor(left / DAY_MS));
  }),
  ofHandshake('client_sigalg', ({ peerSignature }) => peerSignature),
];
