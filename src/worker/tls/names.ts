import { ownValue } from '../../shared/collection/own-value.js';
import type { CipherState } from '../net/tls-binding.js';
import type { ClientHello } from './client-hello.js';
import type { TlsSettings } from './settings.js';

/** OpenSSL's names of cipher suites by the numbers that clients send. */
const CIPHERS = new Map<number, string>(
  `000a DES-CBC3-SHA,002f AES128-SHA,0033 DHE-RSA-AES128-SHA,0035 AES256-SHA,0039 DHE-RSA-AES256-SHA,003b NULL-SHA256,003c AES128-SHA256,
  003d AES256-SHA256,0041 CAMELLIA128-SHA,0045 DHE-RSA-CAMELLIA128-SHA,0067 DHE-RSA-AES128-SHA256,006b DHE-RSA-AES256-SHA256,
  0084 CAMELLIA256-SHA,0088 DHE-RSA-CAMELLIA256-SHA,009c AES128-GCM-SHA256,009d AES256-GCM-SHA384,009e DHE-RSA-AES128-GCM-SHA256,
  009f DHE-RSA-AES256-GCM-SHA384,00a2 DHE-DSS-AES128-GCM-SHA256,00a3 DHE-DSS-AES256-GCM-SHA384,00a6 ADH-AES128-GCM-SHA256,
  00a7 ADH-AES256-GCM-SHA384,00a8 PSK-AES128-GCM-SHA256,00a9 PSK-AES256-GCM-SHA384,00ff TLS_EMPTY_RENEGOTIATION_INFO_SCSV,
  1301 TLS_AES_128_GCM_SHA256,1302 TLS_AES_256_GCM_SHA384,1303 TLS_CHACHA20_POLY1305_SHA256,1304 TLS_AES_128_CCM_SHA256,
  1305 TLS_AES_128_CCM_8_SHA256,c009 ECDHE-ECDSA-AES128-SHA,c00a ECDHE-ECDSA-AES256-SHA,c013 ECDHE-RSA-AES128-SHA,
  c014 ECDHE-RSA-AES256-SHA,c023 ECDHE-ECDSA-AES128-SHA256,c024 ECDHE-ECDSA-AES256-SHA384,c027 ECDHE-RSA-AES128-SHA256,
  c028 ECDHE-RSA-AES256-SHA384,c02b ECDHE-ECDSA-AES128-GCM-SHA256,c02c ECDHE-ECDSA-AES256-GCM-SHA384,
  c02f ECDHE-RSA-AES128-GCM-SHA256,c030 ECDHE-RSA-AES256-GCM-SHA384,c050 ARIA128-GCM-SHA256,c051 ARIA256-GCM-SHA384,
  c052 DHE-RSA-ARIA128-GCM-SHA256,c053 DHE-RSA-ARIA256-GCM-SHA384,c05c ECDHE-ECDSA-ARIA128-GCM-SHA256,
  c05d ECDHE-ECDSA-ARIA256-GCM-SHA384,c060 ECDHE-ARIA128-GCM-SHA256,c061 ECDHE-ARIA256-GCM-SHA384,
  c072 ECDHE-ECDSA-CAMELLIA128-SHA256,c073 ECDHE-ECDSA-CAMELLIA256-SHA384,c076 ECDHE-RSA-CAMELLIA128-SHA256,
  c077 ECDHE-RSA-CAMELLIA256-SHA384,c09c AES128-CCM,c09d AES256-CCM,c09e DHE-RSA-AES128-CCM,c09f DHE-RSA-AES256-CCM,
  c0a0 AES128-CCM8,c0a1 AES256-CCM8,c0a2 DHE-RSA-AES128-CCM8,c0a3 DHE-RSA-AES256-CCM8,c0ac ECDHE-ECDSA-AES128-CCM,
  c0ad ECDHE-ECDSA-AES256-CCM,c0ae ECDHE-ECDSA-AES128-CCM8,c0af ECDHE-ECDSA-AES256-CCM8,cca8 ECDHE-RSA-CHACHA20-POLY1305,
  cca9 ECDHE-ECDSA-CHACHA20-POLY1305,ccaa DHE-RSA-CHACHA20-POLY1305`
    .split(',')
    .map((item) => item.trim().split(' ') as [string, string])
    .map(([code, name]) => [Number.parseInt(code, 16), name]),
);

