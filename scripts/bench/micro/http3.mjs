// What one request of HTTP/3 costs without the kernel: a server's transport and all above it, and a client that hand each other datagrams
// in memory. Prints microseconds of CPU time a request of the server's side, the best of several turns, which is steady even on a busy
// machine, and how many bytes of V8's heap both sides take for it. Of `20m`, a file of 20 MB, the figures are those of a megabyte.
//
//   node scripts/bench/micro/http3.mjs [STREAMS ...] [20m]
import { getHeapStatistics } from 'node:v8';
import { bundleSources } from '../bundle.mjs';
import { makeClient, SOURCES } from '../quic-client.mjs';

const TURNS = Number(process.env.TURNS ?? 40);
const LEAST_REQUESTS = 2000;
const PORT = 4433;

const sources = await import(
  await bundleSources(
    'micro-http3',
    `${SOURCES}
export { Http3Scene } from '../test/support/http3-scene.js';
export { certs } from '../test/support/certs.js';
export { Http3Connection } from './worker/http/http3/connection.js';
export { contextAddress } from './worker/net/openssl/context-address.js';
export { prepareQuicContext } from './worker/net/openssl/quic-handshake.js';
export { quicMemory } from './worker/net/openssl/quic-library.js';
export { QuicEndpoint } from './worker/net/quic/endpoint.js';
export { RoutedIds } from './worker/net/quic/routed-ids.js';
export { AddressTokens } from './worker/net/quic/tokens.js';
`,
  )
);
const { Http3Scene, Http3Connection, certs, contextAddress, prepareQuicContext, quicMemory, QuicEndpoint, RoutedIds, AddressTokens } =
  sources;
const { createSecureContext } = await import('node:tls');
const { readFileSync } = await import('node:fs');

/** A socket whose datagrams go to another one in memory. */
class Memory {
  input = quicMemory(128 * 1024);
  output = quicMemory(128 * 1024);
  /** @type {any} */
  other;
  taker;
  asked = false;
  /** What has come: bytes, how many they are, and of what length datagrams are; the memory is used again. */
  #trains = [];
  #count = 0;
  ask() {
    this.asked = true;
  }
  send(_peer, _local, from, length, segment) {
    this.other.put(this.output.bytes, from, length, segment);
    return 0;
  }
  put(bytes, from, length, segment) {
    if (this.#count === this.#trains.length) {
      this.#trains.push({ bytes: Buffer.alloc(65536), length: 0, segment: 0 });
    }
    const train = this.#trains[this.#count++];
    bytes.copy(train.bytes, 0, from, from + length);
    train.length = length;
    train.segment = segment;
  }
  localAddress() {
    return { address: '127.0.0.1', port: PORT };
  }
  release() {}
  close() {}
  get waiting() {
    return this.#count > 0 || this.asked;
  }
  /** Reads what has come, and has what it leads to sent. */
  turn() {
    const count = this.#count;
    this.#count = 0;
    for (let i = 0; i < count; i++) {
      const { bytes, length, segment } = this.#trains[i];
      bytes.copy(this.input.bytes, 0, 0, length);
      this.taker.datagrams(length, segment, peer, undefined, 0);
    }
    this.asked = false;
    this.taker.batchOver();
  }
}

const closers = [];
const t = { teardown: (close) => closers.push(close) };
process.once('exit', () => {
  for (const close of closers) {
    close();
  }
});
const peer = Buffer.alloc(28);
sources.ipAddress('127.0.0.1', 9).bytes.copy(peer);
const { rsa } = certs();
const secure = createSecureContext({ cert: readFileSync(rsa.cert), key: readFileSync(rsa.key), sessionIdContext: 'quic' });
const context = contextAddress(secure.context);
prepareQuicContext(context, true);
const MEGABYTE = 1024 * 1024;
const scene = await Http3Scene.of(
  t,
  'access_log off; keepalive_requests 100000000; server { listen 8443; location / { return 200 ok; } location = /20m.bin { } }',
  { '20m.bin': 'some text '.repeat(2 * MEGABYTE) },
);

function makeServer(socket) {
  const settings = {
    streams: { bidi: 128, uni: 3, window: 65536, connectionWindow: 1024 * 1024 },
    idleTimeout: 30_000,
    handshakeTimeout: 10_000,
    idLimit: 2,
    retry: false,
    segments: true,
  };
  const agreed = {
    context,
    protocol: 'h3',
    verify: false,
    verifyDepth: 1,
    earlyData: true,
    serverName: undefined,
    staple: undefined,
    sessions: undefined,
  };
  const accept = (quic) => {
    const address = scene.http.listeners[0].addresses[0];
    const connection = new Http3Connection(scene.host, quic, address, 1, undefined, { tls: undefined, proxyProtocol: undefined });
    connection.start();
    return connection;
  };
  const client = { left() {}, failed: (reason) => console.error(reason), choose: () => ({ settings: agreed, accept }) };
  const secret = Buffer.alloc(32, 7);
  return new QuicEndpoint(socket, { settings, admit: () => client }, new AddressTokens(secret), new RoutedIds(secret, 0, 1, 0));
}

for (const row of process.argv.length > 2 ? process.argv.slice(2) : ['1', '8', '128', '20m']) {
  const large = row === '20m';
  const streams = large ? 1 : Number(row);
  const least = large ? 1 : LEAST_REQUESTS;
  const [near, far] = [new Memory(), new Memory()];
  near.other = far;
  far.other = near;
  far.taker = makeServer(far);
  const client = makeClient(sources, near, { port: PORT, path: large ? '/20m.bin' : '/', streams });
  near.taker = client;
  client.begin();
  let used = 0;
  const { found } = client;
  const done = () => (large ? found.bytes / MEGABYTE : found.requests);
  const round = async () => {
    near.turn();
    const before = process.cpuUsage();
    far.turn();
    // What is paced leaves by a timer.
    await new Promise(near.waiting || far.waiting ? setImmediate : (done) => setTimeout(done, 1));
    if (far.waiting) {
      far.turn();
    }
    const spent = process.cpuUsage(before);
    used += spent.user + spent.system;
  };
  const turn = async () => {
    const [start, { requests }] = [done(), found];
    used = 0;
    for (let idle = 0; found.requests - requests < least && idle < 1000; ) {
      const { bytes } = found;
      await round();
      idle = bytes === found.bytes ? idle + 1 : 0;
    }
    return used / (done() - start);
  };
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < (large ? TURNS / 4 : TURNS); i++) {
    best = Math.min(best, await turn());
  }
  const grown = [];
  for (let i = 0; i < 200; i++) {
    const [heap, before] = [getHeapStatistics().used_heap_size, done()];
    await round();
    grown.push((getHeapStatistics().used_heap_size - heap) / Math.max(1, done() - before));
  }
  const bytes = grown.sort((a, b) => a - b)[100];
  console.log(`${best.toFixed(2)} us  ${bytes.toFixed(0).padStart(6)} bytes  ${large ? 'a megabyte of 20' : `${streams} streams`}`);
  if (found.broken + found.refused > 0 || found.requests < least) {
    throw new Error(JSON.stringify(found));
  }
}
process.exit(0);
