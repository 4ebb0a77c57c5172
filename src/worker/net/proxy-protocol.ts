import { formatIpv6 } from '../../shared/address/format-ipv6.js';
import { isIpWithoutZone } from '../../shared/address/zone-id.js';
import { EMPTY } from '../bytes/empty.js';

/** What a PROXY protocol header said. */
export interface ProxyProtocolHeader {
  readonly sourceAddress: string;
  readonly sourcePort: number;
  readonly destinationAddress: string;
  readonly destinationPort: number;
  /** Version 2 extensions, undecoded. */
  readonly tlvs: Buffer;
}

/** What became of the bytes at the start of a connection. */
export type ProxyProtocolResult =
  | { readonly kind: 'more' }
  /** The header, which may name no addresses, and the bytes it took. */
  | { readonly kind: 'header'; readonly header: ProxyProtocolHeader | undefined; readonly size: number }
  /** nginx's words for what is wrong. */
  | { readonly kind: 'invalid'; readonly message: string };

/** What version 2 begins with. */
export const PROXY_SIGNATURE: Buffer = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const V2_HEAD = 16;
/** The longest header of version 1, and of version 2 that is taken. nginx: NGX_PROXY_PROTOCOL_V1_MAX_HEADER and _MAX_HEADER. */
const V1_MAX = 107;
const V2_MAX = 4096;
/** Reads the header at the start of what a connection sent. nginx: ngx_proxy_protocol_read. */
export function readProxyProtocol(bytes: Buffer): ProxyProtocolResult {
  const common = Math.min(bytes.length, PROXY_SIGNATURE.length);
  if (common > 0 && bytes.compare(PROXY_SIGNATURE, 0, common, 0, common) === 0) {
    return bytes.length < V2_HEAD ? { kind: 'more' } : readVersion2(bytes);
  }
  return readVersion1(bytes);
}

function readVersion1(bytes: Buffer): ProxyProtocolResult {
  const end = bytes.subarray(0, V1_MAX).indexOf('\r\n');
  if (end === -1) {
    const sofar = bytes.toString('latin1', 0, 6);
    return bytes.length < V1_MAX && 'PROXY '.startsWith(sofar) && !bytes.includes(10) ? { kind: 'more' } : broken(bytes);
  }
  const line = bytes.toString('latin1', 0, end);
  if (line.includes('\n')) {
    return broken(bytes);
  }
  if (line.startsWith('PROXY UNKNOWN')) {
    return { kind: 'header', header: undefined, size: end + 2 };
  }
  const found = /^PROXY TCP([46]) ([^ ]+) ([^ ]+) (\d{1,5}) (\d{1,5})$/.exec(line);
  if (found === null) {
    return broken(bytes);
  }
  const [, , source, destination, from, to] = found as unknown as [string, string, string, string, string, string];
  if (!isIpWithoutZone(source) || !isIpWithoutZone(destination) || Number(from) > 65535 || Number(to) > 65535) {
    return broken(bytes);
  }
  return {
    kind: 'header',
    header: {
      sourceAddress: source,
      sourcePort: Number(from),
      destinationAddress: destination,
      destinationPort: Number(to),
      tlvs: EMPTY,
    },
    size: end + 2,
  };
}

function broken(bytes: Buffer): ProxyProtocolResult {
  const text = bytes.toString('latin1', 0, V1_MAX);
  const end = text.search(/[\r\n]/);
  return { kind: 'invalid', message: `broken header: "${end === -1 ? text : text.slice(0, end)}"` };
}

