import t from 'tap';
import { certs, pem } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { httpGet } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { keySet, sharedKey, type TestKey, token } from '../support/tokens.js';
import { waitFor } from '../support/wait.js';

const one = sharedKey('one', 'a secret of thirty-two bytes, or more');
const two = sharedKey('two', 'another one of thirty-two bytes, or more');
const ask = async (s: Server, key: TestKey, path = '/'): Promise<number> =>
  (await httpGet(s, path, { Authorization: `Bearer ${token(key, { sub: 'me' })}` })).status;
const OK = 'location @ok { auth_jwt off; return 200 ok; }';

t.test('keys at a URL: rotated, wrong, gone', async (t) => {
  let answer: { status?: number; body: string } = { body: keySet(one) };
  let asked = 0;
  const origin = await startOrigin(t, ({ header, target }) => {
    asked++;
    t.equal(target, '/keys?x=1');
    t.equal(header('User-Agent'), 'sluice');
    t.equal(header('Authorization'), undefined);
    return answer;
  });
  const s = await startServer(t, {
    conf: serverConf(`
      auth_jwt x; auth_jwt_key_url http://127.0.0.1:${origin.port}/keys?x=1 refresh=1s;
      location / { try_files /none @ok; }
      location /limited { limit_except GET { deny all; } try_files /none @ok; }
      ${OK}`),
  });
  t.equal(await ask(s, one), 200, 'the first request may have to wait');
  t.equal(await ask(s, two), 401);
  t.equal(await ask(s, one, '/limited'), 200);
  answer = { body: keySet(two) };
  await waitFor(async () => (await ask(s, two)) === 200);
  t.equal(await ask(s, one), 401, 'the old key is no longer good');
  for (const bad of [{ status: 503, body: '' }, { status: 302, body: '' }, { body: '{' }, { body: '{"keys":1}' }]) {
    answer = bad;
    const before = asked;
    await waitFor(() => asked >= before + 2);
    t.equal(await ask(s, two), 200, `the last good set stays: ${JSON.stringify(bad)}`);
  }
  await origin.stop();
  await s.logged(/connect\(\) failed .* while getting the JSON Web Key Set/);
  t.equal(await ask(s, two), 200);
  t.match(s.log(), /JSON Web Key Set ".*" could not be had: unexpected status: 503; the last one stays/);
  await s.reload();
  t.equal(await ask(s, two), 200, 'a new worker takes over what others had');
  t.equal(await ask(s, one), 401);
  await s.stop();
  await s.start();
  t.equal(await ask(s, two), 500, 'a new server has none as long as nobody gives it one');
});

t.test('keys over TLS', async (t) => {
  const { ca, rsa } = certs();
  const origin = await startOrigin(t, { body: keySet(one) }, { tls: { cert: pem(rsa.cert), key: pem(rsa.key) } });
  const s = await startServer(t, {
    conf: serverConf(`
      auth_jwt x;
      location / { auth_jwt_key_url https://localhost:${origin.port}/keys trusted_certificate=ca.pem; try_files /none @ok; }
      location /untrusted { auth_jwt_key_url https://localhost:${origin.port}/keys; try_files /none @ok; }
      location /other-name { auth_jwt_key_url https://127.0.0.9:${origin.port}/keys trusted_certificate=ca.pem; try_files /none @ok; }
      ${OK}`),
    files: { 'ca.pem': pem(ca.cert) },
  });
  t.equal(await ask(s, one), 200);
  t.equal(await ask(s, one, '/untrusted'), 500);
  t.equal(await ask(s, one, '/other-name'), 500);
  // A worker that starts has what was kept for it, before it asks.
  await s.reload();
  t.equal(await ask(s, one), 200);
  t.equal(await ask(s, one, '/untrusted'), 500, 'not what a location got that trusts the server');
});

t.test('configurations', async (t) => {
  const message = (text: string) => configMessage(t, serverConf(text));
  t.equal(await message('auth_jwt_key_url ftp://a/;'), 'invalid URL "ftp://a/" in %%FILE%%:11');
  t.equal(await message('auth_jwt_key_url https://$host/;'), 'invalid URL "https://$host/" in %%FILE%%:11');
  t.equal(await message('auth_jwt_key_url https://user@host/;'), 'invalid URL "https://user@host/" in %%FILE%%:11');
  t.equal(await message('auth_jwt_key_url https://a/ refresh=0;'), 'invalid time "refresh=0" in %%FILE%%:11');
  t.equal(await message('auth_jwt_key_url https://a/ verify=off;'), 'invalid parameter "verify=off" in %%FILE%%:11');
  t.match(await message('auth_jwt_key_url https://a/ trusted_certificate=none.pem;'), /none\.pem.*auth_jwt_key_url https:\/\/a\//);
  t.equal(await message('auth_jwt_key_url https://a/ refresh=1h;'), undefined);
});
