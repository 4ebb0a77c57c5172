// Backends of HTTP/2 that send anything: the worker lives, is bounded, and gives nobody another one's bytes.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { block, END_HEADERS, END_STREAM, frame, number32, settings, T } from '../support/http2-client.js';
import { answer, type Http2Request, startHttp2Origin } from '../support/http2-origin.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';
import { Mutations, trials } from '../unit/fuzz/mutations.js';

/** Clients at a time. */
const AT_ONCE = 16;
/** What a worker may grow by, in bytes: far less than what unbounded buffers would come to. */
const GROWTH = 200 << 20;
/** What well-behaved backends put around the path that they were asked for. */
const LONG = 'well '.repeat(10_000);

const head = (id: number, flags = 0, ...fields: readonly (readonly [string, string])[]): Buffer =>
  frame(T.HEADERS, END_HEADERS | flags, id, block([[':status', '200'], ...fields]));

/** What backends answer on a stream, before it is changed. */
const answers = (id: number): string[] =>
  [
    [head(id), frame(T.DATA, 0, id, 'part of it, '), frame(T.DATA, END_STREAM, id, 'and the rest')],
    [head(id, 0, ['content-length', '5'], ['content-type', 'text/plain']), frame(T.DATA, END_STREAM, id, 'exact')],
    [head(id, END_STREAM, ['content-length', '0'])],
    [
      frame(
        T.HEADERS,
        END_HEADERS,
        id,
        block([
          [':status', '103'],
          ['link', '</a>; rel=preload'],
        ]),
      ),
      frame(T.SETTINGS, 0, 0, settings([4, 100], [1, 0], [5, 16384], [3, 1])),
      head(id),
      frame(T.WINDOW, 0, id, number32(5)),
      frame(T.DATA, 8, id, Buffer.concat([Buffer.from([3]), Buffer.from('padded'), Buffer.alloc(3)])),
      frame(
        T.HEADERS,
        END_HEADERS | END_STREAM,
        id,
        block([
          ['x-trailer', 'y'],
          ['grpc-status', '0'],
        ]),
      ),
    ],
    [
      frame(T.HEADERS, 0, id, block([[':status', '200']]).subarray(0, 5)),
      frame(T.CONTINUATION, END_HEADERS, id, block([[':status', '200']]).subarray(5)),
      frame(T.PING, 0, 0, '12345678'),
      frame(T.DATA, 0, id, 'x'.repeat(16_384)),
      frame(T.DATA, END_STREAM, id, 'y'.repeat(3000)),
    ],
    [head(id), frame(T.DATA, 0, id, 'a part'), frame(T.RST, 0, id, number32(2))],
    [frame(T.RST, 0, id, number32(7)), frame(T.GOAWAY, 0, 0, Buffer.concat([number32(0), number32(0)]))],
    [head(id), frame(T.GOAWAY, 0, 0, Buffer.concat([number32(id), number32(0)])), frame(T.DATA, END_STREAM, id, 'the last one')],
  ].map((frames) => Buffer.concat(frames).toString('latin1'));

const pieces = (id: number): string[] =>
  [
    ...Object.values(T).map((type) => frame(type, type === T.HEADERS ? END_HEADERS : 0, id, type === T.PING ? '12345678' : number32(1))),
    frame(T.DATA, 0, id, 'x'.repeat(500)),
    frame(T.DATA, END_STREAM, id),
    head(id, END_STREAM),
    head(id + 2),
    frame(T.DATA, END_STREAM, Math.max(1, id - 2), 'for another'),
    frame(T.WINDOW, 0, 0, number32(0x7fffffff)),
    frame(T.SETTINGS, 0, 0, settings([4, 0x7fffffff], [1, 0xffffffff])),
    frame(T.SETTINGS, 0, 0, settings([4, 0])),
    frame(T.PUSH, END_HEADERS, id, Buffer.concat([number32(2), block([[':path', '/']])])),
    frame(T.SETTINGS, 1, 0),
  ]
    .map((bytes) => bytes.toString('latin1'))
    .concat('\0', '\x7f', '\x80', '\xff', '\xff\xff\xff\xff', '\x3f\xe1\x1f');

const SEED = 23;
const dice = new Mutations(SEED, []);
/** The frames that are put in have the streams' own numbers. */
const changes = new Map<number, Mutations>();

