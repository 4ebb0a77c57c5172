import { readFileSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs, pem } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { reservePort } from '../support/ports.js';
import { httpGet } from '../support/raw-client.js';
import { engine, startRedis, withoutEngine } from '../support/redis.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { settled, waitFor } from '../support/wait.js';

const skip = againstNginx ? 'sluice alone has a shared store' : withoutEngine;

const LIMIT = serverConf(
  `location / { limit_req zone=key burst=1 nodelay; limit_req zone=other burst=2 nodelay; stub_status; }
  location /status { sluice_status; }
  location /conn { limit_conn conn 1; stub_status; }
  location /set { set $pair $arg_value; return 204; }`,
  'limit_conn_zone $server_name zone=conn:1m sync; keyval_zone zone=pairs:1m timeout=1h sync; keyval $arg_key $pair zone=pairs; limit_req_zone $arg_key zone=key:1m rate=1r/m sync; limit_req_zone $arg_other zone=other:1m rate=1r/m sync;',
);

/** Starts a machine with a store, waits until it has it. */
async function machine(t: Test, store: string, files: Record<string, string> = {}): Promise<Server> {
  const s = await startServer(t, { conf: `shared_store fleet { timeout 2s; ${store} }\n${LIMIT}`, files });
  await s.logged('shared store "fleet" is connected');
  return s;
}

/** The statuses of requests one after the other. */
async function statuses(s: Server, path: string, count: number): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < count; i++) {
    all.push((await httpGet(s, path)).status);
  }
  return all;
}

t.test('what -t says of the block', { skip: againstNginx }, async (t) => {
  const message = (store: string) => configMessage(t, `${store}\nevents {}\n`);
  t.match(await message('shared_store "a b" { server 127.0.0.1; }'), 'invalid name "a b" in "shared_store" directive');
  t.match(await message('shared_store a { }'), '"shared_store" has no "server"');
  t.match(
    await message('shared_store a { server 127.0.0.1; } shared_store b { server 127.0.0.1; }'),
    '"shared_store" directive is duplicate',
  );
  t.match(await message('shared_store a { servers 127.0.0.1; }'), 'unknown directive "servers" in "shared_store"');
  t.match(await message('shared_store a { server 127.0.0.1 2; }'), 'invalid number of arguments in "server" directive of "shared_store"');
  t.match(await message('shared_store a { server 127.0.0.1:70000; }'), 'invalid server "127.0.0.1:70000" in "shared_store"');
  t.match(await message('shared_store a { server a; server b; }'), '"shared_store" with several servers must have "cluster" or "sentinel"');
  t.match(await message('shared_store a { server a; cluster on; sentinel m; }'), 'can have "cluster" or "sentinel", not both');
  t.match(await message('shared_store a { server a; cluster on; database 1; }'), 'with "cluster" has the database 0 alone');
  t.match(await message('shared_store a { server unix:/s; cluster on; }'), 'cannot have a server at a socket of the file system');
  t.match(await message('shared_store a { server a; timeout 0; }'), '"timeout" directive of "shared_store" must be between 1ms and 10s');
  t.match(await message('shared_store a { server a; failure open; }'), 'has an invalid value "open", it must be "local" or "refuse"');
  t.match(await message('shared_store a { server a; failure refuse divisor=2; }'), 'has an invalid parameter "divisor=2"');
  t.match(await message('shared_store a { server a; user u; }'), 'with "user" must have "password_file"');
  t.match(await message('shared_store a { server a; password_file none; }'), 'failed to open');
  t.match(await message('shared_store a { server a; ssl_verify off; }'), 'has settings of TLS without "ssl on"');
  t.match(await message('shared_store a { server a; timeout 1s; timeout 2s; }'), '"timeout" directive of "shared_store" is duplicate');
});

t.test('sync without a store has a warning and no effect', { skip: againstNginx }, async (t) => {
  const s = await startServer(t, { conf: LIMIT });
  t.match(s.log(), '"sync" of the zone "key" has no effect without "shared_store": its state stays on this machine');
  t.strictSame(await statuses(s, '/?key=a', 3), [200, 200, 503]);
  t.notMatch((await httpGet(s, '/status')).text, 'shared_store');
});

