import { spawnSync } from 'node:child_process';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { noQuicClient, quicGet } from '../support/gtlsclient.js';
import { Http2Client, request } from '../support/http2-client.js';
import { startOrigin } from '../support/origin.js';
import { pixelMap as map, noSharp, pictureOf, sharp } from '../support/pictures.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

if (noSharp) {
  t.bailout(noSharp);
}

t.test('with other modules and protocols', async (t) => {
  const image = map(100, 60);
  const { rsa } = certs();
  const origin = await startOrigin(t, async ({ target }, reply) => {
    if (target !== '/slow') {
      return { body: image, headers: { ETag: '"x"' } };
    }
    const head = `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${image.length}\r\n\r\n`;
    // nginx takes a head without a body behind it for one without an image.
    await reply.write(Buffer.concat([Buffer.from(head), image.subarray(0, 100)]));
    for (let at = 100; at < image.length; at += 100) {
      await reply.write(image.subarray(at, at + 100));
    }
    return reply.end();
  });
  const locations = `
    location /b/ { proxy_pass http://127.0.0.1:${origin.port}/; image_filter resize 50 50; }
    location /u/ { proxy_pass http://127.0.0.1:${origin.port}/; image_filter resize 50 50; proxy_buffering off; }
    location /rate { alias %%DIR%%/html/a.png; image_filter resize 50 50; limit_rate 100k; expires 1h; add_header X-A b; }
    location /a.png { image_filter resize 50 50; }
    location /size { alias %%DIR%%/html/a.png; image_filter size; gzip on; gzip_types *; gzip_min_length 1; }
    location /page { ssi on; default_type text/html; }
    location /cached/ { proxy_cache c; proxy_cache_valid 1h; proxy_pass http://127.0.0.1:%%PORT_0%%/; add_header X-Cache $upstream_cache_status; }`;
  const server = `${locations} root %%DIR%%/html; server_name localhost;`;
  const s = await startServer(t, {
    conf: httpConf(`proxy_cache_path %%DIR%%/cache keys_zone=c:1m;
      server { listen 127.0.0.1:%%PORT_0%%; ${server} }
      server { listen 127.0.0.1:%%PORT_1%%; http2 on; ${server} }
      server { listen 127.0.0.1:%%PORT_2%% ssl; listen 127.0.0.1:%%PORT_2%% quic; http2 on;
        ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; ${server} }`),
    files: { 'html/a.png': image, 'html/page': '<!--# include virtual="/size" -->|<!--# include virtual="/a.png" -->' },
  });
  const small = (await httpGet(s, '/a.png')).body;
  t.equal(await pictureOf(small), 'png 50x30');
  for (const path of ['/b/', '/b/slow', '/u/', '/u/slow', '/rate', '/cached/a.png', '/cached/a.png']) {
    const got = await httpGet(s, path);
    t.strictSame([got.status, got.body.equals(small)], [200, true], path);
  }
  const cached = await httpGet(s, '/cached/a.png');
  t.match([cached.header('X-Cache'), cached.header('ETag')], ['HIT', /^W\//]);
  const rate = await httpGet(s, '/rate');
  t.match([rate.header('Cache-Control'), rate.header('X-A'), rate.header('ETag')], ['max-age=3600', 'b', /^W\//]);
  t.equal((await httpGet(s, '/b/')).header('ETag'), 'W/"x"');
  const size = '{ "img" : { "width": 100, "height": 60, "type": "png" } }\r\n';
  const zipped = await httpGet(s, '/size', { 'Accept-Encoding': 'gzip' });
  t.strictSame([zipped.header('Content-Encoding'), gunzipSync(zipped.body).toString()], ['gzip', size]);
  if (!againstNginx) {
    // nginx waits for ever there.
    t.equal((await httpGet(s, '/page')).text, `${size}|${small.toString('latin1')}`, 'subrequests');
  }
  const secure = await httpGet(s.port(2), '/a.png', {}, { tls: {} });
  t.ok(secure.body.equals(small), 'TLS');
  const h2 = await Http2Client.connect(t, s.port(1));
  for (const [i, path] of ['/a.png', '/b/', '/u/slow', '/rate'].entries()) {
    h2.request(i * 2 + 1, request('GET', path));
  }
  for (const id of [1, 3, 5, 7]) {
    const got = await h2.response(id);
    t.strictSame([got.status, got.body === small.toString('latin1'), got.fields.get('content-type')], ['200', true, 'image/png'], `${id}`);
  }
  if (!againstNginx && noQuicClient === false) {
    const { heads, bodies } = await quicGet(s.port(2), ['/size', '/a.png']);
    t.strictSame([bodies['size'], heads[1]!['content-length']], [size, `${small.length}`], 'HTTP/3');
  }
});

t.test('a client that leaves, and a reload', async (t) => {
  const large = await sharp!({
    create: { width: 1500, height: 1000, channels: 3, background: 'red', noise: { type: 'gaussian', mean: 128, sigma: 30 } },
  })
    .jpeg()
    .toBuffer();
  const s = await startServer(t, {
    conf: serverConf('image_filter_buffer 20m; location / { image_filter resize 600 600; image_filter rotate 90; }'),
    files: { 'html/large.jpg': large, 'html/small.png': map(100, 60) },
  });
  const leaving = await Promise.all(Array.from({ length: 8 }, () => RawClient.connect(s)));
  for (const client of leaving) {
    client.send(requestText('GET', '/large.jpg'));
  }
  const waiting = httpGet(s, '/small.png');
  for (const [i, client] of leaving.entries()) {
    client.destroy(i % 2 === 0);
  }
  t.equal(await pictureOf((await waiting).body), 'png 60x100', 'the others have their turn');
  const half = await RawClient.connect(s);
  half.send(requestText('GET', '/small.png', { Connection: 'close' })).end();
  t.match(await half.response(), { status: 200 }, 'one that sends no more still gets its image');
  const during = Array.from({ length: 3 }, () => httpGet(s, '/large.jpg'));
  await s.reload();
  for (const got of await Promise.all(during)) {
    t.equal(await pictureOf(got.body), 'jpeg 400x600');
  }
  await waitFor(() => s.workers().length === 1);
  const last = await RawClient.connect(s);
  last.send(requestText('GET', '/large.jpg'));
  await s.stop('TERM');
  await last.closed();
});

t.test('without sharp', { skip: againstNginx && 'nginx has libgd' }, async (t) => {
  const hide = `import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      if (name === 'sharp') throw Object.assign(new Error("Cannot find module 'sharp'"), { code: 'MODULE_NOT_FOUND' });
      return next(name, context);
    } });`;
  const conf = (what: string): string =>
    httpConf(`server { listen 127.0.0.1:%%PORT_0%%; location / {\nimage_filter ${what}; } }`, 'pid %%DIR%%/x.pid;');
  t.equal((await testConfig(t, conf('resize 1 1'))).code, 0);
  const { file, prefix } = await testConfig(t, conf('resize 1 1'), { 'hide.mjs': hide });
  const [command, ...first] = serverCommand(`${prefix.dir}/hide.mjs`);
  const run = (dir: string) =>
    spawnSync(command, [...first, '-t', '-p', `${dir}/`, '-c', 'sluice.conf', '-e', 'error.log'], { encoding: 'latin1' });
  const refused = run(prefix.dir);
  t.equal(refused.status, 1);
  t.match(refused.stderr, `[emerg] "image_filter resize" needs the package sharp, which is not installed in ${file}:`);
  const size = await testConfig(t, conf('size'));
  t.equal(run(size.prefix.dir).status, 0, 'which needs no sharp');
});

t.test('a page in place of what is no image has a length, whatever a script has set', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `location / { root %%DIR%%/html; js_header_filter main.filter; image_filter test; }`,
      'js_import main from %%DIR%%/main.js;',
    ),
    files: {
      'html/a.png': 'no image',
      'main.js': "export default { filter(r) { r.headersOut['Content-Length'] = '8'; r.headersOut.A = 'b'; } };\n",
    },
  });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/a.png', { Connection: 'keep-alive' }));
  const { status, headers, body } = await client.response();
  t.strictSame([status, new Map(headers).has('Content-Length')], [415, true]);
  t.equal(body.toString(), '<html>\r\n', 'as long as the script says of this page, too');
  client.destroy();
});
