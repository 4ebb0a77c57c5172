// OCSP requests and responses (RFC 6960) as DER. OpenSSL's part of this is not reachable from Node.
import { constants, hash, type KeyObject, verify, X509Certificate } from 'node:crypto';
import { EMPTY } from '../bytes/empty.js';
import { type DerElement, derElements, oidText } from './der.js';

/** What a responder says of a certificate. */
export type CertificateStatus = 'good' | 'revoked' | 'unknown';

/** A response that was checked. */
export interface OcspStatus {
  readonly status: CertificateStatus;
  /** Seconds of the wall clock until which it holds; infinite when the responder does not say. */
  readonly valid: number;
}

/** Why a response is not believed, in nginx's words. */
export class OcspError extends Error {}

/** What a response is checked against. nginx: the flags of OCSP_basic_verify. */
export interface OcspTrust {
  /** Certificates that may have signed the response though it does not hold them. */
  readonly chain: readonly X509Certificate[];
  /** Certificates that are trusted by themselves. */
  readonly roots: readonly X509Certificate[];
  /** `chain`: who is in `chain` is believed; `none`: every signer that can be found is. */
  readonly signer: 'authorized' | 'chain' | 'none';
}

const TAG = { INTEGER: 2, BIT_STRING: 3, OCTET_STRING: 4, NULL: 5, OID: 6, ENUMERATED: 10, SEQUENCE: 0x30 } as const;
const SHA1 = '1.3.14.3.2.26';
const SHA1_ALGORITHM = Buffer.from('300906052b0e03021a0500', 'hex');
const BASIC_RESPONSE = '1.3.6.1.5.5.7.48.1.1';
const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';
/** Seconds by which clocks may differ. */
const CLOCK_SKEW = 300;

const STATUS_NAMES = ['successful', 'malformedrequest', 'internalerror', 'trylater', '', 'sigrequired', 'unauthorized'];

/** One element of DER. */
function element(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  if (length < 0x80) {
    return Buffer.concat([Buffer.from([tag, length]), content]);
  }
  const digits = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...digits]), content]);
}

const sha1 = (bytes: Buffer): Buffer => hash('sha1', bytes, 'buffer');

/** The parts of a certificate that name it to a responder. */
interface Fields {
  readonly serial: Buffer;
  readonly subject: Buffer;
  readonly key: Buffer;
}

function fieldsOf(certificate: X509Certificate): Fields {
  const [outer] = derElements(certificate.raw);
  const [tbs] = derElements(outer!.content);
  const fields = derElements(tbs!.content).filter(({ tag }) => tag !== 0xa0);
  // Serial number, signature algorithm, issuer, validity, subject, public key.
  const bits = derElements(fields[5]!.content)[1]!;
  return { serial: fields[0]!.content, subject: fields[4]!.whole, key: bits.content.subarray(1) };
}

/** Names a certificate: hashes of its issuer's name and key, and its serial number. nginx: OCSP_cert_to_id. */
export function certificateId(certificate: X509Certificate, issuer: X509Certificate): Buffer {
  const { subject, key } = fieldsOf(issuer);
  return element(
    TAG.SEQUENCE,
    SHA1_ALGORITHM,
    element(TAG.OCTET_STRING, sha1(subject)),
    element(TAG.OCTET_STRING, sha1(key)),
    element(TAG.INTEGER, fieldsOf(certificate).serial),
  );
}

/** Asks for one certificate, without nonce. nginx: ngx_ssl_ocsp_create_request. */
export function ocspRequest(id: Buffer): Buffer {
  const list = element(TAG.SEQUENCE, element(TAG.SEQUENCE, id));
  return element(TAG.SEQUENCE, element(TAG.SEQUENCE, list));
}

/**
 * Reads a response, checks it and finds the status of a certificate; throws {@link OcspError}. `now` in seconds. nginx:
 * ngx_ssl_ocsp_verify.
 */
