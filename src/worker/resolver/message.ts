import { SocketAddress } from 'node:net';
import { lowerAscii } from '../text/ascii-case.js';

/** Types of DNS records. */
export const TYPE = { A: 1, CNAME: 5, AAAA: 28, SRV: 33, DNAME: 39 } as const;

const HEADER = 12;
/** What stands between the name and the data of a record: type, class, life and length. */
const RECORD_HEAD = 10;
/** Steps, over labels and compression pointers to the end, that a name may take. nginx: ngx_resolver_copy. */
const MAX_STEPS = 128;
const MAX_LABEL = 63;
/** An answer repeats its question and fits into these bytes. nginx: NGX_RESOLVER_UDP_SIZE. */
const MAX_NAME = 4096;

/**
 * A question as bytes; undefined for a name that cannot be written. As with nginx a name may be longer than the 253 characters that DNS
 * allows: that is for name servers to refuse. nginx: ngx_resolver_create_name_query.
 */
export function encodeQuery(id: number, name: string, type: number): Buffer | undefined {
  if (name.length > MAX_NAME) {
    return undefined;
  }
  const query = Buffer.alloc(HEADER + name.length + 2 + 4);
  query.writeUInt16BE(id, 0);
  // A standard query that asks for recursion.
  query[2] = 1;
  query.writeUInt16BE(1, 4);
  let at = HEADER;
  for (const label of name.split('.')) {
    if (label === '' || label.length > MAX_LABEL) {
      return undefined;
    }
    query[at++] = label.length;
    at += query.write(label, at, 'latin1');
  }
  query[at++] = 0;
  query.writeUInt16BE(type, at);
  query.writeUInt16BE(1, at + 2);
  return query;
}

/** One record of an answer. */
export interface DnsRecord {
  /** An address, or the name of an SRV record. */
  readonly text: string;
  /** Of SRV records. */
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
}

/** What a name server answered. */
export interface DnsAnswer {
  readonly bytes: Buffer;
  readonly id: number;
  readonly code: number;
  readonly truncated: boolean;
  /** The question: name in lower case, and type; empty where the answer does not say. */
  readonly name: string;
  readonly type: number;
  /** How many records the answer says it has. */
  readonly count: number;
  /** Where the records begin. */
  readonly at: number;
}

/** The records of an answer that say something about its question. */
export interface DnsRecords {
  /** Addresses or services. */
  readonly found: readonly DnsRecord[];
  /** Seconds; the least of all records. */
  readonly ttl: number;
  /** Where the name of the last CNAME record stands; 0: there is none. */
  readonly alias: number;
}

/** Reads an answer. Returns nginx's words for one that is not acceptable at all. nginx: ngx_resolver_process_response. */
export function parseAnswer(bytes: Buffer, tcp: boolean): DnsAnswer | string {
  if (bytes.length < HEADER) {
    return 'short DNS response';
  }
  const id = bytes.readUInt16BE(0);
  const flags = bytes.readUInt16BE(2);
  const truncated = (flags & 0x200) !== 0;
  if ((flags & 0xf870) !== 0x8000 || (truncated && tcp)) {
    return `invalid ${tcp ? 'TCP' : 'UDP'} DNS response ${id} fl:${flags.toString(16).toUpperCase().padStart(4, '0')}`;
  }
  const code = flags & 15;
  const count = bytes.readUInt16BE(6);
  // A server that did not understand the question, or has an error of its own, need not repeat the question.
  if (code === 1 || code > 5) {
    return { bytes, id, code, truncated, name: '', type: 0, count, at: 0 };
  }
  if (bytes.readUInt16BE(4) !== 1) {
    return 'invalid number of questions in DNS response';
  }
  const end = skipLabels(bytes, HEADER);
  if (end >= bytes.length) {
    return 'short DNS response';
  }
  if (bytes[end] !== 0) {
    return 'unexpected compression pointer in DNS response';
  }
  if (end === HEADER) {
    return 'zero-length domain name in DNS response';
  }
  const at = end + 5;
  if (at + count * (2 + RECORD_HEAD) > bytes.length) {
    return 'short DNS response';
  }
  const type = bytes.readUInt16BE(end + 1);
  const kind = bytes.readUInt16BE(end + 3);
  if (kind !== 1) {
    return `unknown query class ${kind} in DNS response`;
  }
  if (type !== TYPE.A && type !== TYPE.AAAA && type !== TYPE.SRV) {
    return `unknown query type ${type} in DNS response`;
  }
  const question = readName(bytes, HEADER);
  return typeof question === 'string' ? question : { bytes, id, code, truncated, name: question.name, type, count, at };
}

