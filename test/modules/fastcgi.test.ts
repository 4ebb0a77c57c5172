import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { startFastcgi } from '../support/fastcgi-responder.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

const text = (body: string, head = ''): string => `Content-Type: text/plain\r\n${head}\r\n${body}`;

t.test('what a responder is told', async (t) => {
  const app = await startFastcgi(t, () => text('answer'));
  const to = `127.0.0.1:${app.port}`;
  const s = await startServer(t, {
    conf: serverConf(
      `
      fastcgi_param INHERITED yes;
      location / { fastcgi_pass ${to}; }
      location /own { fastcgi_param SCRIPT $uri; fastcgi_param EMPTY ""; fastcgi_param GONE $arg_gone if_not_empty;
        fastcgi_param HTTP_X_ONE own; fastcgi_param HTTP_X_TWO ""; fastcgi_pass group; }
      location ~ \\.php { fastcgi_index index.php; fastcgi_split_path_info ^(.+\\.php)(/.*)$;
        fastcgi_param S $fastcgi_script_name; fastcgi_param P $fastcgi_path_info; fastcgi_pass ${to}; }
      location /dir/ { fastcgi_index index.php; fastcgi_param S $fastcgi_script_name; fastcgi_pass $arg_to; }
      location /plain { fastcgi_pass_request_headers off; fastcgi_pass_request_body off; fastcgi_pass ${to}; }`,
      `upstream group { server ${to}; }`,
    ),
  });
  const params = async (request: string): Promise<Record<string, string>> => {
    const before = app.requests.length;
    t.equal((await http(s, request)).status, 200);
    return Object.fromEntries(app.requests[before]!.params);
  };
  const get = (path: string, headers = {}): Promise<Record<string, string>> => params(requestText('GET', path, headers));
  const own = { 'X-One': '1', 'X-Two': '2', 'X-Three': '3' };
  t.match(await get('/'), { INHERITED: 'yes', HTTP_HOST: 'localhost' });
  const told = await get('/own/a', own);
  t.match(told, { SCRIPT: '/own/a', EMPTY: '', HTTP_X_ONE: 'own', HTTP_X_THREE: '3' });
  t.notOk('INHERITED' in told || 'GONE' in told || 'HTTP_X_TWO' in told, 'neither inherited, nor empty, nor hidden ones');
  t.match(await get('/a.php/b/c'), { S: '/a.php', P: '/b/c' });
  t.match(await get(`/dir/?to=${to}`), { S: '/dir/index.php' });
  t.notOk('HTTP_X_ONE' in (await get('/plain', own)));
  await http(s, requestText('POST', '/plain', {}, 'body'));
  t.equal(app.requests.at(-1)!.stdin.length, 0);
  await http(s, requestText('POST', '/', {}, 'x'.repeat(200_000)));
  t.equal(app.requests.at(-1)!.stdin.length, 200_000);
});

t.test('bodies that are passed on as they come', async (t) => {
  const app = await startFastcgi(t, ({ stdin }) => text(`${stdin.length}`));
  const s = await startServer(t, {
    conf: serverConf(`location / { fastcgi_request_buffering off; fastcgi_pass 127.0.0.1:${app.port}; }`),
  });
  const body = `1000\r\n${'x'.repeat(4096)}\r\n`.repeat(64);
  const chunked = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n';
  t.equal((await http(s, `${chunked}${body}0\r\n\r\n`)).text, String(4096 * 64));
  t.equal((await http(s, requestText('POST', '/', {}, 'y'.repeat(300_000)))).text, '300000');
});

