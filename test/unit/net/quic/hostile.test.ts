import { randomInt } from 'node:crypto';
import t from 'tap';
import { whyNoQuic } from '../../../../src/worker/net/openssl/quic-library.js';
import { HqEndpoint } from '../../../support/hq-endpoint.js';
import { APPLICATION, frame, int, parameter, QuicClient } from '../../../support/quic-client.js';
import { type UdpHarm, UdpProxy } from '../../../support/udp-proxy.js';

const skip = whyNoQuic() !== '' && `no QUIC: ${whyNoQuic()}`;

const number = (): number => [0, 1, 2, 3, 4, 8, 63, 64, 200, 16383, 65536, 2 ** 30, 2 ** 40, 2 ** 53 - 1][randomInt(14)]!;
/** Frames after which the server is silent, or writes to an identifier of which the client knows nothing. */
const SILENCING = [0x18, 0x1c, 0x1d];
/** All others. */
const TYPES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 25, 26, 27, 30, 31];

/** A byte that begins no frame of {@link SILENCING} when what stands before it is a whole one. */
function filling(): number {
  const byte = randomInt(256);
  return SILENCING.includes(byte) ? 0 : byte;
}

/** Frames by chance: most of them have the form of one. */
function someFrames(): Buffer {
  const parts: Buffer[] = [];
  for (let i = 1 + randomInt(4); i > 0; i--) {
    parts.push(int(TYPES[randomInt(TYPES.length)]!));
    for (let k = randomInt(5); k > 0; k--) {
      parts.push(int(number()));
    }
    if (randomInt(2) === 0) {
      parts.push(Buffer.alloc(randomInt(40), filling()));
    }
  }
  return Buffer.concat(parts);
}

t.test('frames by chance end a connection, and nothing else', { skip }, async (t) => {
  const endpoint = new HqEndpoint();
  t.teardown(() => endpoint.close());
  for (let round = 0; round < 60; round++) {
    const client = await QuicClient.connect(endpoint.port);
    for (let i = 0; i < 25; i++) {
      client.send(APPLICATION, someFrames());
    }
    // What cannot be acknowledged ends it for certain.
    client.send(APPLICATION, frame(0x02, 2 ** 40, 0, 0, 0));
    await client.until(() => client.closed !== undefined);
    t.not(client.closed!.code === 1 && !client.closed!.application && client.closed!.reason === 'internal error', true);
    client.close();
  }
  const good = await QuicClient.connect(endpoint.port);
  good.get(0, '/5');
  await good.until(() => good.streams.get(0)?.end === true);
  t.equal(good.streams.get(0)!.text, 'hqhqh');
  good.close();
});

t.test('datagrams by chance change nothing', { skip }, async (t) => {
  const endpoint = new HqEndpoint();
  t.teardown(() => endpoint.close());
  const client = await QuicClient.connect(endpoint.port);
  t.teardown(() => client.close());
  for (let i = 0; i < 3000; i++) {
    const bytes = Buffer.alloc(randomInt(3) === 0 ? 1200 : 1 + randomInt(80));
    for (let at = 0; at < Math.min(40, bytes.length); at++) {
      bytes[at] = randomInt(256);
    }
    if (randomInt(2) === 0) {
      bytes.set([0xc0 | randomInt(64), 0, 0, 0, 1].slice(0, bytes.length));
    }
    if (bytes.length > 20 && randomInt(3) === 0) {
      client.peer.copy(bytes, (bytes[0]! & 0x80) === 0 ? 1 : 6);
    }
    client.sendRaw(bytes);
    if (i % 100 === 0) {
      client.send(APPLICATION, frame(0x1a, Buffer.alloc(8, i)));
      await client.until(() => client.responses.length > i / 100 || client.closed !== undefined);
    }
  }
  client.get(0, '/3');
  await client.until(() => client.streams.get(0)?.end === true);
  t.equal(client.closed, undefined);
});

t.test('what asks for answers without an end gets few', { skip }, async (t) => {
  const endpoint = new HqEndpoint();
  t.teardown(() => endpoint.close());
  const client = await QuicClient.connect(endpoint.port);
  t.teardown(() => client.close());
  const before = client.datagrams;
  const asks = Buffer.concat(Array.from({ length: 100 }, (_, i) => frame(0x1a, Buffer.alloc(8, i))));
  for (let i = 0; i < 20; i++) {
    client.send(APPLICATION, asks);
  }
  client.get(0, '/3');
  await client.until(() => client.streams.get(0)?.end === true);
  t.ok(client.responses.length <= 4 * 20, `${client.responses.length} answers to 2000 questions`);
  t.ok(client.datagrams - before < 200);
});

t.test('identifiers that are given back without an end', { skip }, async (t) => {
  const endpoint = new HqEndpoint();
  t.teardown(() => endpoint.close());
  const client = await QuicClient.connect(endpoint.port);
  t.teardown(() => client.close());
  client.acknowledges = false;
  for (let n = 1; n < 100 && client.closed === undefined; n++) {
    const id = Buffer.alloc(8);
    id.writeUInt32BE(n);
    client.send(APPLICATION, frame(0x18, n, n, Buffer.from([8]), id, Buffer.alloc(16, n)));
  }
  await client.until(() => client.closed !== undefined);
  t.equal(client.closed!.code, 9);
});

const SIZE = 400_000;

/** Gets a long response through a proxy; the client of the test repeats nothing, so that what it sends is left whole. */
async function download(harm: UdpHarm, act?: (proxy: UdpProxy, client: QuicClient) => void): Promise<string> {
  const endpoint = new HqEndpoint();
  const proxy = await UdpProxy.open(endpoint.port);
  const client = await QuicClient.connect(proxy.port, { parameters: [parameter(0x03, 1472), parameter(0x0b, 5)] });
  client.get(0, `/${SIZE}`);
  await client.until(() => client.streams.has(0));
  Object.assign(proxy.harm, harm);
  act?.(proxy, client);
  await client.until(() => client.streams.get(0)?.end === true || client.closed !== undefined);
  const { text } = client.streams.get(0)!;
  client.close();
  proxy.close();
  endpoint.close();
  return text;
}

/** The client does not know that it has moved, and speaks. */
function moved(proxy: UdpProxy, client: QuicClient): void {
  proxy.rebind();
  client.send(APPLICATION, frame(1));
}

const WHOLE = 'hq'.repeat(SIZE / 2);

t.test('a download arrives whole through loss, reordering, copies, harm and another address', { skip }, async (t) => {
  t.equal((await download({ lost: 0.05 })) === WHOLE, true, 'loss');
  t.equal((await download({ late: 0.1, twice: 0.05 })) === WHOLE, true, 'reordering and copies');
  t.equal((await download({ broken: 0.05 })) === WHOLE, true, 'harm');
  t.equal((await download({}, moved)) === WHOLE, true, 'another port');
});

// The ring keeps the process.
t.teardown(() => process.exit());
