// Bodies that come and go in pieces with pauses at random, many at a time: whatever is read while somebody is still busy with what came
// before arrives whole, in order and before its end.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { connect, createServer as createHttp2Server, type IncomingHttpHeaders } from 'node:http2';
import type { Duplex, Readable, Writable } from 'node:stream';
import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { Dice } from '../support/faulty-ring.js';
import { type Server, serverConf, startServer } from '../support/server.js';

const SEED = 20261124 + Number(process.env['SLUICE_FUZZ_SEED'] ?? 0);
const dice = new Dice(SEED);
/** Around the sizes of the buffers and windows in between. */
const SIZES = [0, 1, 100, 4096, 8192, 16_384, 16_385, 61_440, 61_441, 65_535, 65_536, 150_000];
const PLACES = ['/kept', '/passed', '/narrow', '/shared', ...(againstNginx ? [] : ['/shared-passed'])];
const EACH = 2;

t.comment(`seed ${SEED}`);

/** Mostly none, sometimes the rest of the tick, seldom some milliseconds. */
async function pause(): Promise<void> {
  const choice = dice.below(12);
  if (choice === 0) {
    await sleep(dice.below(6));
  } else if (choice < 4) {
    await tick();
  }
}

async function readAll(from: Readable): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of from) {
    pieces.push(piece as Buffer);
    await pause();
  }
  return Buffer.concat(pieces);
}

async function writeAll(to: Writable, bytes: Buffer): Promise<void> {
  const step = Math.max(1, Math.ceil(bytes.length / (1 + dice.below(50))));
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + dice.below(step);
    if (!to.write(bytes.subarray(at, end))) {
      await once(to, 'drain');
    }
    at = end;
    await pause();
  }
  to.end();
}

/** Sends back the whole body, once it is there or as it comes. */
async function echo(incoming: Readable & { headers: IncomingHttpHeaders }, outgoing: Writable): Promise<void> {
  if (incoming.headers['x-echo'] === 'late') {
    await writeAll(outgoing, await readAll(incoming));
    return;
  }
  for await (const piece of incoming) {
    if (!outgoing.write(piece)) {
      await once(outgoing, 'drain');
    }
    await pause();
  }
  outgoing.end();
}

async function startBackends(t: Test): Promise<readonly number[]> {
  const servers = [createServer((i, o) => void echo(i, o).catch(() => o.destroy())), createHttp2Server((i, o) => void echo(i, o as never))];
  return Promise.all(
    servers.map(async (server) => {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.teardown(() => server.close());
      return (server.address() as { port: number }).port;
    }),
  );
}

interface Exchange {
  readonly path: string;
  readonly size: number;
  readonly echo: string;
}

const exchanges: readonly Exchange[] = PLACES.flatMap((path) =>
  SIZES.flatMap((size) => Array.from({ length: EACH }, (_, i) => ({ path, size, echo: i % 2 === 0 ? 'late' : 'at once' }))),
);

/** Does all exchanges at once and returns those that went wrong. */
async function wrongOf(open: (exchange: Exchange) => { sent: Writable; answer: Promise<Readable> }): Promise<string[]> {
  const wrong: string[] = [];
  await Promise.all(
    exchanges.map(async (exchange, i) => {
      const body = Buffer.alloc(exchange.size, createHash('md5').update(String(i)).digest());
      const { sent, answer } = open(exchange);
      const [got] = await Promise.all([answer.then(readAll), writeAll(sent, body)]);
      if (!got.equals(body)) {
        wrong.push(`${exchange.path} ${exchange.size} ${exchange.echo}: ${got.length}`);
      }
    }),
  );
  return wrong;
}

function overHttp1(s: Server, t: Test): Parameters<typeof wrongOf>[0] {
  const agent = new Agent({ keepAlive: true, maxSockets: 40 });
  t.teardown(() => agent.destroy());
  return ({ path, size, echo }) => {
    const headers = { 'X-Echo': echo, ...(size % 2 === 0 ? { 'Content-Length': size } : { 'Transfer-Encoding': 'chunked' }) };
    const sent = request({ host: '127.0.0.1', port: s.port(0), agent, method: 'POST', path, headers });
    return { sent, answer: once(sent, 'response').then(([answer]) => answer as Readable) };
  };
}

function overHttp2(s: Server, t: Test): Parameters<typeof wrongOf>[0] {
  const sessions = [65_535, 1000, 300_000].map((initialWindowSize) =>
    connect(`http://127.0.0.1:${s.port(1)}`, { settings: { initialWindowSize } }),
  );
  t.teardown(() => sessions.forEach((session) => void session.destroy()));
  return ({ path, size, echo }) => {
    const length = size % 2 === 0 ? { 'content-length': size } : {};
    const stream: Duplex = sessions[dice.below(3)]!.request({ ':method': 'POST', ':path': path, 'x-echo': echo, ...length });
    return { sent: stream, answer: once(stream, 'response').then(() => stream) };
  };
}

t.test('bodies with pauses', async (t) => {
  const [http1, http2] = await startBackends(t);
  const shared = againstNginx ? `proxy_pass http://127.0.0.1:${http1};` : `proxy_pass http://127.0.0.1:${http2}; proxy_http_version 2;`;
  const s = await startServer(t, {
    conf: serverConf(
      `listen 127.0.0.1:%%PORT_1%% http2; client_max_body_size 0; proxy_http_version 1.1; proxy_set_header Connection '';
      location /kept { proxy_pass http://backend; }
      location /passed { proxy_pass http://backend; proxy_request_buffering off; proxy_buffering off; }
      location /narrow { proxy_pass http://backend; proxy_request_buffering off; client_body_buffer_size 4k;
        proxy_buffer_size 4k; proxy_buffers 2 4k; proxy_busy_buffers_size 4k; }
      location /shared { ${shared} }
      location /shared-passed { ${shared} proxy_request_buffering off; proxy_buffering off; }`,
      `upstream backend { server 127.0.0.1:${http1}; keepalive 16; } http2_max_concurrent_streams 200;`,
    ),
  });
  t.strictSame(await wrongOf(overHttp1(s, t)), [], 'HTTP/1.1');
  t.strictSame(await wrongOf(overHttp2(s, t)), [], 'HTTP/2');
});
