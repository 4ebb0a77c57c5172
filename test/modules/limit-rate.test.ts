import t from 'tap';
import { whyNoQuic } from '../../src/worker/net/openssl/quic-library.js';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { Http2Client, request } from '../support/http2-client.js';
import { headers } from '../support/http3-frames.js';
import { APPLICATION, frame, QuicClient } from '../support/quic-client.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

t.test('a head longer than what a second lets through comes in pieces, too', async (t) => {
  const long = 'x'.repeat(2000);
  const s = await startServer(t, {
    conf: serverConf(`
      add_header X-A ${long};
      add_header X-B ${long};
      location /slow { limit_rate 3k; return 200 body; }
      location /variable { set $limit_rate 3k; return 200 body; }
      location /after { limit_rate 3k; limit_rate_after 4k; return 200 body; }
      location /file { limit_rate 3k; alias %%DIR%%/html/f; }`),
    files: { 'html/f': 'body' },
  });
  for (const path of ['/slow', '/variable', '/file']) {
    const client = await RawClient.connect(s);
    let pieces = 0;
    client.socket.on('data', () => pieces++);
    const response = await client.send(requestText('GET', path)).response();
    t.strictSame([response.header('x-a'), response.header('x-b'), response.text], [long, long, 'body'], path);
    t.ok(pieces > 1, 'several pieces');
    client.destroy();
  }
  t.equal((await httpGet(s, '/after')).text, 'body');
});

t.test('a rate that is no size is told, and is none', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location /rate { limit_rate $arg_rate; return 200 body; }
      location /after { limit_rate 1m; limit_rate_after $arg_rate; return 200 body; }
      location /backend { proxy_limit_rate $arg_rate; proxy_pass http://127.0.0.1:%%PORT_0%%/text; }
      location /text { return 200 body; }`),
  });
  for (const path of ['/rate', '/after', '/backend']) {
    for (const rate of ['none', '1x', '']) {
      t.equal((await httpGet(s, `${path}?rate=${rate}`)).text, 'body');
      await s.logged(new RegExp(`\\[error\\] .* invalid size "${rate}".* request: "GET ${path.replace('/', '\\/')}`));
    }
  }
});

t.test('a backend gives a rate in X-Accel-Limit-Rate, which counts if it is a number of 64 bits', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location /backend { proxy_pass http://127.0.0.1:%%PORT_0%%/rate$is_args$args; add_header X-Rate $limit_rate; }
      location /rate { add_header X-Accel-Limit-Rate $arg_rate; return 200 body; }`),
  });
  for (const [rate, expected] of [
    ['7000', '7000'],
    ['007000', '7000'],
    ['0', '0'],
    ['9223372036854775808', '0'],
    ['99999999999999999999', '0'],
    ['7k', '0'],
    ['-1', '0'],
  ] as const) {
    t.equal((await httpGet(s, `/backend?rate=${rate}`)).header('x-rate'), expected, rate);
  }
});

t.test('$limit_rate is that of the location once the response is sent, and what is no size is told', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `location / { limit_rate 3m; return 200 "$limit_rate"; }
       location /set { set $limit_rate 5m; return 200 "$limit_rate"; }
       location /bad { set $limit_rate fast; return 200 "$limit_rate"; }`,
      "log_format rate '$uri $limit_rate'; access_log %%DIR%%/rate.log rate;",
    ),
  });
  t.equal((await httpGet(s, '/')).text, '0');
  t.equal((await httpGet(s, '/set')).text, '5242880');
  t.equal((await httpGet(s, '/bad')).text, '0');
  await s.logged('invalid $limit_rate "fast"');
  t.equal(await waitFor(() => s.read('rate.log').includes('/bad') && s.read('rate.log')), '/ 3145728\n/set 5242880\n/bad 0\n');
});

t.test('a rate is looked at for a response without a body, too', async (t) => {
  const s = await startServer(t, { conf: serverConf('location /rate { limit_rate $arg_rate; return 200 body; }') });
  const client = await RawClient.connect(s);
  t.equal((await client.send(requestText('HEAD', '/rate?rate=none')).response()).status, 200);
  await s.logged(/\[error\] .* invalid size "none".* request: "HEAD /);
  client.destroy();
});

t.test('wrong arguments', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['limit_rate x;', '"limit_rate" directive invalid value'],
    ['limit_rate 1; limit_rate 2;', '"limit_rate" directive is duplicate'],
    ['limit_rate_after 1x;', '"limit_rate_after" directive invalid value'],
    ['limit_rate;', 'invalid number of arguments in "limit_rate" directive'],
  ];
  for (const [lines, message] of cases) {
    t.equal(await configMessage(t, httpConf(lines)), `${message} in %%FILE%%:6`, lines);
  }
});

t.test('what is passed on as it comes has no rate', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `location / { limit_rate $arg_rate; proxy_pass http://127.0.0.1:%%PORT_0%%/text; }
       location /at-once { proxy_buffering off; limit_rate $arg_rate; proxy_pass http://127.0.0.1:%%PORT_0%%/text; }
       location /text { return 200 body; }`,
    ),
  });
  t.equal((await httpGet(s, '/at-once?rate=none')).text, 'body');
  t.equal((await httpGet(s, '/?rate=fast')).text, 'body');
  await s.logged('invalid size "fast"');
  t.notMatch(s.log(), /invalid size "none"/, 'nobody looks at it');
  t.equal((await http(s, requestText('HEAD', '/at-once?rate=head', { Connection: 'close' }))).status, 200);
  t.ok(await s.logged('invalid size "head"'), 'a head alone leaves as any other');
});

t.test('a rate is looked at where a body is empty, and over HTTP/3 where there can be none', async (t) => {
  const { rsa } = certs();
  const withQuic = whyNoQuic() === '';
  const s = await startServer(t, {
    conf: httpConf(`
      log_format rate '$request_method $server_protocol $uri "$limit_rate"';
      access_log %%DIR%%/rate.log rate;
      server {
        listen 127.0.0.1:%%PORT_0%%; http2 on;
        ${withQuic ? `listen 127.0.0.1:%%PORT_0%% quic; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};` : ''}
        limit_rate 100k;
        location /body { return 200 body; }
        location /empty { return 200 ''; }
        location /none { return 304; } }`),
  });
  const http2 = await Http2Client.connect(t, s.port(0));
  const http3 = withQuic ? await QuicClient.connect(s.port(0), { protocol: 'h3' }) : undefined;
  t.teardown(() => http3?.close());
  const expected: string[] = [];
  for (const [i, [method, path, rate]] of (
    [
      ['GET', '/body', 102400],
      ['GET', '/empty', 102400],
      ['GET', '/none', 0],
      ['HEAD', '/body', 0],
      ['HEAD', '/empty', 0],
    ] as const
  ).entries()) {
    await http2.request(2 * i + 1, request(method, path)).response(2 * i + 1);
    expected.push(`${method} HTTP/2.0 ${path} "${rate}"`);
    if (http3 !== undefined) {
      const bytes = headers(`:method: ${method}`, ':scheme: https', `:path: ${path}`, ':authority: localhost');
      http3.send(APPLICATION, frame(0x0b, 4 * i, bytes.length, bytes));
      await http3.until(() => http3.streams.get(4 * i)?.end === true);
      expected.push(`${method} HTTP/3.0 ${path} "102400"`);
    }
  }
  const lines = (): string[] => s.read('rate.log').trim().split('\n').sort();
  await waitFor(() => lines().length >= expected.length, { what: () => s.read('rate.log') });
  t.strictSame(lines(), expected.sort());
});
