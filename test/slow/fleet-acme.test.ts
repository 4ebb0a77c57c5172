import { existsSync, readdirSync } from 'node:fs';
import t, { type Test } from 'tap';
import { certificateOf, isCertificate, issued, type Scene, scene, shown, stateOf } from '../support/acme-scene.js';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { KEY, keyFile, OTHER_KEY } from '../support/fleet-keys.js';
import { noPebble } from '../support/pebble.js';
import { type Redis, startRedis, withoutEngine } from '../support/redis.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx ? 'sluice alone has a shared store' : withoutEngine || noPebble;
const NAME = 'one.example.com';

/** `at` says where the machine listens: at the ports where the CA looks, or at others. */
const conf = (made: Scene, redis: Redis, at: 'ca' | 'elsewhere', node: string, key: string, lines = ''): string => {
  const [http, tls] = at === 'ca' ? [made.http, made.tls] : ['%%PORT_0%%', '%%PORT_1%%'];
  return httpConf(
    `resolver 127.0.0.1:${made.dns.port} ipv6=off;
    acme_shared_zone zone=acme:1m sync;
    ${made.issuer('ca', `accept_terms_of_service; ${lines}`)}
    server { listen 127.0.0.1:${http}; return 403; }
    server { listen 127.0.0.1:${tls} ssl; server_name ${NAME}; acme_certificate ca;
      ssl_certificate $acme_certificate; ssl_certificate_key $acme_certificate_key; return 200 x; }`,
    `worker_processes 2; shared_store fleet { server 127.0.0.1:${redis.port}; timeout 2s; node ${node}; encryption_key_file ${key}; }`,
  );
};

const LEADS = 'this machine gets certificates for the fleet "fleet"';

const SEEN = 'sluice:{fleet}:acme:seen';

/** A machine that leads, and one that does not, to which the CA comes, once the store knows both. */
async function pair(t: Test, made: Scene, redis: Redis, lines = ''): Promise<[leader: Server, other: Server]> {
  const leader = await startServer(t, { conf: conf(made, redis, 'elsewhere', 'a', keyFile(t), lines) });
  await leader.logged(LEADS);
  const other = await startServer(t, { conf: conf(made, redis, 'ca', 'b', keyFile(t), lines) });
  await waitFor(async () => (await redis.ask('HLEN', SEEN)) === '2', { what: () => told(other) });
  return [leader, other];
}

/** Failed handshakes fill the log of whoever waits for a certificate. */
const told = (server: Server): string =>
  server
    .log()
    .split('\n')
    .filter((line) => !line.includes('SSL_do_handshake'))
    .join('\n')
    .slice(-3000);

async function serial(server: Server, port: number): Promise<string> {
  await waitFor(async () => isCertificate(await shown(port, NAME)), { what: () => `a certificate\n${told(server)}`, timeout: 90_000 });
  return (await certificateOf(server, port, NAME)).serialNumber;
}

for (const challenge of ['http', 'tls-alpn']) {
  t.test(`a machine orders, another one answers by ${challenge}`, { skip }, async (t) => {
    const made = await scene(t, [NAME]);
    const redis = await startRedis(t);
    // The CA comes when there is somebody at its ports.
    await made.ca.goAway();
    const [leader, other] = await pair(t, made, redis, `challenge ${challenge};`);
    await made.ca.comeBack();
    const first = await serial(leader, leader.port(1));
    t.equal(await serial(other, made.tls), first, 'both have one certificate');
    t.equal(made.ca.orders.length, 1);
    t.notMatch(other.log(), LEADS);
    await other.logged(/certificate of the fleet taken over, acme issuer: "ca"/);
    t.match(stateOf(other), [/\.crt$/, /\.key$/], "what is the fleet's is also kept here");
    const all = await redis.ask('HGETALL', 'sluice:{fleet}:acme:pairs');
    t.match(all, 'acme\npairs ca/one.example.com-');
    t.match(all, 'acme\nkept ca/account.key');
    for (const text of [all, await redis.ask('XRANGE', 'sluice:{fleet}:acme:changes', '-', '+')]) {
      t.notMatch(text, /PRIVATE|CERTIFICATE|https:|"chain"/, 'no secret stands there');
      t.notMatch(Buffer.from(text.replaceAll(/\s+/g, ''), 'base64').toString('latin1'), 'PRIVATE');
    }
    if (challenge === 'tls-alpn') {
      return;
    }
    // Without the store each serves what it has, also after a restart, and nobody orders.
    await redis.kill();
    await other.stop();
    await other.start();
    t.equal(await serial(other, made.tls), first);
    t.equal(await serial(leader, leader.port(1)), first);
    await leader.logged('shared store "fleet" is lost');
    // A store with nothing in it gets everything back.
    await redis.start();
    await waitFor(async () => (await redis.ask('HGETALL', 'sluice:{fleet}:acme:pairs')).includes('pairs ca/one'), { timeout: 60_000 });
    const third = await startServer(t, { conf: conf(made, redis, 'elsewhere', 'c', keyFile(t)) });
    t.equal(await serial(third, third.port(1)), first, 'a machine that comes later has it at once');
    t.equal(made.ca.orders.length, 1);
  });
}

