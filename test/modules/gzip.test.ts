import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { frame, Http2Client, number32, request, settings, T } from '../support/http2-client.js';
import { startOrigin } from '../support/origin.js';
import { exchange, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { parseResponse } from '../support/response.js';
import { serverConf, startServer } from '../support/server.js';

const line = 'a line of text that repeats itself\n';
const large = line.repeat(20_000);
const MB = 1024 * 1024;
const accept = { 'Accept-Encoding': 'gzip' };

t.test('gzip', async (t) => {
  const origin = await startOrigin(t, async ({ target }, reply) => {
    await reply.write('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n');
    if (target === '/zipped') {
      return reply.end(Buffer.concat([Buffer.from('Content-Encoding: gzip\r\n\r\n'), gzipSync(large)]));
    }
    await reply.write('\r\n');
    for (let i = 0; i < 5; i++) {
      await reply.write(line);
      await reply.sleep(5);
    }
    return reply.end();
  });
  const s = await startServer(t, {
    conf: serverConf(`
      gzip on;
      location / { }
      location /off.html { gzip off; }
      location /pieces { proxy_buffering off; proxy_pass http://127.0.0.1:${origin.port}; }
      location /zipped { gunzip on; proxy_pass http://127.0.0.1:${origin.port}; }`),
    files: { 'html/large.html': large, 'html/small.html': line, 'html/tiny.html': 'x', 'html/text.txt': large, 'html/off.html': large },
  });
  for (const [path, expected] of [
    ['/large.html', large],
    ['/small.html', line],
    ['/pieces', line.repeat(5)],
  ] as const) {
    const response = await httpGet(s, path, accept);
    t.equal(response.header('Content-Encoding'), 'gzip', path);
    t.equal(response.header('Content-Length'), undefined);
    t.ok(gunzipSync(response.body).equals(Buffer.from(expected)), `${path} is what it was`);
  }
  for (const path of ['/tiny.html', '/text.txt', '/off.html']) {
    t.equal((await httpGet(s, path, accept)).header('Content-Encoding'), undefined, path);
  }
  t.equal((await httpGet(s, '/large.html')).header('Content-Encoding'), undefined, 'not accepted');
  const plain = await httpGet(s, '/zipped');
  t.equal(plain.header('Content-Encoding'), undefined);
  t.ok(plain.text === large, 'gunzip');
  t.equal((await httpGet(s, '/zipped', accept)).header('Content-Encoding'), 'gzip', 'gunzip leaves it to clients that understand it');
});

t.test('Accept-Encoding: what stands behind a semicolon is a quality', async (t) => {
  const s = await startServer(t, { conf: serverConf('gzip on; location / { }'), files: { 'html/large.html': large } });
  for (const [value, packed] of [
    ['gzip;', true],
    ['gzip; ', true],
    ['gzip; q=0.5', true],
    ['gzip;x=1', false],
    ['gzip;q', false],
    ['gzip;q =1', false],
    ['gzip;q=0', false],
  ] as const) {
    const response = await httpGet(s, '/large.html', { 'Accept-Encoding': value });
    t.equal(response.header('Content-Encoding'), packed ? 'gzip' : undefined, value);
  }
});

t.test('gzip_proxied: words of Cache-Control, and times that are headers', async (t) => {
  const origin = await startOrigin(t, ({ target }) => ({ headers: { 'Cache-Control': decodeURIComponent(target.slice(1)) }, body: large }));
  const s = await startServer(t, {
    conf: serverConf(
      `gzip on; gzip_types *; gzip_proxied no-cache private;
       location / { proxy_pass http://127.0.0.1:${origin.port}; }
       location /file { gzip_proxied no_last_modified; alias %%DIR%%/html/large.html; }
       location /expires { gzip_proxied no_etag; etag off; expires 1h; alias %%DIR%%/html/large.html; }
       location /beside { gzip_static on; gzip_proxied no_etag; etag off; expires 1h; alias %%DIR%%/html/large.html; }`,
    ),
    files: { 'html/large.html': large },
  });
  const via = { ...accept, Via: '1.1 proxy' };
  for (const [control, packed] of [
    ['no-cache', true],
    ['max-age=1 , Private', true],
    ['no-cache;x', false],
    ['x;no-cache', false],
    ['private="x"', false],
    ['no-store', false],
  ] as const) {
    const response = await httpGet(s, `/${encodeURIComponent(control)}`, via);
    t.equal(response.header('Content-Encoding'), packed ? 'gzip' : undefined, control);
  }
  t.equal((await httpGet(s, '/file', via)).header('Content-Encoding'), 'gzip', 'the time of a file is no header yet');
  t.equal((await httpGet(s, '/expires', via)).header('Content-Encoding'), undefined);
  t.equal((await httpGet(s, '/beside', via)).header('Content-Encoding'), 'gzip', 'asked before there are headers, for a file beside it');
});

t.test('what a backend calls gzip breaks off, or is none', async (t) => {
  const zipped = gzipSync(large);
  const bodies: Record<string, Buffer> = {
    '/cut': zipped.subarray(0, zipped.length - 8),
    '/early': zipped.subarray(0, 12),
    '/none': Buffer.from('plain text'),
    // Its last checksum is wrong.
    '/wrong': Buffer.concat([zipped.subarray(0, zipped.length - 8), Buffer.alloc(8)]),
  };
  const origin = await startOrigin(t, ({ target }, reply) => {
    const body = bodies[target]!;
    return reply.end(
      Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`), body]),
    );
  });
  const s = await startServer(t, {
    conf: serverConf(`http2 on; gunzip on; location / { proxy_pass http://127.0.0.1:${origin.port}; }`),
  });
  for (const [path, text, log] of [
    ['/cut', large, 'inflate() returned -5 on response end'],
    ['/early', '', 'inflate() returned -5 on response end'],
    ['/none', '', /inflate\(\) failed: [04], -3/],
    ['/wrong', '', /inflate\(\) failed: [04], -3/],
  ] as const) {
    const bytes = await exchange(s, requestText('GET', path));
    const response = parseResponse(Buffer.from(bytes, 'latin1'), 'GET', true)!;
    t.equal(response.status, 200, path);
    t.notOk(response.complete, `${path} has no end`);
    t.ok(response.text.startsWith(text), `${path} has what came out`);
    t.match(await s.logged(log), /\[error\]/);
    const stream = await Http2Client.connect(t, s.port(0));
    stream.send(frame(T.SETTINGS, 0, 0, settings([4, MB])), frame(T.WINDOW, 0, 0, number32(MB)));
    stream.request(1, request('GET', path));
    await stream.reset(1);
    const body = Buffer.concat(stream.frames.filter(({ type }) => type === T.DATA).map(({ payload }) => payload));
    t.ok(body.toString('latin1').startsWith(text), `${path} over HTTP/2`);
  }
});

t.test('stages that make much of little work no faster than the client reads', { skip: againstNginx }, async (t) => {
  const bomb = gzipSync(Buffer.alloc(40 * MB, 'a'));
  const cut = bomb.subarray(0, bomb.length - 100);
  const lines = '<!--# echo var="arg_x" -->\n'.repeat(20_000);
  const html = 'Content-Type: text/html\r\nConnection: close\r\n';
  const origin = await startOrigin(t, async ({ target }, reply) => {
    const zipped = /cut/.test(target) ? cut : /bomb/.test(target) ? bomb : gzipSync(/page/.test(target) ? lines : 'a'.repeat(MB / 4));
    return reply.end(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${html}Content-Encoding: gzip\r\n\r\n`), zipped]));
  });
  const s = await startServer(t, {
    conf: serverConf(`
      gunzip on; large_client_header_buffers 4 16k;
      location /bomb { proxy_pass http://127.0.0.1:${origin.port}; }
      location /sub { sub_filter a "${'b'.repeat(100)}"; sub_filter_once off; proxy_pass http://127.0.0.1:${origin.port}; }
      location /page { ssi on; proxy_pass http://127.0.0.1:${origin.port}; }
      location /all { ssi on; sub_filter aaaa "bcbcbcbc"; sub_filter_once off; brotli on; brotli_min_length 1; proxy_pass http://127.0.0.1:${origin.port}/; }`),
  });
  const sub = await httpGet(s, '/sub');
  t.equal(sub.body.length, 25 * MB);
  t.ok(sub.body.equals(Buffer.alloc(25 * MB, 'b')));
  const x = 'x'.repeat(1000);
  t.ok((await httpGet(s, `/page?x=${x}`)).text === `${x}\n`.repeat(20_000));
  const all = await httpGet(s, `/all/page?x=${x}`, { 'Accept-Encoding': 'br' });
  t.ok(brotliDecompressSync(all.body).equals(Buffer.from(`${x}\n`.repeat(20_000))));
  const mixed = await httpGet(s, '/all/plain', { 'Accept-Encoding': 'br' });
  t.ok(brotliDecompressSync(mixed.body).equals(Buffer.from('bc'.repeat(MB / 4))));
  const broken = await RawClient.connect(s);
  broken.send(requestText('GET', '/bomb/cut'));
  await broken.closed();
  await s.logged('inflate() returned -5 on response end');
  const clients = await Promise.all(
    [...Array(12).keys()].map(async (i) => {
      const client = await RawClient.connect(s);
      client.send(requestText('GET', ['/bomb', '/sub', `/page?x=${'x'.repeat(8000)}`][i % 3]!));
      await once(client.socket, 'data');
      client.pause();
      return client;
    }),
  );
  t.equal((await httpGet(s, '/bomb')).body.length, 40 * MB, 'others are served meanwhile');
  const memory = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${s.workers()[0]}/status`, 'latin1'))![1]) * 1024;
  t.ok(memory < 450 * MB, `${Math.round(memory / MB)} MB`);
  for (const client of clients) {
    client.destroy();
  }
});
