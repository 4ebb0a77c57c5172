import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { noBrowser, startBrowser } from '../support/browser.js';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { noQuicClient, quicGet } from '../support/gtlsclient.js';
import { startOrigin } from '../support/origin.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const { rsa } = certs();
const TLS = `ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};`;
const skip = againstNginx ? 'another server' : noQuicClient;

t.test('what directives take', async (t) => {
  const message = (line: string): Promise<string | undefined> => configMessage(t, httpConf(`server { ${line} }`));
  t.equal(await message('http3 on; http3_hq off; http3_max_concurrent_streams 7; http3_stream_buffer_size 1m;'), undefined);
  t.match(await message('http3 yes;'), 'invalid value "yes" in "http3" directive, it must be "on" or "off"');
  t.match(await message('http3_max_concurrent_streams x;'), 'invalid number');
  t.match(await message('http3_stream_buffer_size x;'), '"http3_stream_buffer_size" directive invalid value');
  t.match(await message('http3 on; http3 off;'), '"http3" directive is duplicate');
});

t.test('other protocols are not HTTP/3', async (t) => {
  const server = await startServer(t, { conf: httpConf('server { listen 127.0.0.1:%%PORT_0%%; return 200 "<$http3>"; }') });
  t.equal((await httpGet(server.port(0), '/')).body.toString(), '<>');
});

/** A server that has HTTP/3, two workers. */
function start(t: Test, server: string, http = ''): Promise<Server> {
  const conf = httpConf(
    `${http} log_format h3 '$request_uri $http3 $server_protocol $status $body_bytes_sent $connection_requests';
    access_log %%DIR%%/h3.log h3;
    server { listen 127.0.0.1:%%PORT_1%%; location /api { api; } }
    server {
      listen 127.0.0.1:%%PORT_0%% ssl; listen 127.0.0.1:%%PORT_0%% quic; http2 on; ${TLS}
      server_name localhost; root %%DIR%%/html; ${server}
    }`,
    'worker_processes 2;',
  );
  return startServer(t, { conf, files: { 'html/page': 'a page', 'html/large': 'x'.repeat(3_000_000), 'html/empty': '' } });
}

/** Waits for a line of the log, which is written after the answer. */
const logged = (server: Server, line: RegExp): Promise<unknown> =>
  waitFor(() => line.test(server.read('h3.log')), { what: () => `${line} in ${server.read('h3.log')}` });

t.test('a client of QUIC', { skip }, async (t) => {
  const origin = await startOrigin(t, (request) => ({ body: `${request.method} ${request.body.length}` }));
  const server = await start(
    t,
    `add_header X-Proto "$http3 $server_protocol $ssl_protocol $ssl_alpn_protocol $scheme $server_port";
    client_max_body_size 10m;
    location = /proxied { proxy_pass http://127.0.0.1:${origin.port}; }
    location = /unbuffered { proxy_pass http://127.0.0.1:${origin.port}; proxy_request_buffering off; proxy_http_version 1.1; }
    location = /trailers { add_trailer X-Last "behind"; root %%DIR%%/html; try_files /page =404; }
    location = /slow { limit_rate 1m; try_files /large =404; }
    location = /moved { return 301 /page; }`,
  );
  const port = server.port(0);

  await t.test('files', async (t) => {
    const { heads, bodies } = await quicGet(port, ['/page', '/large', '/empty', '/none']);
    t.strictSame(
      heads.map((head) => [head[':status'], head['content-length']]),
      [
        ['200', '6'],
        ['200', '3000000'],
        ['200', '0'],
        ['404', heads[3]!['content-length']],
      ],
    );
    t.equal(bodies['page'], 'a page');
    t.ok(bodies['large'] === 'x'.repeat(3_000_000));
    t.match(heads[0]!['x-proto'], `h3 HTTP/3.0 TLSv1.3 h3 https ${port}`);
    await logged(server, /^\/page h3 HTTP\/3\.0 200 6 1$/m);
    await logged(server, /^\/large h3 HTTP\/3\.0 200 3000000 2$/m);
  });

  await t.test('request bodies', async (t) => {
    const file = `${server.dir}/body`;
    writeFileSync(file, randomBytes(2_000_000));
    for (const path of ['/proxied', '/unbuffered']) {
      const { heads, bodies } = await quicGet(port, [path], ['-m', 'POST', '-d', file]);
      t.equal(heads[0]![':status'], '200');
      t.equal(bodies[path.slice(1)], 'POST 2000000');
    }
    const refused = await quicGet(port, ['/page'], ['-m', 'POST', '-d', file]);
    t.equal(refused.heads[0]![':status'], '405');
  });

  await t.test('trailers, redirects, a rate', async (t) => {
    const { heads } = await quicGet(port, ['/trailers']);
    t.equal(heads[0]!['x-last'], 'behind');
    t.equal((await quicGet(port, ['/moved'])).heads[0]!['location'], `https://localhost:${port}/page`);
    const slow = await quicGet(port, ['/slow']);
    t.equal(slow.bodies['slow']!.length, 3_000_000);
  });

  await t.test('handshakes are counted', async (t) => {
    const { handshakes } = JSON.parse((await httpGet(server.port(1), '/api/9/ssl')).text) as { handshakes: number };
    t.ok(handshakes >= 6, `${handshakes}`);
  });

  await t.test('a reload', async (t) => {
    await server.reload();
    t.equal((await quicGet(port, ['/page'])).bodies['page'], 'a page');
  });
});

