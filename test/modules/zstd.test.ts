import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { promisify } from 'node:util';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import t from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { makePrefix } from '../support/prefix.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

const line = 'a line of text that repeats itself\n';
const large = line.repeat(20_000);
const skip = againstNginx ? 'the module is not one of nginx' : typeof zstdCompressSync !== 'function' && 'this Node has no zstd';

t.test('zstd', { skip }, async (t) => {
  let goOn: (() => void) | undefined;
  const origin = await startOrigin(t, async (request, reply) => {
    const html = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n';
    if (request.target === '/encoded') {
      return reply.end(`${html}Content-Encoding: br\r\nContent-Length: 30\r\n\r\n${'x'.repeat(30)}`);
    }
    if (request.target === '/cached') {
      return reply.end(`${html}Cache-Control: max-age=60\r\nETag: "one"\r\nContent-Length: ${large.length}\r\n\r\n${large}`);
    }
    await reply.write(`${html}Connection: close\r\n\r\n`);
    await reply.write(line);
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await reply.write(line.repeat(3));
    return reply.end();
  });
  const s = await startServer(t, {
    conf: serverConf(
      `
      http2 on; zstd on; zstd_comp_level 4; zstd_buffers 16 8k; brotli on; gzip on; gzip_vary on; gzip_proxied off;
      access_log %%DIR%%/ratio.log ratio;
      location / { }
      location /off.html { zstd off; }
      location /min.html { zstd_min_length 1000; brotli off; gzip off; }
      location /text { zstd_types text/plain; types { text/plain txt; } }
      location /sub.html { zstd_comp_level 19; sub_filter "line of" "row of"; sub_filter_once off; alias %%DIR%%/html/large.html; }
      location /page.html { ssi on; alias %%DIR%%/html/joined.html; }
      location /gone { return 404; }
      location = /cached { proxy_cache c; proxy_set_header Accept-Encoding ""; proxy_pass http://127.0.0.1:${origin.port}; }
      location = /encoded { proxy_pass http://127.0.0.1:${origin.port}; }
      location /pieces { proxy_buffering off; proxy_pass http://127.0.0.1:${origin.port}; }`,
      'log_format ratio "$uri $zstd_ratio"; proxy_cache_path %%DIR%%/cache keys_zone=c:1m;',
    ),
    files: {
      'html/large.html': large,
      'html/off.html': large,
      'html/min.html': line,
      'html/text.txt': large,
      'html/plain.txt': large,
      'html/joined.html': `${line}<!--# include virtual="/large.html" -->`,
    },
  });
  const all = { 'Accept-Encoding': 'gzip, deflate, br, zstd' };
  for (const [path, expected] of [
    ['/large.html', large],
    ['/large.html', large],
    ['/text.txt', large],
    ['/sub.html', large.replaceAll('line of', 'row of')],
    ['/page.html', line + large],
    ['/cached', large],
    ['/cached', large],
  ] as const) {
    const response = await httpGet(s, path, all);
    t.equal(response.header('Content-Encoding'), 'zstd', path);
    t.strictSame([response.header('Content-Length'), response.header('Accept-Ranges')], [undefined, undefined]);
    t.equal(response.header('Vary'), 'Accept-Encoding');
    t.ok(zstdDecompressSync(response.body).equals(Buffer.from(expected)), `${path} is what it was`);
  }
  t.match((await httpGet(s, '/large.html', all)).header('ETag'), /^W\//);
  t.equal((await httpGet(s, '/cached', all)).header('ETag'), 'W/"one"');
  const coding = async (path: string, accept: string, more: Record<string, string> = {}) =>
    (await httpGet(s, path, { 'Accept-Encoding': accept, ...more })).header('Content-Encoding');
  for (const [accept, expected] of [
    ['zstd', 'zstd'],
    ['ZSTD', 'zstd'],
    ['gzip;q=1.0, zstd;q=0.1', 'zstd'],
    ['br, zstd', 'zstd'],
    ['zstd;q=0, gzip', 'gzip'],
    ['zstd;q=0.000, br', 'br'],
    ['zstdx, gzip', 'gzip'],
    ['x-zstd, gzip', 'gzip'],
    ['gzip', 'gzip'],
    ['identity', undefined],
  ] as const) {
    t.equal(await coding('/large.html', accept), expected, accept);
  }
  t.equal(await coding('/large.html', 'zstd, gzip', { Via: '1.1 proxy' }), 'zstd', 'gzip_proxied is about gzip');
  t.equal(await coding('/off.html', 'gzip, br, zstd'), 'br');
  t.equal(await coding('/min.html', 'gzip, br, zstd'), undefined);
  t.equal(await coding('/plain.txt', 'gzip, br, zstd'), undefined);
  t.equal(await coding('/encoded', 'zstd'), 'br', 'it has a coding already');
  t.equal(await coding('/large.html', 'zstd', { Range: 'bytes=0-99' }), 'zstd', 'no part of a coded response');
  const plain = await httpGet(s, '/large.html');
  t.strictSame([plain.header('Vary'), plain.header('Content-Length')], ['Accept-Encoding', String(large.length)]);
  const missing = await httpGet(s, '/gone', all);
  t.strictSame([missing.status, missing.header('Content-Encoding')], [404, 'zstd']);

  const head = await http(s, requestText('HEAD', '/large.html', { ...all, Connection: 'close' }));
  t.strictSame([head.header('Content-Encoding'), head.body.length], ['zstd', 0], 'HEAD tells what GET would bring, as with gzip');

  // What the backend has sent so far arrives while it waits.
  const pieces = await RawClient.connect(s);
  pieces.send(requestText('GET', '/pieces', all));
  await pieces.until('\x28\xb5\x2f\xfd');
  await pieces.until('repeats itself');
  goOn!();
  await pieces.until('\r\n0\r\n\r\n');
  pieces.destroy();

  const h2 = connect(`http://127.0.0.1:${s.port(0)}`);
  const stream = h2.request({ ':path': '/sub.html', 'accept-encoding': 'zstd' });
  const coded: Buffer[] = [];
  stream.on('data', (piece: Buffer) => coded.push(piece));
  await once(stream, 'end');
  h2.close();
  t.ok(zstdDecompressSync(Buffer.concat(coded)).equals(Buffer.from(large.replaceAll('line of', 'row of'))), 'over HTTP/2');

  // Clients that leave in the middle do others no harm.
  for (let i = 0; i < 5; i++) {
    const leaves = await RawClient.connect(s);
    leaves.send(requestText('GET', '/sub.html', all));
    await leaves.until('Content-Encoding: zstd');
    leaves.destroy(true);
  }
  const again = await httpGet(s, '/sub.html', all);
  t.ok(zstdDecompressSync(again.body).equals(Buffer.from(large.replaceAll('line of', 'row of'))));
  await s.stop();
  t.match(s.read('ratio.log'), /^\/large.html \d+\.\d{3}$/m);
});

t.test('a client that does not read', { skip }, async (t) => {
  const noise = Buffer.from(Array.from({ length: 300_000 }, () => Math.random().toString(36)).join(' '));
  const s = await startServer(t, { conf: serverConf('zstd on; zstd_types *;'), files: { 'html/noise': noise } });
  const clients = await Promise.all(
    [...Array(8).keys()].map(async () => {
      const client = await RawClient.connect(s);
      client.pause();
      client.send(requestText('GET', '/noise', { 'Accept-Encoding': 'zstd', Connection: 'close' }));
      return client;
    }),
  );
  t.equal((await httpGet(s, '/noise', { Range: 'bytes=0-9' })).body.length, 10, 'others are served');
  for (const client of clients) {
    client.destroy();
  }
});

t.test('a dictionary', { skip }, async (t) => {
  const bytes = Buffer.from(line);
  const s = await startServer(t, {
    conf: serverConf('zstd on; zstd_min_length 1;', 'zstd_dict_file lines.dict;'),
    files: { 'html/a.html': line, 'lines.dict': bytes },
  });
  const { body } = await httpGet(s, '/a.html', { 'Accept-Encoding': 'zstd' });
  t.throws(() => zstdDecompressSync(body));
  t.equal(zstdDecompressSync(body, { dictionary: bytes }).toString(), line);
});

t.test('zstd_static', { skip: againstNginx }, async (t) => {
  const packed = Buffer.from('this stands for what zstd makes');
  const s = await startServer(t, {
    conf: serverConf(`
      gzip_vary on; gzip_proxied off;
      location / { zstd_static on; brotli_static on; gzip_static on; }
      location /always/ { zstd_static always; }`),
    files: {
      'html/a.html': line,
      'html/a.html.zst': packed,
      'html/a.html.br': 'br',
      'html/a.html.gz': 'gz',
      'html/always/b.html.zst': packed,
      'html/c.html': line,
      'html/c.html.zst/x': 'a folder',
    },
  });
  const get = async (path: string, headers: Record<string, string>) => {
    const response = await httpGet(s, path, headers);
    return [response.status, response.header('Content-Encoding'), response.header('Vary'), response.body.length];
  };
  const all = { 'Accept-Encoding': 'zstd, br, gzip' };
  t.same(await get('/a.html', all), [200, 'zstd', 'Accept-Encoding', packed.length]);
  t.same(await get('/a.html', { ...all, Via: '1.1 a' }), [200, 'zstd', 'Accept-Encoding', packed.length]);
  t.same(await get('/a.html', { 'Accept-Encoding': 'zstd;q=0, br' }), [200, 'br', 'Accept-Encoding', 2]);
  t.same(await get('/a.html', {}), [200, undefined, 'Accept-Encoding', line.length]);
  t.same(await get('/always/b.html', {}), [200, 'zstd', undefined, packed.length]);
  t.same(await get('/c.html', all), [200, undefined, 'Accept-Encoding', line.length]);
  t.same(await get('/a.html', { ...all, Range: 'bytes=0-3' }), [206, 'zstd', 'Accept-Encoding', 4], 'a file has parts');
});

t.test('configuration', { skip }, async (t) => {
  for (const [text, expected] of [
    ['zstd_comp_level 23;', /zstd compress level must between -131072 and 22 excluding 0/],
    ['zstd_comp_level 0;', /zstd compress level must between/],
    ['zstd_comp_level x;', /"zstd_comp_level" directive invalid number/],
    ['zstd_comp_level 1; zstd_comp_level 2;', /is duplicate/],
    ['zstd_static maybe;', /invalid value "maybe"/],
    ['location / { zstd_dict_file a; }', /"zstd_dict_file" directive is not allowed here/],
  ] as const) {
    t.match(await configMessage(t, serverConf(text)), expected, text);
  }
  t.match(await configMessage(t, serverConf('', 'zstd_dict_file none.dict;')), /open\(\) ".*none.dict" failed \(2: No such file/);
  t.equal(await configMessage(t, serverConf('', 'map $remote_addr $zstd_ratio { default x; } log_format l $zstd_ratio;')), undefined);
  t.equal(await configMessage(t, serverConf('zstd_comp_level -5; location / { if ($arg_a) { zstd on; } }')), undefined);
});

t.test('a Node without zstd', { skip: againstNginx }, async (t) => {
  const without = 'data:text/javascript,import z from "node:zlib";for(const n in z)if(/Zstd/.test(n))delete z[n]';
  const { dir } = await makePrefix(t, {
    'sluice.conf': 'events {} http { zstd_dict_file none; zstd on; zstd_types *; zstd_static on; server { location / { zstd off; } } }',
  });
  const [command, ...first] = serverCommand(encodeURI(without));
  const { stderr } = await promisify(execFile)(command, [...first, '-p', dir, '-c', 'sluice.conf', '-t']);
  t.match(stderr, '[warn] "zstd" is not supported on this platform, ignored in ');
  t.match(stderr, '[warn] "zstd_dict_file" is not supported on this platform, ignored in ');
  t.notMatch(stderr, '"zstd_static"');
});