export function readOcspResponse(
  bytes: Buffer,
  certificate: X509Certificate,
  issuer: X509Certificate,
  trust: OcspTrust,
  now: number,
): OcspStatus {
  const [response] = derElements(bytes);
  const [status, holder] = response?.tag === TAG.SEQUENCE ? derElements(response.content) : [];
  if (status?.tag !== TAG.ENUMERATED) {
    throw new OcspError('d2i_OCSP_RESPONSE() failed');
  }
  const code = status.content[0]!;
  if (code !== 0) {
    throw new OcspError(`OCSP response not successful (${code}: ${STATUS_NAMES[code] || '(UNKNOWN)'})`);
  }
  const basic = readBasic(holder);
  if (!signatureHolds(basic, certificate, issuer, trust, now)) {
    throw new OcspError('OCSP_basic_verify() failed');
  }
  const single = basic.responses.find(({ content }) => sameId(derElements(content)[0], certificateId(certificate, issuer)));
  if (single === undefined) {
    throw new OcspError('certificate status not found in the OCSP response');
  }
  const [, verdict, thisUpdate, next] = derElements(single.content);
  const from = thisUpdate === undefined ? Number.NaN : generalizedTime(thisUpdate);
  const nextUpdate = next?.tag === 0xa0 ? derElements(next.content)[0] : undefined;
  const until = nextUpdate === undefined ? Number.POSITIVE_INFINITY : generalizedTime(nextUpdate);
  const current = from <= now + CLOCK_SKEW && until >= now - CLOCK_SKEW && until >= from;
  if (!current) {
    throw new OcspError('OCSP_check_validity() failed');
  }
  return { status: verdict!.tag === 0x80 ? 'good' : verdict!.tag === 0xa1 ? 'revoked' : 'unknown', valid: until };
}

/** A basic response in its parts. */
interface Basic {
  /** What was signed. */
  readonly signed: Buffer;
  readonly responder: DerElement;
  readonly responses: readonly DerElement[];
  readonly algorithm: DerElement;
  readonly signature: Buffer;
  readonly certificates: readonly Buffer[];
}

function readBasic(holder: DerElement | undefined): Basic {
  const fail = (): never => {
    throw new OcspError('OCSP_response_get1_basic() failed');
  };
  const [outer] = holder?.tag === 0xa0 ? derElements(holder.content) : [];
  const [type, octets] = outer === undefined ? [] : derElements(outer.content);
  if (type?.tag !== TAG.OID || oidText(type.content) !== BASIC_RESPONSE || octets?.tag !== TAG.OCTET_STRING) {
    return fail();
  }
  const [basic] = derElements(octets.content);
  const [data, algorithm, bits, extra] = basic === undefined ? [] : derElements(basic.content);
  if (data?.tag !== TAG.SEQUENCE || algorithm === undefined || bits?.tag !== TAG.BIT_STRING) {
    return fail();
  }
  const fields = derElements(data.content).filter(({ tag }) => tag !== 0xa0);
  const [responder, , list] = fields;
  if (responder === undefined || list?.tag !== TAG.SEQUENCE) {
    return fail();
  }
  const [certificates] = extra?.tag === 0xa0 ? derElements(extra.content) : [];
  return {
    signed: data.whole,
    responder,
    responses: derElements(list.content),
    algorithm,
    signature: bits.content.subarray(1),
    certificates: certificates === undefined ? [] : derElements(certificates.content).map(({ whole }) => whole),
  };
}

/** A time as `YYYYMMDDHHMMSSZ` in seconds; NaN for anything else. */
function generalizedTime({ content }: DerElement): number {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d+)?Z$/.exec(content.toString('latin1'));
  if (parts === null) {
    return Number.NaN;
  }
  const [year, month, day, hour, minute, second] = parts.slice(1).map(Number) as [number, number, number, number, number, number];
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
}

/** Compares what names a certificate; parameters of the hash may be left out or null. */
function sameId(found: DerElement | undefined, wanted: Buffer): boolean {
  const [a, b] = [derElements(found?.content ?? EMPTY), derElements(derElements(wanted)[0]!.content)];
  const [hash] = derElements(a[0]?.content ?? EMPTY);
  if (hash?.tag !== TAG.OID || oidText(hash.content) !== SHA1) {
    return false;
  }
  return [1, 2, 3].every((i) => a[i]?.content.equals(b[i]!.content));
}

