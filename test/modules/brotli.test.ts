import { brotliDecompressSync } from 'node:zlib';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

const line = 'a line of text that repeats itself\n';
const large = line.repeat(20_000);
const skip = againstNginx ? 'the module is not one of nginx' : false;

t.test('$brotli_ratio may be made by others', async (t) => {
  const conf = 'map $remote_addr $brotli_ratio { default x; } log_format l $brotli_ratio;';
  t.equal(await configMessage(t, serverConf('', conf)), undefined);
});

t.test('brotli', { skip }, async (t) => {
  const origin = await startOrigin(t, async (_request, reply) => {
    await reply.write('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n');
    for (let i = 0; i < 5; i++) {
      await reply.write(line);
      await reply.sleep(5);
    }
    return reply.end();
  });
  const s = await startServer(t, {
    conf: serverConf(
      `
      brotli on; brotli_comp_level 4; brotli_window 64k; brotli_buffers 16 8k; gzip on; gzip_vary on;
      access_log %%DIR%%/ratio.log ratio;
      location / { }
      location /off.html { brotli off; }
      location /min.html { brotli_min_length 1000; gzip off; }
      location /text { brotli_types text/plain; types { text/plain txt; } }
      location /pieces { proxy_buffering off; proxy_pass http://127.0.0.1:${origin.port}; }`,
      'log_format ratio "$uri $brotli_ratio";',
    ),
    files: {
      'html/large.html': large,
      'html/off.html': large,
      'html/min.html': line,
      'html/text.txt': large,
      'html/plain.txt': large,
    },
  });
  const both = { 'Accept-Encoding': 'gzip, br' };
  for (const [path, expected] of [
    ['/large.html', large],
    ['/text.txt', large],
    ['/pieces', line.repeat(5)],
  ] as const) {
    const response = await httpGet(s, path, both);
    t.equal(response.header('Content-Encoding'), 'br', path);
    t.strictSame([response.header('Content-Length'), response.header('Vary')], [undefined, 'Accept-Encoding']);
    t.ok(brotliDecompressSync(response.body).equals(Buffer.from(expected)), `${path} is what it was`);
  }
  t.match((await httpGet(s, '/large.html', both)).header('ETag'), /^W\//);
  const coding = async (path: string, accept: string) => (await httpGet(s, path, { 'Accept-Encoding': accept })).header('Content-Encoding');
  t.equal(await coding('/large.html', 'gzip'), 'gzip');
  t.equal(await coding('/large.html', 'gzip, br;q=0'), 'gzip');
  t.equal(await coding('/large.html', 'br'), 'br');
  t.equal(await coding('/off.html', 'gzip, br'), 'gzip');
  t.equal(await coding('/min.html', 'gzip, br'), undefined);
  t.equal(await coding('/plain.txt', 'gzip, br'), undefined);
  await s.stop();
  t.match(s.read('ratio.log'), /^\/large.html \d+\.\d\d$/m);
});

t.test('configuration', { skip }, async (t) => {
  t.match(await configMessage(t, serverConf('brotli_window 3k;')), /"brotli_window" directive must be 1k, 2k/);
  t.match(await configMessage(t, serverConf('brotli_comp_level 12;')), /value must be/);
});
