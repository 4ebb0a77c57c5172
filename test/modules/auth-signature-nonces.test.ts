import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { block, END_HEADERS, END_STREAM, request as fieldsOf, frame, Http2Client, T } from '../support/http2-client.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { startRedis, withoutEngine } from '../support/redis.js';
import { testConfig } from '../support/run-cli.js';
import { serverConf, startServer } from '../support/server.js';
import { signed } from '../support/signatures.js';
import { keySet, newKey, sharedKey } from '../support/tokens.js';
import { waitFor } from '../support/wait.js';

const SHOP = sharedKey('shop', 'a secret of thirty-two letters..');
const BANK = newKey('bank', 'EdDSA');
const now = (): number => Math.floor(Date.now() / 1000);

t.test('a nonce is used once', async (t) => {
  const origin = await startOrigin(t, ({ body }) => ({ body: `got ${body.length}` }));
  const { rsa } = certs();
  const s = await startServer(t, {
    conf: serverConf(
      `listen 127.0.0.1:%%PORT_1%% ssl; http2 on; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
      error_log %%DIR%%/error.log info; auth_signature api; auth_signature_key_file keys; auth_signature_nonce_zone nonces;
      location / { proxy_pass http://127.0.0.1:${origin.port}; proxy_request_buffering off; proxy_http_version 1.1; }
      location /inner { try_files /none /other/index; }
      location /other { auth_signature_max_age 100s; proxy_pass http://127.0.0.1:${origin.port}; }
      location /full { auth_signature_nonce_zone tiny; empty_gif; }`,
      'keyval_zone zone=nonces:1m timeout=1h; keyval_zone zone=tiny:32k;',
    ).replace('worker_processes 1', 'worker_processes 2'),
    files: { keys: keySet(SHOP, BANK) },
  });
  const send = async (headers: Record<string, string>, body = '', path = '/', method = body === '' ? 'GET' : 'POST') => {
    const { status, text } = await http(s, requestText(method, path, { ...headers, Connection: 'close' }, body));
    return status === 200 ? text : status;
  };
  const body = 'pay=5';
  const post = signed(SHOP, { method: 'POST', path: '/', body });
  t.equal(await send(post, 'pay=6'), 401);
  t.equal(await send(post, body), 'got 5', 'a request that was changed has not used the nonce up');
  t.equal(await send(post, body), 401);
  t.equal(await send(post, body), 401);
  await s.logged(/the signature is refused: its nonce came a second time/);
  t.equal(await send(signed(SHOP, { path: '/', params: { nonce: undefined } })), 401);
  t.equal(await send(signed(SHOP, { path: '/', params: { nonce: '' } })), 401);
  t.equal(await send(signed(SHOP, { path: '/', params: { nonce: 'n' } })), 'got 0');
  t.equal(
    await send(signed(SHOP, { path: '/', params: { nonce: 'n', created: now() - 5 } })),
    401,
    'another signature with the same nonce',
  );
  t.equal(await send(signed(BANK, { path: '/', params: { nonce: 'n' } })), 'got 0', 'another key has its own');
  t.equal(await send(signed(SHOP, { path: '/', params: { nonce: 'x'.repeat(257) } })), 401);
  t.equal(await send(signed(SHOP, { path: '/inner' }), '', '/inner'), 'got 0', 'asked twice inside the server');
  // All at once, with two workers: one of them is the first.
  const same = signed(SHOP, { method: 'POST', path: '/', body });
  const outcomes = await Promise.all(Array.from({ length: 16 }, () => send(same, body)));
  t.strictSame(
    outcomes.filter((one) => one !== 401),
    ['got 5'],
  );
  let full: unknown = 200;
  for (let i = 0; i < 2000 && full !== 503; i++) {
    full = (await httpGet(s, '/full', signed(SHOP, { path: '/full' }))).status;
  }
  t.equal(full, 503, 'without room nobody gets in');
  await s.logged(/keyval zone "tiny" has no room for the nonce of a signature/);

  await t.test('over HTTP/2', async (t: Test) => {
    const client = await Http2Client.connect(t, s.port(1), { tls: true });
    let id = -1;
    const ask = async (headers: Record<string, string>, method = 'GET', sent?: string) => {
      id += 2;
      const fields = fieldsOf(method, '/', ...Object.entries(headers)).map(
        ([name, value]) => [name, name === ':scheme' ? 'https' : value] as const,
      );
      client.socket.write(frame(T.HEADERS, END_HEADERS | (sent === undefined ? END_STREAM : 0), id, block(fields)));
      if (sent !== undefined) {
        client.socket.write(frame(T.DATA, END_STREAM, id, sent));
      }
      const { status, body } = await client.response(id);
      return String(status) === '200' ? body.toString() : Number(status);
    };
    t.equal(
      await ask(signed(SHOP, { path: '/', components: ['@method', '@target-uri'], values: { '"@target-uri"': 'https://localhost/' } })),
      'got 0',
    );
    const two = signed(SHOP, { path: '/', method: 'POST', body });
    t.equal(await ask(two, 'POST', 'pay=6'), 401);
    t.equal(await ask(two, 'POST', body), 'got 5');
    t.equal(await ask(two, 'POST', body), 401);
    t.equal(await ask(signed(SHOP, { path: '/', method: 'POST' }), 'POST', body), 401);
    t.equal(await ask(signed(SHOP, { path: '/', components: ['@method', '@target-uri'] })), 401, 'another scheme');
    client.socket.destroy();
  });
  t.notMatch(s.log(), /\[(alert|crit|emerg)\]/);
});

