import type { X509Certificate } from 'node:crypto';
import type { CipherState } from '../net/tls-binding.js';

/** A result of OpenSSL's X509_verify_cert. */
export interface VerifyFailure {
  readonly code: number;
  readonly text: string;
}

/** Why OpenSSL did not trust the peer's certificate; null when it did. `depth` is the number of intermediate certificates allowed. */
export function verifyFailure(
  cipher: CipherState | null,
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
  depth: number,
): VerifyFailure | null {
  const error = cipher?.verifyError();
  if (error !== undefined && error !== null) {
    // Since Node 24 advice about options of Node's may follow OpenSSL's own text, behind a semicolon.
    return { code: error.number ?? VERIFY_NUMBERS[error.code] ?? 1, text: error.message.replace(/;.*/s, '') };
  }
  return tooDeep(certificate, authorities, depth) ? { code: 22, text: 'certificate chain too long' } : null;
}

// Node has no way to tell OpenSSL how long a chain may be. The chain that it built and trusted is walked again.
function tooDeep(certificate: X509Certificate, authorities: readonly X509Certificate[], depth: number): boolean {
  let at = certificate;
  for (let intermediates = 0; !selfIssued(at); intermediates++) {
    if (intermediates > depth) {
      return true;
    }
    const issuer: X509Certificate | undefined = authorities.find((authority) => at.checkIssued(authority)) ?? at.issuerCertificate;
    if (issuer === undefined) {
      return false;
    }
    at = issuer;
  }
  return false;
}

function selfIssued(certificate: X509Certificate): boolean {
  return certificate.subject === certificate.issuer;
}

/** OpenSSL's numbers for the names that Node gives its results. */
export const VERIFY_NUMBERS: Readonly<Record<string, number>> = {
  UNABLE_TO_GET_ISSUER_CERT: 2,
  UNABLE_TO_GET_CRL: 3,
  UNABLE_TO_DECRYPT_CERT_SIGNATURE: 4,
  UNABLE_TO_DECRYPT_CRL_SIGNATURE: 5,
  UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: 6,
  CERT_SIGNATURE_FAILURE: 7,
  CRL_SIGNATURE_FAILURE: 8,
  CERT_NOT_YET_VALID: 9,
  CERT_HAS_EXPIRED: 10,
  CRL_NOT_YET_VALID: 11,
  CRL_HAS_EXPIRED: 12,
  OUT_OF_MEM: 17,
  DEPTH_ZERO_SELF_SIGNED_CERT: 18,
  SELF_SIGNED_CERT_IN_CHAIN: 19,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 20,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 21,
  CERT_CHAIN_TOO_LONG: 22,
  CERT_REVOKED: 23,
  INVALID_CA: 24,
  PATH_LENGTH_EXCEEDED: 25,
  INVALID_PURPOSE: 26,
  CERT_UNTRUSTED: 27,
  CERT_REJECTED: 28,
};
