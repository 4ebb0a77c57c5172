import { createHash } from 'node:crypto';
import { connect as connectHttp2 } from 'node:http2';
import t from 'tap';
import { certs } from '../support/certs.js';
import { type FieldText, Http2Client, request } from '../support/http2-client.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, type Server, serverConf, startServer } from '../support/server.js';
import { keySet, newKey, sharedKey, type TestKey, token } from '../support/tokens.js';

const key = sharedKey('one', 'a secret of thirty-two bytes, or more');
const other = sharedKey('two', 'another one of thirty-two bytes, or more');
const bearer = (by: TestKey, claims: object): Record<string, string> => ({ Authorization: `Bearer ${token(by, claims)}` });
const user = async (s: Server, path: string, by: TestKey, claims: object): Promise<unknown[]> => {
  const { status, text } = await httpGet(s, path, bearer(by, claims));
  return [status, status === 200 ? text : ''];
};

t.test('HTTP/2 over TLS, on one connection, with keys by a subrequest', async (t) => {
  const { rsa } = certs();
  const signer = newKey('k', 'ES256');
  const s = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%% ssl; http2 on; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; root %%DIR%%;
        location / { auth_jwt x; auth_jwt_key_request /keys; auth_jwt_key_cache 1h; try_files /none @ok; }
        location = /keys { internal; try_files /keys.json =404; }
        location @ok { return 200 "$server_protocol $jwt_claim_sub"; } }`,
      'worker_processes 2;',
    ),
    files: { 'keys.json': keySet(signer) },
  });
  const session = connectHttp2(`https://127.0.0.1:${s.port(0)}`, { rejectUnauthorized: false });
  t.teardown(() => session.destroy());
  const ask = (headers: Record<string, string>): Promise<[number, string, string | undefined]> =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ':path': '/x', ...headers });
      let status = 0;
      let challenge: string | undefined;
      let text = '';
      stream.on('response', (head) => {
        status = head[':status'] ?? 0;
        challenge = head['www-authenticate'];
      });
      stream.setEncoding('latin1').on('data', (piece: string) => (text += piece));
      stream.on('end', () => resolve([status, status === 200 ? text : '', challenge])).on('error', reject);
    });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => ask(i % 4 === 3 ? bearer({ ...newKey('k', 'ES256') }, {}) : bearer(signer, { sub: `u${i}` }))),
  );
  for (const [i, answer] of answers.entries()) {
    t.strictSame(answer, i % 4 === 3 ? [401, '', 'Bearer realm="x", error="invalid_token"'] : [200, `HTTP/2.0 u${i}`, undefined], `${i}`);
  }
  t.strictSame(await ask({}), [401, '', 'Bearer realm="x"']);
});

t.test('two tokens in one request of HTTP/2', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`http2 on; auth_jwt x; auth_jwt_key_file keys.json; location / { empty_gif; add_header X-Sub $jwt_claim_sub; }`),
    files: { 'keys.json': keySet(key) },
  });
  const client = await Http2Client.connect(t, s.port(0));
  const good: FieldText = ['authorization', `Bearer ${token(key, { sub: 'me' })}`];
  const bad: FieldText = ['authorization', `Bearer ${token(other, { sub: 'forged' })}`];
  client
    .request(1, request('GET', '/', good))
    .request(3, request('GET', '/', good, bad))
    .request(5, request('GET', '/', bad, good));
  t.equal((await client.response(1)).status, '200');
  t.equal((await client.response(3)).status, '400');
  t.equal((await client.response(5)).status, '400');
});

