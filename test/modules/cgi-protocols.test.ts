import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import t, { type Test } from 'tap';
import { certs, pem } from '../support/certs.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { serverConf, startServer } from '../support/server.js';

interface BackendOptions {
  /** The connection stays open after an answer. */
  readonly keep?: boolean;
  readonly tls?: TlsOptions;
}

/** A backend that collects what it gets and answers once `respond` returns a text. */
async function startBackend(
  t: Test,
  respond: (received: string, socket: Socket) => string | undefined,
  { keep = false, tls }: BackendOptions = {},
): Promise<number> {
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    let received = '';
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
      const answer = respond(received, socket);
      if (answer === undefined) {
        return;
      }
      received = '';
      if (keep) {
        socket.write(answer, 'latin1');
      } else {
        socket.end(answer, 'latin1');
      }
    });
  };
  const server: NetServer = tls === undefined ? createServer(serve) : createTlsServer(tls, serve).on('tlsClientError', () => {});
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
    server.close();
  });
  return (server.address() as { port: number }).port;
}

t.test('scgi_pass', async (t) => {
  let last = '';
  const port = await startBackend(t, (received) => {
    last = received;
    if (!received.includes(',body')) {
      return undefined;
    }
    return received.includes('/line\0')
      ? 'HTTP/1.1 404 Lost it\r\nX-A: 1\r\n\r\nline'
      : 'Status: 201 Made\r\nContent-Length: 4\r\n\r\nmade';
  });
  const s = await startServer(t, {
    conf: serverConf(`scgi_param SCGI 1; scgi_param URI $uri; location / { scgi_pass 127.0.0.1:${port}; }`),
  });
  const made = await http(s, requestText('POST', '/a', {}, 'body'));
  t.match([made.status, made.reason, made.text, made.header('status')], [201, 'Made', 'made', undefined]);
  const [, size, pairs] = /^(\d+):(CONTENT_LENGTH\x004\x00SCGI\x001\x00URI\x00\/a\x00.*\x00),body$/s.exec(last)!;
  t.equal(pairs!.length, Number(size));
  const lost = await http(s, requestText('POST', '/line', {}, 'body'));
  t.match([lost.status, lost.reason, lost.text, lost.header('x-a')], [404, 'Lost it', 'line', '1'], 'a status line may come first');
});

t.test('statuses that programs spell oddly', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    [' 200 fine', '200 fine'],
    ['  404', '404 Not Found'],
    [' 404 ', '404 Not Found'],
    [' 404 Gone Fishing', '404 Gone Fishing'],
    [` 200 ${'a'.repeat(300)}`, `200 ${'a'.repeat(300)}`],
    [' 200 a\r\nStatus: 500 b', '200 a'],
    // nginx sends `HTTP/1.1 2000 x` and `HTTP/1.1 404x`.
    [' 2000 x', '200 OK'],
    [' 404x', '404 Not Found'],
    [' 200abc', '200 OK'],
    ['', '502 Bad Gateway'],
    [' ', '502 Bad Gateway'],
    [' 2', '502 Bad Gateway'],
    [' 20', '502 Bad Gateway'],
    [' 20x', '502 Bad Gateway'],
    [' +200', '502 Bad Gateway'],
    [' -20', '502 Bad Gateway'],
  ];
  const port = await startBackend(t, (received) => {
    const at = /\/at(\d+)/.exec(received);
    return at === null ? undefined : `Status:${cases[Number(at[1])]![0]}\r\n\r\nbody`;
  });
  const s = await startServer(t, {
    conf: serverConf(`
      location / { scgi_param URI $uri; scgi_pass 127.0.0.1:${port}; }
      location /uwsgi/ { uwsgi_param URI $uri; uwsgi_pass uwsgi://127.0.0.1:${port}; }`),
  });
  for (const [at, [sent, seen]] of cases.entries()) {
    for (const way of ['/', '/uwsgi/']) {
      const { status, reason } = await httpGet(s, `${way}at${at}`);
      t.equal(`${status} ${reason}`, seen, `${way} ${sent.slice(0, 20)}`);
    }
  }
  await s.logged('upstream sent invalid status "-20" while reading response header from upstream');
});

t.test('uwsgi_pass', async (t) => {
  let last = '';
  const port = await startBackend(t, (received) => {
    last = received;
    return received.endsWith('tail') ? 'HTTP/1.1 200 OK\r\nStatus: shown\r\n\r\nfine' : undefined;
  });
  const s = await startServer(t, {
    conf: serverConf(
      `location / { uwsgi_pass_request_headers off; uwsgi_modifier1 5; uwsgi_modifier2 6; uwsgi_string tail; uwsgi_param A $uri; uwsgi_param HTTP_HOST "";
        uwsgi_pass UWSGI://127.0.0.1:${port}; }
      location /variable { uwsgi_string tail; uwsgi_pass uwsgi://127.0.0.1:$arg_port; }`,
    ),
  });
  const fine = await httpGet(s, '/x');
  t.match([fine.status, fine.text, fine.header('status')], [200, 'fine', 'shown']);
  t.equal(last, '\x05\x0b\0\x06\x01\0A\x02\0/xtail');
  t.equal((await httpGet(s, `/variable?port=${port}`)).text, 'fine');
});

