import { type AddressInfo, createServer } from 'node:net';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

t.test('proxy_pass: what the backend is asked for', async (t) => {
  const origin = await startOrigin(t, { body: 'answer' });
  const to = `http://127.0.0.1:${origin.port}`;
  const s = await startServer(t, {
    conf: serverConf(
      `
      location /none/ { proxy_pass ${to}; }
      location /slash/ { proxy_pass ${to}/; }
      location /prefix/ { proxy_pass ${to}/other/; }
      location /joined/ { proxy_pass ${to}/other; }
      location = /exact { proxy_pass ${to}/new?; }
      location ~ ^/regex/ { proxy_pass ${to}; }
      location /named { try_files /missing @named; }
      location @named { proxy_pass ${to}; }
      location /changed/ { rewrite ^/changed/(.*)$ /to/$1 break; proxy_pass ${to}/ignored/; }
      location /variable/ { proxy_pass http://127.0.0.1:$arg_port; }
      location /whole/ { proxy_pass http://group/set?q=$arg_q; set $x 1; }
      location /group/ { proxy_pass http://$arg_g/; }
      location /if/ { proxy_pass ${to}; if ($arg_x) { set $y 1; } }`,
      `upstream group { server 127.0.0.1:${origin.port}; }`,
    ),
  });
  const target = async (path: string): Promise<string> => {
    const before = origin.requests.length;
    const response = await httpGet(s, path);
    t.equal(response.status, 200, path);
    return origin.requests[before]!.target;
  };
  t.strictSame(
    [
      await target('/none/a%20b//c?x=%20'),
      await target('/slash/a%20b?x=1'),
      await target('/prefix/a%2Fb'),
      await target('/joined/a'),
      await target('/exact?a=b'),
      await target('/regex/a%20b/'),
      await target('/named%20x?y'),
      await target('/changed/a%20b?z'),
      await target(`/variable/a?port=${origin.port}`),
      await target('/whole/x?q=1'),
      await target('/group/x?g=GROUP'),
      await target('/if/x%20y?x=1'),
    ],
    [
      '/none/a%20b//c?x=%20',
      '/a%20b?x=1',
      '/other/a/b',
      '/othera',
      '/new??a=b',
      '/regex/a%20b/',
      '/named%20x?y',
      '/to/a%20b?z',
      `/variable/a?port=${origin.port}`,
      '/set?q=1',
      '/',
      '/if/x%20y?x=1',
    ],
  );
});

// nginx keeps connections by default, which changes version and Connection.
t.test('proxy_set_header: the headers of requests to backends', { skip: againstNginx }, async (t) => {
  const origin = await startOrigin(t, { body: 'answer' });
  const to = `http://127.0.0.1:${origin.port}`;
  const s = await startServer(t, {
    conf: serverConf(`
      proxy_set_header X-Server one;
      location /inherited { proxy_pass ${to}; }
      location /own { proxy_set_header X-Own $arg_a; proxy_set_header Host own.example; proxy_set_header X-Gone ""; proxy_pass ${to}; }
      location /kept { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass ${to}; }
      location /no-headers { proxy_pass_request_headers off; proxy_pass ${to}; }
      location /body { proxy_set_body "new $request_method"; proxy_method PUT; proxy_pass ${to}; }
      location /no-body { proxy_pass_request_body off; proxy_set_header Content-Length ""; proxy_pass ${to}; }`),
  });
  const ask = async (path: string, headers = {}, body = ''): Promise<string> => {
    await http(s, requestText(body === '' ? 'GET' : 'POST', path, { 'X-Client': 'c', Connection: 'close', ...headers }, body));
    const { head, body: received } = origin.requests[origin.requests.length - 1]!;
    return head.replaceAll(String(origin.port), 'PORT') + received.toString();
  };
  t.equal(
    await ask('/inherited', { TE: 'trailers', 'Keep-Alive': '1', Expect: 'x' }),
    'GET /inherited HTTP/1.0\r\nHost: 127.0.0.1:PORT\r\nX-Server: one\r\nConnection: close\r\nX-Client: c\r\n\r\n',
  );
  t.equal(
    await ask('/own?a=b', { 'X-Gone': 'x' }),
    'GET /own?a=b HTTP/1.0\r\nHost: own.example\r\nX-Own: b\r\nConnection: close\r\nX-Client: c\r\n\r\n',
  );
  t.equal(await ask('/kept'), 'GET /kept HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nX-Client: c\r\n\r\n');
  t.equal(
    await ask('/no-headers', {}, 'body'),
    'POST /no-headers HTTP/1.0\r\nHost: 127.0.0.1:PORT\r\nX-Server: one\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody',
  );
  t.equal(
    await ask('/body', {}, 'old'),
    'PUT /body HTTP/1.0\r\nHost: 127.0.0.1:PORT\r\nX-Server: one\r\nConnection: close\r\nContent-Length: 8\r\nX-Client: c\r\n\r\nnew POST',
  );
  t.equal(await ask('/no-body', {}, 'old'), 'POST /no-body HTTP/1.0\r\nHost: 127.0.0.1:PORT\r\nConnection: close\r\nX-Client: c\r\n\r\n');
});