// nginx: ngx_proxy_protocol_v2_read.
function readVersion2(bytes: Buffer): ProxyProtocolResult {
  const version = bytes[12]! >> 4;
  if (version !== 2) {
    return { kind: 'invalid', message: `unknown PROXY protocol version: ${version}` };
  }
  const size = V2_HEAD + bytes.readUInt16BE(14);
  if (size > V2_MAX) {
    return { kind: 'invalid', message: 'header is too large' };
  }
  if (bytes.length < size) {
    return { kind: 'more' };
  }
  const command = bytes[12]! & 15;
  const transport = bytes[13]! & 15;
  const family = bytes[13]! >> 4;
  const none: ProxyProtocolResult = { kind: 'header', header: undefined, size };
  if (command !== 1 || transport !== 1 || (family !== 1 && family !== 2)) {
    return none;
  }
  const width = family === 1 ? 4 : 16;
  const tlvs = V2_HEAD + 2 * width + 4;
  if (size < tlvs) {
    return { kind: 'invalid', message: 'broken header' };
  }
  const address = (at: number): string => (family === 1 ? bytes.subarray(at, at + 4).join('.') : formatIpv6(bytes.subarray(at, at + 16)));
  return {
    kind: 'header',
    header: {
      sourceAddress: address(V2_HEAD),
      sourcePort: bytes.readUInt16BE(tlvs - 4),
      destinationAddress: address(V2_HEAD + width),
      destinationPort: bytes.readUInt16BE(tlvs - 2),
      tlvs: Buffer.from(bytes.subarray(tlvs, size)),
    },
    size,
  };
}

/** Types of version 2 extensions, and of those inside the ssl extension. nginx: NGX_PROXY_PROTOCOL_TLV_*. */
export const TLV = {
  ALPN: 1,
  AUTHORITY: 2,
  CRC32C: 3,
  UNIQUE_ID: 5,
  SSL: 32,
  SSL_VERSION: 33,
  SSL_CN: 34,
  SSL_CIPHER: 35,
  SSL_SIG_ALG: 36,
  SSL_KEY_ALG: 37,
  NETNS: 48,
} as const;

/** The names under which variables give them. */
const TYPES: Readonly<Record<string, number>> = {
  alpn: TLV.ALPN,
  authority: TLV.AUTHORITY,
  unique_id: TLV.UNIQUE_ID,
  ssl: TLV.SSL,
  netns: TLV.NETNS,
};
const SSL_TYPES: Readonly<Record<string, number>> = {
  version: TLV.SSL_VERSION,
  cn: TLV.SSL_CN,
  cipher: TLV.SSL_CIPHER,
  sig_alg: TLV.SSL_SIG_ALG,
  key_alg: TLV.SSL_KEY_ALG,
};
/** Bytes of the ssl extension before its own list: client flags and the verification's result. */
const SSL_HEAD = 5;

/** Is told what is wrong with an extension that is asked for, in nginx's words. */
export type TlvReporter = (message: string) => void;

const BROKEN = 'broken PROXY protocol TLV';

/** The value of an extension by name, such as `authority`, `0xea` or `ssl_cn`. nginx: ngx_proxy_protocol_get_tlv. */
export function proxyProtocolTlv(header: ProxyProtocolHeader, name: string, report?: TlvReporter): string | undefined {
  let list = header.tlvs;
  let key = name;
  let types = TYPES;
  if (name.startsWith('ssl_')) {
    const ssl = findTlv(list, 32, report);
    if (ssl === undefined || ssl.length < SSL_HEAD) {
      return undefined;
    }
    if (name === 'ssl_verify') {
      return String(ssl.readUInt32BE(1));
    }
    key = name.slice(4);
    types = SSL_TYPES;
    list = ssl.subarray(SSL_HEAD);
  }
  const numbered = key.startsWith('0x');
  const type = numbered ? numberOf(key) : types[key];
  if (type === undefined) {
    report?.(`${numbered ? 'invalid' : 'unknown'} PROXY protocol TLV "${name}"`);
    return undefined;
  }
  return findTlv(list, type, report)?.toString('latin1');
}

const numberOf = (key: string): number | undefined => (/^0x[0-9a-f]+$/i.test(key) ? Number(key) : undefined);

// nginx: ngx_proxy_protocol_lookup_tlv.
function findTlv(list: Buffer, type: number, report: TlvReporter | undefined): Buffer | undefined {
  for (let at = 0; at < list.length; ) {
    const end = at + 3 <= list.length ? at + 3 + list.readUInt16BE(at + 1) : Number.POSITIVE_INFINITY;
    if (end > list.length) {
      report?.(BROKEN);
      return undefined;
    }
    if (list[at] === type) {
      return list.subarray(at + 3, end);
    }
    at = end;
  }
  return undefined;
}
