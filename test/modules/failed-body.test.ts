// What a request is whose body failed half-way, for the handlers that come after: a request without a body. Nothing of what came of it
// leaves, no memory that was never written does, and no connection stays in use on which bytes of one request could be taken for another.
import { rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { certs, pem } from '../support/certs.js';
import { startFastcgi } from '../support/fastcgi-responder.js';
import { block, END_HEADERS, END_STREAM, frame, Http2Client, request, T } from '../support/http2-client.js';
import { answer, dataOf, type Http2Request, startHttp2Origin } from '../support/http2-origin.js';
import { type OriginRequest, startOrigin } from '../support/origin.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, type Server, serverConf, startServer } from '../support/server.js';
import { startTcpBackend } from '../support/tcp-backend.js';
import { waitFor } from '../support/wait.js';

const SMUGGLED = 'GET /SMUGGLED HTTP/1.1\r\nHost: evil\r\n\r\n';
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

/** Bodies that fail in a location with a limit of 50 bytes, and the status that they fail with. */
interface Failure {
  readonly status: number;
  /** What follows the request line and `Host`. */
  readonly request: string;
}

const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n';
const FAILURES: Readonly<Record<string, Failure>> = {
  'malformed chunk': { status: 400, request: `${CHUNKED}${chunk(SMUGGLED)}ZZ\r\n` },
  'chunk over the limit': { status: 413, request: `${CHUNKED}${chunk(SMUGGLED)}${chunk('x'.repeat(60))}0\r\n\r\n` },
  'one chunk over the limit': { status: 413, request: `${CHUNKED}${chunk(`${SMUGGLED}${'y'.repeat(60)}`)}0\r\n\r\n` },
  'half a chunk over the limit': { status: 413, request: `${CHUNKED}fff\r\n${SMUGGLED}` },
  'Content-Length over the limit': { status: 413, request: `Content-Length: 80\r\n\r\n${SMUGGLED.padEnd(80, SMUGGLED)}` },
  'Content-Length over the limit, half of it': { status: 413, request: `Content-Length: 80\r\n\r\n${SMUGGLED}` },
};

/** Where the error page comes from. */
const PAGES = ['http', 'early', 'h2', 'tls', 'unbuffered', 'named', 'fcgi', 'scgi', 'uwsgi', 'grpc', 'mem', 'mirror'] as const;

/** The error page as it is asked for, with the body. */
const ASKED = {
  http: 'GET /page-http 0 undefined ""',
  early: 'GET /page-early 0 undefined ""',
  unbuffered: 'GET /page-unbuffered 0 undefined ""',
  tls: 'GET /page-tls 0 undefined ""',
  mirror: 'GET /copy 0 undefined ""',
  h2: '/page-h2 0 ""',
  grpc: '/page-grpc 0 ""',
  fcgi: '0   ""',
  mem: 'get key\r\n',
} as const;
const NEXT = 'GET /next undefined undefined ""';

const parsed = (r: OriginRequest): string =>
  `${r.method} ${r.target} ${r.header('content-length')} ${r.header('transfer-encoding')} "${r.body}"`;

/** Answers what SCGI, uwsgi or memcached ask once the first bytes came, and leaves. */
const answering = (text: string) => (socket: Socket) => void socket.once('data', () => socket.end(text));

async function startAll(t: Test) {
  const ok = { body: 'page' };
  const origin = await startOrigin(t, ok);
  const pair = certs().rsa;
  const tls = await startOrigin(t, ok, { tls: { cert: pem(pair.cert), key: pem(pair.key) } });
  const h2 = await startHttp2Origin(t, (request) => answer(request, { headers: [], body: 'page' }));
  const fcgi = await startFastcgi(t, () => 'Status: 200 OK\r\nContent-Length: 4\r\n\r\npage');
  const scgi = await startTcpBackend(t, answering('Status: 200 OK\r\n\r\npage'));
  const uwsgi = await startTcpBackend(t, answering('HTTP/1.0 200 OK\r\n\r\npage'));
  const mem = await startTcpBackend(t, answering('VALUE key 0 4\r\npage\r\nEND\r\n'));
  const pages = PAGES.map((name) => {
    const page = `error_page 400 413 500 502 ${name === 'named' ? '@named' : `/page-${name}`}; proxy_pass http://ka;`;
    return `location /to-${name} { ${page} }
      location /file-to-${name} { ${page} client_body_in_file_only clean; }
      location /stream-to-${name} { ${page} proxy_request_buffering off; }`;
  });
  const s = await startServer(t, {
    conf: httpConf(`
      upstream ka { server 127.0.0.1:${origin.port}; keepalive 4; }
      upstream katls { server 127.0.0.1:${tls.port}; keepalive 4; }
      upstream kafcgi { server 127.0.0.1:${fcgi.port}; keepalive 4; }
      client_max_body_size 50; proxy_http_version 1.1; proxy_set_header Connection "";
      server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% http2; listen 127.0.0.1:%%PORT_2%% ssl;
        ssl_certificate ${pair.cert}; ssl_certificate_key ${pair.key}; root %%DIR%%/html;
        ${pages.join('\n')}
        location /next { proxy_pass http://ka; }
        location /page-http { proxy_pass http://ka; }
        location /page-early { proxy_pass http://ka; proxy_set_header X-Body "$request_body"; }
        location /page-tls { proxy_pass https://katls; }
        location /page-h2 { proxy_http_version 2; proxy_pass http://127.0.0.1:${h2.port}; }
        location /page-unbuffered { proxy_request_buffering off; proxy_pass http://ka; }
        location @named { proxy_pass http://ka; }
        location /page-fcgi { fastcgi_keep_conn on; fastcgi_pass kafcgi; fastcgi_param CONTENT_LENGTH $content_length;
          fastcgi_param BODY "$request_body"; fastcgi_param BODY_FILE "$request_body_file"; }
        location /page-scgi { scgi_pass 127.0.0.1:${scgi.port}; }
        location /page-uwsgi { uwsgi_pass 127.0.0.1:${uwsgi.port}; uwsgi_param CONTENT_LENGTH $content_length; }
        location /page-grpc { grpc_pass 127.0.0.1:${h2.port}; }
        location /page-mem { set $memcached_key key; memcached_pass 127.0.0.1:${mem.port}; }
        location /page-mirror { mirror /copy; }
        location /copy { internal; proxy_pass http://ka; }

        location /to-vars { error_page 400 413 500 /page-vars; proxy_pass http://ka; }
        location /file-to-vars { error_page 400 413 500 /page-vars; client_body_in_file_only clean; proxy_pass http://ka; }
        location /page-vars { return 200 "[$request_body][$content_length][$request_body_file]"; }
        location /to-put { error_page 400 413 500 502 = @put; proxy_pass http://ka; }
        location /file-to-put { error_page 400 413 500 502 = @put; client_body_in_file_only clean; proxy_pass http://ka; }
        location @put { dav_methods PUT; }

        location /status { stub_status; }
        location /sluice { sluice_status; }
        location /no-file { error_page 500 /page-http; client_body_in_file_only clean; client_body_temp_path %%DIR%%/no-folder;
          client_max_body_size 0; proxy_pass http://ka; }
        location /large { error_page 413 /page-http; client_max_body_size 100k; client_body_buffer_size 8k; proxy_pass http://ka; }
        location /gone { error_page 502 /page-http; client_max_body_size 0; proxy_request_buffering off;
          proxy_pass http://127.0.0.1:%%PORT_3%%; } }`),
    files: { 'html/to-put': 'before', 'html/file-to-put': 'before', 'html/page-mirror': 'page', 'no-folder/x': '' },
  });
  return { s, origin, tls, h2, fcgi, scgi, uwsgi, mem };
}

/** Sends a request that fails, and returns the answer's status and body and whatever else came until the end of the connection. */
async function fail(s: Server, path: string, { request }: Failure, method = 'POST'): Promise<string> {
  const client = await RawClient.connect(s);
  client.send(`${method} ${path} HTTP/1.1\r\nHost: a\r\n${request}`, method);
  const { status, text } = await client.response();
  client.end();
  const rest = await client.rest();
  client.destroy();
  return `${status} ${text}${rest}`;
}

t.test('an error page from a backend', async (t) => {
  const { s, origin, tls, h2, fcgi, scgi, uwsgi, mem } = await startAll(t);
  /** What the page's backend was asked, in full, since it was looked at last. */
  const asked = (name: (typeof PAGES)[number]): readonly string[] => {
    switch (name) {
      case 'tls':
        return tls.requests.splice(0).map(parsed);
      case 'fcgi':
        return fcgi.requests
          .splice(0)
          .map((r) => `${r.param('CONTENT_LENGTH')} ${r.param('BODY')} ${r.param('BODY_FILE')} "${r.stdin.toString('latin1')}"`);
      case 'h2':
      case 'grpc':
        return (h2.requests as Http2Request[])
          .splice(0)
          .map((r) => `${r.fields.get(':path')} ${r.fields.get('content-length')} "${dataOf(r)}"`);
      case 'scgi':
        return [scgi.received.at(-1)!];
      case 'uwsgi':
        return [uwsgi.received.at(-1)!];
      case 'mem':
        return [mem.received.at(-1)!];
      default:
        return origin.requests.splice(0).map(parsed);
    }
  };
  for (const [what, failure] of Object.entries(FAILURES)) {
    for (const name of PAGES) {
      for (const kind of name === 'http' || name === 'named' || name === 'fcgi' ? ['', 'file-', 'stream-'] : ['']) {
        const path = `/${kind}to-${name}`;
        const told = `${what}: ${path}`;
        t.equal(await fail(s, path, failure), `${failure.status} page`, told);
        // Another client's request, on the same connection to the backend.
        t.equal((await httpGet(s, '/next')).text, 'page', told);
        const got = asked(name);
        if (name === 'scgi' || name === 'uwsgi') {
          t.match(got[0], /CONTENT_LENGTH.?.?.?0/s, told);
          t.notMatch(got[0], /SMUGGLED|xx|yy/, told);
        } else if (name === 'named') {
          t.strictSame(got, [`POST ${path} 0 undefined ""`, NEXT], told);
        } else {
          t.strictSame(
            got.filter((text) => text !== NEXT),
            [ASKED[name]],
            told,
          );
        }
        origin.requests.length = 0;
      }
    }
  }
});

t.test('variables, PUT and files', async (t) => {
  const { s, origin } = await startAll(t);
  for (const [what, failure] of Object.entries(FAILURES)) {
    for (const kind of ['', 'file-']) {
      t.equal(await fail(s, `/${kind}to-vars`, failure), `${failure.status} [][0][]`, what);
      t.match(await fail(s, `/${kind}to-put`, failure, 'PUT'), /^500 /, what);
      t.equal(s.read(`html/${kind}to-put`), 'before', what);
    }
  }
  t.match(s.log(), 'PUT request body is unavailable');
  t.strictSame(origin.requests.splice(0).map(parsed), []);

  // The folder of the temporary files is none any more.
  rmSync(`${s.dir}/no-folder`, { recursive: true });
  writeFileSync(`${s.dir}/no-folder`, '');
  const body = SMUGGLED.repeat(10);
  for (const request of [
    `Content-Length: ${body.length}\r\n\r\n${body}`,
    `${CHUNKED}${chunk(body)}0\r\n\r\n`,
    `${CHUNKED}${chunk(body)}`,
  ]) {
    t.equal(await fail(s, '/no-file', { status: 500, request }), '500 page');
    t.strictSame(origin.requests.splice(0).map(parsed), [ASKED.http]);
  }
  // The first pieces are in a file when the limit is reached.
  const piece = chunk(SMUGGLED.repeat(200));
  t.equal(await fail(s, '/large', { status: 413, request: `${CHUNKED}${piece.repeat(20)}0\r\n\r\n` }), '413 page');
  t.strictSame(origin.requests.splice(0).map(parsed), [ASKED.http]);
  // A body that was passed on is gone with the backend that it went to.
  t.equal(await fail(s, '/gone', { status: 502, request: `Content-Length: 80\r\n\r\n${SMUGGLED}` }), '502 page');
  t.equal(await fail(s, '/gone', { status: 502, request: `${CHUNKED}${chunk(SMUGGLED)}` }), '502 page');
  t.strictSame(origin.requests.splice(0).map(parsed), [ASKED.http, ASKED.http]);
});

t.test('over HTTP/2', async (t) => {
  const { s, origin } = await startAll(t);
  let id = 1;
  const client = await Http2Client.connect(t, s.port(1));
  for (const path of ['/to-http', '/file-to-http', '/stream-to-http']) {
    for (const [length, data, end] of [
      ['', SMUGGLED + 'z'.repeat(60), true],
      ['', SMUGGLED + 'z'.repeat(60), false],
      ['80', SMUGGLED, false],
      ['80', SMUGGLED.padEnd(80, SMUGGLED), true],
    ] as const) {
      const fields = request('POST', path, ...(length === '' ? [] : ([['content-length', length]] as const)));
      client.send(frame(T.HEADERS, END_HEADERS, id, block(fields)));
      for (let at = 0; at < data.length; at += 20) {
        client.send(frame(T.DATA, end && at + 20 >= data.length ? END_STREAM : 0, id, data.slice(at, at + 20)));
      }
      const { status, body, reset } = await client.response(id);
      t.strictSame([status, body], ['413', 'page'], path);
      t.ok(reset === undefined || reset === 0, `reset ${reset}`);
      id += 2;
      t.equal((await client.request(id, request('GET', '/next')).response(id)).body, 'page');
      t.strictSame(origin.requests.splice(0).map(parsed), [ASKED.http, NEXT], `${path} ${length} ${end}`);
      id += 2;
    }
  }
  // A body that is longer or shorter than its head says.
  for (const [data, flags] of [
    [SMUGGLED, END_STREAM],
    [`${SMUGGLED}${SMUGGLED}`, 0],
  ] as const) {
    client.send(frame(T.HEADERS, END_HEADERS, id, block(request('POST', '/to-http', ['content-length', '50']))));
    client.send(frame(T.DATA, flags, id, data));
    const { status, body } = await client.response(id);
    t.strictSame([status, body], ['400', 'page']);
    t.strictSame(origin.requests.splice(0).map(parsed), [ASKED.http]);
    id += 2;
  }
  client.socket.destroy();
});

t.test('what the client sends behind a body that failed is no request', async (t) => {
  const { s, origin } = await startAll(t);
  for (const [what, { status, request }] of Object.entries(FAILURES)) {
    for (const path of ['/to-http', '/page-mirror', '/stream-to-http', '/status', '/sluice']) {
      for (const where of [s.port(0), s.port(2)]) {
        // Status pages drop the body, which has no limit then.
        const drops = path === '/status' || path === '/sluice';
        const method = drops ? 'GET' : 'POST';
        const client = await RawClient.connect(where, where === s.port(2) ? { tls: {} } : {});
        client.send(`${method} ${path} HTTP/1.1\r\nHost: a\r\n${request}`, method);
        const response = await client.response();
        t.equal(response.status, drops && status === 413 && request.startsWith(CHUNKED) ? 200 : status, `${what}: ${path}`);
        if (response.header('connection') === 'close') {
          client.send(SMUGGLED);
        }
        client.end();
        t.equal(await client.rest(), '', `${what}: ${path}`);
        client.destroy();
        t.notMatch(origin.requests.splice(0).map(parsed).join(), 'SMUGGLED ', `${what}: ${path}`);
      }
    }
  }
});

t.test('a backend that waits for a body gets no other request', async (t) => {
  // Answers each head without a look at what follows.
  const backend = await startTcpBackend(t, (socket) => {
    let text = '';
    socket.on('data', (bytes) => {
      for (text += bytes.toString('latin1'); text.includes('\r\n\r\n'); text = text.slice(text.indexOf('\r\n\r\n') + 4)) {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      }
    });
  });
  const s = await startServer(t, {
    conf: httpConf(`
      upstream ka { server 127.0.0.1:${backend.port}; keepalive 4; }
      proxy_http_version 1.1; proxy_set_header Connection "";
      server { listen 127.0.0.1:%%PORT_0%%;
        location /last { return 204; }
        location /auth { auth_request /ask; proxy_pass http://127.0.0.1:%%PORT_0%%/last; }
        location /ask { internal; proxy_pass http://ka; }
        location /well { auth_request /ask-well; proxy_pass http://127.0.0.1:%%PORT_0%%/last; }
        location /ask-well { internal; proxy_pass http://ka; proxy_set_header Content-Length ""; proxy_set_header Connection ""; }
        location /without { proxy_pass_request_body off; proxy_pass http://ka; }
        location /named { proxy_pass_request_body off; proxy_set_header Content-Length $http_content_length; proxy_pass http://ka; }
        location /fixed { proxy_pass_request_body off; proxy_set_header Content-Length 0; proxy_set_header Connection ""; proxy_pass http://ka; }
        location /other { proxy_set_body other; proxy_pass http://ka; }
        location /as-it-comes { proxy_request_buffering off; proxy_pass http://ka; }
        location /whole { proxy_pass http://ka; } }`),
  });
  const post = (path: string) => http(s, requestText('POST', path, { Connection: 'close' }, 'body'));
  const used = async (path: string): Promise<number> => {
    const before = backend.sockets.length;
    await post(path);
    await post(path);
    return backend.sockets.length - before;
  };
  // What is kept by one is used by the next.
  t.equal(await used('/whole'), 1, 'kept');
  for (const path of ['/well', '/fixed', '/other', '/as-it-comes', '/whole']) {
    t.equal(await used(path), 0, path);
  }
  t.equal(await used('/auth'), 1, 'the first one is used up');
  t.equal(await used('/without'), 2);
  t.equal(await used('/named'), 2);
});

t.test('Expect: 100-continue', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location /page { error_page 403 /echo; return 403; }
      location /okay { error_page 403 =200 /echo; return 403; }
      location /as-page { error_page 403 = /echo; return 403; }
      location /echo { proxy_pass http://127.0.0.1:%%PORT_0%%/last; }
      location /last { return 200 ok; }`),
  });
  const interim = async (path: string): Promise<number> => {
    const client = await RawClient.connect(s);
    client.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nbody`, 'POST');
    const response = await client.response();
    client.destroy();
    return response.interim.length;
  };
  t.equal(await interim('/page'), 0, 'the answer is another one already');
  t.equal(await interim('/okay'), 1);
  t.equal(await interim('/as-page'), 1);
});