/** Answers with something else than it should, and sometimes leaves. */
function misbehave({ connection, id }: Http2Request): void {
  let mutations = changes.get(id);
  if (mutations === undefined) {
    mutations = new Mutations(SEED + id, pieces(id));
    changes.set(id, mutations);
  }
  const bytes = Buffer.from(mutations.mutated(answers(id)), 'latin1');
  const at = dice.below(bytes.length + 1);
  connection.socket.write(bytes.subarray(0, at));
  const then = (): void => {
    connection.socket.write(bytes.subarray(at));
    const end = dice.below(6);
    if (end === 0) {
      connection.socket.end();
    } else if (end === 1) {
      connection.socket.resetAndDestroy();
    }
  };
  if (dice.below(3) === 0) {
    then();
  } else {
    setImmediate(then);
  }
}

async function target(t: Test): Promise<Server> {
  const hostile = await startHttp2Origin(t, misbehave);
  const good = await startHttp2Origin(t, (got) => answer(got, { body: `${LONG}${got.fields.get(':path')}` }));
  return startServer(t, {
    conf: httpConf(
      `proxy_http_version 2; proxy_read_timeout 300ms; proxy_send_timeout 300ms; proxy_connect_timeout 5s; keepalive_timeout 0;
      grpc_read_timeout 300ms; grpc_send_timeout 300ms; lingering_timeout 200ms; proxy_temp_path %%DIR%%/proxy_temp;
      proxy_cache_path %%DIR%%/cache keys_zone=c:1m;
      upstream hostile { server 127.0.0.1:${hostile.port} max_fails=0; keepalive 4; }
      upstream good { server 127.0.0.1:${good.port}; keepalive 4; }
      server {
        listen 127.0.0.1:%%PORT_0%%;
        location /good/ { proxy_pass http://good; proxy_read_timeout 30s; }
        location /buffered { proxy_pass http://hostile; }
        location /passed { proxy_pass http://hostile; proxy_buffering off; proxy_request_buffering off; }
        location /cached { proxy_pass http://hostile; proxy_cache c; proxy_cache_valid any 1s; }
        location /alone { proxy_pass http://127.0.0.1:${hostile.port}; }
        location /grpc { grpc_pass hostile; }
      }
      server { listen 127.0.0.1:%%PORT_1%%; location / { stub_status; } }`,
      'worker_processes 1;',
    ),
    logLevel: 'crit',
  });
}

/** Asks, and reads until the server closes, or leaves before. */
function ask(s: Server, path: string, body: string, stays: boolean): Promise<void> {
  return new Promise((done) => {
    const socket = connect({ port: s.port(0), host: '127.0.0.1', noDelay: true });
    socket.on('error', () => {});
    socket.on('close', () => done());
    socket.resume();
    const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
    socket.write(`${body === '' ? 'GET' : 'POST'} ${path} HTTP/1.1\r\nHost: h\r\n${length}Connection: close\r\n\r\n${body}`);
    if (!stays) {
      socket.once('data', () => socket.resetAndDestroy());
    }
  });
}

const memory = (pid: number): number => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;

t.test('answers that were changed', { skip: againstNginx && 'of our own workers' }, async (t) => {
  const count = trials(800);
  t.comment(`seed ${SEED} + ${process.env['SLUICE_FUZZ_SEED'] ?? 0}, ${count} answers`);
  const s = await target(t);
  const [worker] = s.workers() as [number];
  await httpGet(s, '/good/0');
  const before = memory(worker);
  const under = new Set<Promise<void>>();
  const wrong: string[] = [];
  for (let i = 0; i < count; i++) {
    const path = `/${dice.pick(['buffered', 'passed', 'cached', 'alone', 'grpc'])}/${i % 50}`;
    const body = dice.pick(['', '', 'a small body', 'b'.repeat(70_000)]);
    const one: Promise<void> = ask(s, path, body, dice.below(5) > 0).finally(() => under.delete(one));
    under.add(one);
    if (i % 10 === 0) {
      const good: Promise<void> = httpGet(s, `/good/${i}`).then(({ status, text }) => {
        if (status !== 200 || text !== `${LONG}/good/${i}`) {
          wrong.push(`/good/${i}: ${status}, ${text.length} bytes`);
        }
        under.delete(good);
      });
      under.add(good);
    }
    if (under.size >= AT_ONCE) {
      await Promise.race(under);
    }
  }
  await Promise.all(under);
  t.strictSame(wrong, [], 'what other backends answer is theirs');
  const idle = /Active connections: 1 [\s\S]*Reading: 0 Writing: 1 Waiting: 0/;
  await waitFor(async () => idle.test((await httpGet(s.port(1), '/')).text), { what: 'all connections closed, as the status page says' });
  t.ok(s.workers().includes(worker), 'the worker lives');
  t.equal((await httpGet(s, '/good/last')).text, `${LONG}/good/last`, 'and serves');
  t.ok(memory(worker) - before < GROWTH, `and is no larger than a bounded worker can be: ${(memory(worker) - before) >> 20} MB more`);
});