t.test('responses: status, headers, records cut anywhere', async (t) => {
  const app = await startFastcgi(t, ({ param }) => {
    const padding = 5;
    switch (param('HTTP_X_CASE')) {
      case 'status':
        return text('made', 'Status: 201 Made so\r\nX-Accel-Charset: koi8-r\r\nServer: own\r\nX-Hide: 1\r\n');
      case 'location':
        return 'Location: http://elsewhere/\r\n\r\n';
      case 'pieces':
        return { stdout: [...text('in many pieces', 'X-Long: value\r\n')], padding };
      default:
        return { stdout: text('body', 'X-Other: 1\n'), padding };
    }
  });
  const s = await startServer(t, {
    conf: serverConf(`location / { fastcgi_hide_header X-Hide; fastcgi_pass 127.0.0.1:${app.port}; }`),
  });
  const ask = (name: string) => http(s, requestText('GET', '/', { 'X-Case': name }));
  const status = await ask('status');
  t.match([status.status, status.reason, status.header('server'), status.text], [201, 'Made so', 'own', 'made']);
  t.match([status.header('status'), status.header('x-hide')], [undefined, undefined]);
  t.match(await ask('location'), { status: 302 });
  const pieces = await ask('pieces');
  t.match([pieces.status, pieces.header('x-long'), pieces.text], [200, 'value', 'in many pieces']);
  const plain = await ask('plain');
  t.match([plain.text, plain.header('server')], ['body', /^(sluice|nginx)/], 'our own Server when there is none');
});

t.test('a response cut in two at each of its bytes', async (t) => {
  const record = (type: number, content: string, padding: number): string =>
    String.fromCharCode(1, type, 0, 1, 0, content.length, padding, 0) + content + '\0'.repeat(padding);
  const whole =
    record(6, 'Status: 201 Made\r\nX-', 3) +
    record(7, 'warning', 1) +
    record(6, 'A: 1\r\n\r\nthe bo', 0) +
    record(6, 'dy', 6) +
    record(6, '', 8) +
    record(3, '\0\0\0\x09\0\0\0\0', 0);
  const app = await startFastcgi(t, ({ param }, { socket }) => {
    const cut = Number(param('CUT'));
    // The server may get both pieces at once: that is right too, and the rarer the slower the second is sent.
    socket.write(whole.slice(0, cut), 'latin1', () => setImmediate(() => socket.write(whole.slice(cut), 'latin1')));
    return undefined;
  });
  const s = await startServer(t, {
    conf: serverConf(
      'fastcgi_keep_conn on; fastcgi_param CUT $arg_cut; location / { fastcgi_pass kept; }',
      `upstream kept { server 127.0.0.1:${app.port}; keepalive 1; }`,
    ),
  });
  for (let cut = 1; cut <= whole.length; cut++) {
    const made = await httpGet(s, `/?cut=${cut}`);
    if (made.status !== 201 || made.text !== 'the body' || made.header('x-a') !== '1') {
      t.fail(`cut at ${cut}: ${made.status} ${made.text}`);
    }
  }
  t.equal(app.connections(), 1, 'whatever the statuses of END_REQUEST say, the connection is kept');
  t.equal(app.requests.length, whole.length);
});

t.test('X-Accel headers', async (t) => {
  const app = await startFastcgi(t, ({ param }) => {
    switch (param('URI')) {
      case '/redirect':
        return text('', 'X-Accel-Redirect: /inside?a=b\r\nX-Own: 1\r\nSet-Cookie: c=d\r\n');
      case '/expires':
        return text('kept', 'X-Accel-Expires: 60\r\nX-Accel-Limit-Rate: 1000000\r\n');
      case '/piecemeal':
        return text('not kept', 'X-Accel-Expires: 60\r\nX-Accel-Buffering: no\r\n');
      default:
        return text(`${param('URI')}?${param('ARGS')}`);
    }
  });
  const s = await startServer(t, {
    conf: serverConf(
      `fastcgi_param URI $uri; fastcgi_param ARGS $args;
      location / { fastcgi_cache one; fastcgi_cache_key $uri; add_header X-Cache $upstream_cache_status; fastcgi_pass 127.0.0.1:${app.port}; }
      location /inside { internal; fastcgi_pass 127.0.0.1:${app.port}; }
      location /ignored { fastcgi_ignore_headers X-Accel-Redirect; fastcgi_pass 127.0.0.1:${app.port}; }`,
      'fastcgi_cache_path %%DIR%%/cache keys_zone=one:1m;',
    ),
  });
  const redirected = await httpGet(s, '/redirect');
  t.match([redirected.text, redirected.header('set-cookie'), redirected.header('x-own')], ['/inside?a=b', 'c=d', undefined]);
  t.equal((await httpGet(s, '/inside')).status, 404);
  for (const [path, ...wanted] of [
    ['/expires', 'kept', 'MISS'],
    ['/expires', 'kept', 'HIT'],
    ['/piecemeal', 'not kept', 'MISS'],
    ['/piecemeal', 'not kept', 'MISS'],
  ] as const) {
    const got = await httpGet(s, path);
    t.strictSame([got.text, got.header('x-cache')], wanted);
    t.notOk(got.header('x-accel-expires') ?? got.header('x-accel-limit-rate') ?? got.header('x-accel-buffering'));
  }
});