t.test('what the logs say', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `listen 127.0.0.1:%%PORT_1%% http2;
      access_log %%DIR%%/body.log failed; client_max_body_size 100;
      location / { proxy_pass http://127.0.0.1:%%PORT_0%%/last; }
      location /file { client_body_in_file_only clean; proxy_pass http://127.0.0.1:%%PORT_0%%/last; }
      location /put { dav_methods PUT; client_max_body_size 1k; root %%DIR%%/html; }
      location /small { client_body_buffer_size 40; proxy_pass http://127.0.0.1:%%PORT_0%%/last; }
      location /unread { return 200 ok; }
      location /last { access_log off; return 200 ok; }`,
      'log_format failed "$uri $status $content_length;";',
    ),
    asRoot: true,
    files: { 'html/x': '' },
    logLevel: 'info',
  });
  const logged = async (line: string): Promise<void> => {
    await waitFor(() => s.read('body.log').includes(`${line};\n`), { what: () => `${line} in ${s.read('body.log')}` });
  };
  // A client that ends its body too early: nobody left, as nginx sees it.
  const half = await RawClient.connect(s);
  half.send('POST /ended HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\nabc').end();
  await logged('/ended 400 20');
  t.match(await s.logged('prematurely'), /\[info\] .*client prematurely closed connection, client: /);
  await fail(s, '/malformed', { status: 400, request: `${CHUNKED}${chunk('hello')}ZZ\r\n` });
  t.match(await s.logged('invalid chunked'), /\[error\] .*client sent invalid chunked body, client: /);
  await logged('/malformed 400 5');
  await fail(s, '/sum', { status: 413, request: `${CHUNKED}${chunk('hello')}fff\r\nx` });
  await logged('/sum 413 5');
  t.equal((await http(s, `POST /unread HTTP/1.1\r\nHost: a\r\n${CHUNKED}${chunk('hello')}0\r\n\r\n`)).text, 'ok');
  await logged('/unread 200 0');
  await fail(s, '/long', { status: 413, request: `${CHUNKED}fff\r\nx` });
  await logged('/long 413 0');
  t.match(await s.logged('0+4095'), /client intended to send too large chunked body: 0\+4095 bytes, client: /);

  const stream = await Http2Client.connect(t, s.port(1));
  stream.send(frame(T.HEADERS, END_HEADERS, 1, block(request('POST', '/canceled'))), frame(T.DATA, 0, 1, 'abc'));
  await stream.ping();
  stream.send(frame(T.RST, 0, 1, Buffer.from([0, 0, 0, 8])));
  await logged('/canceled 499 -');
  stream.send(frame(T.HEADERS, END_HEADERS, 3, block(request('POST', '/over'))), frame(T.DATA, 0, 3, 'x'.repeat(101)));
  t.equal((await stream.response(3)).status, '413');
  await s.logged('too large chunked body: 101 bytes');
  stream.socket.destroy();
  half.destroy();

  t.equal((await http(s, requestText('POST', '/file', {}, 'body'))).text, 'ok');
  t.match(
    await s.logged('temporary file'),
    /\[notice\] .*a client request body is buffered to a temporary file .*, client: .*"POST \/file/,
  );
  const files = (): number => s.log().match(/buffered to a temporary file/g)!.length;
  t.equal((await http(s, requestText('PUT', '/put', {}, 'body'))).status, 201);
  t.equal(files(), 1, 'PUT needs its file');
  // What comes with the head stays in the buffer of the head, so this comes later.
  const small = async (size: number): Promise<void> => {
    const client = await RawClient.connect(s);
    client.send(`POST /small HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${size}\r\n\r\n`, 'POST');
    await client.interim();
    client.socket.write('x'.repeat(size));
    t.equal((await client.response()).text, 'ok');
    client.destroy();
  };
  await small(49);
  t.equal(files(), 1, 'a quarter more than the buffer');
  await small(60);
  t.match(await s.logged(/warn.*temporary file/), /"POST \/small/);
});

