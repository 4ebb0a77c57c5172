import { createSocket } from 'node:dgram';
import type { Test } from 'tap';

const TYPES = { A: 1, TXT: 16, AAAA: 28, SRV: 33 } as const;

/** A record of a {@link NameServer}. A and AAAA: the address; TXT: at most 255 characters; SRV: `PRIORITY WEIGHT PORT TARGET`. */
export interface DnsEntry {
  readonly type: keyof typeof TYPES;
  readonly value: string;
  /** Seconds; 60 unless told. */
  readonly ttl?: number;
}

/** Records by name in lower case. Names that are not there do not exist; a number is the code of a failure. */
export type DnsZone = Readonly<Record<string, readonly DnsEntry[] | number>>;

/** A name server under the control of a test. */
export interface NameServer {
  readonly port: number;
  /** The questions so far, as `TYPE name`. */
  readonly questions: string[];
  /** Replaces the records. */
  answer(zone: DnsZone): void;
}

const NXDOMAIN = 3;

/** Starts a name server on a free UDP port of 127.0.0.1, and stops it with the test. */
export async function startNameServer(t: Test, records: DnsZone): Promise<NameServer> {
  let zone = records;
  const questions: string[] = [];
  const socket = createSocket('udp4');
  t.teardown(() => new Promise<void>((done) => socket.close(() => done())));
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query);
    const typeName = Object.entries(TYPES).find(([, number]) => number === type)?.[0] ?? String(type);
    questions.push(`${typeName} ${name}`);
    const known = zone[name];
    const failure = known === undefined ? NXDOMAIN : typeof known === 'number' ? known : 0;
    const entries = typeof known === 'object' ? known.filter((entry) => TYPES[entry.type] === type) : [];
    const head = Buffer.from([query[0]!, query[1]!, 0x81, 0x80 | failure, 0, 1, 0, entries.length, 0, 0, 0, 0]);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...entries.map(encodeRecord)]), port, address);
  });
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
  return {
    port: socket.address().port,
    questions,
    answer(next) {
      zone = next;
    },
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  while (query[at] !== 0) {
    const length = query[at]!;
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** A record whose name is the question's. */
function encodeRecord({ type, value, ttl = 60 }: DnsEntry): Buffer {
  const data = encodeValue(type, value);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(TYPES[type], 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function encodeValue(type: DnsEntry['type'], value: string): Buffer {
  if (type === 'A') {
    return Buffer.from(value.split('.').map(Number));
  }
  if (type === 'TXT') {
    return Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')]);
  }
  if (type === 'AAAA') {
    // Only the form with all eight groups.
    return Buffer.from(value.split(':').flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]));
  }
  const [priority, weight, port, target] = value.split(' ') as [string, string, string, string];
  const numbers = Buffer.alloc(6);
  for (const [i, number] of [priority, weight, port].entries()) {
    numbers.writeUInt16BE(Number(number), 2 * i);
  }
  const labels = target.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')]));
  return Buffer.concat([numbers, ...labels, Buffer.from([0])]);
}
