import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import { certs } from '../support/certs.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

/** Requests of all clients together. A million takes some minutes. */
const REQUESTS = Number(process.env.SLUICE_TEST_REQUESTS ?? 8_000);
/** Requests that a connection has under way. */
const AT_ONCE = 20;
const HTTP1_CLIENTS = 6;
const PATHS = ['/', '/file', '/zipped', '/proxied', '/cached', '/limited', '/js', '/counted'];

/** Sends requests in groups over one connection, and begins another where the server has ended it. Resolves to how many had status 200. */
async function http1(port: number, tls: boolean, count: number): Promise<number> {
  let good = 0;
  for (let left = count; left > 0; ) {
    const group = Math.min(AT_ONCE, left);
    left -= group;
    const socket: Socket = tls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connectTcp({ port, host: '127.0.0.1' });
    good += await new Promise<number>((done, fail) => {
      let text = '';
      socket.setEncoding('latin1');
      socket.on('error', fail);
      socket.on('data', (piece) => (text += piece));
      socket.on('close', () => done(text.split('HTTP/1.1 200 OK\r\n').length - 1));
      const requests = Array.from({ length: group }, (_, i) => {
        const path = PATHS[(left + i) % PATHS.length];
        return `GET ${path}?${left + i} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n${i === group - 1 ? 'Connection: close\r\n' : ''}\r\n`;
      });
      socket.write(requests.join(''));
    });
  }
  return good;
}

async function http2(port: number, count: number): Promise<number> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  let good = 0;
  try {
    for (let left = count; left > 0; left -= AT_ONCE) {
      const group = Array.from({ length: Math.min(AT_ONCE, left) }, (_, i) => `${PATHS[(left + i) % PATHS.length]}?${i}`);
      const statuses = await Promise.all(
        group.map(
          (path) =>
            new Promise<number>((done, fail) => {
              const stream = session.request({ ':path': path });
              let status = 0;
              stream.on('response', (head) => (status = Number(head[':status'])));
              stream.on('error', fail);
              stream.on('end', () => done(status));
              stream.resume();
            }),
        ),
      );
      good += statuses.filter((status) => status === 200).length;
    }
  } finally {
    session.destroy();
  }
  return good;
}

const conf = (): string =>
  httpConf(
    `proxy_cache_path %%DIR%%/cache keys_zone=c:1m; limit_req_zone $remote_addr zone=l:1m rate=1000000r/s; limit_conn_zone $remote_addr zone=n:1m;
  js_import a.js; js_shared_dict_zone zone=d:1m; keepalive_requests 1000000; gzip on; gzip_types text/plain;
  upstream back { zone back 64k; server 127.0.0.1:%%PORT_0%%; keepalive 8; }
  server {
    listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% ssl; http2 on;
    ssl_certificate ${certs().ecdsa.cert}; ssl_certificate_key ${certs().ecdsa.key};
    location / { return 200 'here'; }
    location /file { gzip off; alias %%DIR%%/a.txt; }
    location /zipped { alias %%DIR%%/a.txt; }
    location /proxied { proxy_pass http://back/; proxy_http_version 1.1; proxy_set_header Connection ''; }
    location /cached { proxy_pass http://back/file; proxy_cache c; proxy_cache_valid 1s; }
    location /limited { limit_req zone=l burst=1000000 nodelay; limit_conn n 10000; alias %%DIR%%/a.txt; }
    location /js { js_content a.answer; }
    location /counted { js_content a.counts; }
    location = /pid { return 200 $pid; }
  }`,
    'worker_processes 2;',
  );

const script = `export default {
  answer(r) { r.return(200, JSON.stringify({ uri: r.uri, args: r.args })); },
  counts(r) { r.return(200, String(ngx.shared.d.incr ? ngx.shared.d.size() : 0)); },
};`;

t.test('requests of all kinds, while garbage is collected without a pause', { timeout: 7_200_000 }, async (t) => {
  const s = await startServer(t, {
    conf: conf(),
    files: { 'a.txt': 'a text that is worth packing '.repeat(200), 'a.js': script },
    preload: new URL('../support/collecting.mjs', import.meta.url).href,
  });
  t.equal((await httpGet(s, '/cached')).status, 200);
  const share = Math.floor(REQUESTS / (HTTP1_CLIENTS + 2));
  const good = await Promise.all([
    ...Array.from({ length: HTTP1_CLIENTS }, (_, i) => http1(s.port(i % 2), i % 2 === 1, share)),
    http2(s.port(1), share),
    http2(s.port(1), share),
  ]);
  t.strictSame(good, Array(HTTP1_CLIENTS + 2).fill(share));
  t.notMatch(s.log(), /exited on signal|exited with (fatal )?code [1-9]/, 'no process has ended');
});
