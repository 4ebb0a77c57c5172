import { readFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { Http2Client, request } from '../support/http2-client.js';
import { startOrigin } from '../support/origin.js';
import { exchange, http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

t.test('a large first piece goes to the client and not to a temporary file', async (t) => {
  const body = 'x'.repeat(60_000);
  const origin = await startOrigin(t, `HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n${body}`);
  const s = await startServer(t, {
    conf: serverConf(`location / { proxy_pass http://127.0.0.1:${origin.port}; proxy_buffer_size 1k; proxy_buffers 4 1k; }`),
  });
  t.equal((await httpGet(s, '/')).text, body);
  t.notMatch(s.log(), /buffered to a temporary file/);
});

t.test('what a silent backend left in the buffer is lost', async (t) => {
  const origin = await startOrigin(t, async (_request, reply) => {
    await reply.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbeginning');
    await reply.gone();
    return undefined;
  });
  const s = await startServer(t, {
    conf: serverConf(`
      proxy_read_timeout 1s;
      location / { proxy_pass http://127.0.0.1:${origin.port}; }
      location /unbuffered { proxy_pass http://127.0.0.1:${origin.port}; proxy_buffering off; }`),
  });
  t.equal((await httpGet(s, '/')).text, '');
  t.ok(await s.logged(/upstream timed out \(110: Connection timed out\) while reading upstream/));
  t.equal((await httpGet(s, '/unbuffered')).text, 'beginning');
});

t.test('an `if` without a backend after one with a backend', async (t) => {
  const origin = await startOrigin(t, { body: 'answer' });
  const s = await startServer(t, {
    conf: serverConf(`
      location / {
        set $true 1;
        if ($true) { proxy_pass http://127.0.0.1:${origin.port}; }
        if ($arg_none) { set $x 1; }
      }`),
    expectAlerts: /no upstream configuration/,
  });
  t.equal((await httpGet(s, '/')).text, 'answer');
  t.equal((await httpGet(s, '/?none=1')).status, 500);
  t.ok(await s.logged(/\[alert\].* no upstream configuration/));
});

const CLOSE = { Connection: 'close' };

t.test('a body that breaks off ends without its end', async (t) => {
  const origin = await startOrigin(t, async ({ target }, reply) => {
    const chunked = target.startsWith('/chunked');
    await reply.write(
      chunked
        ? 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'
        : 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello',
    );
    return target.endsWith('reset') ? reply.reset() : reply.end();
  });
  const s = await startServer(t, {
    conf: serverConf(
      `location / { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_pass http://127.0.0.1:${origin.port}; }`,
    ),
  });
  for (const path of ['/length', '/length-reset', '/chunked', '/chunked-reset']) {
    const answer = await exchange(s, requestText('GET', path, CLOSE));
    t.match(answer, /^HTTP\/1.1 200 /, path);
    t.match(answer, 'hello', path);
    t.notMatch(answer, /\r\n0\r\n\r\n$/, path);
  }
  // Which of the two, and while doing what, is a matter of what the kernel has told when.
  const line =
    /(upstream prematurely closed connection|recv\(\) failed \(104: Connection reset by peer\)) while (reading upstream|sending to client)/;
  t.ok(await s.logged(line));
});

for (const engine of ['auto', 'libuv']) {
  t.test(`what was said before the body broke reaches a client over TLS, net_engine ${engine}`, async (t) => {
    const head = 'HTTP/1.1 400 Bad\r\nETag: "head"\r\nTransfer-Encoding: chunked\r\n\r\n';
    const origin = await startOrigin(t, async (_request, reply) => {
      await reply.write(`HTTP/1.1 102 Processing\r\n\r\n${head}5\r\nhello\r\nnonsense\r\n`);
      return reply.end();
    });
    const { cert, key } = certs().ecdsa;
    const s = await startServer(t, {
      conf: `net_engine ${engine};\n${serverConf(
        `
        listen 127.0.0.1:%%PORT_1%% ssl;
        ssl_certificate ${cert};
        ssl_certificate_key ${key};
        location / { proxy_cache zone; proxy_cache_valid any 1m; proxy_pass http://127.0.0.1:${origin.port}; }`,
        'proxy_cache_path %%DIR%%/cache keys_zone=zone:1m;',
      )}`,
    });
    for (const secure of [false, true]) {
      const answer = await exchange(s.port(secure ? 1 : 0), requestText('HEAD', '/'), secure ? { tls: {} } : {});
      t.match(answer, /^HTTP\/1.1 102 [\s\S]*\r\n\r\nHTTP\/1.1 400 [\s\S]*\r\nETag: "head"\r\n/, secure ? 'TLS' : 'plain');
    }
  });
}

t.test('garbage, broken chunks and too many headers', async (t) => {
  const origin = await startOrigin(t, '');
  const s = await startServer(t, {
    conf: serverConf(`location / { proxy_http_version 1.1; proxy_pass http://127.0.0.1:${origin.port}; }`),
  });
  const answer = async (text: string): Promise<string> => {
    origin.answer((_request, reply) => reply.end(text));
    return exchange(s, requestText('GET', '/', CLOSE)).catch((error: Error) => error.message);
  };
  t.match(await answer('garbage\r\nwithout sense\r\n\r\n'), /^garbage\r\nwithout sense/);
  t.ok(await s.logged(/upstream sent no valid HTTP\/1.0 header while reading response header from upstream/));
  t.match(await answer(`HTTP/1.1 200 OK\r\n${'X-Header: value\r\n'.repeat(1000)}\r\nbody`), /^HTTP\/1.1 502 /);
  t.ok(await s.logged(/upstream sent too big header while reading response header from upstream/));
  t.notMatch(await answer('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n'), /hello/);
  t.ok(await s.logged(/upstream sent invalid chunked response/));
  // However what stood before the broken chunk came, the client gets it, and no end.
  const cut = await answer('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n');
  t.match(cut, /^HTTP\/1.1 200 OK\r\n[\s\S]*\r\n\r\n5\r\nhello\r\n$/);
});

t.test('a backend without a status line is logged unless a cache was asked', async (t) => {
  const origin = await startOrigin(t, (_request, reply) => reply.end('no head\r\n'));
  const s = await startServer(t, {
    conf: serverConf(
      `location / { proxy_cache $arg_zone; proxy_cache_valid any 1h; proxy_pass http://127.0.0.1:${origin.port}; }`,
      "proxy_cache_path %%DIR%%/cache keys_zone=c:1m; log_format m '$uri $upstream_status'; access_log %%DIR%%/status.log m;",
    ),
  });
  await exchange(s, requestText('GET', '/asked?zone=c', CLOSE));
  for (const [method, target] of [
    ['POST', '/post?zone=c'],
    ['GET', '/none?zone=off'],
  ] as const) {
    await exchange(s, requestText(method, target, CLOSE));
    t.ok(await s.logged(new RegExp(`upstream sent no valid HTTP/1.0 header .*"${method} /`)), target);
  }
  const statuses = (): string => s.read('status.log');
  await waitFor(() => statuses().includes('/none'), { what: statuses });
  t.equal(statuses(), '/asked -\n/post 200\n/none 200\n');
  t.notMatch(readFileSync(`${s.dir}/error.log`, 'utf8'), /no valid HTTP\/1.0 header .*\/asked/);
});

t.test('a response without a status line, and what is put in its place, ends with its connection', async (t) => {
  const origin = await startOrigin(t, (_request, reply) => reply.end('no head\r\n'));
  const s = await startServer(t, {
    conf: serverConf(`
      location /test { image_filter test; proxy_pass http://127.0.0.1:${origin.port}; }
      location /size { image_filter size; proxy_pass http://127.0.0.1:${origin.port}; }
      location / { proxy_pass http://127.0.0.1:${origin.port}; }`),
  });
  const ask = async (method: string, target: string): Promise<string> => {
    const client = await RawClient.connect(s);
    return await client.send(requestText(method, target)).rest();
  };
  t.match(await ask('GET', '/test'), /^<html>[\s\S]*415 Unsupported Media Type[\s\S]*<\/html>\r\n$/);
  if (!againstNginx) {
    // nginx keeps these connections, and their clients wait.
    t.equal(await ask('GET', '/size'), '{}\r\n');
    t.equal(await ask('GET', '/'), 'no head\r\n');
    t.equal(await ask('HEAD', '/'), '');
  }
});

t.test('over HTTP/2 a backend without a status line, or with one below 100', async (t) => {
  const bodies: Record<string, string> = {
    '/none': 'bytes without a head\r\n',
    '/zero': 'HTTP/1.1 000 Zero\r\nContent-Length: 4\r\n\r\nzero',
    '/low': 'HTTP/1.1 099 Low\r\nContent-Length: 3\r\n\r\nlow',
    '/zero-cached': 'HTTP/1.1 000 Zero\r\nContent-Length: 4\r\n\r\nzero',
  };
  const origin = await startOrigin(t, ({ target }, reply) => reply.end(bodies[target] ?? 'HTTP/1.1 200 OK\r\n\r\nfine'));
  const s = await startServer(t, {
    conf: serverConf(
      `http2 on; error_page 502 /failed; location /failed { return 502 "failed"; }
      location / { proxy_http_version 1.1; proxy_pass http://127.0.0.1:${origin.port}; }
      location /zero-cached { proxy_cache c; proxy_cache_valid any 1h; proxy_pass http://127.0.0.1:${origin.port}; }
      location /ssi { ssi on; ssi_types *; return 200 '<!--# include virtual="/none" -->|'; }`,
      'proxy_cache_path %%DIR%%/cache keys_zone=c:1m;',
    ),
  });
  for (const path of Object.keys(bodies)) {
    await exchange(s, requestText('GET', path, CLOSE));
  }
  const client = await Http2Client.connect(t, s.port(0));
  let id = 1;
  for (const path of Object.keys(bodies)) {
    const { status, body } = await client.request(id, request('GET', path)).response(id);
    t.equal(status, '502', path);
    t.match(body, /^(failed)?$/, path);
    id += 2;
  }
  t.equal((await client.request(id, request('GET', '/fine')).response(id)).body, 'fine', 'the connection goes on');
  id += 2;
  t.match(
    (await client.request(id, request('GET', '/ssi')).response(id)).body,
    'bytes without a head',
    'in another response it needs no status',
  );
  t.ok(await s.logged(/upstream sent no valid HTTP\/1.0 header, which HTTP\/2 cannot pass on/));
  t.ok(await s.logged(/upstream sent a status below 100, which HTTP\/2 cannot pass on/));
});

t.test('a kept connection that the backend closes as the next request leaves', async (t) => {
  const origin = await startOrigin(t, ({ target, nth }, reply) => {
    if (nth === 1) {
      return { body: target };
    }
    return reply.end();
  });
  const s = await startServer(t, {
    conf: serverConf(
      'location / { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://group; }',
      `upstream group { server 127.0.0.1:${origin.port}; keepalive 4; }`,
    ),
  });
  t.equal((await httpGet(s, '/first')).text, '/first');
  t.equal((await httpGet(s, '/second')).text, '/second', 'asked again on a new connection');
  t.equal(origin.connections(), 2);
  t.equal((await http(s, requestText('POST', '/third', CLOSE, 'body'))).status, 502, 'not asked again: it may have had effect');
  t.ok(await s.logged(/upstream prematurely closed connection while reading response header from upstream.*"POST \/third /));
});

t.test('another backend is asked only where nginx asks it', async (t) => {
  const broken = await startOrigin(t, (_request, reply) => reply.reset());
  const good = await startOrigin(t, { body: 'good' });
  const s = await startServer(t, {
    conf: serverConf(
      `
      location / { proxy_pass http://reset; }
      location /refused { proxy_pass http://refused; }
      location /repeat { proxy_next_upstream error non_idempotent; proxy_pass http://reset; }
      location /never { proxy_next_upstream off; proxy_pass http://reset; }
      location /once { proxy_next_upstream_tries 1; proxy_pass http://reset; }`,
      `upstream reset { server 127.0.0.1:${broken.port} weight=100 max_fails=0; server 127.0.0.1:${good.port}; }
      upstream refused { server 127.0.0.1:1 weight=100 max_fails=0; server 127.0.0.1:${good.port}; }`,
    ),
  });
  const post = async (path: string): Promise<number> => (await http(s, requestText('POST', path, CLOSE, 'body'))).status;
  t.equal((await httpGet(s, '/')).text, 'good');
  t.equal(await post('/'), 502);
  t.equal(await post('/refused'), 200, 'nothing had been sent');
  t.equal(await post('/repeat'), 200);
  t.equal((await httpGet(s, '/never')).status, 502);
  t.equal((await httpGet(s, '/once')).status, 502);
});

t.test('a download under way survives a reload', async (t) => {
  const body = 'x'.repeat(50_000);
  let goOn = (): void => {};
  const reloaded = new Promise<void>((done) => (goOn = done));
  const origin = await startOrigin(t, async (_request, reply) => {
    await reply.write(`HTTP/1.1 200 OK\r\nContent-Length: ${2 * body.length}\r\n\r\n${body}`);
    await reloaded;
    return reply.end(body);
  });
  const conf = (text: string): string =>
    serverConf(`location / { proxy_pass http://127.0.0.1:${origin.port}; } location /text { return 200 ${text}; }`);
  const s = await startServer(t, { conf: conf('old') });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/', CLOSE));
  await client.until('x'.repeat(40_000));
  await s.reload(conf('new'));
  t.equal((await httpGet(s, '/text')).text, 'new');
  goOn();
  t.equal((await client.response()).text.length, 2 * body.length);
});