/** What cannot be made sense of, such as a key of a kind that OpenSSL does not know, is not believed. */
function signatureHolds(basic: Basic, certificate: X509Certificate, issuer: X509Certificate, trust: OcspTrust, now: number): boolean {
  try {
    return isSignedBy(basic, certificate, issuer, trust, now);
  } catch {
    return false;
  }
}

function isSignedBy(
  basic: Basic,
  certificate: X509Certificate,
  issuer: X509Certificate,
  { chain, roots, signer: rule }: OcspTrust,
  now: number,
): boolean {
  const own = basic.certificates.flatMap((der) => parseCertificate(der) ?? []);
  const inside = own.find((candidate) => isResponder(candidate, basic.responder));
  const signer = inside ?? chain.find((candidate) => isResponder(candidate, basic.responder));
  if (signer === undefined || !verifies(basic, signer.publicKey)) {
    return false;
  }
  if (rule === 'none' || (rule === 'chain' && inside === undefined)) {
    return true;
  }
  if (!inDate(signer, now) || !anchored(signer, [...own, ...chain], roots)) {
    return false;
  }
  if (signer.raw.equals(issuer.raw) || (signer.subject === issuer.subject && certificate.verify(signer.publicKey))) {
    return true;
  }
  return signer.checkIssued(issuer) && signer.verify(issuer.publicKey) && (signer.keyUsage ?? []).includes(OCSP_SIGNING);
}

function parseCertificate(der: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(der);
  } catch {
    return undefined;
  }
}

function isResponder(candidate: X509Certificate, responder: DerElement): boolean {
  const { subject, key } = fieldsOf(candidate);
  const [inner] = derElements(responder.content);
  if (inner === undefined) {
    return false;
  }
  return responder.tag === 0xa1 ? inner.whole.equals(subject) : inner.content.equals(sha1(key));
}

function inDate(certificate: X509Certificate, now: number): boolean {
  return Date.parse(certificate.validFrom) <= now * 1000 && now * 1000 <= Date.parse(certificate.validTo);
}

/** Longer chains are not followed. */
const MAX_DEPTH = 10;

/** Whether a certificate leads to one that is trusted by itself. */
function anchored(certificate: X509Certificate, helpers: readonly X509Certificate[], roots: readonly X509Certificate[]): boolean {
  let at = certificate;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    if (at.checkIssued(at)) {
      return roots.some(({ raw }) => raw.equals(at.raw));
    }
    const next = [...roots, ...helpers].find((candidate) => at.checkIssued(candidate) && at.verify(candidate.publicKey));
    if (next === undefined) {
      return false;
    }
    at = next;
  }
  return false;
}

/** Names of digests by the algorithms of signatures; null where the algorithm says it. */
const DIGESTS: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.5': 'sha1',
  '1.2.840.113549.1.1.14': 'sha224',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.1': 'sha1',
  '1.2.840.10045.4.3.1': 'sha224',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
  '1.3.101.113': null,
};
const RSA_PSS = '1.2.840.113549.1.1.10';
const HASHES: Readonly<Record<string, string>> = {
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

function verifies({ algorithm, signed, signature }: Basic, key: KeyObject): boolean {
  const [id, parameters] = derElements(algorithm.content);
  const oid = id === undefined ? '' : oidText(id.content);
  if (oid === RSA_PSS) {
    const hash = pssHash(parameters);
    const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
    return hash !== undefined && verify(hash, signed, { key, ...padding }, signature);
  }
  const digest = DIGESTS[oid];
  return digest !== undefined && verify(digest, signed, key, signature);
}

/** The hash in the parameters of RSASSA-PSS. */
function pssHash(parameters: DerElement | undefined): string | undefined {
  const [first] = parameters === undefined ? [] : derElements(parameters.content);
  if (first?.tag !== 0xa0) {
    return 'sha1';
  }
  const [algorithm] = derElements(first.content);
  const [oid] = derElements(algorithm?.content ?? EMPTY);
  return oid === undefined ? undefined : HASHES[oidText(oid.content)];
}