t.test('the machine that leads stands still, and comes back', { skip }, async (t) => {
  const made = await scene(t, [NAME], { validity: 30 });
  const redis = await startRedis(t);
  await made.ca.goAway();
  const [leader, other] = await pair(t, made, redis);
  await made.ca.comeBack();
  const first = await serial(other, made.tls);
  const stopped = [leader.pid, ...leader.workers()];
  for (const pid of stopped) {
    process.kill(pid, 'SIGSTOP');
  }
  await other.logged(LEADS);
  await waitFor(() => issued(other) > 0, { what: () => other.log().slice(-1500), timeout: 90_000 });
  const second = await serial(other, made.tls);
  t.not(second, first, 'the other one renews');
  t.notMatch(other.log(), 'account "https', 'with the same account');
  const before = issued(leader);
  for (const pid of stopped) {
    process.kill(pid, 'SIGCONT');
  }
  await leader.logged('another machine gets certificates for the fleet "fleet" from now on');
  await leader.logged(/certificate of the fleet taken over/);
  t.equal(issued(leader), before, 'it orders nothing more');
  t.not(await serial(leader, leader.port(1)), first);
});

for (const step of ['before the CA has looked', 'before the certificate is fetched'] as const) {
  t.test(`the machine that leads dies ${step}`, { skip }, async (t) => {
    const made = await scene(t, [NAME]);
    const redis = await startRedis(t);
    await made.ca.goAway();
    const [leader, other] = await pair(t, made, redis);
    const path = step === 'before the CA has looked' ? /^\/chalZ\// : /^\/certZ\//;
    const processes = [leader.pid, ...leader.workers()];
    let dead = false;
    // The request in the middle of the order is the leader's last one, and nobody answers it.
    made.ca.intercept = (request) => {
      if (dead || request.method !== 'POST' || !path.test(request.path)) {
        return false;
      }
      dead = true;
      for (const pid of processes) {
        process.kill(pid, 'SIGKILL');
      }
      return true;
    };
    await made.ca.comeBack();
    await waitFor(() => dead, { what: () => `${made.ca.requests.join('\n')}\n${told(leader)}`, timeout: 90_000 });
    await other.logged(LEADS);
    const first = await serial(other, made.tls);
    t.equal(made.ca.orders.length, 1, 'the other one goes on with the order');
    t.notMatch(other.log(), 'account "https', 'and with the account');
    t.equal(issued(other), 1);
    await leader.start();
    await leader.logged('certificate of the fleet taken over');
    t.equal(await serial(leader, leader.port(1)), first, 'the first one comes back and has it');
    t.equal(made.ca.orders.length, 1);
  });
}

