// HTTP/3 with what it meets: names and certificates, JavaScript, error pages.
import { writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { noQuicClient, quicGet } from '../support/gtlsclient.js';
import { startOrigin } from '../support/origin.js';
import { httpConf, type Server, startServer } from '../support/server.js';

const skip = againstNginx ? 'another server' : noQuicClient;
const c = certs();

const start = (t: Test, servers: string, files: Record<string, string> = {}): Promise<Server> =>
  startServer(t, { conf: httpConf(servers, 'worker_processes 2;'), files });

/** A server of this name at a port, which asks clients for certificates if `verify` says so. */
const named = (port: number, name: string, verify: string): string => `server {
  listen 127.0.0.1:%%PORT_${port}%% quic; listen 127.0.0.1:%%PORT_${port}%% ssl; server_name ${name};
  ssl_certificate ${c.rsa.cert}; ssl_certificate_key ${c.rsa.key}; ssl_client_certificate ${c.ca.cert}; ssl_verify_client ${verify};
  return 200 "$server_name $ssl_client_verify $ssl_server_name";
}`;

t.test('names of the hello and of requests, certificates of clients', { skip }, async (t) => {
  const server = await start(
    t,
    named(0, 'localhost', 'off') +
      named(0, 'other', 'off') +
      named(0, 'guarded', 'on') +
      named(1, 'localhost', 'on') +
      named(2, 'localhost', 'optional'),
  );
  /** The client names `localhost` in its hello. */
  const ask = async (port: number, host: string, ...options: string[]): Promise<string> => {
    const { heads, bodies, output } = await quicGet(server.port(port), [`${host}/x`], options);
    return heads[0] === undefined ? `none: ${output.slice(-300)}` : `${heads[0][':status']} ${bodies['x']}`;
  };
  const known = [`--cert=${c.client.cert}`, `--key=${c.client.key}`];
  t.equal(await ask(0, 'localhost'), '200 localhost NONE localhost');
  t.equal(await ask(0, 'other'), '200 other NONE localhost', 'another name of servers that ask for no certificate');
  t.match(await ask(0, 'guarded'), /^421 /, 'a certificate was not asked for');
  t.match(await ask(0, 'guarded', ...known), /^421 /);
  await server.logged('client attempted to request the server name different from the one that was negotiated');
  t.match(await ask(1, 'localhost'), /^400 [\s\S]*No required SSL certificate was sent/);
  t.equal(await ask(1, 'localhost', ...known), '200 localhost SUCCESS localhost');
  t.equal(await ask(2, 'localhost'), '200 localhost NONE localhost');
  t.equal(await ask(2, 'localhost', ...known), '200 localhost SUCCESS localhost');
});

const SCRIPT = `
export default {
  text: (r) => r.return(200, [r.method, r.httpVersion, r.uri, r.requestText ?? '', r.variables.http3].join(' ')),
  async later(r) { await 0; r.headersOut['X-From'] = 'script'; r.return(201, 'later'); },
  deny: (r) => r.return(403, 'denied'),
  async inner(r) { const { status, responseText } = await r.subrequest('/origin'); r.return(status, 'inner ' + responseText); },
  async outer(r) {
    const answer = await ngx.fetch('http://127.0.0.1:' + r.variables.backend);
    r.return(answer.status, 'outer ' + await answer.text());
  },
  pieces(r) {
    r.status = 200;
    r.sendHeader();
    for (let i = 0; i < 2000; i++) { r.send('piece ' + i + ';'); }
    r.finish();
  },
  fails() { throw new Error('no'); },
  body(r, data, flags) { r.sendBuffer(data.toUpperCase(), flags); },
  head(r) { delete r.headersOut['Content-Length']; r.headersOut['X-Head'] = 'filtered'; },
};`;

t.test('JavaScript', { skip }, async (t) => {
  const origin = await startOrigin(t, (request) => ({ body: `origin ${request.method}` }));
  const server = await start(
    t,
    `js_import s.js; server {
      listen 127.0.0.1:%%PORT_0%% quic; listen 127.0.0.1:%%PORT_0%% ssl; server_name localhost; root %%DIR%%/html;
      ssl_certificate ${c.rsa.cert}; ssl_certificate_key ${c.rsa.key}; set $backend ${origin.port}; client_max_body_size 1m;
      location /text { js_content s.text; }
      location /later { js_content s.later; }
      location /deny { js_access s.deny; try_files /none =404; }
      location /inner { js_content s.inner; }
      location /origin { internal; proxy_pass http://127.0.0.1:${origin.port}; }
      location /outer { js_content s.outer; }
      location /pieces { js_content s.pieces; }
      location /fails { js_content s.fails; error_page 500 /sorry; }
      location /sorry { return 200 sorry; }
      location /filtered { js_header_filter s.head; js_body_filter s.body; proxy_pass http://127.0.0.1:${origin.port}; }
    }`,
    { 's.js': SCRIPT },
  );
  const port = server.port(0);
  const file = `${server.dir}/sent`;
  writeFileSync(file, 'sent '.repeat(3000));
  const paths = ['/text', '/later', '/deny', '/inner', '/outer', '/pieces', '/fails', '/filtered'];
  // All on one connection, at once.
  const { heads, bodies } = await quicGet(port, paths);
  t.strictSame(
    heads.map((head) => head[':status']),
    ['200', '201', '403', '200', '200', '200', '500', '200'],
  );
  t.match(bodies, {
    text: 'GET 3.0 /text  h3',
    later: 'later',
    deny: 'denied',
    inner: 'inner origin GET',
    outer: 'outer origin GET',
    fails: 'sorry',
    filtered: 'ORIGIN GET',
  });
  t.equal(heads[1]!['x-from'], 'script');
  t.equal(heads[7]!['x-head'], 'filtered');
  t.equal(bodies['pieces'], Array.from({ length: 2000 }, (_, i) => `piece ${i};`).join(''));
  const posted = await quicGet(port, ['/text'], ['-m', 'POST', '-d', file]);
  t.equal(posted.bodies['text'], `POST 3.0 /text ${'sent '.repeat(3000)} h3`);
  await server.reload();
  t.equal((await quicGet(port, ['/later'])).bodies['later'], 'later', 'after a reload');
  await server.logged('js exception: Error: no');
});

t.test('error pages and bodies that nobody wants', { skip }, async (t) => {
  const server = await start(
    t,
    `server {
      listen 127.0.0.1:%%PORT_0%% quic; listen 127.0.0.1:%%PORT_0%% ssl; server_name localhost; root %%DIR%%/html;
      ssl_certificate ${c.rsa.cert}; ssl_certificate_key ${c.rsa.key}; client_max_body_size 1k;
      error_page 404 =200 /page; error_page 413 @large; error_page 403 https://elsewhere.example/;
      location @large { return 413 "too large: $request_method"; }
      location /forbidden { client_max_body_size 0; deny all; }
      location /refused { client_max_body_size 0; return 400; }
    }`,
    { 'html/page': 'a page' },
  );
  const port = server.port(0);
  const { heads, bodies } = await quicGet(port, ['/none', '/forbidden', '/page']);
  t.strictSame(
    heads.map((head) => [head[':status'], head['location']]),
    [
      ['200', undefined],
      ['302', 'https://elsewhere.example/'],
      ['200', undefined],
    ],
  );
  t.equal(bodies['none'], 'a page');
  const file = `${server.dir}/sent`;
  writeFileSync(file, 'x'.repeat(1_000_000));
  for (const [path, status] of [
    ['/page', '413'],
    ['/refused', '400'],
    ['/forbidden', '302'],
  ] as const) {
    const refused = await quicGet(port, [path], ['-m', 'POST', '-d', file]);
    t.equal(refused.heads[0]?.[':status'], status, `${path} with a megabyte that nobody reads`);
  }
  t.equal((await quicGet(port, ['/page'])).bodies['page'], 'a page', 'the server goes on');
});
