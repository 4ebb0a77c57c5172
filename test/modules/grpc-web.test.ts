// gRPC-Web: browsers call a gRPC server through sluice, with binary bodies and with text.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import t, { type Test } from 'tap';
import { nothing, startGrpcServer } from '../support/grpc-echo.js';
import { Http2Client, request } from '../support/http2-client.js';
import { answer, startHttp2Origin } from '../support/http2-origin.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const conf = (port: number, files = ''): string =>
  serverConf(
    `http2 on; ${files} location /test.Echo/ { grpc_pass u; grpc_web on; }`,
    `types { text/html html; text/javascript js; } upstream u { server 127.0.0.1:${port}; keepalive 4; }`,
  );

/** A message, or the trailers, in a frame of gRPC. */
function framed(message: string, kind = 0): Buffer {
  const head = Buffer.alloc(5, kind);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, Buffer.from(message)]);
}

/** The frames of a body: whether it is a message, and its text. */
function frames(body: Buffer): (readonly [number, string])[] {
  const all: (readonly [number, string])[] = [];
  for (let at = 0; at < body.length; ) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    all.push([body[at]!, body.toString('utf8', at + 5, end)]);
    at = end;
  }
  return all;
}

interface WebReply {
  readonly status: number;
  readonly headers: Headers;
  readonly frames: readonly (readonly [number, string])[];
}

