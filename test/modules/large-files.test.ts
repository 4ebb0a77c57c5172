import { randomBytes } from 'node:crypto';
import { truncateSync } from 'node:fs';
import t, { type Test } from 'tap';
import { files as cacheFiles } from '../support/cache.js';
import { certs } from '../support/certs.js';
import { makeCold } from '../support/cold-file.js';
import { frame, Http2Client, number32, request, T } from '../support/http2-client.js';
import { startOrigin } from '../support/origin.js';
import { type ConnectOptions, type http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, type Server, serverConf, startServer } from '../support/server.js';

const SECURE = `ssl_certificate ${certs().rsa.cert}; ssl_certificate_key ${certs().rsa.key};`;
/** A port with TLS beside the one that the frame has. */
const secure = `listen 127.0.0.1:%%PORT_1%% ssl; http2 on; ${SECURE}`;
const tls: ConnectOptions = { tls: {} };

// ---------------------------------------------------------------- files that shrink

/** More than sockets hold, also when it is compressed. */
const LARGE = randomBytes(24_000_000);
const SHRUNK = 100_000;

const startShrinking = (t: Test, server: string): Promise<Server> =>
  startServer(t, {
    conf: serverConf(`${secure} default_type text/plain; ${server}`),
    files: { 'html/shrinks': LARGE, 'html/stays': LARGE, 'html/small': 'small' },
    expectAlerts: /read only|truncated/,
  });

for (const [what, server, headers, port] of [
  ['with TLS', '', {}, 1],
  ['with TLS and gzip', 'gzip on;', { 'Accept-Encoding': 'gzip' }, 1],
  ['with gzip', 'gzip on;', { 'Accept-Encoding': 'gzip' }, 0],
  ['with TLS and aio', 'aio threads;', {}, 1],
] as const) {
  t.test(`a file shrinks while it is sent ${what}`, async (t) => {
    const s = await startShrinking(t, server);
    const options = port === 1 ? tls : {};
    const client = await RawClient.connect(s.port(port), options);
    const other = await RawClient.connect(s.port(port), options);
    client.send(requestText('GET', '/shrinks', headers));
    other.send(requestText('GET', '/stays'));
    await client.until('\r\n\r\n');
    client.pause();
    await other.until('\r\n\r\n');
    other.pause();
    truncateSync(`${s.dir}/html/shrinks`, SHRUNK);
    client.resume();
    const broken = await client.response();
    t.equal(broken.status, 200);
    t.equal(broken.complete, false, 'the client can tell that it is not whole');
    await client.closed();
    other.resume();
    t.ok((await other.response()).body.equals(LARGE), 'others go on');
    other.destroy();
    t.equal((await httpGet(s.port(port), '/small', {}, options)).text, 'small');
    t.match(s.log(), /read only|truncated/);
  });
}

for (const [what, server, headers] of [
  ['', '', []],
  [' and gzip', 'gzip on;', [['accept-encoding', 'gzip']]],
] as const) {
  t.test(`a file shrinks while it is sent with HTTP/2${what}`, async (t) => {
    const s = await startShrinking(t, server);
    const client = await Http2Client.connect(t, s.port(1), { tls: true });
    client.request(1, request('GET', '/shrinks', ...headers));
    // The window that every stream has at first.
    const came = () => client.frames.reduce((sum, f) => sum + (f.type === T.DATA && f.id === 1 ? f.payload.length : 0), 0);
    await client.frame(() => came() === 65_535, 'a full window');
    truncateSync(`${s.dir}/html/shrinks`, SHRUNK);
    client.send(frame(T.WINDOW, 0, 0, number32(2 ** 30)), frame(T.WINDOW, 0, 1, number32(2 ** 30)));
    const broken = await client.response(1);
    t.equal(broken.status, '200');
    t.type(broken.reset, 'number', 'the client can tell that it is not whole');
    t.ok(broken.body.length < LARGE.length);
    t.equal((await client.request(3, request('GET', '/small')).response(3)).body, 'small', 'other streams go on');
    client.request(5, request('GET', '/stays')).send(frame(T.WINDOW, 0, 5, number32(2 ** 30)));
    t.ok(Buffer.from((await client.response(5)).body, 'latin1').equals(LARGE));
  });
}

