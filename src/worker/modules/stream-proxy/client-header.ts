import { TLV } from '../../net/proxy-protocol.js';
import { proxyProtocolHeader, proxyProtocolHeader2, tlv } from '../../net/proxy-protocol-write.js';
import type { StreamSession } from '../../stream/session/session.js';
import { ownCertificate, signatureName } from '../../tls/own-certificate.js';
import { peerOf, type TlsPeer } from '../../tls/peer.js';

/** The header of the PROXY protocol that names a session's client. */
export const clientHeader = (s: StreamSession, version: 1 | 2): Buffer =>
  version === 1 ? proxyProtocolHeader(s) : proxyProtocolHeader2(s, tlvsOf(s));

const CLIENT_SSL = 1;
const CERTIFICATE_ON_CONNECTION = 2;
const CERTIFICATE_IN_SESSION = 4;
/** X509_V_ERR_UNSPECIFIED, X509_V_ERR_CERT_REVOKED */
const UNSPECIFIED = 1;
const REVOKED = 23;
const KINDS: Readonly<Record<string, string>> = { rsa: 'RSA', 'rsa-pss': 'RSA', ec: 'EC', dsa: 'DSA' };

/** What is told of a client's TLS. nginx: ngx_proxy_protocol_v2_eval_ssl. */
function tlvsOf(s: StreamSession): Buffer[] {
  const peer = peerOf(s);
  if (peer === undefined || peer.cipher === null) {
    return [];
  }
  const tlvs: Buffer[] = [];
  const add = (list: Buffer[], type: number, text: string | undefined | null): void => {
    if (text) {
      list.push(tlv(type, Buffer.from(text, 'latin1')));
    }
  };
  add(tlvs, TLV.AUTHORITY, peer.sni);
  add(tlvs, TLV.ALPN, peer.cipher.getALPNNegotiatedProtocol() || undefined);
  const inside: Buffer[] = [];
  add(inside, TLV.SSL_VERSION, peer.cipher.getProtocol());
  const { certificate } = peer;
  if (certificate !== null) {
    const name = /^CN=(.*)$/m.exec(certificate.subject)?.[1];
    if (name !== undefined) {
      inside.push(tlv(TLV.SSL_CN, Buffer.from(name, 'utf8')));
    }
  }
  add(inside, TLV.SSL_CIPHER, peer.cipher.getCipher()?.name);
  const own = ownCertificate(peer.cipher);
  if (own !== undefined) {
    add(inside, TLV.SSL_SIG_ALG, signatureName(own));
    const { asymmetricKeyType, asymmetricKeyDetails } = own.publicKey;
    const kind = KINDS[asymmetricKeyType ?? ''];
    add(inside, TLV.SSL_KEY_ALG, kind === undefined ? undefined : `${kind}${keyBits(asymmetricKeyDetails)}`.slice(0, 8));
  }
  const head = Buffer.alloc(5);
  head[0] = clientBits(peer);
  head.writeUInt32BE(verifyResult(peer), 1);
  tlvs.push(tlv(TLV.SSL, Buffer.concat([head, ...inside])));
  return tlvs;
}

const CURVE_BITS: Readonly<Record<string, number>> = { prime256v1: 256, secp384r1: 384, secp521r1: 521 };

const keyBits = (details: { readonly modulusLength?: number; readonly namedCurve?: string } | undefined): string =>
  String(details?.modulusLength ?? CURVE_BITS[details?.namedCurve ?? ''] ?? '');

function clientBits({ certificate, cipher }: TlsPeer): number {
  if (certificate === null) {
    return CLIENT_SSL;
  }
  return CLIENT_SSL | CERTIFICATE_IN_SESSION | (cipher?.isSessionReused() ? 0 : CERTIFICATE_ON_CONNECTION);
}

function verifyResult({ certificate, failure, status }: TlsPeer): number {
  if (certificate === null) {
    return UNSPECIFIED;
  }
  return failure?.code ?? (status === null ? 0 : REVOKED);
}