t.test('a socket of the file system, a user with few rights, a database', { skip }, async (t) => {
  const redis = await startRedis(t, { args: ['--unixsocket', 'redis.sock', '--unixsocketperm', '777'] });
  await redis.ask('ACL', 'SETUSER', 'sluice', 'on', '>secret', ...rights());
  const s = await machine(
    t,
    'server unix:/REDIS/redis.sock; user sluice; password_file %%DIR%%/secret; database 3;'.replace('/REDIS', redis.dir),
    {
      secret: 'secret\n',
    },
  );
  t.strictSame(await statuses(s, '/?key=a', 3), [200, 200, 503]);
  t.match(await redis.ask('-n', '3', 'KEYS', '*'), 'sluice:fleet:r:key:a');
  t.equal((await httpGet(s, '/conn')).status, 200);
  await httpGet(s, '/set?key=k&value=v');
  await waitFor(async () => (await redis.ask('-n', '3', 'XLEN', 'sluice:{fleet}:changes')) === '1', { what: 'the change' });
  t.notMatch(s.log(), / is lost /);
  await redis.ask('ACL', 'SETUSER', 'sluice', 'resetpass', '>other');
  await redis.ask('CLIENT', 'KILL', 'USER', 'sluice');
  t.strictSame(await statuses(s, '/?key=b', 3), [200, 200, 503]);
  await s.logged(/shared store "fleet" is lost \(/);
  await redis.ask('ACL', 'SETUSER', 'sluice', 'resetpass', '>secret');
  await s.logged(/shared store "fleet" is back/);
  t.strictSame(await statuses(s, '/?key=c', 3), [200, 200, 503]);
});

/** The rights that the guide gives to the store's user, for a store of this name. */
const rights = (): string[] =>
  /^ACL SETUSER sluice on >PASSWORD (.*)$/m
    .exec(readFileSync(new URL('../../docs/guides/fleet.md', import.meta.url), 'utf8'))![1]!
    .replaceAll('shop', 'fleet')
    .split(' ');

t.test('TLS', { skip }, async (t) => {
  const { rsa, ca, client } = certs();
  const files = { 'client.crt': pem(client.cert), 'client.key': pem(client.key), 'ca.crt': pem(ca.cert) };
  const redis = await startRedis(t, {
    tls: true,
    args: ['--tls-cert-file', rsa.cert, '--tls-key-file', rsa.key, '--tls-ca-cert-file', ca.cert, '--tls-auth-clients', 'yes'],
    clientArgs: ['--tls', '--cacert', ca.cert, '--cert', client.cert, '--key', client.key],
  });
  const own = 'ssl_certificate client.crt; ssl_certificate_key client.key; ssl_trusted_certificate ca.crt;';
  const s = await machine(t, `server 127.0.0.1:${redis.port}; ssl on; ${own}`, files);
  t.strictSame(await statuses(s, '/?key=a', 3), [200, 200, 503]);
  t.equal(await redis.ask('EXISTS', 'sluice:fleet:r:key:a'), '1');
  const strict = await startServer(t, {
    conf: `shared_store fleet { timeout 2s; server 127.0.0.1:${redis.port}; ssl on; ssl_name elsewhere.test; ${own} }\n${LIMIT}`,
    files,
  });
  await strict.logged(/shared store "fleet" is lost \(.*does not match/);
  t.strictSame(await statuses(strict, '/?key=a', 3), [200, 200, 503], 'one that is not to be trusted is as good as none');
});

t.test('Sentinels tell where the master is', { skip }, async (t) => {
  const master = await startRedis(t, { args: ['--repl-diskless-sync-delay', '0'] });
  const replica = await startRedis(t, { args: ['--replicaof', '127.0.0.1', String(master.port)] });
  await waitFor(async () => (await replica.ask('INFO', 'replication')).includes('master_link_status:up'), {
    what: 'the replica to be one',
  });
  const { port, release } = await reservePort();
  t.teardown(release);
  writeFileSync(
    `${replica.dir}/sentinel.conf`,
    `port ${port}\nbind 127.0.0.1\ndir ${replica.dir}\nsentinel monitor m 127.0.0.1 ${master.port} 1\nsentinel down-after-milliseconds m 300\nsentinel failover-timeout m 2000\n`,
  );
  const sentinel = await startRedis(t, { sentinel: { file: `${replica.dir}/sentinel.conf`, port } });
  // It asks the replica anew from time to time, and takes no other one.
  const fit = async (): Promise<boolean> => {
    const known = await sentinel.ask('SENTINEL', 'replicas', 'm');
    return known.includes(String(replica.port)) && /master-link-status\s+ok/.test(known);
  };
  await waitFor(fit, { what: 'the replica' });
  const s = await machine(t, `server 127.0.0.1:${port}; sentinel m;`);
  t.strictSame(await statuses(s, '/?key=a', 3), [200, 200, 503]);
  t.equal(await master.ask('EXISTS', 'sluice:fleet:r:key:a'), '1');
  await master.kill();
  t.strictSame(await statuses(s, '/?key=b', 3), [200, 200, 503], 'nothing fails meanwhile');
  await s.logged(/shared store "fleet" is back/);
  t.strictSame(await statuses(s, '/?key=c', 3), [200, 200, 503]);
  t.equal(await replica.ask('EXISTS', 'sluice:fleet:r:key:c'), '1', 'the replica is master now');
});

t.test('a cluster', { skip }, async (t) => {
  const nodes = await Promise.all([1, 2, 3].map(() => startRedis(t, { cluster: true })));
  await nodes[0]!.ask('--cluster', 'create', ...nodes.map(({ port, bus }) => `127.0.0.1:${port}@${bus}`), '--cluster-yes');
  for (const node of nodes) {
    await waitFor(async () => (await node.ask('CLUSTER', 'INFO')).includes('cluster_state:ok'), { what: 'the cluster' });
  }
  const s = await machine(t, `server 127.0.0.1:${nodes[0]!.port}; cluster on;`);
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  for (const key of keys) {
    t.strictSame(await statuses(s, `/?key=${key}`, 3), [200, 200, 503], key);
  }
  const counts = await Promise.all(nodes.map(async (node) => Number(await node.ask('DBSIZE'))));
  t.ok(counts.filter((n) => n > 0).length > 1, `the keys are on several servers: ${counts}`);
  t.strictSame(await statuses(s, '/?key=x&other=y', 4), [200, 200, 503, 503], 'two limits on different servers');
  t.strictSame(await statuses(s, '/?key=z&other=y', 2), [200, 503], 'what one refused the other gave back');
  t.strictSame(await statuses(s, '/?key=z', 2), [200, 503]);
  t.notMatch(s.log(), / is lost /);
});

t.test('the store in the status and in the metrics', { skip }, async (t) => {
  const redis = await startRedis(t);
  const s = await machine(t, `server 127.0.0.1:${redis.port}; node one;`);
  await statuses(s, '/?key=a', 4);
  const status = async () => JSON.parse((await httpGet(s, '/status')).text).shared_store;
  const shown = await status();
  t.match(shown, { name: 'fleet', node: 'one', state: 'up', workers_up: 1, errors: 0, losses: 0, decided_locally: 0 });
  t.equal(shown.calls, 2, 'two were admitted');
  t.equal(shown.refused_without_question, 2);
  t.match((await httpGet(s, '/status?format=prometheus')).text, /^\w*store_workers_up\{store="fleet"\} 1$/m);
  await redis.kill();
  await statuses(s, '/?key=b', 2);
  t.match(await settled(status, ({ state }) => state === 'lost'), { state: 'lost', workers_up: 0, losses: 1, decided_locally: 2 });
});

t.comment(`engine: ${engine}`);