/** OpenSSL's names of groups. */
const CURVES: Readonly<Record<number, string>> = {
  21: 'secp224r1',
  22: 'secp256k1',
  23: 'prime256v1',
  24: 'secp384r1',
  25: 'secp521r1',
  26: 'brainpoolP256r1',
  27: 'brainpoolP384r1',
  28: 'brainpoolP512r1',
  29: 'X25519',
  30: 'X448',
  256: 'ffdhe2048',
  257: 'ffdhe3072',
  258: 'ffdhe4096',
  259: 'ffdhe6144',
  260: 'ffdhe8192',
  512: 'MLKEM512',
  513: 'MLKEM768',
  514: 'MLKEM1024',
  4587: 'SecP256r1MLKEM768',
  4588: 'X25519MLKEM768',
  4589: 'SecP384r1MLKEM1024',
};

/** Other names under which `ssl_ecdh_curve` knows groups. */
const ALIASES: Readonly<Record<string, number>> = { 'P-256': 23, 'P-384': 24, 'P-521': 25, secp256r1: 23 };

/** Groups, best first. A server asks a client for another key rather than take a group of a later row than both know. */
type Groups = readonly (readonly number[])[];

/** The groups that OpenSSL offers by itself: since 3.5, and before. */
const DEFAULT_GROUPS: Groups = hasTuples(process.versions.openssl)
  ? [[4588], [29, 23], [30, 24, 25], [256, 257]]
  : [[29, 23, 30, 25, 24, 256, 257, 258, 259, 260]];
/** Only curves serve TLS 1.2, whose groups below have these numbers. */
const LAST_CURVE = 255;

/** A number of TLS for which there is no name. */
export const hexNumber = (n: number): string => `0x${n.toString(16).padStart(4, '0')}`;

/** The name of a cipher suite, or its number when OpenSSL has none for it. */
export function cipherName(code: number): string {
  return CIPHERS.get(code) ?? hexNumber(code);
}

/** The name of a group, or its number when OpenSSL has none for it. */
export function curveName(code: number): string {
  return CURVES[code] ?? hexNumber(code);
}

/** Whether this OpenSSL orders groups in rows, and offers X25519MLKEM768 by itself: since 3.5. */
export function hasTuples(openssl: string): boolean {
  const [major = 0, minor = 0] = openssl.split('.').map(Number);
  return major > 3 || (major === 3 && minor >= 5);
}

/** The groups that `ssl_ecdh_curve` allows. OpenSSL 3.5 reads `/` between rows, and marks before a name. */
function allowedGroups(setting: string): Groups {
  return setting === 'auto' ? DEFAULT_GROUPS : setting.split('/').map((row) => row.split(':').flatMap(groupNamed));
}

function groupNamed(text: string): readonly number[] {
  const name = text.trim().replace(/^[?*]+/, '');
  const code = ownValue(ALIASES, name) ?? Object.keys(CURVES).find((key) => CURVES[Number(key)]!.toLowerCase() === name.toLowerCase());
  return code === undefined ? [] : [Number(code)];
}

/** One end of a connection, and what the other one offered. */
interface Negotiator {
  readonly cipher: CipherState | null;
  readonly hello: ClientHello | undefined;
  readonly server: { readonly settings: Readonly<Pick<TlsSettings, 'ecdhCurve' | 'preferServerCiphers'>> };
}

/**
 * The group of a connection's key exchange. Node does not tell a server; it follows from what the client offered and how OpenSSL chooses:
 * of the first row in which there is one, the first key of the client that fits, else the first group of the client (or of the server,
 * when that prefers its own) that fits.
 */
export function negotiatedCurve(peer: Negotiator): string | undefined {
  const { cipher } = peer;
  if (peer.hello === undefined || cipher === null) {
    return undefined;
  }
  const { groups, keyShares } = peer.hello;
  const { settings } = peer.server;
  const allowed = allowedGroups(settings.ecdhCurve);
  const common = (row: readonly number[]): readonly number[] => {
    const [first, second] = settings.preferServerCiphers ? [row, groups] : [groups, row];
    return first.filter((group) => second.includes(group));
  };
  const protocol = cipher.getProtocol();
  if (protocol === 'TLSv1.3') {
    const row = allowed.map(common).find(({ length }) => length > 0) ?? [];
    const group = row.find((each) => keyShares.includes(each)) ?? row[0];
    return group === undefined ? undefined : curveName(group);
  }
  const curve = common(allowed.flat()).find((group) => group <= LAST_CURVE);
  return curve !== undefined && cipher.getCipher()?.name.startsWith('ECDHE') ? curveName(curve) : undefined;
}