t.test('uwsgi_pass over TLS', async (t) => {
  const { ca, rsa, client } = certs();
  const answer = (received: string, socket: Socket): string | undefined => {
    if (!received.endsWith('tail')) {
      return undefined;
    }
    const tls = socket as TLSSocket;
    return `HTTP/1.1 200 OK\r\nX-Peer: ${tls.encrypted ? tls.getPeerCertificate().subject?.CN : 'none'}\r\nX-Name: ${tls.servername}\r\n\r\nfine`;
  };
  const tls = { key: pem(rsa.key), cert: pem(rsa.cert), requestCert: true, rejectUnauthorized: false };
  const secure = await startBackend(t, answer, { tls });
  const plain = await startBackend(t, answer);
  const deaf = await startBackend(t, () => 'no TLS here');
  const s = await startServer(t, {
    conf: serverConf(`
      uwsgi_string tail; uwsgi_ssl_trusted_certificate ${ca.cert};
      location / { uwsgi_ssl_certificate ${client.cert}; uwsgi_ssl_certificate_key ${client.key}; uwsgi_pass SUWSGI://127.0.0.1:${secure}; }
      location /variable { uwsgi_pass $arg_to; }
      location /right { uwsgi_ssl_verify on; uwsgi_ssl_server_name on; uwsgi_ssl_name a.example.com; uwsgi_pass suwsgi://127.0.0.1:${secure}; }
      location /wrong { uwsgi_ssl_verify on; uwsgi_ssl_name example.org; uwsgi_pass suwsgi://127.0.0.1:${secure}; }
      location /plain { uwsgi_pass suwsgi://127.0.0.1:${deaf}; }`),
  });
  const fine = await httpGet(s, '/');
  t.match([fine.status, fine.text, fine.header('x-peer')], [200, 'fine', 'client']);
  t.equal((await httpGet(s, `/variable?to=suwsgi://127.0.0.1:${secure}`)).text, 'fine');
  t.equal((await httpGet(s, `/variable?to=127.0.0.1:${plain}`)).header('x-peer'), 'none', 'without a scheme there is no TLS');
  t.equal((await httpGet(s, '/right')).header('x-name'), 'a.example.com');
  t.equal((await httpGet(s, '/wrong')).status, 502);
  await s.logged(/upstream SSL certificate does not match "example\.org" while SSL handshaking to upstream, .*upstream: "suwsgi:\/\/127/);
  t.equal((await httpGet(s, '/plain')).status, 502);
});

t.test('memcached_pass', async (t) => {
  const entries: Readonly<Record<string, string>> = {
    'get /a%20b\r\n': 'VALUE /a%20b 0 5\r\nhello\r\nEND\r\n',
    'get /key\r\n': 'VALUE /other 0 5\r\nhello\r\nEND\r\n',
    'get /trailer\r\n': 'VALUE /trailer 0 5\r\nhello\r\nOOPS!\r\n',
    'get /zipped\r\n': 'VALUE /zipped 2 3\r\nzip\r\nEND\r\n',
  };
  const port = await startBackend(t, (received) => (received.endsWith('\n') ? (entries[received] ?? 'END\r\n') : undefined), {
    keep: true,
  });
  const s = await startServer(t, {
    conf: serverConf(`
      location / { set $memcached_key $uri; memcached_gzip_flag 2; default_type text/x; memcached_pass 127.0.0.1:${port}; }
      location /unset { memcached_pass 127.0.0.1:${port}; }`),
  });
  const found = await httpGet(s, '/a%20b');
  t.match([found.status, found.text, found.header('content-type'), found.header('content-length')], [200, 'hello', 'text/x', '5']);
  t.equal((await httpGet(s, '/zipped')).header('content-encoding'), 'gzip');
  t.equal((await httpGet(s, '/missing')).status, 404);
  await s.logged('key: "/missing" was not found by memcached');
  t.equal((await httpGet(s, '/key')).status, 502);
  await s.logged('memcached sent invalid key in response "VALUE /other 0 5" for key "/key"');
  t.equal((await httpGet(s, '/trailer')).text, 'hello');
  await s.logged('memcached sent invalid trailer');
  t.equal((await httpGet(s, '/unset')).status, 500);
  await s.logged('the "$memcached_key" variable is not set');
  t.equal((await http(s, requestText('POST', '/', {}, 'x'))).status, 405);
});

t.test('an address without a port', async (t) => {
  const told = async (location: string, http = ''): Promise<string> => (await testConfig(t, serverConf(location, http))).stderr;
  t.match(await told('location / { set $memcached_key a; set $to 127.0.0.1:1; memcached_pass $to; }'), 'no port in upstream "$to" in ');
  for (const to of ['localhost', '127.0.0.1', 'nowhere.invalid']) {
    t.match(await told(`location / { fastcgi_pass ${to}; }`), new RegExp(`\\[emerg\\] .*no port in upstream "${to}" in \\S+:\\d+\n`));
  }
  t.match(await told('location / { fastcgi_pass group; }', 'upstream group { server 127.0.0.1:1; }'), 'test is successful');
});
