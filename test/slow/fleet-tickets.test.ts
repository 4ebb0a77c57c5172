import { connect } from 'node:tls';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { KEY, keyFile, OTHER_KEY } from '../support/fleet-keys.js';
import { noQuicClient, quicGet } from '../support/gtlsclient.js';
import { type Redis, startRedis, withoutEngine } from '../support/redis.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx ? 'sluice alone has a shared store' : withoutEngine;

const { rsa } = certs();
const LINES = `ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};`;

const conf = (redis: Redis, timeout: string, keys: string, workers: number): string =>
  httpConf(
    `ssl_session_tickets on sync; ssl_session_timeout ${timeout};
    server { listen 127.0.0.1:%%PORT_0%% ssl; ${noQuicClient ? '' : 'listen 127.0.0.1:%%PORT_0%% quic; ssl_early_data on;'} ${LINES} location / { return 200 "$ssl_session_reused."; } }`,
    `worker_processes ${workers};
    shared_store fleet { server 127.0.0.1:${redis.port}; timeout 2s; ${keys} }
    stream { ssl_session_tickets on sync; ssl_session_timeout ${timeout}; server { listen 127.0.0.1:%%PORT_1%% ssl; ${LINES} return "$ssl_session_reused."; } }`,
  );

async function machine(
  t: Test,
  redis: Redis,
  options: { timeout?: string; keys?: readonly string[]; workers?: number } = {},
): Promise<Server> {
  const { timeout = '5m', keys = [KEY], workers = 2 } = options;
  const lines = keys.map((key) => `encryption_key_file ${keyFile(t, `${key}\n`)};`).join(' ');
  const server = await startServer(t, { conf: conf(redis, timeout, lines, workers) });
  await server.logged('shared store "fleet" is connected');
  return server;
}

/** What a client is told: `r.` where its session went on, `..` where a new one began. */
function visit(
  server: Server,
  port: number,
  maxVersion: 'TLSv1.2' | 'TLSv1.3',
  session?: Buffer,
): Promise<[text: string, session: Buffer]> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      port: server.port(port),
      host: '127.0.0.1',
      rejectUnauthorized: false,
      maxVersion,
      ...(session === undefined ? {} : { session }),
    });
    let got = session ?? Buffer.alloc(0);
    let text = '';
    socket.on('session', (data: Buffer) => (got = data));
    socket.on('data', (data) => (text += data.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => resolve([text.slice(-2), got]));
    socket.on('secureConnect', () => {
      if (port === 0) {
        socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      }
    });
  });
}

/** Waits until sessions that began at one machine go on at another: its workers look for keys once a second. */
const together = (a: Server, b: Server, port = 0) =>
  waitFor(
    async () => {
      const [, session] = await visit(a, port, 'TLSv1.3');
      return (await visit(b, port, 'TLSv1.3', session))[0] === 'r.';
    },
    { what: 'sessions to go on at the other machine', timeout: 30_000 },
  );

t.test('a session goes on at another machine', { skip }, async (t) => {
  const redis = await startRedis(t);
  const [a, b] = (await Promise.all([machine(t, redis), machine(t, redis)])) as [Server, Server];
  await together(a, b);
  await together(b, a);
  await together(a, b, 1);
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    for (const port of [0, 1]) {
      const [first, session] = await visit(a, port, version);
      t.equal(first, '..');
      t.equal((await visit(b, port, version, session))[0], 'r.', `${version} at port ${port}`);
    }
  }
  // What the store has says nothing without the file of the key.
  const text = await redis.ask('GET', 'sluice:{fleet}:tickets');
  t.match(text, /^\d+ 300000 [0-9a-f]{8}\.[\w-]{200,}$/);
  // The machines keep their keys without the store, and give them to one that comes back empty.
  const [, session] = await visit(a, 0, 'TLSv1.3');
  await redis.kill();
  await a.logged(/shared store "fleet" is lost/);
  t.equal((await visit(b, 0, 'TLSv1.3', session))[0], 'r.');
  await redis.start();
  await waitFor(async () => (await redis.ask('GET', 'sluice:{fleet}:tickets')) !== '', { timeout: 30_000 });
  const c = await machine(t, redis);
  await together(b, c);
  t.equal((await visit(c, 0, 'TLSv1.3', session))[0], 'r.', 'at a machine that did not know the store before');
  await b.reload();
  t.equal((await visit(b, 0, 'TLSv1.3', session))[0], 'r.', 'after a reload');
});