t.test('what directives take', async (t) => {
  const message = (lines: string, http = ''): Promise<string | undefined> => configMessage(t, serverConf(lines, http));
  t.equal(await message('auth_signature x; auth_signature_key_file k; auth_signature_nonce_zone off; auth_signature_leeway 0;'), undefined);
  t.match((await testConfig(t, serverConf('location / { auth_signature x; }'))).stderr, '"auth_signature" without keys refuses everybody');
  t.match(await message('auth_signature x; auth_signature y;'), '"auth_signature" directive is duplicate');
  t.match(await message('auth_signature_components @nothing;'), 'invalid component "@nothing"');
  t.match(await message('auth_signature_components Date;'), 'invalid component "Date"');
  t.match(await message('auth_signature_components date date;'), 'invalid component "date"');
  t.match(await message('auth_signature_max_age 0;'), 'a signature must hold for some time');
  t.match(await message('auth_signature_max_age x;'), 'invalid value');
  t.match(await message('auth_signature_tag é;'), 'invalid tag');
  t.match(await message('auth_signature_key_file $x;'), 'invalid file');
  t.match(
    await message(
      'location / { auth_signature x; auth_signature_key_file k; auth_signature_nonce_zone z; }',
      'keyval_zone zone=z:1m type=ip;',
    ),
    'must be of type "string"',
  );
  t.match(
    await message('location / { auth_signature x; auth_signature_key_zone z; auth_signature_nonce_zone z; }', 'keyval_zone zone=z:1m;'),
    'cannot hold keys and nonces',
  );
});

t.test('the program of the guide', async (t) => {
  const guide = readFileSync('docs/guides/signed-requests.md', 'utf8');
  const [, keys] = /```json\n([\s\S]*?)```/.exec(guide)!;
  const [, program] = /```js\n([\s\S]*?)```/.exec(guide)!;
  const s = await startServer(t, {
    conf: serverConf(
      'location /orders { auth_signature orders; auth_signature_key_file signers.jwks; auth_signature_nonce_zone nonces; empty_gif; error_page 405 =200 @in; } location @in { return 200; }',
      'keyval_zone zone=nonces:1m;',
    ),
    files: { 'signers.jwks': keys! },
  });
  const run = (text: string) => promisify(execFile)(process.execPath, ['--input-type=module', '-e', text]);
  const here = program!.replace('127.0.0.1:8080', `127.0.0.1:${s.port(0)}`);
  t.equal((await run(here)).stdout, '200\n');
  t.equal((await run(here.replace("'base64url'", "'hex'"))).stdout, '401\n');
});

t.test('machines of a fleet tell each other of nonces', { skip: againstNginx ? 'ours' : withoutEngine }, async (t) => {
  const redis = await startRedis(t);
  const start = (node: string) =>
    startServer(t, {
      conf: serverConf(
        'location / { auth_signature x; auth_signature_key_file keys; auth_signature_nonce_zone all; empty_gif; } location /api { api; }',
        'keyval_zone zone=all:1m timeout=1h sync;',
      ).replace('events', `shared_store fleet { server 127.0.0.1:${redis.port}; node ${node}; }\nevents`),
      files: { keys: keySet(SHOP) },
    });
  const [one, two] = [await start('one'), await start('two')];
  await Promise.all([one, two].map((s) => s.logged('shared store "fleet" is connected')));
  const request = signed(SHOP, { path: '/' });
  t.equal((await httpGet(one, '/', request)).status, 200);
  await waitFor(async () => (await httpGet(two, '/api/9/http/keyvals/all')).text.length > 5, { what: 'the nonce on the other machine' });
  t.equal((await httpGet(two, '/', request)).status, 401);
  t.equal((await httpGet(two, '/', signed(SHOP, { path: '/' }))).status, 200);
});