t.test('a client that resets its connection in the middle of a body', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('location / { proxy_pass http://127.0.0.1:%%PORT_0%%/last; } location /last { return 200 ok; }'),
    logLevel: 'debug',
  });
  const client = await RawClient.connect(s);
  client.send('POST /reset HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\nabc');
  await s.logged(/http cl:20 max:/);
  client.destroy(true);
  t.match(await s.accessLogged('/reset'), / 400 0 /);
  t.match(await s.logged('recv()'), /\[info\] .*recv\(\) failed \(104: Connection reset by peer\), client: /);
});

t.test('handlers in JavaScript, and backends that lead elsewhere', async (t) => {
  const origin = await startOrigin(t, ({ target }) =>
    target.startsWith('/leads') ? { headers: { 'X-Accel-Redirect': '/page-http' }, body: '' } : { body: 'page' },
  );
  const s = await startServer(t, {
    conf: httpConf(`
      upstream ka { server 127.0.0.1:${origin.port}; keepalive 4; }
      js_import main from main.mjs;
      client_max_body_size 50; proxy_http_version 1.1; proxy_set_header Connection "";
      server { listen 127.0.0.1:%%PORT_0%%; error_page 400 413 502 /page-http;
        location /page-http { proxy_pass http://ka; }
        location /page-js { js_content main.show; }
        location /script { error_page 400 413 /page-js; js_content main.show; }
        location /reads { js_content main.reads fetch; }
        location /asks { error_page 400 413 /page-asked; auth_request /page-http; js_content main.reads fetch; }
        location /apart { error_page 400 413 /page-asked; auth_request /page-http; js_isolation thread threads=1; js_content main.reads fetch; }
        location /node { error_page 400 413 /page-asked; auth_request /page-http; node_handler main.node; }
        location /page-asked { auth_request /page-http; proxy_pass http://ka/page-http; }
        location /half { js_content main.half fetch; }
        location /leads { proxy_request_buffering off; proxy_pass http://ka; } }`),
    files: {
      'main.mjs': `export default {
        show: (r) => r.return(200, JSON.stringify([r.requestText ?? '', r.requestBuffer?.length ?? 0, r.variables.content_length])),
        reads: async (request) => new Response(await request.text()),
        node: (req, res) => { req.resume(); req.on('error', () => {}); req.on('end', () => res.end('no')); },
        half: async (request) => { await request.body.getReader().read(); return new Response('some'); },
      };`,
    },
  });
  const seen = (): readonly string[] => origin.requests.splice(0).map(parsed);
  for (const [what, failure] of Object.entries(FAILURES)) {
    t.equal(await fail(s, '/script', failure), `${failure.status} ["",0,"0"]`, what);
    t.equal(await fail(s, '/reads', failure), `${failure.status} page`, what);
    t.strictSame(seen(), [ASKED.http], what);
    for (const path of ['/asks', '/apart', '/node']) {
      t.equal(await fail(s, path, failure), `${failure.status} page`, `${what}: ${path}`);
      t.match(seen().at(-1), ASKED.http);
    }
  }
  t.notMatch(s.log(), /js unhandled rejection/);
  // What was passed on is not there for whom the backend names.
  for (const request of [`Content-Length: 40\r\n\r\n${SMUGGLED.padEnd(40)}`, `${CHUNKED}${chunk(SMUGGLED)}0\r\n\r\n`]) {
    t.equal(await fail(s, '/leads', { status: 200, request }), '200 page');
    const [first, second] = seen();
    t.match(first, 'POST /leads');
    t.match(second, /^(?:POST|GET) \/page-http (?:0|\d+) undefined "/);
    t.notMatch(origin.requests.map(parsed).join(), 'SMUGGLED');
  }
  t.match(await fail(s, '/half', { status: 200, request: `Content-Length: 40\r\n\r\n${SMUGGLED}` }), /^200 some/);
});
