import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { keyFile, OTHER_KEY } from '../support/fleet-keys.js';
import { http, requestText } from '../support/raw-client.js';
import { type Redis, startRedis, withoutEngine } from '../support/redis.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx ? 'sluice alone has a shared store' : withoutEngine;

const conf = (
  redis: Redis,
  node: string,
  workers: number,
  key: string,
  servers = 'server 127.0.0.1:11; server 127.0.0.1:12 weight=2;',
): string =>
  httpConf(
    `upstream back { zone back 64k sync; ${servers} }
    upstream own { zone own 64k; server 127.0.0.1:13; }
    server { listen 127.0.0.1:%%PORT_0%%; location /api { api write=on; } location / { proxy_pass http://back; } }`,
    `worker_processes ${workers};
    shared_store fleet { server 127.0.0.1:${redis.port}; timeout 2s; node ${node}; encryption_key_file ${key}; }
    stream { upstream back { zone tcp 64k sync; server 127.0.0.1:14; } server { listen 127.0.0.1:%%PORT_1%%; proxy_pass back; } }`,
  );

interface Row {
  readonly id: number;
  readonly server: string;
  readonly weight: number;
  readonly down: boolean;
  readonly drain?: boolean;
  readonly max_conns: number;
}

async function api(s: Server, method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const response = await http(
    s,
    requestText(
      method,
      `/api/9/${path}`,
      { Connection: 'close', ...(body === undefined ? {} : { 'Content-Length': String(text.length) }) },
      text,
    ),
  );
  return { status: response.status, body: JSON.parse(response.text || 'null') };
}

const rows = async (s: Server, group = 'http/upstreams/back'): Promise<Row[]> => (await api(s, 'GET', `${group}/servers`)).body as Row[];
const idOf = async (s: Server, server: string, group?: string): Promise<number> =>
  (await rows(s, group)).find((row) => row.server === server)!.id;
const shown = async (s: Server, group?: string): Promise<string> =>
  (await rows(s, group))
    .map(
      ({ server, weight, down, drain, max_conns }) =>
        `${server.slice(-2)} ${weight} ${max_conns}${down ? ' down' : ''}${drain ? ' drain' : ''}`,
    )
    .sort()
    .join(', ');
const become = (machines: readonly Server[], text: string, group?: string) =>
  waitFor(async () => (await Promise.all(machines.map((s) => shown(s, group)))).every((each) => each === text), {
    what: `servers to be ${text}`,
    timeout: 30_000,
  });

t.test('what the API changes of servers goes to all machines', { skip }, async (t) => {
  const redis = await startRedis(t);
  const path = 'http/upstreams/back/servers';
  // Machines may count their servers differently.
  const a = await startServer(t, { conf: conf(redis, 'a', 2, keyFile(t)) });
  const b = await startServer(t, {
    conf: conf(redis, 'b', 1, keyFile(t), 'server 127.0.0.1:12 weight=2; server 127.0.0.1:11;'),
  });
  const both = [a, b];
  await Promise.all(both.map((s) => s.logged('shared store "fleet" is connected')));
  await become(both, '11 1 0, 12 2 0');
  t.equal((await api(a, 'POST', path, { server: '127.0.0.1:21', weight: 5, max_conns: 7 })).status, 201);
  await become(both, '11 1 0, 12 2 0, 21 5 7');
  t.equal((await api(b, 'PATCH', `${path}/${await idOf(b, '127.0.0.1:21')}`, { drain: true })).status, 200);
  await become(both, '11 1 0, 12 2 0, 21 5 7 drain');
  t.equal((await api(b, 'PATCH', `${path}/${await idOf(b, '127.0.0.1:11')}`, { down: true, weight: 3 })).status, 200);
  await become(both, '11 3 0 down, 12 2 0, 21 5 7 drain');
  t.equal((await api(a, 'PATCH', `${path}/${await idOf(a, '127.0.0.1:21')}`, { server: '127.0.0.1:22', drain: false })).status, 200);
  await become(both, '11 3 0 down, 12 2 0, 22 5 7');
  t.equal((await api(a, 'DELETE', `${path}/${await idOf(a, '127.0.0.1:12')}`)).status, 200);
  await become(both, '11 3 0 down, 22 5 7');
  t.equal((await api(a, 'POST', 'stream/upstreams/back/servers', { server: '127.0.0.1:31' })).status, 201);
  await become(both, '14 1 0, 31 1 0', 'stream/upstreams/back');
  t.equal((await api(a, 'POST', 'http/upstreams/own/servers', { server: '127.0.0.1:41' })).status, 201);
  await become([a], '13 1 0, 41 1 0', 'http/upstreams/own');
  t.equal(await shown(b, 'http/upstreams/own'), '13 1 0', 'a zone without sync stays');
  // One that was away has it all after its start, and a reload changes nothing.
  await b.stop();
  t.equal((await api(a, 'PATCH', `${path}/${await idOf(a, '127.0.0.1:11')}`, { down: false })).status, 200);
  await b.start();
  await become(both, '11 3 0, 22 5 7');
  await a.reload();
  await b.reload();
  await become(both, '11 3 0, 22 5 7');
  // Changes are made without the store, and come to the others when it is back with nothing in it.
  await redis.kill();
  await a.logged('shared store "fleet" is lost');
  t.equal((await api(a, 'PATCH', `${path}/${await idOf(a, '127.0.0.1:22')}`, { weight: 9 })).status, 200);
  await redis.start();
  await become(both, '11 3 0, 22 9 7');
  // Nobody without the key adds a backend, or takes one away.
  const table = 'sluice:{fleet}:pairs';
  const field = 'upstream:http\nback\n127.0.0.1:22';
  const right = await redis.ask('HGET', table, field);
  t.notMatch(right, '127');
  const put = (key: string, value: string) =>
    redis.ask('XADD', 'sluice:{fleet}:changes', '*', 'm', 'x', 'z', 'upstream:http', 'k', key, 'l', value === '' ? '-1' : '0', 'v', value);
  await put('back\n127.0.0.1:66', right.slice(2));
  await put('back\n127.0.0.1:67', '{"server":"127.0.0.1:67","added":true}');
  await put('back\n127.0.0.1:22', '');
  await put('back\n127.0.0.1:22', 'x'.repeat(100_000));
  t.equal((await api(b, 'PATCH', `${path}/${await idOf(b, '127.0.0.1:11')}`, { weight: 4 })).status, 200);
  await become(both, '11 4 0, 22 9 7');
  t.match(a.log(), /\[warn\] .*server "back.127\.0\.0\.1:66" is not changed: it came to harm/);
  const foreign = await startServer(t, { conf: conf(redis, 'f', 1, keyFile(t, OTHER_KEY)) });
  await foreign.logged(/is not changed: it is encrypted with a key that this machine does not have/);
  t.equal(await shown(foreign), '11 1 0, 12 2 0');
});

t.test('what -t says', { skip: againstNginx && 'sluice alone has a shared store' }, async (t) => {
  const right = conf({ port: 1 } as Redis, 'a', 1, keyFile(t));
  t.equal(await configMessage(t, right), undefined);
  t.match(
    await configMessage(t, right.replace(/encryption_key_file [^;]+;/, '')),
    /^"sync" of "zone" in an upstream needs "encryption_key_file"/,
  );
  t.match(await configMessage(t, right.replace('64k sync', '64k some')), /^invalid number of arguments in "zone" directive/);
});