t.test('a session goes on over QUIC at another machine', { skip: skip || noQuicClient }, async (t) => {
  const redis = await startRedis(t);
  const [a, b] = (await Promise.all([machine(t, redis), machine(t, redis)])) as [Server, Server];
  await together(a, b);
  const dir = t.testdir({});
  const told = async (server: Server) =>
    (await quicGet(server.port(0), ['/x'], [`--session-file=${dir}/session`, `--tp-file=${dir}/tp`])).bodies.x;
  t.equal(await told(a), '..');
  t.equal(await told(b), 'r.');
});

t.test('keys change together', { skip }, async (t) => {
  const redis = await startRedis(t);
  const [a, b] = (await Promise.all([machine(t, redis, { timeout: '2s' }), machine(t, redis, { timeout: '2s' })])) as [Server, Server];
  await together(a, b);
  const seen = new Set<string>();
  let missed = 0;
  await waitFor(
    async () => {
      seen.add(await redis.ask('GET', 'sluice:{fleet}:tickets'));
      const [, session] = await visit(a, 0, 'TLSv1.3');
      missed += (await visit(b, 0, 'TLSv1.3', session))[0] === 'r.' ? 0 : 1;
      return seen.size >= 4;
    },
    { timeout: 60_000 },
  );
  t.equal(missed, 0, 'each was known to the other machine before it came into use');
});

t.test('what others have put there', { skip }, async (t) => {
  const redis = await startRedis(t);
  const [a, b] = (await Promise.all([machine(t, redis), machine(t, redis)])) as [Server, Server];
  await together(a, b);
  const key = 'sluice:{fleet}:tickets';
  const right = await redis.ask('GET', key);
  const harms: readonly (readonly string[])[] = [
    ['SET', key, 'garbage'],
    ['SET', key, '\u00ff\u20ac'],
    ['SET', key, 'x'.repeat(100_000)],
    ['SET', key, right.replace(/^\d+/, '1')],
    ['RPUSH', key, 'a', 'list'],
  ];
  for (const harm of harms) {
    await redis.ask('DEL', key);
    await redis.ask(...harm);
    const is = await redis.ask('TYPE', key);
    await waitFor(async () => (await redis.ask('TYPE', key)) === 'string' && /^\d+ 300000 \S{200,}$/.test(await redis.ask('GET', key)), {
      what: () => `${harm.join(' ').slice(0, 60)} to be replaced (${is})`,
      timeout: 30_000,
    });
  }
  await together(a, b);
  t.match(a.log() + b.log(), /\[warn\] .*shared store "fleet": the keys of TLS tickets came to harm in the store, and are replaced/);
  // A machine with another key changes nothing for the others, and serves.
  const alone = await machine(t, redis, { keys: [OTHER_KEY] });
  await alone.logged(/\[warn\] .*the keys of TLS tickets are encrypted with a key that this machine does not have/);
  t.equal((await visit(alone, 0, 'TLSv1.3'))[0], '..');
  const [, own] = await visit(alone, 0, 'TLSv1.3');
  t.equal((await visit(alone, 0, 'TLSv1.3', own))[0], 'r.');
  const both = await machine(t, redis, { keys: [OTHER_KEY, KEY] });
  await together(a, both);
});

t.test('the file of the key', { skip: againstNginx && 'sluice alone has a shared store' }, async (t) => {
  const redis = { port: 1 } as Redis;
  const message = (key: string | Buffer, mode: number) =>
    configMessage(t, conf(redis, '5m', `encryption_key_file ${keyFile(t, key, mode)};`, 1));
  t.equal(await message(KEY, 0o600), undefined);
  t.equal(await message(Buffer.alloc(32, 7), 0o400), undefined);
  t.match(await message(KEY, 0o640), /^the key file ".*key" can be used by others than its owner \(its mode is 0640, not 0600\)/);
  t.match(await message(KEY.slice(1), 0o600), /^".*key" must have 32 bytes or 64 hexadecimal digits/);
  t.match(await message('x'.repeat(1000), 0o600), /^the key file ".*key" is too long/);
  t.match(await configMessage(t, conf(redis, '5m', 'encryption_key_file /nowhere;', 1)), /^failed to open "\/nowhere" \(2: No such file/);
  t.match(
    await configMessage(t, conf(redis, '5m', '', 1)),
    /^"sync" of "ssl_session_tickets" needs "encryption_key_file" in "shared_store"/,
  );
  t.match(
    await configMessage(t, httpConf('ssl_session_tickets maybe;')),
    /^invalid value "maybe" in "ssl_session_tickets" directive, it must be "on"/,
  );
  t.match(await configMessage(t, httpConf('ssl_session_tickets off sync;')), /^invalid parameter "sync"/);
  const { stderr } = await testConfig(t, httpConf(`ssl_session_tickets on sync; server { listen 127.0.0.1:%%PORT_0%% ssl; ${LINES} }`));
  t.match(stderr, /\[warn\] "sync" of "ssl_session_tickets" has no effect without "shared_store"/);
});
