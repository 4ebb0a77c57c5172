// Times of more than 24.8 days, which Node's own timers take for a millisecond.
import { createSocket } from 'node:dgram';
import t, { type Test } from 'tap';
import { certs } from '../support/certs.js';
import { startNameServer } from '../support/name-server.js';
import { startOrigin } from '../support/origin.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

/** Asks for a page that is held back for a month, and then for one that is held back for a moment, which comes. */
async function stillWaits(t: Test, s: Server, long: string, short: string, status: number): Promise<void> {
  const client = await RawClient.connect(s);
  client.send(requestText('GET', long));
  for (let i = 0; i < 3; i++) {
    t.equal((await httpGet(s, short)).status, status, short);
  }
  t.equal(client.received, '', `${long} is not answered`);
  t.notOk(client.ended);
  client.destroy();
}

t.test('worker_shutdown_timeout 30d: downloads go on after a reload', async (t) => {
  let finish = (): void => {};
  const origin = await startOrigin(t, async (_, reply) => {
    await reply.write('HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf');
    await new Promise<void>((done) => {
      finish = done;
    });
    await reply.write('done');
    return undefined;
  });
  const conf = `worker_shutdown_timeout 30d;\n${serverConf(`location / { proxy_pass http://127.0.0.1:${origin.port}; proxy_buffering off; } location /ok { return 200; }`)}`;
  const s = await startServer(t, { conf });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/slow'));
  await client.until('half');
  await s.reload();
  await s.logged('gracefully shutting down');
  for (let i = 0; i < 5; i++) {
    t.equal((await httpGet(s, '/ok')).status, 200);
  }
  finish();
  await client.until('halfdone');
});

t.test('auth_delay 30d', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`auth_basic x; auth_basic_user_file %%DIR%%/users;
      location /long { auth_delay 30d; } location /short { auth_delay 20ms; }`),
    files: { users: 'a:{PLAIN}b\n' },
  });
  await stillWaits(t, s, '/long', '/short', 401);
});

t.test('resolver_timeout 30d', async (t) => {
  const silent = createSocket('udp4');
  await new Promise<void>((done) => silent.bind(0, '127.0.0.1', done));
  t.teardown(() => silent.close());
  const s = await startServer(t, {
    conf: serverConf(`resolver 127.0.0.1:${silent.address().port} ipv6=off;
      location /long { resolver_timeout 30d; proxy_pass http://a.test$uri; } location /short { resolver_timeout 20ms; proxy_pass http://b.test$uri; }`),
  });
  await stillWaits(t, s, '/long', '/short', 502);
});

t.test('a name whose addresses hold for a month is asked for once', async (t) => {
  const dns = await startNameServer(t, {
    'long.test': [{ type: 'A', value: '127.0.0.1', ttl: 3_000_000 }],
    'short.test': [{ type: 'A', value: '127.0.0.1', ttl: 1 }],
  });
  await startServer(t, {
    conf: httpConf(`resolver 127.0.0.1:${dns.port} ipv6=off;
      upstream long { zone long 64k; server long.test resolve; }
      upstream valid { zone valid 64k; resolver 127.0.0.1:${dns.port} ipv6=off valid=30d; server valid.test resolve; }
      upstream short { zone short 64k; server short.test resolve; }
      server { listen 127.0.0.1:%%PORT_0%%; location / { proxy_pass http://long; } }`),
  });
  const asked = (name: string): number => dns.questions.filter((question) => question === `A ${name}`).length;
  await waitFor(() => asked('short.test') > 2, { what: 'three questions for the other name' });
  t.equal(asked('long.test'), 1);
  t.equal(asked('valid.test'), 1);
});

t.test('flush=30d', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `location / { access_log %%DIR%%/long.log combined buffer=4k flush=30d; access_log %%DIR%%/short.log combined buffer=4k flush=20ms; return 200; }`,
    ),
  });
  await httpGet(s, '/');
  await waitFor(() => s.read('short.log') !== '', { what: 'the other log' });
  t.equal(s.read('long.log'), '');
  await s.stop('QUIT');
  t.match(s.read('long.log'), 'GET / ');
});

t.test('ssl_session_timeout of more than 68 years', async (t) => {
  const { cert, key } = certs().rsa;
  const s = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%% ssl; ssl_session_timeout 100y; ssl_certificate ${cert}; ssl_certificate_key ${key}; return 200; }`,
    ),
  });
  t.equal((await httpGet(s, '/', {}, { tls: {} })).status, 200);
});
