import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { listenAsBackend } from '../support/backend-server.js';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { startFastcgi } from '../support/fastcgi-responder.js';
import { block, END_HEADERS, END_STREAM, frame, Http2Client, request, T } from '../support/http2-client.js';
import { type Http2Request, startHttp2Origin } from '../support/http2-origin.js';
import { exchange, http } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { startTcpBackend } from '../support/tcp-backend.js';

/** The interim heads of each path, in the order in which a backend sends them: the status and a line of headers. */
const INTERIM: Readonly<Record<string, readonly (readonly [status: number, field?: string])[]>> = {
  none: [],
  continue: [[100]],
  processing: [[102, 'X-Left: 3s']],
  hints: [[103, 'Link: </a.css>']],
  last: [[199, 'X-A: b']],
  several: [[100], [102, 'X-N: 1'], [103, 'Link: 1'], [103, 'Link: 2'], [102, 'X-N: 2'], [150], [100]],
  hop: [
    [102, 'Keep-Alive: x'],
    [103, 'Upgrade: y'],
    [102, 'Content-Length: 5'],
    [103, 'Transfer-Encoding: chunked'],
    [199, 'X-Hidden: 1'],
  ],
  endless: Array.from({ length: 1100 }, () => [102] as const),
  long: Array.from({ length: 10 }, (_, i) => [102, `X-Long: ${i}${'x'.repeat(500)}`] as const),
};

/** What clients get of them: those that HTTP lets a proxy keep for itself are not passed on, nor are the fields of one connection. */
function passed(path: string): string[] {
  const fields = /^(keep-alive|upgrade|content-length|transfer-encoding|x-hidden):/i;
  return INTERIM[path]!.filter(([status]) => status !== 100)
    .map(([status, field = '']) => `${status} ${fields.test(field) ? '' : field.toLowerCase()}`)
    .filter((head) => head !== '103 ');
}

async function startBackends(t: Test): Promise<{ http1: number; cgi: number; fastcgi: number; http2: number }> {
  const sockets = new Set<Socket>();
  const plain = (answer: (path: string) => string) =>
    createServer((socket) => {
      sockets.add(socket);
      let received = '';
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        received += bytes.toString('latin1');
        const path = /\/(\w+)[^\w]/.exec(received)?.[1];
        if (path === undefined || !/\r\n\r\n|,$/.test(received)) {
          return;
        }
        received = '';
        // Heads that come byte by byte, or together, are one stream.
        socket.write(answer(path), 'latin1');
        socket.end();
      });
    });
  const interim = (path: string, line: (status: number) => string): string =>
    (INTERIM[path] ?? []).map(([status, field]) => `${line(status)}\r\n${field === undefined ? '' : `${field}\r\n`}\r\n`).join('');
  const ok = 'Content-Length: 4\r\nX-End: yes\r\n\r\ndone';
  const http1 = plain((path) => {
    if (path === 'switched') {
      return 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nraw';
    }
    return path === 'alone'
      ? 'HTTP/1.1 100 Continue\r\n\r\n'
      : `${interim(path, (status) => `HTTP/1.1 ${status} I`)}HTTP/1.1 200 OK\r\n${ok}`;
  });
  const cgi = plain((path) =>
    path === 'switched' ? 'Status: 101 S\r\n\r\nraw' : `${interim(path, (status) => `Status: ${status} I`)}Status: 200 OK\r\n${ok}`,
  );
  const responder = await startFastcgi(t, (asked) => {
    const path = asked.param('URI')!.slice(1);
    return path === 'switched'
      ? 'Status: 101 S\r\n\r\nraw'
      : { stdout: [`${interim(path, (status) => `Status: ${status} I`)}Status: 200`, ` OK\r\n${ok}`] };
  });
  const shared = await startHttp2Origin(t, ({ connection, id, fields }: Http2Request) => {
    const path = /\w+/.exec(fields.get(':path')!)![0];
    const head = (status: number, flags: number, field?: string): Buffer => {
      const [name, value] = field?.split(': ') ?? [];
      return frame(
        T.HEADERS,
        END_HEADERS | flags,
        id,
        block([[':status', String(status)], ...(name === undefined ? [] : [[name.toLowerCase(), value!] as const])]),
      );
    };
    if (path === 'switched') {
      connection.send(head(101, END_STREAM));
    } else if (path === 'alone') {
      connection.send(head(100, END_STREAM));
    } else {
      connection.send(
        ...INTERIM[path]!.map(([status, field]) => head(status, 0, field)),
        head(200, 0, 'X-End: yes'),
        frame(T.DATA, END_STREAM, id, 'done'),
      );
    }
  });
  const listen = async (server: ReturnType<typeof plain>): Promise<number> => (await listenAsBackend(t, server, sockets, {})).port;
  return { http1: await listen(http1), cgi: await listen(cgi), fastcgi: responder.port, http2: shared.port };
}