t.test('responses that break the rules', async (t) => {
  const app = await startFastcgi(t, ({ param }, reply) => {
    switch (param('REQUEST_URI')) {
      case '/version':
        reply.socket.end('HTTP/1.1 200 OK\r\n\r\n');
        break;
      case '/end':
        reply.finish();
        break;
      case '/closed':
        reply.record(6, '');
        reply.finish();
        break;
      case '/nothing':
        reply.socket.end();
        break;
      case '/header':
        return 'bad\0header: 1\r\n\r\n';
      case '/status':
        return text('', 'Status: none\r\n');
      case '/big':
        return text('', `X-Big: ${'x'.repeat(9000)}\r\n`);
      case '/type':
        reply.record(5, 'no answer');
        break;
      case '/high':
        reply.socket.end('\x01\x06\x02\x01\0\0\0\0', 'latin1');
        break;
      case '/low':
        reply.socket.end('\x01\x06\0\x02\0\0\0\0', 'latin1');
        break;
      case '/ends':
        reply.stdout(text('short', 'Content-Length: 100\r\n'));
        reply.finish();
        break;
      case '/broken':
        reply.stdout(text('short', 'Content-Length: 100\r\n'));
        reply.socket.end('\x02', 'latin1');
        break;
      default:
        return { stdout: text('short', 'Content-Length: 100\r\n') };
    }
    return undefined;
  });
  const s = await startServer(t, {
    conf: serverConf(`fastcgi_param REQUEST_URI $uri; location / { fastcgi_pass 127.0.0.1:${app.port}; }`),
  });
  const cases: readonly (readonly [string, string])[] = [
    ['/version', 'upstream sent unsupported FastCGI protocol version: 72'],
    ['/end', 'upstream sent unexpected FastCGI record: 3'],
    ['/closed', 'upstream prematurely closed FastCGI stdout'],
    ['/nothing', 'upstream prematurely closed connection'],
    ['/header', 'upstream sent invalid header: "bad\\x00..."'],
    ['/status', 'upstream sent invalid status "none"'],
    ['/big', 'upstream sent too big header'],
    ['/type', 'upstream sent invalid FastCGI record type: 5'],
    ['/high', 'upstream sent unexpected FastCGI request id high byte: 2'],
    ['/low', 'upstream sent unexpected FastCGI request id low byte: 2'],
  ];
  for (const [path, message] of cases) {
    t.equal((await httpGet(s, path)).status, 502, path);
    await s.logged(`${message} while reading response header from upstream`);
  }
  for (const [path, message] of [
    ['/short', 'upstream prematurely closed FastCGI stdout'],
    ['/ends', 'upstream prematurely closed FastCGI request'],
    ['/broken', 'upstream sent unsupported FastCGI protocol version: 2'],
  ] as const) {
    await http(s, requestText('GET', path)).catch(() => undefined);
    await s.logged(new RegExp(`${message} while reading upstream, .* "GET ${path} `));
  }
});

