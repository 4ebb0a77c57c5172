import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { httpGet, RawClient } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('nginx has no such threads');
}

// Threads with grants beside HTTP/2, several workers, a reload and clients that leave.

const module = (version: string): string => `
export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const held = url.searchParams.get('held');
    const answered = held === null ? '' : await (await fetch(held)).text();
    const refused = await fetch('http://127.0.0.2:8080/').catch((error) => (error.cause ?? error).message.slice(0, 80));
    return new Response([${JSON.stringify(version)}, request.method, url.pathname, (await request.text()).length, answered, env.remoteAddress, typeof globalThis.process?.exit, refused].join('|'), { headers: { 'x-thread': 'yes' } });
  },
};`;

const REFUSED = /"js_isolation" does not allow to fetch from/;

/** A backend that answers when it is told to. */
async function holding(t: Test): Promise<{ readonly url: string; readonly waiting: ServerResponse[] }> {
  const waiting: ServerResponse[] = [];
  const server = createServer((_request, response) => waiting.push(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, waiting };
}

const hostOf = (url: string): string => new URL(url).host;

interface Http2Answer {
  readonly status: unknown;
  readonly field: unknown;
  readonly text: string;
}

function ask(session: ClientHttp2Session, path: string, body = ''): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path, ':method': body === '' ? 'GET' : 'POST' });
    let text = '';
    let head: Record<string, unknown> = {};
    stream.setEncoding('utf8');
    stream.on('response', (fields) => (head = fields));
    stream.on('data', (piece: string) => (text += piece));
    stream.on('error', reject);
    stream.on('end', () => resolve({ status: head[':status'], field: head['x-thread'], text }));
    if (body !== '') {
      stream.end(body);
    }
  });
}

function session(t: Test, port: number): ClientHttp2Session {
  const made = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  t.teardown(() => made.destroy());
  return made;
}

t.test('streams of HTTP/2, at several workers', async (t) => {
  const { rsa } = certs();
  const held = await holding(t);
  const s = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%% ssl; http2 on; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; client_max_body_size 2m;
        js_import app/a.js; location / { js_isolation thread threads=2 allow=fetch:${hostOf(held.url)}; js_content a; } }`,
      'worker_processes 2;',
    ),
    files: { 'app/a.js': module('one') },
  });
  const sessions = Array.from({ length: 4 }, () => session(t, s.port(0)));
  const sizes = [0, 1, 70_000, 1_000_000];
  const answers = await Promise.all(sessions.flatMap((one) => sizes.map((size) => ask(one, `/of/${size}`, 'x'.repeat(size)))));
  for (const [i, { status, field, text }] of answers.entries()) {
    const size = sizes[i % sizes.length]!;
    const [version, method, path, length, , address, exit, refused] = text.split('|');
    t.same(
      [status, field, version, method, path, length, address, exit],
      [200, 'yes', 'one', size === 0 ? 'GET' : 'POST', `/of/${size}`, String(size), '127.0.0.1', 'undefined'],
    );
    t.match(refused, REFUSED);
  }
  t.equal(s.workers().length, 2);

  // Streams that are reset, and a connection that goes, while their handlers wait.
  const leaving = session(t, s.port(0));
  const streams = Array.from({ length: 3 }, () => leaving.request({ ':path': `/?held=${encodeURIComponent(held.url)}` }));
  for (const stream of streams) {
    stream.on('error', () => undefined);
  }
  await waitFor(() => held.waiting.length === 3, { what: 'the calls' });
  streams[0]!.close(8);
  leaving.destroy();
  for (const response of held.waiting.splice(0)) {
    response.end('late');
  }
  const after = await ask(sessions[0]!, '/after');
  t.match(after.text, /^one\|GET\|\/after\|0\|/, 'the threads go on');
});

t.test('a reload within a call', async (t) => {
  const held = await holding(t);
  const s = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%%; js_import app/a.js; location / { js_isolation thread threads=1 allow=fetch:${hostOf(held.url)}; js_content a; } }`,
      'worker_processes 1;',
    ),
    files: { 'app/a.js': module('old') },
  });
  const client = await RawClient.connect(s.port(0));
  client.send(`GET /?held=${encodeURIComponent(held.url)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  await waitFor(() => held.waiting.length === 1, { what: 'the call' });
  await s.write('app/a.js', module('new'));
  await s.reload();
  await waitFor(async () => (await httpGet(s, '/')).text.startsWith('new|'), { what: 'the new module' });
  held.waiting[0]!.end('at last');
  await client.closed();
  t.match(client.received, /\r\n\r\n.*old\|GET\|\/\|0\|at last\|/s, 'the call under way ends as it began');
  t.match((await httpGet(s, '/x')).text, /^new\|GET\|\/x\|/);
  await waitFor(() => s.workers().length === 1, { what: 'the end of the old worker' });
});

t.test('a client that leaves within a call of HTTP/1', async (t) => {
  const held = await holding(t);
  const s = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%%; js_import app/a.js; location / { js_isolation thread threads=1 allow=fetch:${hostOf(held.url)}; js_content a; } }`,
    ),
    files: { 'app/a.js': module('one') },
  });
  const client = await RawClient.connect(s.port(0));
  client.send(`GET /?held=${encodeURIComponent(held.url)} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await waitFor(() => held.waiting.length === 1, { what: 'the call' });
  client.destroy();
  held.waiting[0]!.end('late');
  t.match((await httpGet(s, '/x')).text, /^one\|GET\|\/x\|/);
});