t.test('satisfy any with other modules, and keys that take their time', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      auth_jwt x; auth_jwt_key_request /keys;
      location / { satisfy any; auth_basic b; auth_basic_user_file users; auth_api_key a; auth_api_key_file api-keys; empty_gif; }
      location /all { auth_basic b; auth_basic_user_file users; auth_jwt x token=$arg_t; empty_gif; }
      location /delayed { auth_delay 100ms; empty_gif; }
      location = /keys { internal; try_files /keys.json =404; root %%DIR%%; }`),
    files: {
      'keys.json': keySet(key),
      users: 'me:{PLAIN}secret\n',
      'api-keys': `shop:${createHash('sha256').update('api key').digest('hex')}\n`,
    },
  });
  const basic = { Authorization: `Basic ${Buffer.from('me:secret').toString('base64')}` };
  const none = await httpGet(s, '/');
  t.equal(none.status, 401);
  t.strictSame(none.head.match(/^WWW-Authenticate: .*/gm), [
    'WWW-Authenticate: Basic realm="b"',
    'WWW-Authenticate: ApiKey realm="a"',
    'WWW-Authenticate: Bearer realm="x"',
  ]);
  for (const headers of [basic, bearer(key, {}), { 'X-API-Key': 'api key' }]) {
    const letIn = await httpGet(s, '/', headers);
    t.equal(letIn.status, 200);
    t.notMatch(letIn.head, 'WWW-Authenticate');
  }
  t.equal((await httpGet(s, '/', bearer(other, {}))).status, 401);
  t.equal((await httpGet(s, `/all?t=${token(key, {})}`, basic)).status, 200);
  t.equal((await httpGet(s, '/all', basic)).status, 401);
  t.equal((await httpGet(s, `/all?t=${token(key, {})}`)).status, 401);
  t.equal((await httpGet(s, '/delayed', bearer(other, {}))).status, 401);
});

t.test('beside auth_request, a cache, JavaScript and a backend', async (t) => {
  let asked = 0;
  const origin = await startOrigin(t, ({ header, target }) => {
    if (target === '/verdict') {
      return { status: header('X-User') === 'blocked' ? 403 : 204 };
    }
    asked++;
    return { headers: { 'Cache-Control': 'max-age=100' }, body: `page for ${header('X-User')}, ${header('Authorization') ?? 'no token'}` };
  });
  const s = await startServer(t, {
    conf: serverConf(
      `
      auth_jwt x; auth_jwt_key_file keys.json;
      proxy_set_header X-User $jwt_claim_sub;
      proxy_set_header Authorization "";
      location / { auth_request /verdict; proxy_pass http://127.0.0.1:${origin.port}; }
      location = /verdict { internal; proxy_pass_request_body off; proxy_set_header Content-Length ""; proxy_set_header X-User $jwt_claim_sub; proxy_pass http://127.0.0.1:${origin.port}; }
      location /cached { proxy_cache c; proxy_cache_key $uri$jwt_claim_sub; proxy_pass http://127.0.0.1:${origin.port}; }
      location /shared { proxy_cache c; proxy_pass http://127.0.0.1:${origin.port}; }
      location /js { js_content main.who; }
      location /js-access { js_access main.only; empty_gif; }
      location /login { error_page 401 = @login; empty_gif; }
      location @login { auth_jwt off; proxy_pass http://127.0.0.1:${origin.port}; }`,
      'proxy_cache_path %%DIR%%/cache keys_zone=c:1m; js_import main.js;',
    ),
    files: {
      'keys.json': keySet(key),
      'main.js': `export default {
        who(r) { r.return(200, [r.variables.jwt_claim_sub, r.variables.jwt_header_alg, typeof r.variables.jwt_claim_none].join(' ')); },
        only(r) { if (r.variables.jwt_claim_sub !== 'root') { r.return(403); } },
      };`,
    },
  });
  t.strictSame(await user(s, '/a', key, { sub: 'me' }), [200, 'page for me, no token']);
  t.strictSame(await user(s, '/a', key, { sub: 'blocked' }), [403, '']);
  t.strictSame(await user(s, '/a', other, { sub: 'me' }), [401, '']);
  t.strictSame(await user(s, '/cached/a', key, { sub: 'me' }), [200, 'page for me, no token']);
  t.strictSame(await user(s, '/cached/a', key, { sub: 'you' }), [200, 'page for you, no token']);
  const before = asked;
  t.strictSame(await user(s, '/cached/a', key, { sub: 'me', n: 2 }), [200, 'page for me, no token']);
  t.equal(asked, before, 'from the cache');
  t.strictSame(await user(s, '/shared', key, { sub: 'me' }), [200, 'page for me, no token']);
  t.strictSame(await user(s, '/shared', other, { sub: 'me' }), [401, ''], 'what is cached is not for everybody');
  t.equal((await httpGet(s, '/shared')).status, 401);
  t.strictSame(await user(s, '/js', key, { sub: 'me' }), [200, 'me HS256 undefined']);
  t.strictSame(await user(s, '/js', other, { sub: 'me' }), [401, '']);
  t.equal((await httpGet(s, '/js-access', bearer(key, { sub: 'root' }))).status, 200);
  t.equal((await httpGet(s, '/js-access', bearer(key, { sub: 'me' }))).status, 403);
  t.equal((await httpGet(s, '/js-access', bearer(other, { sub: 'root' }))).status, 403, 'js_access comes first, and sees no forged claims');
  t.strictSame(await user(s, '/login', other, { sub: 'forged' }), [200, 'page for , no token'.replace('for ,', 'for undefined,')]);
  const line = await http(s, requestText('GET', '/js', bearer(key, { sub: 'a\r\nX-Injected: 1' })));
  t.equal(line.header('X-Injected'), undefined);
  const injected = await user(s, '/a', key, { sub: 'a\r\nX-User: root\r\n\r\nGET /evil HTTP/1.1\r\nHost: x' });
  t.strictSame(injected, [200, 'page for a  X-User: root    GET /evil HTTP/1.1  Host: x, no token']);
  t.notOk(origin.requests.some(({ target }) => target === '/evil'));
});

t.test('a kept connection over a reload, half-read bodies, clients that leave', async (t) => {
  let release: (() => void) | undefined;
  const origin = await startOrigin(t, async ({ target }) => {
    if (target === '/slow') {
      await new Promise<void>((resolve) => (release = resolve));
    }
    return { body: keySet(key) };
  });
  const s = await startServer(t, {
    conf: serverConf(`
      location / { auth_jwt x; auth_jwt_key_file keys.json; try_files /none @ok; }
      location /slow { auth_jwt x; auth_jwt_key_request /slow-keys; auth_jwt_key_cache 1h; try_files /none @ok; }
      location = /slow-keys { internal; proxy_pass http://127.0.0.1:${origin.port}/slow; }
      location @ok { return 200 "$jwt_claim_sub"; }`),
    files: { 'keys.json': keySet(key) },
  });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/', { ...bearer(key, { sub: 'a' }), Connection: 'keep-alive' }));
  t.equal((await client.response()).text, 'a');
  await s.write('keys.json', keySet(other));
  client.send(requestText('GET', '/', { ...bearer(key, { sub: 'a' }), Connection: 'keep-alive' }));
  t.equal((await client.response()).status, 401, 'the next request of the connection has the new keys');
  client.send(requestText('POST', '/', { ...bearer(key, { sub: 'a' }) }, 'x'.repeat(100_000)), 'POST');
  t.equal((await client.response()).status, 401, 'the body of a refused request is dropped');
  client.send(requestText('GET', '/', { ...bearer(other, { sub: 'b' }), Connection: 'keep-alive' }));
  t.equal((await client.response()).text, 'b');
  // A client that leaves while the keys are on their way does not keep others from them.
  const leaving = await RawClient.connect(s);
  leaving.send(requestText('GET', '/slow', bearer(key, { sub: 'gone' })));
  await origin.received(1);
  leaving.socket.resetAndDestroy();
  await s.accessLogged(/GET \/slow .* 499 /);
  const staying = await RawClient.connect(s);
  staying.send(requestText('GET', '/slow', bearer(key, { sub: 'here' })));
  await origin.received(2);
  release!();
  t.equal((await staying.response()).text, 'here');
  t.strictSame(await user(s, '/slow', key, { sub: 'kept' }), [200, 'kept']);
  await s.reload();
  t.strictSame(await user(s, '/', other, { sub: 'c' }), [200, 'c']);
});

t.test('tunnels', async (t) => {
  const origin = await startOrigin(t, 'x');
  const s = await startServer(t, {
    conf: serverConf(`auth_jwt "tunnels"; auth_jwt_key_file keys.json; location / { tunnel_pass; } `),
    files: { 'keys.json': keySet(key) },
  });
  const ask = async (headers: string): Promise<string> => {
    const client = await RawClient.connect(s);
    client.send(`CONNECT 127.0.0.1:${origin.port} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`, 'CONNECT');
    const head = await client.until('\r\n\r\n');
    client.socket.destroy();
    return head;
  };
  t.match(await ask(''), /^HTTP\/1\.1 407 [\s\S]*Proxy-Authenticate: Bearer realm="tunnels"\r\n/);
  t.match(await ask(`Authorization: Bearer ${token(key, {})}\r\n`), /^HTTP\/1\.1 407 /);
  t.match(await ask(`Proxy-Authorization: Bearer ${token(key, {})}\r\n`), /^HTTP\/1\.1 200 /);
});