t.test('http3 off', { skip }, async (t) => {
  const server = await start(t, 'http3 off;');
  const { heads, output } = await quicGet(server.port(0), ['/page']);
  t.equal(heads.length, 0);
  t.match(output, /no application protocol|CRYPTO_ERROR|0x178/i);
});

t.test('https with http3=on', { skip: againstNginx && 'ours' }, async (t) => {
  const server = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%% ssl; server_name localhost; ${TLS} https internal redirect=off http3=on; return 200 "<$http3>"; }
      server { listen 127.0.0.1:%%PORT_1%% ssl; server_name localhost; ${TLS} https internal redirect=off; return 200 plain; }`,
    ),
  });
  const tls = { rejectUnauthorized: false, servername: 'localhost' };
  const alternative = async (n: number): Promise<string | undefined> => (await httpGet(server.port(n), '/', {}, { tls })).header('Alt-Svc');
  t.equal(await alternative(1), undefined, 'nothing is said where there is nothing');
  if (noQuicClient) {
    return;
  }
  t.equal(await alternative(0), `h3=":${server.port(0)}"; ma=86400`);
  t.equal((await quicGet(server.port(0), ['/x'])).bodies['x'], '<h3>');
});

const { publicKey } = new X509Certificate(readFileSync(rsa.cert));
const KNOWN = createHash('sha256')
  .update(publicKey.export({ type: 'spki', format: 'der' }))
  .digest('base64');

/** What has Chromium believe the certificate. It takes no unknown one over QUIC but of a host that it is forced to ask so somewhere. */
const trusting = (forced: number): readonly string[] => [
  '--enable-quic',
  `--origin-to-force-quic-on=127.0.0.1:${forced}`,
  '--ignore-certificate-errors',
  `--ignore-certificate-errors-spki-list=${KNOWN}`,
];

const PROTOCOL = 'performance.getEntriesByType("navigation")[0].nextHopProtocol';

t.test('the dashboard in a browser', { skip: skip || noBrowser }, async (t) => {
  const server = await start(t, 'location /dashboard/ { dashboard; }');
  const port = server.port(0);
  const browser = await startBrowser(t, trusting(port));
  const page = await browser.newPage();
  const response = await page.goto(`https://127.0.0.1:${port}/dashboard/`);
  t.equal(response?.status(), 200);
  t.equal(await page.evaluate(PROTOCOL), 'h3');
  await page.waitForSelector('main');
  await logged(server, /^\/dashboard\/ h3 HTTP\/3\.0 200 /m);
});

t.test('a browser comes by TCP, hears of HTTP/3, and changes to it', { skip: skip || noBrowser }, async (t) => {
  const server = await start(t, `add_header Alt-Svc 'h3=":%%PORT_0%%"; ma=86400' always; location /dashboard/ { dashboard; }`);
  const port = server.port(0);
  // Another port of the host is forced, where nobody is.
  const browser = await startBrowser(t, trusting(server.port(1)));
  const page = await browser.newPage();
  const visit = async (): Promise<unknown> => {
    const response = await page.goto(`https://127.0.0.1:${port}/dashboard/`);
    t.equal(response?.status(), 200);
    return page.evaluate(PROTOCOL);
  };
  t.equal(await visit(), 'h2', 'the first time');
  let protocol: unknown;
  // It makes a connection beside the one that it has, and uses it once that is there.
  for (let tries = 0; tries < 50 && protocol !== 'h3'; tries++) {
    protocol = await visit();
  }
  t.equal(protocol, 'h3');
  await page.waitForSelector('main');
  await logged(server, /^\/dashboard\/ {2}HTTP\/2\.0 200 [\s\S]*^\/dashboard\/ h3 HTTP\/3\.0 200 /m);
});
