import { gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { startOrigin } from '../support/origin.js';
import { httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

const line = 'a line of text that repeats itself\n';
const large = line.repeat(20_000);
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