t.test('a machine comes after the answer was placed, and the CA asks it', { skip }, async (t) => {
  const made = await scene(t, [NAME]);
  const redis = await startRedis(t);
  let asked = false;
  // The store knows the machine, and nobody answers for it yet.
  made.ca.intercept = ({ method, path }) => {
    if (!asked && method === 'POST' && path.startsWith('/chalZ/')) {
      asked = true;
      void redis.ask('HSET', SEEN, 'late', `${Date.now() - 9000} 0-0`);
    }
    return false;
  };
  const leader = await startServer(t, { conf: conf(made, redis, 'elsewhere', 'a', keyFile(t)) });
  await waitFor(() => asked, { what: () => told(leader), timeout: 90_000 });
  await startServer(t, { conf: conf(made, redis, 'ca', 'b', keyFile(t)) });
  await serial(leader, leader.port(1));
  t.equal(made.ca.orders.length, 2);
  t.notMatch(leader.log(), 'while updating certificate', 'nothing is wrong with the name');
});

t.test('what others have put there', { skip }, async (t) => {
  const made = await scene(t, [NAME]);
  const redis = await startRedis(t);
  // Each key is of another type than is right, and the lead is somebody's for ever.
  await redis.ask('SET', 'sluice:{fleet}:acme:lead', 'me');
  await redis.ask('RPUSH', 'sluice:{fleet}:acme:unknown', 'x');
  await redis.ask('HSET', 'sluice:{fleet}:acme:pairs', 'acme\npairs ca/x', '0 garbage', 'acme\n', 'y', 'acme', '', '\u00ff', '\u00ff');
  await redis.ask('XADD', 'sluice:{fleet}:acme:changes', '*', 'one', 'two');
  const server = await startServer(t, { conf: conf(made, redis, 'ca', 'a', keyFile(t)) });
  const first = await serial(server, made.tls);
  await server.logged(/\[warn\] .*"pairs ca\/x" is not taken over: it came to harm/);
  const table = 'sluice:{fleet}:acme:pairs';
  const field = `acme\npairs ca/${readdirSync(`${server.dir}/ca`)
    .find((name) => name.endsWith('.crt'))!
    .slice(0, -4)}`;
  await waitFor(async () => (await redis.ask('HGET', table, field)) !== '');
  const right = await redis.ask('HGET', table, field);
  const change = (value: string, key = field.slice(5)) =>
    redis.ask('XADD', 'sluice:{fleet}:acme:changes', '*', 'm', 'x', 'z', 'acme', 'k', key, 'l', '0', 'v', value);
  const other = await startServer(t, { conf: conf(made, redis, 'elsewhere', 'b', keyFile(t)) });
  t.equal(await serial(other, other.port(1)), first);
  await change('x'.repeat(100_000));
  await change(right.slice(2), 'kept ca/account.key');
  await change(right.slice(2, -1));
  await redis.ask('XADD', 'sluice:{fleet}:acme:changes', '*', 'm', 'x', 'z', 'acme', 'k', field.slice(5), 'l', '-1', 'v', '');
  await redis.ask('XADD', 'sluice:{fleet}:acme:changes', '*', 'z', 'acme');
  await other.logged(/"kept ca\/account\.key" is not taken over: it came to harm/);
  await change('last', 'pairs last');
  await other.logged('"pairs last" is not taken over');
  t.equal(await serial(other, other.port(1)), first, 'a certificate does not go because the store says so');
  t.equal(made.ca.orders.length, 1);
  const foreign = await startServer(t, { conf: conf(made, redis, 'elsewhere', 'f', keyFile(t, OTHER_KEY)) });
  await foreign.logged(/\[warn\] .*is not taken over: it is encrypted with a key that this machine does not have/);
  t.ok(!existsSync(`${foreign.dir}/ca`) || stateOf(foreign).length === 0);
  t.ok(isCertificate(await shown(made.tls, NAME)));
});

t.test('what -t says', { skip }, async (t) => {
  const made = {
    http: 1,
    tls: 2,
    dns: { port: 3 },
    issuer: (name: string) => `acme_issuer ${name} { uri https://localhost/; }`,
  } as unknown as Scene;
  const redis = { port: 4 } as Redis;
  const right = conf(made, redis, 'ca', 'a', keyFile(t, KEY));
  t.equal(await configMessage(t, right), undefined);
  t.match(
    await configMessage(t, right.replace(/encryption_key_file [^;]+;/, '')),
    /^"sync" of "acme_shared_zone" needs "encryption_key_file"/,
  );
  t.match(await configMessage(t, right.replace('1m sync', '1m all')), /^invalid parameter "all"/);
});
