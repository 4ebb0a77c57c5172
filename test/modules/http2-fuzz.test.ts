import { Buffer } from 'node:buffer';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { block, END_HEADERS, END_STREAM, frame, number32, request, settings, T } from '../support/http2-client.js';
import { startOrigin } from '../support/origin.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';
import { Mutations, trials } from '../unit/fuzz/mutations.js';

/** Connections at a time. */
const AT_ONCE = 16;
/** What a worker may grow by, in bytes: far less than what unbounded buffers would come to. */
const GROWTH = 200 << 20;

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

const recorded = readFileSync(new URL('../support/http2-sessions.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => Buffer.from(line.split(' ')[1]!, 'base64'));

const websocket = block([
  [':method', 'CONNECT'],
  [':protocol', 'websocket'],
  [':scheme', 'http'],
  [':path', '/ws'],
  [':authority', 'localhost'],
  ['sec-websocket-version', '13'],
]);

/** What clients do more seldom. */
const made = [
  [
    frame(T.SETTINGS, 0, 0, settings([4, 10], [1, 0], [5, 16384])),
    frame(
      T.HEADERS,
      END_HEADERS | END_STREAM,
      1,
      block(request('GET', '/file', ['priority', 'u=1, i'], ['cookie', 'a=b'], ['cookie', 'c=d'])),
    ),
    frame(T.HEADERS, END_HEADERS | END_STREAM, 3, block(request('GET', '/file'))),
    frame(T.PRIORITY_UPDATE, 0, 0, Buffer.concat([number32(3), Buffer.from('u=0')])),
    frame(T.PRIORITY, 0, 3, Buffer.concat([number32(0x80000001), Buffer.from([7])])),
    frame(T.WINDOW, 0, 1, number32(3000)),
    frame(T.PING, 0, 0, '12345678'),
    frame(T.SETTINGS, 0, 0, settings([4, 100_000], [1, 4096])),
    frame(T.RST, 0, 3, number32(8)),
  ],
  [
    frame(T.SETTINGS, 0, 0),
    frame(T.HEADERS, 0, 1, block(request('POST', '/pass')).subarray(0, 20)),
    frame(T.CONTINUATION, END_HEADERS, 1, block(request('POST', '/pass')).subarray(20)),
    frame(T.DATA, 8, 1, Buffer.concat([Buffer.from([3]), Buffer.from('body of the request'), Buffer.alloc(3)])),
    frame(T.HEADERS, END_HEADERS | END_STREAM, 1, block([['x-trailer', 'y']])),
  ],
  [
    frame(T.SETTINGS, 0, 0),
    frame(T.HEADERS, END_HEADERS, 1, websocket),
    frame(T.DATA, 0, 1, 'hello'),
    frame(T.HEADERS, END_HEADERS, 3, block(request('POST', '/stream', ['content-length', '10']))),
    frame(T.DATA, 0, 3, '01234'),
    frame(T.DATA, END_STREAM, 3, '56789'),
    frame(T.DATA, END_STREAM, 1, 'bye'),
  ],
].map((frames) => Buffer.concat([PREFACE, ...frames]));

const sessions = [...recorded, ...made].map((bytes) => bytes.toString('latin1'));

const mutations = new Mutations(19, [
  ...Object.values(T).map((type) => frame(type, mutationsFlags(type), 1, type === T.PING ? '12345678' : number32(1)).toString('latin1')),
  frame(T.DATA, 0, 1, 'x'.repeat(500)).toString('latin1'),
  frame(T.WINDOW, 0, 0, number32(0x7fffffff)).toString('latin1'),
  frame(T.SETTINGS, 0, 0, settings([4, 0x7fffffff], [1, 0xffffffff])).toString('latin1'),
  frame(T.SETTINGS, 0, 0, settings([4, 0])).toString('latin1'),
  frame(T.HEADERS, END_HEADERS | END_STREAM, 5, Buffer.from([0x82, 0x84, 0x86, 0x41, 0x01, 0x61])).toString('latin1'),
  '\0',
  '\x7f',
  '\x80',
  '\xff',
  '\xff\xff\xff\xff',
  '\x3f\xe1\x1f',
]);

function mutationsFlags(type: number): number {
  return type === T.HEADERS || type === T.CONTINUATION ? END_HEADERS : 0;
}

async function target(t: Test): Promise<Server> {
  const origin = await startOrigin(t, ({ target, header }) => {
    if (target === '/ws' && header('upgrade') !== undefined) {
      return 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
    }
    return { body: `answer to ${target}`, headers: { Trailer: 'x' } };
  });
  return startServer(t, {
    conf: httpConf(
      `proxy_http_version 1.1; client_header_timeout 500ms; client_body_timeout 500ms; send_timeout 500ms; keepalive_timeout 500ms;
      lingering_timeout 200ms; proxy_read_timeout 500ms; proxy_temp_path %%DIR%%/proxy_temp;
      server {
        listen 127.0.0.1:%%PORT_0%%; http2 on; root %%DIR%%/html;
        location /text { return 200 text; }
        location /echo { proxy_pass http://127.0.0.1:${origin.port}; }
        location /pass { proxy_pass http://127.0.0.1:${origin.port}; client_max_body_size 1k; }
        location /stream { proxy_pass http://127.0.0.1:${origin.port}; proxy_request_buffering off; }
        location /ws { proxy_pass http://127.0.0.1:${origin.port}; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; }
      }
      server { listen 127.0.0.1:%%PORT_1%%; location / { stub_status; } }`,
      'worker_processes 1;',
    ),
    files: { 'html/file': 'x'.repeat(50_000) },
    logLevel: 'crit',
  });
}

/** Sends a session, in two pieces, reads on until the server closes, or leaves before. */
function play(s: Server, bytes: Buffer, stays: boolean): Promise<void> {
  return new Promise((done) => {
    const socket = connect({ port: s.port(0), host: '127.0.0.1', noDelay: true });
    const at = mutations.below(bytes.length + 1);
    socket.on('error', () => {});
    socket.on('close', () => done());
    socket.resume();
    socket.on('end', () => socket.destroy());
    socket.write(bytes.subarray(0, at));
    socket.write(bytes.subarray(at), () => (stays ? undefined : socket.end()));
  });
}

async function playAll(s: Server, inputs: Iterable<Buffer>): Promise<void> {
  const under = new Set<Promise<void>>();
  for (const bytes of inputs) {
    if (bytes.length === 0) {
      continue;
    }
    const one: Promise<void> = play(s, bytes, mutations.below(20) === 0).finally(() => under.delete(one));
    under.add(one);
    if (under.size >= AT_ONCE) {
      await Promise.race(under);
    }
  }
  await Promise.all(under);
}

const memory = (pid: number): number => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;

/** Plays sessions; afterwards the same worker serves, nothing is left open, and it did not grow much. */
async function survives(t: Test, inputs: Iterable<Buffer>): Promise<void> {
  const s = await target(t);
  const [worker] = s.workers() as [number];
  await httpGet(s, '/text');
  const before = memory(worker);
  await playAll(s, inputs);
  const idle = /Active connections: 1 [\s\S]*Reading: 0 Writing: 1 Waiting: 0/;
  await waitFor(async () => idle.test((await httpGet(s.port(1), '/')).text), { what: 'all connections closed, as the status page says' });
  t.strictSame(s.workers(), [worker], 'the worker lives');
  t.equal((await httpGet(s, '/text')).text, 'text', 'and serves');
  t.ok(memory(worker) - before < GROWTH, 'and is no larger than a bounded worker can be');
}

function* mutated(count: number): Generator<Buffer> {
  for (let i = 0; i < count; i++) {
    yield Buffer.from(mutations.mutated(sessions), 'latin1');
  }
}

const skip = againstNginx && 'of our own counters and workers';

t.test('sessions as they were recorded', { skip }, async (t) => {
  await survives(
    t,
    sessions.map((text) => Buffer.from(text, 'latin1')),
  );
});

t.test('mutations of recorded sessions', { skip }, async (t) => {
  await survives(t, mutated(trials(1500)));
});

const corpus = process.env['SLUICE_H2_CORPUS'];
t.test('a folder of inputs', { skip: skip || (corpus === undefined && 'SLUICE_H2_CORPUS names no folder') }, async (t) => {
  const names = readdirSync(corpus!);
  t.comment(`${names.length} inputs`);
  await survives(
    t,
    names.map((name) => readFileSync(`${corpus}/${name}`)),
  );
});