async function ask(s: Server, path: string, message: string, text: boolean, headers: Record<string, string> = {}): Promise<WebReply> {
  const bytes = framed(message);
  const response = await fetch(`http://127.0.0.1:${s.port(0)}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': `application/grpc-web${text ? '-text' : ''}+proto`, 'X-Grpc-Web': '1', ...headers },
    body: text ? bytes.toString('base64') : bytes,
  });
  const body = Buffer.from(await response.arrayBuffer());
  // Each part is padded by itself.
  const parts = text ? Buffer.concat((body.toString().match(/[^=]+=*/g) ?? []).map((part) => Buffer.from(part, 'base64'))) : body;
  return { status: response.status, headers: response.headers, frames: frames(parts) };
}

t.test('a length that the server announces is held against what it sends', async (t) => {
  const origin = await startHttp2Origin(t, (got) => {
    const [length, body] = got.fields.get(':path')!.split('/').at(-1)!.split('-') as [string, string];
    answer(got, {
      headers: [
        ['content-type', 'application/grpc'],
        ['content-length', length],
      ],
      body,
      trailers: [['grpc-status', '0']],
    });
  });
  const s = await startServer(t, { conf: conf(origin.port) });
  const c = await Http2Client.connect(t, s.port(0));
  let id = 1;
  for (const type of ['application/grpc-web', 'application/grpc-web-text']) {
    const shown = (text: string): string => (type.endsWith('text') ? Buffer.from(text, 'latin1').toString('base64') : text);
    for (const [path, whole, body] of [
      ['5-12345', true, '12345'],
      ['6-12345', false, '12345'],
      ['4-12345', false, ''],
    ] as const) {
      c.request(id, request('POST', `/test.Echo/${path}`, ['content-type', type]), '');
      const got = await c.response(id);
      t.equal(got.reset === undefined, whole, `${type} ${path}`);
      t.equal(got.body, shown(body) + (whole ? shown('\x80\0\0\0\x10grpc-status: 0\r\n') : ''), `${type} ${path}`);
      t.equal(got.fields.get('content-length'), undefined);
      id += 2;
    }
  }
  await s.logged('upstream sent response body larger than indicated content length');
  await s.logged('upstream prematurely closed stream');
});

t.test('calls in either form', async (t) => {
  const { port } = await startGrpcServer(t, nothing());
  const s = await startServer(t, { conf: conf(port) });
  for (const text of [false, true]) {
    const plain = await ask(s, '/test.Echo/Unary', 'hello', text, { 'X-Text': 'there' });
    t.equal(plain.status, 200);
    t.equal(plain.headers.get('content-type'), `application/grpc-web${text ? '-text' : ''}+proto`);
    t.equal(plain.headers.get('x-echo'), 'there');
    t.strictSame(plain.frames[0], [0, 'hello']);
    t.match(plain.frames[1]![1], /grpc-status: 0\r\n/);
    t.match(plain.frames[1]![1], /x-after: all\r\n/);
    t.strictSame([plain.frames.length, plain.frames[1]![0]], [2, 0x80]);

    const stream = await ask(s, '/test.Echo/Down', '1000', text);
    t.equal(stream.frames.length, 1001);
    t.strictSame(stream.frames[999], [0, 'message 999']);

    const failed = await ask(s, '/test.Echo/Unary', 'hello', text, { 'X-Want': 'error' });
    const told = failed.headers.get('grpc-status') ?? /grpc-status: (\d+)/.exec(failed.frames.at(-1)![1])![1];
    t.equal(told, '9');

    const large = 'x'.repeat(300_000);
    t.strictSame((await ask(s, '/test.Echo/Unary', large, text)).frames[0], [0, large]);
  }
});

t.test('the server gets what any client of gRPC sends', async (t) => {
  const origin = await startHttp2Origin(t);
  const s = await startServer(t, { conf: conf(origin.port) });
  const c = await Http2Client.connect(t, s.port(0));
  const text = framed('one').toString('base64');
  c.request(
    1,
    request('POST', '/test.Echo/Unary', ['content-type', 'application/grpc-web-text+json']),
    `${text}${framed('four').toString('base64')}`,
  );
  const got = await origin.received(1);
  t.equal(got.fields.get('content-type'), 'application/grpc+json');
  t.equal(got.fields.get('te'), 'trailers');
  t.equal(got.fields.get('content-length'), undefined);
  const data = (): Buffer =>
    Buffer.concat(got.connection.frames.filter(({ type, id }) => type === 0 && id === got.id).map(({ payload }) => payload));
  await waitFor(() => data().equals(Buffer.concat([framed('one'), framed('four')])), { what: () => data().toString('latin1') });
});

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));

/** What a page has for a title in the end. */
async function titleOf(t: Test, url: string): Promise<string> {
  const home = await mkdtemp(`${tmpdir()}/chromium-`);
  t.teardown(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', `--user-data-dir=${home}`, '--timeout=60000'];
  const html = await new Promise<string>((done, fail) => {
    execFile(chromium!, [...flags, '--virtual-time-budget=60000', '--dump-dom', url], { timeout: 120_000 }, (error, stdout) =>
      error === null ? done(stdout) : fail(error),
    );
  });
  return /<title>([^<]*)<\/title>/.exec(html)?.[1] ?? html;
}

t.test("gRPC-Web's own client in a browser", { skip: chromium === undefined ? 'no Chromium here' : false }, async (t) => {
  const { port } = await startGrpcServer(t, nothing());
  const script = await build({
    stdin: {
      contents: `
        import { GrpcWebClientBase, MethodDescriptor, MethodType } from 'grpc-web';
        const method = (name, kind) => new MethodDescriptor('/test.Echo/' + name, kind, Object, Object, (text) => new TextEncoder().encode(text), (bytes) => new TextDecoder().decode(bytes));
        const say = async (format) => {
          const client = new GrpcWebClientBase({ format });
          const unary = (message, metadata) => new Promise((done) => {
            const told = (error, answer) => done(error ? error.code : answer);
            client.rpcCall(location.origin + '/test.Echo/Unary', message, metadata, method('Unary', MethodType.UNARY), told);
          });
          const one = await unary('hello', {});
          const failed = await unary('x', { 'x-want': 'error' });
          const count = format !== 'text' ? '-' : await new Promise((done, fail) => {
            let count = 0;
            const stream = client.serverStreaming(location.origin + '/test.Echo/Down', '500', {}, method('Down', MethodType.SERVER_STREAMING));
            stream.on('data', () => count++);
            stream.on('error', fail);
            stream.on('end', () => done(count));
          });
          return [one, failed, count].join(' ');
        };
        Promise.all([say('binary'), say('text')]).then((all) => (document.title = all.join(', ')), (error) => (document.title = 'failed: ' + error));
      `,
      resolveDir: fileURLToPath(new URL('../..', import.meta.url)),
    },
    bundle: true,
    write: false,
    format: 'iife',
  });
  const s = await startServer(t, {
    conf: conf(port, 'location / { root %%DIR%%/html; }'),
    files: {
      'html/index.html': '<!doctype html><title>waiting</title><script src="/page.js"></script>',
      'html/page.js': script.outputFiles[0]!.text,
    },
  });
  t.equal(await titleOf(t, `http://127.0.0.1:${s.port(0)}/index.html`), 'hello 9 -, hello 9 500');
});