/** The place after a run of labels: of the zero that ends a name, of a compression pointer, or past the end. */
function skipLabels(bytes: Buffer, start: number): number {
  let at = start;
  for (let length = bytes[at]; length !== undefined && length > 0 && length <= MAX_LABEL; length = bytes[at]) {
    at += 1 + length;
  }
  return at;
}

/**
 * Reads the records of an answer. Names are read where they are needed: whom a record belongs to is not, an alias only if there is no
 * address. Tells `unexpected` of records of other types; returns nginx's words for what cannot be read. nginx: ngx_resolver_process_a and
 * ngx_resolver_process_srv.
 */
export function readRecords(answer: DnsAnswer, unexpected: (type: number) => void): DnsRecords | string {
  const { bytes, count, type: asked } = answer;
  const found: DnsRecord[] = [];
  let least = 0xffffffff;
  let alias = 0;
  let at = answer.at;
  for (let n = 0; n < count; n++) {
    const owner = at;
    at = skipLabels(bytes, owner);
    if (at >= bytes.length) {
      return 'short DNS response';
    }
    const pointer = bytes[at] !== 0;
    if (!pointer && at === owner) {
      return asked === TYPE.SRV ? 'invalid name DNS response' : 'invalid name in DNS response';
    }
    at += pointer ? 2 : 1;
    if (at + RECORD_HEAD >= bytes.length) {
      return 'short DNS response';
    }
    const type = bytes.readUInt16BE(at);
    const kind = bytes.readUInt16BE(at + 2);
    const ttl = Math.max(bytes.readInt32BE(at + 4), 0);
    const length = bytes.readUInt16BE(at + 8);
    at += RECORD_HEAD;
    if (kind !== 1) {
      return `unexpected RR class ${kind} in DNS response`;
    }
    least = Math.min(least, ttl);
    const known = asked === TYPE.SRV ? type === TYPE.SRV : type === TYPE.A || type === TYPE.AAAA;
    if (known) {
      const record = readRecord(bytes, at, length, type, asked);
      if (typeof record === 'string') {
        return record;
      }
      found.push(record);
    } else if (type === TYPE.CNAME) {
      alias = at;
    } else if (type !== TYPE.DNAME) {
      unexpected(type);
    }
    at += length;
  }
  return { found, ttl: least, alias };
}

function readRecord(bytes: Buffer, at: number, length: number, type: number, asked: number): DnsRecord | string {
  if (type === TYPE.SRV) {
    return readService(bytes, at);
  }
  const [kind, size] = type === TYPE.A ? (['A', 4] as const) : (['AAAA', 16] as const);
  if (asked !== type) {
    return `unexpected ${kind} record in DNS response`;
  }
  if (length !== size) {
    return `invalid ${kind} record in DNS response`;
  }
  if (at + size > bytes.length) {
    return 'short DNS response';
  }
  const text = type === TYPE.A ? `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}` : ipv6Text(bytes, at);
  return { text, priority: 0, weight: 0, port: 0 };
}

function readService(bytes: Buffer, at: number): DnsRecord | string {
  if (at + 6 >= bytes.length) {
    return 'short DNS response';
  }
  const target = readName(bytes, at + 6);
  if (typeof target === 'string') {
    return target;
  }
  return {
    text: target.name,
    priority: bytes.readUInt16BE(at),
    weight: bytes.readUInt16BE(at + 2) || 1,
    port: bytes.readUInt16BE(at + 4),
  };
}

function ipv6Text(bytes: Buffer, at: number): string {
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2) {
    groups.push(bytes.readUInt16BE(at + i).toString(16));
  }
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}

/**
 * Reads a name, in lower case, following compression pointers; returns nginx's words for one that cannot be read. Has an end and a bound:
 * labels and pointers together are counted. nginx: ngx_resolver_copy.
 */
export function readName(bytes: Buffer, start: number): { readonly name: string } | string {
  const labels: string[] = [];
  let at = start;
  for (let step = 0; step < MAX_STEPS; step++) {
    const length = bytes[at++]!;
    if (length === 0) {
      return { name: lowerAscii(labels.join('.')) };
    }
    if (length > MAX_LABEL) {
      if (length < 0xc0) {
        return 'invalid label type in DNS response';
      }
      if (at >= bytes.length) {
        return 'name is out of DNS response';
      }
      at = ((length & 0x3f) << 8) | bytes[at]!;
    } else {
      labels.push(bytes.toString('latin1', at, at + length));
      at += length;
    }
    if (at >= bytes.length) {
      return 'name is out of DNS response';
    }
  }
  return 'compression pointers loop in DNS response';
}
