import { SocketAddress } from 'node:net';

/** Types of DNS records. */
export const TYPE = { A: 1, CNAME: 5, AAAA: 28, SRV: 33, DNAME: 39 } as const;

/** Longest name, in its dotted form. */
const MAX_NAME = 253;
const HEADER = 12;
/** Labels and pointers that a name may consist of. nginx: ngx_resolver_copy. */
const MAX_STEPS = 128;

/** A question as bytes; undefined for a name that DNS cannot have. nginx: ngx_resolver_create_name_query. */
export function encodeQuery(id: number, name: string, type: number): Buffer | undefined {
  if (name === '' || name.length > MAX_NAME) return undefined;
  const query = Buffer.alloc(HEADER + name.length + 2 + 4);
  query.writeUInt16BE(id, 0);
  // A standard query that asks for recursion.
  query[2] = 1;
  query.writeUInt16BE(1, 4);
  let at = HEADER;
  for (const label of name.split('.')) {
    if (label === '' || label.length > 63) return undefined;
    query[at++] = label.length;
    at += query.write(label, at, 'latin1');
  }
  query[at++] = 0;
  query.writeUInt16BE(type, at);
  query.writeUInt16BE(1, at + 2);
  return query.subarray(0, at + 4);
}

/** One record of an answer. */
export interface DnsRecord {
  readonly type: number;
  /** Seconds. */
  readonly ttl: number;
  /** An address, or the name of a CNAME or SRV record. */
  readonly text: string;
  /** Of SRV records. */
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
}

/** What a name server answered. */
export interface DnsAnswer {
  readonly id: number;
  readonly code: number;
  readonly truncated: boolean;
  /** The question: name in lower case, and type; empty where the answer does not say. */
  readonly name: string;
  readonly type: number;
  /** How many records the answer says it has. */
  readonly count: number;
  /** The records, or nginx's words for what is wrong with them. */
  readonly records: readonly DnsRecord[] | string;
}

/** Reads an answer. Returns nginx's words for one that is not acceptable at all. nginx: ngx_resolver_process_response. */
export function parseAnswer(bytes: Buffer, tcp: boolean): DnsAnswer | string {
  if (bytes.length < HEADER) return 'short DNS response';
  const id = bytes.readUInt16BE(0);
  const flags = bytes.readUInt16BE(2);
  const truncated = (flags & 0x200) !== 0;
  if ((flags & 0xf870) !== 0x8000 || (truncated && tcp)) {
    return `invalid ${tcp ? 'TCP' : 'UDP'} DNS response ${id} fl:${flags.toString(16).toUpperCase().padStart(4, '0')}`;
  }
  const code = flags & 15;
  const count = bytes.readUInt16BE(6);
  // A server that did not understand the question, or has an error of its own, need not repeat the question.
  if (code === 1 || code > 5) return { id, code, truncated, name: '', type: 0, count, records: [] };
  if (bytes.readUInt16BE(4) !== 1) return 'invalid number of questions in DNS response';
  const question = readName(bytes, HEADER, false);
  if (typeof question === 'string') return question;
  if (question.name === '') return 'zero-length domain name in DNS response';
  if (question.next + 4 + count * 12 > bytes.length) return 'short DNS response';
  const type = bytes.readUInt16BE(question.next);
  const kind = bytes.readUInt16BE(question.next + 2);
  if (kind !== 1) return `unknown query class ${kind} in DNS response`;
  const records = truncated || code !== 0 ? [] : readRecords(bytes, question.next + 4, count, type);
  return { id, code, truncated, name: question.name.toLowerCase(), type, count, records };
}

function readRecords(bytes: Buffer, start: number, count: number, asked: number): DnsRecord[] | string {
  const records: DnsRecord[] = [];
  let at = start;
  for (let n = 0; n < count; n++) {
    const owner = readName(bytes, at, true);
    if (typeof owner === 'string') return owner;
    at = owner.next;
    if (at + 10 > bytes.length) return 'short DNS response';
    const type = bytes.readUInt16BE(at);
    const kind = bytes.readUInt16BE(at + 2);
    const ttl = Math.max(bytes.readInt32BE(at + 4), 0);
    const length = bytes.readUInt16BE(at + 8);
    at += 10;
    if (kind !== 1) return `unexpected RR class ${kind} in DNS response`;
    if (at + length > bytes.length) return 'short DNS response';
    const record = readRecord(bytes, at, length, type, ttl, asked);
    if (typeof record === 'string') return record;
    records.push(record);
    at += length;
  }
  return records;
}

function readRecord(bytes: Buffer, at: number, length: number, type: number, ttl: number, asked: number): DnsRecord | string {
  const record = { type, ttl, text: '', priority: 0, weight: 0, port: 0 };
  switch (type) {
    case TYPE.A:
      if (asked !== TYPE.A) return 'unexpected A record in DNS response';
      if (length !== 4) return 'invalid A record in DNS response';
      return { ...record, text: `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}` };
    case TYPE.AAAA:
      if (asked !== TYPE.AAAA) return 'unexpected AAAA record in DNS response';
      if (length !== 16) return 'invalid AAAA record in DNS response';
      return { ...record, text: ipv6Text(bytes, at) };
    case TYPE.CNAME: {
      const name = readName(bytes, at, true);
      return typeof name === 'string' ? name : { ...record, text: name.name.toLowerCase() };
    }
    case TYPE.SRV: {
      if (length < 7) return 'short DNS response';
      const name = readName(bytes, at + 6, true);
      if (typeof name === 'string') return name;
      return {
        ...record,
        text: name.name.toLowerCase(),
        priority: bytes.readUInt16BE(at),
        weight: bytes.readUInt16BE(at + 2) || 1,
        port: bytes.readUInt16BE(at + 4),
      };
    }
    default:
      return record;
  }
}

function ipv6Text(bytes: Buffer, at: number): string {
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2) groups.push(bytes.readUInt16BE(at + i).toString(16));
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}

/** Reads a name, following compression pointers where they may stand. Has an end and a bound: labels and pointers together are counted. */
function readName(bytes: Buffer, start: number, compressed: boolean): { readonly name: string; readonly next: number } | string {
  const labels: string[] = [];
  let at = start;
  let next = -1;
  for (let steps = 0; ; ) {
    const length = bytes[at];
    if (length === undefined) return 'short DNS response';
    if (length === 0) return { name: labels.join('.'), next: next === -1 ? at + 1 : next };
    if (++steps > MAX_STEPS) return 'compression pointers loop in DNS response';
    if ((length & 0xc0) !== 0) {
      if (!compressed) return 'unexpected compression pointer in DNS response';
      if ((length & 0xc0) !== 0xc0) return 'invalid label type in DNS response';
      if (at + 1 >= bytes.length) return 'short DNS response';
      if (next === -1) next = at + 2;
      at = ((length & 0x3f) << 8) | bytes[at + 1]!;
      continue;
    }
    if (at + 1 + length > bytes.length) return 'name is out of DNS response';
    labels.push(bytes.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
}