// ---------------------------------------------------------------- parts, and bodies in the cache

/** Each place of it has other bytes around it. */
const CONTENT = Buffer.alloc(3_000_001);
for (let i = 0; i < CONTENT.length; i++) {
  CONTENT[i] = (i * 7 + (i >> 8) * 3 + (i >> 16)) % 251;
}

/** Ranges on, between and across the pieces that files are read in. */
const RANGES = [
  [0, 0],
  [65_535, 65_536],
  [131_071, 700_000],
  [262_144, 524_287],
  [1_000_000, 3_000_000],
  [2_999_990, 3_000_000],
] as const;

async function testRanges(t: Test, get: (headers: Record<string, string>) => ReturnType<typeof http>): Promise<void> {
  for (const [from, to] of RANGES) {
    const part = await get({ Range: `bytes=${from}-${to}` });
    t.equal(part.status, 206);
    t.equal(part.header('Content-Range'), `bytes ${from}-${to}/${CONTENT.length}`);
    t.ok(part.body.equals(CONTENT.subarray(from, to + 1)), `${from}-${to}`);
  }
  const ranges = [RANGES[1], RANGES[2], RANGES[5]];
  const parts = await get({ Range: `bytes=${ranges.map((range) => range.join('-')).join(',')}` });
  const boundary = /boundary=(.*)$/.exec(parts.header('Content-Type')!)![1]!;
  const expected = ranges.map(([from, to]) =>
    Buffer.concat([
      Buffer.from(`\r\n--${boundary}\r\nContent-Type: text/plain\r\nContent-Range: bytes ${from}-${to}/${CONTENT.length}\r\n\r\n`),
      CONTENT.subarray(from, to + 1),
    ]),
  );
  t.ok(parts.body.equals(Buffer.concat([...expected, Buffer.from(`\r\n--${boundary}--\r\n`)])), 'several');
}

t.test('parts of large files', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `${secure} default_type text/plain; location /aio/ { aio threads; alias %%DIR%%/html/; }
       location /small-pieces/ { output_buffers 2 8k; sendfile off; alias %%DIR%%/html/; }`,
    ),
    files: { 'html/large': CONTENT },
  });
  for (const path of ['/large', '/aio/large', '/small-pieces/large']) {
    for (const state of ['cold', 'in memory']) {
      await t.test(`${path}, ${state}`, (t) =>
        testRanges(t, (headers) => {
          if (state === 'cold') {
            makeCold(`${s.dir}/html/large`);
          }
          return httpGet(s.port(1), path, headers, tls);
        }),
      );
    }
  }
});

t.test('large bodies in the cache', async (t) => {
  const origin = await startOrigin(t, {
    headers: { 'Content-Type': 'text/plain', 'Cache-Control': 'max-age=3600', 'Accept-Ranges': 'bytes' },
    body: CONTENT,
  });
  const s = await startServer(t, {
    conf: httpConf(
      `proxy_cache_path %%DIR%%/cache levels=1:2 keys_zone=Z:1m; proxy_temp_path %%DIR%%/temp;
       server { listen 127.0.0.1:%%PORT_0%%; ${secure}
         location / { proxy_pass http://127.0.0.1:${origin.port}; proxy_cache Z; add_header X-Status $upstream_cache_status; } }`,
    ),
  });
  t.equal((await httpGet(s.port(1), '/', {}, tls)).header('X-Status'), 'MISS');
  const [file] = cacheFiles(s);
  for (const state of ['cold', 'in memory']) {
    await t.test(state, async (t) => {
      const get = async (headers: Record<string, string>) => {
        if (state === 'cold') {
          makeCold(file!);
        }
        const response = await httpGet(s.port(1), '/', headers, tls);
        t.equal(response.header('X-Status'), 'HIT');
        return response;
      };
      t.ok((await get({})).body.equals(CONTENT));
      await testRanges(t, get);
    });
  }
  t.equal(origin.requests.length, 1);
});