t.test('response heads of backends', async (t) => {
  const origin = await startOrigin(t, '');
  const to = `http://127.0.0.1:${origin.port}`;
  const s = await startServer(t, {
    conf: serverConf(`
      location / { proxy_pass ${to}; }
      location /shown { proxy_pass ${to}; proxy_pass_header Server; proxy_pass_header Date; proxy_hide_header X-Secret; }`),
  });
  origin.answer(
    'HTTP/1.1 203 Fine by me\r\nserver: origin\r\nDate: then\r\ncontent-type: text/x;charset="latin1"; a=b\r\netag: "e"\r\nX-Two: 1\r\nx-two: 2\r\n' +
      'X-Secret: s\r\nX-Accel-Expires: 1\r\nKeep-Alive: 5\r\nlast-modified: some day\r\nContent-Length: 2\r\n\r\nok',
  );
  const plain = await httpGet(s, '/x');
  t.equal(
    plain.head.replace(/Server: .*/, 'Server: S').replace(/Date: .*/, 'Date: D'),
    'HTTP/1.1 203 Fine by me\r\nServer: S\r\nDate: D\r\nContent-Type: text/x;charset="latin1"; a=b\r\nContent-Length: 2\r\nConnection: close\r\n' +
      'etag: "e"\r\nX-Two: 1\r\nx-two: 2\r\nX-Secret: s\r\nlast-modified: some day\r\n\r\n',
  );
  t.equal(plain.text, 'ok');
  const shown = await httpGet(s, '/shown');
  t.strictSame([shown.header('server'), shown.header('date'), shown.header('x-secret')], ['origin', 'then', undefined]);
  origin.answer('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  const none = await httpGet(s, '/shown');
  t.strictSame([none.header('server'), none.header('date')], [undefined, undefined]);
});

t.test('what a head asks of the server itself holds for what comes in its place', async (t) => {
  const origin = await startOrigin(t, ({ target }) => ({
    status: Number(target.slice(1, 4)),
    headers: {
      'Content-Type': 'text/html',
      'X-Accel-Limit-Rate': '70000',
      'X-Accel-Charset': target.endsWith('none') ? ['koi8-r', ''] : ['windows-1251', 'koi8-r'],
    },
    body: 'body',
  }));
  const s = await startServer(t, {
    conf: serverConf(`
      default_type text/html;
      location /known { source_charset koi8-r; }
      location / { proxy_pass http://127.0.0.1:${origin.port}; proxy_intercept_errors on; error_page 404 = /page; add_header X-Rate $limit_rate; }
      location = /page { add_header X-Rate $limit_rate; return 200 page; }`),
  });
  for (const [path, text, type] of [
    ['/200', 'body', 'text/html; charset=koi8-r'],
    ['/200/none', 'body', 'text/html'],
    ['/404', 'page', 'text/html; charset=koi8-r'],
  ] as const) {
    const response = await httpGet(s, path);
    t.strictSame([response.text, response.header('Content-Type'), response.header('X-Rate')], [text, type, '70000'], path);
  }
});

t.test('a buffered response in chunks is passed on as it comes', async (t) => {
  let goOn = (): void => {};
  const origin = await startOrigin(t, async (_request, reply) => {
    await reply.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n');
    await new Promise<void>((done) => (goOn = done));
    return reply.end('6\r\nsecond\r\n0\r\n\r\n');
  });
  const s = await startServer(t, {
    conf: serverConf(
      `location / { proxy_pass http://127.0.0.1:${origin.port}; }
       location /filtered { sub_filter x y; sub_filter_types *; proxy_pass http://127.0.0.1:${origin.port}; }
       location /kept { proxy_cache Z; proxy_cache_valid 1m; proxy_pass http://127.0.0.1:${origin.port}; }`,
      'proxy_cache_path %%DIR%%/cache keys_zone=Z:1m;',
    ),
  });
  for (const path of ['/', '/filtered', '/kept']) {
    const client = await RawClient.connect(s);
    client.send(requestText('GET', path, { Connection: 'close' }));
    await waitFor(() => client.received.includes('first'), { what: () => `the first chunk of ${path}` });
    goOn();
    t.equal((await client.response()).text, 'firstsecond', path);
    client.destroy();
  }
});

t.test('broken backends', async (t) => {
  const origin = await startOrigin(t, '');
  const to = `http://127.0.0.1:${origin.port}`;
  const s = await startServer(t, {
    conf: serverConf(`
      location / { proxy_pass ${to}; }
      location /hangs { proxy_pass ${to}; proxy_read_timeout 200ms; }
      location /refused { proxy_pass http://127.0.0.1:1; }
      location /unix { proxy_pass http://unix:%%DIR%%/none:/; }
      location /502 { proxy_pass ${to}; error_page 502 = /page; }
      location /page { return 200 page; }`),
  });
  const cases: readonly (readonly [string, string, number, RegExp])[] = [
    [
      '/refused',
      '',
      502,
      /\[error\].* connect\(\) failed \(111: Connection refused\) while connecting to upstream,.*upstream: "http:\/\/127.0.0.1:1\/refused"/,
    ],
    [
      '/unix',
      '',
      502,
      /\[crit\].* connect\(\) to unix:.*\/none failed \(2: No such file or directory\) while connecting to upstream,.*upstream: "http:\/\/unix:.*\/none:\/"/,
    ],
    ['/closed', '', 502, /upstream prematurely closed connection while reading response header from upstream/],
    ['/long', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(5000)}\r\n\r\n`, 502, /upstream sent too big header while reading response header/],
    ['/name', 'HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n', 502, /upstream sent invalid header: "bad\\x20..." while reading/],
    ['/length', 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n', 502, /upstream sent invalid "Content-Length" header: "Content-Length: x"/],
    ['/both', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 502, /headers at the same time/],
    ['/coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n', 502, /upstream sent unknown "Transfer-Encoding": "gzip"/],
  ];
  for (const [path, answer, status, line] of cases) {
    origin.answer(answer === '' ? (_request, reply) => reply.end() : (_request, reply) => reply.end(answer));
    t.equal((await httpGet(s, path)).status, status, path);
    t.ok(await s.logged(line), path);
  }
  origin.answer((_request, reply) => reply.reset());
  t.equal((await httpGet(s, '/reset')).status, 502);
  t.ok(await s.logged(/recv\(\) failed \(104: Connection reset by peer\) while reading response header from upstream/));
  origin.answer(async (_request, reply) => void (await reply.gone()));
  t.equal((await httpGet(s, '/hangs')).status, 504);
  t.ok(await s.logged(/upstream timed out \(110: Connection timed out\) while reading response header from upstream/));
  origin.answer((_request, reply) => reply.end());
  t.equal((await httpGet(s, '/502')).text, 'page');
});

t.test('a backend that switches protocols: bytes go both ways, whatever carries them', async (t) => {
  const { cert, key } = certs().ecdsa;
  // Echoes everything behind the request, so that what the client gets tells what arrived.
  const backend = createServer((socket) => {
    let head = '';
    const onHead = (bytes: Buffer): void => {
      head += bytes.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) {
        return;
      }
      socket.off('data', onHead).write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nfirst ');
      socket.write(head.slice(end + 4), 'latin1');
      socket.pipe(socket);
    };
    socket.on('data', onHead).on('error', () => socket.destroy());
  });
  await new Promise<void>((done) => backend.listen(0, '127.0.0.1', done));
  t.teardown(() => backend.close());
  const { port } = backend.address() as AddressInfo;
  const conf = serverConf(`
    listen 127.0.0.1:%%PORT_1%% ssl;
    ssl_certificate ${cert};
    ssl_certificate_key ${key};
    location / { proxy_pass http://127.0.0.1:${port}; proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; }`);
  const s = await startServer(t, { conf });
  const upgrade = requestText('GET', '/', { Upgrade: 'echo', Connection: 'Upgrade' });
  const block = 'a block that is echoed '.repeat(100_000);
  for (const secure of [false, true]) {
    const client = await RawClient.connect(s.port(secure ? 1 : 0), secure ? { tls: {} } : {});
    client.send(`${upgrade}early `);
    t.match(await client.until('first early '), /^HTTP\/1\.1 101 Switching Protocols\r\n[\s\S]*\r\nConnection: upgrade\r\n/i);
    client.send('one ');
    t.match(await client.until('one '), /early one $/);
    // More than any buffer on the way: the slower side is waited for.
    client.pause();
    client.send(block).send('end of all');
    client.resume();
    t.ok((await client.until('end of all')).endsWith(`one ${block}end of all`));
    // A tunnel outlives the configuration it began under.
    await s.reload(conf);
    t.match(await client.send('after a reload').until('after a reload'), /end of allafter a reload$/);
    client.destroy();
  }
});

t.test('proxy_set_header: what no server takes over is not looked at', async (t) => {
  const own = 'server { proxy_set_header A x; }';
  t.equal(await configMessage(t, httpConf('proxy_set_header A $nobodys;')), undefined);
  t.equal(await configMessage(t, httpConf(`proxy_set_header A $$;\n${own}`)), undefined);
  t.equal(await configMessage(t, httpConf('proxy_set_header A $nobodys; server { }')), 'unknown "nobodys" variable');
  t.equal(await configMessage(t, httpConf('server { location / {\nproxy_set_header A $$; } }\n')), 'invalid variable name in %%FILE%%:9');
});

t.test('what a backend sends behind a head without a body, and an encoding that is none', async (t) => {
  const origin = await startOrigin(t, ({ target }) => {
    if (target === '/encoding') {
      return 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding:\r\nContent-Length: 5\r\n\r\nhello';
    }
    return `HTTP/1.1 ${target.slice(1, 4)} X\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello`;
  });
  const s = await startServer(t, {
    conf: serverConf(
      `location / { proxy_pass http://127.0.0.1:${origin.port}; proxy_http_version 1.1; gzip on; gzip_min_length 1; gzip_proxied any; }
       location /off/ { proxy_pass http://127.0.0.1:${origin.port}/; proxy_buffering off; }`,
      "log_format length '$request_uri $upstream_response_length'; access_log %%DIR%%/length.log length; access_log %%DIR%%/access.log;",
    ),
  });
  for (const path of ['/204', '/304', '/off/204', '/off/304']) {
    t.equal((await httpGet(s, path)).header('x-a'), 'b');
    await s.logged(
      new RegExp(`\\[warn\\].*upstream sent more data than specified in "Content-Length" header while reading .*"GET ${path} `),
    );
  }
  t.equal((await http(s, requestText('HEAD', '/200', { Connection: 'close' }))).header('content-length'), '5');
  t.notMatch(s.log(), /more data.*"HEAD/);
  t.match(
    await waitFor(() => s.read('length.log').includes('/200 ') && s.read('length.log')),
    /^\/204 5\n\/304 5\n\/off\/204 5\n\/off\/304 5\n/,
  );
  const zipped = await httpGet(s, '/encoding', { 'Accept-Encoding': 'gzip' });
  t.equal(zipped.all('content-encoding').join(), againstNginx ? ',gzip' : 'gzip', 'one line says it');
  t.equal(gunzipSync(zipped.body).toString(), 'hello');
  t.equal((await httpGet(s, '/encoding')).text, 'hello');
});
