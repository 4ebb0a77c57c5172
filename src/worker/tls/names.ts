import { ownValue } from '../../shared/lib/own-value.js';
import type { TlsPeer } from './peer.js';

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
};

/** Other names under which `ssl_ecdh_curve` knows groups. */
const ALIASES: Readonly<Record<string, number>> = { 'P-256': 23, 'P-384': 24, 'P-521': 25, secp256r1: 23 };

/** The groups that OpenSSL offers by itself, best first. */
const DEFAULT_GROUPS: readonly number[] = [29, 23, 30, 25, 24, 256, 257, 258, 259, 260];

const unknown = (n: number): string => `0x${n.toString(16).padStart(4, '0')}`;

/** The name of a cipher suite, or its number when OpenSSL has none for it. */
export function cipherName(code: number): string {
  return CIPHERS.get(code) ?? unknown(code);
}

/** The name of a group, or its number when OpenSSL has none for it. */
export function curveName(code: number): string {
  return CURVES[code] ?? unknown(code);
}

/** The groups that `ssl_ecdh_curve` allows. */
function allowedGroups(setting: string): readonly number[] {
  if (setting === 'auto') {
    return DEFAULT_GROUPS;
  }
  return setting.split(':').flatMap((name) => {
    const code = ownValue(ALIASES, name) ?? Object.keys(CURVES).find((key) => CURVES[Number(key)]!.toLowerCase() === name.toLowerCase());
    return code === undefined ? [] : [Number(code)];
  });
}

/**
 * The group of a connection's key exchange. Node does not tell a server; it follows from what the client offered and how OpenSSL chooses:
 * the first key of the client that fits, else the first group of the client (or of the server, when that prefers its own) that fits.
 */
export function negotiatedCurve(peer: TlsPeer): string | undefined {
  const { cipher } = peer;
  if (peer.hello === undefined || cipher === null) {
    return undefined;
  }
  const { groups, keyShares } = peer.hello;
  const { settings } = peer.server;
  const allowed = allowedGroups(settings.ecdhCurve);
  const preferred = settings.preferServerCiphers ? allowed : groups;
  const common = preferred.find((group) => groups.includes(group) && allowed.includes(group));
  const protocol = cipher.getProtocol();
  if (protocol === 'TLSv1.3') {
    const group = keyShares.find((share) => allowed.includes(share)) ?? common;
    return group === undefined ? undefined : curveName(group);
  }
  return common !== undefined && cipher.getCipher()?.name.startsWith('ECDHE') ? curveName(common) : undefined;
}