t.test('a body behind a head that has none is warned of', async (t) => {
  const app = await startFastcgi(t, ({ param }, reply) => {
    const [status, how] = param('URI')!.split('/').at(-1)!.split('-');
    const head = `Status: ${status}${how === 'bare' ? '' : ' X'}\r\nX-A: b\r\n\r\n`;
    // The records of one answer come together.
    reply.socket.cork();
    reply.stdout(how === 'same' || how === 'bare' ? `${head}hello` : head);
    reply.stderr(how === 'error' ? 'hello' : '');
    reply.stdout(how === 'apart' ? 'hello' : '');
    reply.finish();
    reply.socket.uncork();
    return undefined;
  });
  const s = await startServer(t, {
    conf: serverConf(
      `fastcgi_param URI $uri; location / { fastcgi_pass 127.0.0.1:${app.port}; }
       location /off/ { fastcgi_buffering off; fastcgi_pass 127.0.0.1:${app.port}; }`,
    ),
  });
  for (const where of ['/', '/off/']) {
    for (const status of [204, 304]) {
      for (const how of ['none', 'error', 'bare', 'same', 'apart']) {
        const path = `${where}${status}-${how}`;
        t.equal((await httpGet(s, path)).header('x-a'), 'b', path);
      }
      for (const how of ['same', 'apart']) {
        await s.logged(
          new RegExp(`\\[warn\\].*upstream sent more data than specified in "Content-Length".*"GET ${where}${status}-${how} `),
        );
      }
    }
  }
  t.notMatch(s.log(), /more data.*"GET [a-z/]*\d+-(none|error|bare)/);
});

t.test('standard error', async (t) => {
  const app = await startFastcgi(t, ({ param }) => ({ stderr: `PHP message: ${param('WHAT')}. \r\n`, stdout: text('fine') }));
  const s = await startServer(t, {
    conf: serverConf(`fastcgi_param WHAT $arg_what; location / { fastcgi_catch_stderr "Fatal"; fastcgi_pass 127.0.0.1:${app.port}; }`),
  });
  t.equal((await httpGet(s, '/?what=Notice')).status, 200);
  await s.logged('FastCGI sent in stderr: "PHP message: Notice" while reading response header from upstream');
  t.equal((await httpGet(s, '/?what=Fatal')).status, 502);
});

t.test('connections are kept', async (t) => {
  const app = await startFastcgi(t, () => text('kept'));
  const s = await startServer(t, {
    conf: serverConf(
      'fastcgi_keep_conn on; location / { fastcgi_pass kept; }',
      `upstream kept { server 127.0.0.1:${app.port}; keepalive 1; }`,
    ),
  });
  for (let i = 0; i < 3; i++) {
    t.equal((await httpGet(s, '/')).text, 'kept');
  }
  t.equal(app.connections(), 1);
  t.ok(app.requests[0]!.keepAlive);
});

t.test('responses are cached', async (t) => {
  const app = await startFastcgi(t, ({ param }) => {
    const body = `range ${param('HTTP_RANGE')}`;
    return text(body, `Cache-Control: max-age=60\r\nContent-Length: ${body.length}\r\n`);
  });
  const s = await startServer(t, {
    conf: serverConf(
      `location / { fastcgi_cache one; fastcgi_cache_key $uri; fastcgi_force_ranges on; add_header X-Cache $upstream_cache_status; fastcgi_pass 127.0.0.1:${app.port}; }`,
      'fastcgi_cache_path %%DIR%%/cache keys_zone=one:1m;',
    ),
  });
  const first = await httpGet(s, '/a');
  t.match([first.text, first.header('x-cache')], ['range undefined', 'MISS']);
  const second = await http(s, requestText('GET', '/a', { Range: 'bytes=0-4' }));
  t.match([second.status, second.text, second.header('x-cache')], [206, 'range', 'HIT']);
  const third = await http(s, requestText('GET', '/b', { Range: 'bytes=6-' }));
  t.match([third.text, app.requests.length], ['undefined', 2], 'the whole is asked for');
});

t.test('fastcgi_param: what no server takes over is not looked at', async (t) => {
  const own = 'server { fastcgi_param A x; }';
  t.equal(await configMessage(t, httpConf('fastcgi_param A $nobodys;')), undefined);
  t.equal(await configMessage(t, httpConf(`fastcgi_param A $$;\n${own}`)), undefined);
  t.equal(await configMessage(t, httpConf('fastcgi_param A $nobodys; server { }')), 'unknown "nobodys" variable');
  t.equal(await configMessage(t, httpConf('server { location / {\nfastcgi_param A $$; } }\n')), 'invalid variable name in %%FILE%%:9');
});