/** Interim heads and the final response of a path, as one client sees them. */
async function overHttp1(s: Server, path: string, version = '1.1', headers = ''): Promise<[string[], number, string]> {
  const response = await http(s, `GET ${path} HTTP/${version}\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n`);
  const interim = response.interim.map(
    ({ status, headers: [field] }) => `${status} ${field === undefined ? '' : `${field[0].toLowerCase()}: ${field[1]}`}`,
  );
  return [interim, response.status, response.status === 200 ? `${response.header('x-end')} ${response.text}` : ''];
}

async function overHttp2(t: Test, s: Server, path: string): Promise<[string[], number, string]> {
  const client = await Http2Client.connect(t, s.port(1));
  const { status, fields, body } = await client.request(1, request('GET', path)).response(1);
  const heads = client.frames.flatMap((f) => (f.fields !== undefined && f.fields[0]![1].startsWith('1') ? [f.fields] : []));
  client.socket.destroy();
  const interim = heads.map(([first, field]) => `${first![1]} ${field === undefined ? '' : `${field[0]}: ${field[1]}`}`);
  return [interim, Number(status), status === '200' ? `${fields.get('x-end')} ${body}` : ''];
}

t.test('nginx_compatibility on: a 101 that nobody asked for is passed on', async (t) => {
  const { http1 } = await startBackends(t);
  const s = await startServer(t, {
    conf: `${againstNginx ? '' : 'nginx_compatibility on;'}
      ${httpConf(`server { listen 127.0.0.1:%%PORT_0%%; location / { proxy_pass http://127.0.0.1:${http1}/; proxy_http_version 1.1; } }`)}`,
  });
  t.match(await exchange(s, 'GET /switched HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 101 /);
});

t.test('interim responses of all kinds of backends', { skip: againstNginx && 'nginx takes most of them for the response' }, async (t) => {
  const ports = await startBackends(t);
  const s = await startServer(t, {
    conf: httpConf(`
      early_hints $arg_hints; log_format l '$request_method $request_uri $bytes_sent $body_bytes_sent';
      
      server {
        access_log %%DIR%%/access.log l; listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% http2;
        proxy_http_version 1.1; error_page 502 = /failed;
        location /http1/ { proxy_pass http://127.0.0.1:${ports.http1}/; proxy_hide_header X-Hidden; }
        location /http2/ { proxy_pass http://127.0.0.1:${ports.http2}/; proxy_http_version 2; proxy_hide_header X-Hidden; }
        location ~ ^/fastcgi(/.+) { fastcgi_pass 127.0.0.1:${ports.fastcgi}; fastcgi_param URI $1; fastcgi_hide_header X-Hidden; }
        location ~ ^/scgi(/.+) { scgi_pass 127.0.0.1:${ports.cgi}; scgi_param URI $1; scgi_hide_header X-Hidden; }
        location /unbuffered/ { proxy_pass http://127.0.0.1:${ports.http1}/; proxy_buffering off; proxy_hide_header X-Hidden; }
        location = /failed { return 200 failed; add_header X-End failed; }
      }`),
  });
  for (const kind of ['http1', 'http2', 'fastcgi', 'scgi', 'unbuffered']) {
    for (const path of Object.keys(INTERIM)) {
      const url = `/${kind}/${path}?hints=1`;
      let expected: [string[], number, string] = [passed(path), 200, 'yes done'];
      if (path === 'endless') {
        expected = [[], 502, ''];
      }
      if (path === 'long') {
        // No more of them than of a head.
        expected[0] = expected[0].slice(0, 7);
      }
      for (const [client, found] of Object.entries({ 'HTTP/1.1': await overHttp1(s, url), 'HTTP/2': await overHttp2(t, s, url) })) {
        if (path === 'endless' || path === 'long') {
          // How many were passed on is up to the size of their frames.
          t.ok(found[0].length < 500 && found[0].length > 5, `${url} ${client}`);
          t.strictSame(found.slice(1), path === 'long' ? [200, 'yes done'] : [200, 'failed failed'], `${url} ${client}`);
        } else {
          t.strictSame(found, expected, `${url} ${client}`);
        }
      }
      if (path !== 'endless') {
        t.strictSame(await overHttp1(s, url, '1.0'), [[], 200, 'yes done'], `${url} HTTP/1.0 has none`);
        const without = (await overHttp1(s, `/${kind}/${path}`))[0];
        t.strictSame(
          path === 'long' ? [] : without,
          path === 'long' ? [] : expected[0].filter((head) => !head.startsWith('103')),
          `${url} without early_hints`,
        );
      }
    }
    t.strictSame(await overHttp1(s, `/${kind}/switched`), [[], 200, 'failed failed'], `${kind}: 101 that nobody asked for`);
    t.strictSame(await overHttp2(t, s, `/${kind}/switched`), [[], 200, 'failed failed'], `${kind}: 101 that nobody asked for`);
  }
  for (const kind of ['http1', 'http2']) {
    t.strictSame(await overHttp1(s, `/${kind}/alone`), [[], 200, 'failed failed'], `${kind}: nothing but an interim response`);
  }
  // What a log says was sent is all that was.
  const whole = await exchange(
    s,
    'POST /http1/several?counted HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx',
  );
  t.match(whole, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 102/);
  await s.accessLogged(`POST /http1/several?counted ${whole.length}`);
  const client = await Http2Client.connect(t, s.port(1));
  client.request(1, [...request('POST', '/http1/several?counted'), ['expect', '100-continue']], 'x');
  await client.response(1);
  const sent = client.frames
    .filter(({ id, type }) => id === 1 && type !== T.WINDOW)
    .reduce((sum, { payload }) => sum + 9 + payload.length, 0);
  t.ok(client.frames.find(({ fields }) => fields?.[0]?.[1] === '100'));
  // Over HTTP/2 the body is counted without any heads.
  await s.accessLogged(`POST /http1/several?counted ${sent} 4`);
  t.strictSame(
    (await overHttp1(s, '/fastcgi/switched', '1.1', 'Upgrade: x\r\n')).slice(1),
    [200, 'failed failed'],
    'FastCGI cannot switch',
  );
});

t.test('over TLS, too, what leaves behind an interim head is counted', async (t) => {
  const { rsa } = certs();
  const backend = await startTcpBackend(t, (socket) =>
    socket.end('HTTP/1.1 103 x\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nbroken\r\n'),
  );
  const s = await startServer(t, {
    conf: httpConf(
      `log_format sent "$bytes_sent sent"; access_log %%DIR%%/access.log sent; early_hints 1; proxy_cache_path %%DIR%%/cache keys_zone=c:1m;
       server { listen 127.0.0.1:%%PORT_0%% ssl; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
         location / { proxy_pass http://127.0.0.1:${backend.port}; proxy_http_version 1.1; proxy_cache c; proxy_cache_valid 1h; } }`,
    ),
  });
  const text = await exchange(s, 'HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n', { tls: {} });
  t.match(text, /^HTTP\/1\.1 103[\s\S]*\nHTTP\/1\.1 200 OK\r\n/);
  await s.accessLogged(`${text.length} sent`);
});
