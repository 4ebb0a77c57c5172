import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { type Redis, startRedis, withoutEngine } from '../support/redis.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx ? 'sluice alone has a shared store' : withoutEngine;

const SCRIPT = `const dict = (r) => ngx.shared[r.args.dict];
const value = (r) => (dict(r).type === 'number' ? Number(r.args.value) : decodeURIComponent(r.args.value));
export default {
  set(r) { dict(r).set(r.args.key, value(r)); r.return(204); },
  get(r) { r.return(200, '[' + dict(r).get(r.args.key) + ']'); },
  incr(r) { r.return(200, String(dict(r).incr(r.args.key, 1))); },
  remove(r) { dict(r).delete(r.args.key); r.return(204); },
};`;

async function startFleet(t: Test, redis: Redis, n: number, server: string, httpText: string): Promise<Server[]> {
  const machines = await Promise.all(
    Array.from({ length: n }, (_, i) =>
      startServer(t, {
        conf: `worker_processes 2;\nshared_store fleet { server 127.0.0.1:${redis.port}; timeout 2s; node m${i}; }\n${serverConf(server, httpText)}`,
        files: { 'dict.js': SCRIPT },
      }),
    ),
  );
  await Promise.all(machines.map((s) => s.logged('shared store "fleet" is connected')));
  return machines;
}

t.test('dictionaries of scripts', { skip }, async (t) => {
  const redis = await startRedis(t);
  const machines = await startFleet(
    t,
    redis,
    2,
    ['set', 'get', 'incr', 'remove'].map((name) => `location /${name} { js_content dict.${name}; }`).join('\n'),
    `js_path %%DIR%%; js_import dict from dict.js;
    js_shared_dict_zone zone=words:64k sync; js_shared_dict_zone zone=numbers:64k type=number timeout=1h sync; js_shared_dict_zone zone=own:64k;`,
  );
  const [a, b] = machines as [Server, Server];
  const get = async (s: Server, dict: string, key: string) => (await httpGet(s, `/get?dict=${dict}&key=${key}`)).text;
  const becomes = (dict: string, key: string, value: string) =>
    waitFor(async () => (await Promise.all(machines.map((s) => get(s, dict, key)))).every((text) => text === `[${value}]`), {
      what: `${key} to be ${value}`,
      timeout: 20_000,
    });
  t.equal((await httpGet(a, '/set?dict=words&key=w&value=%E2%82%AC%20x')).status, 204);
  await becomes('words', 'w', Buffer.from('€ x').toString('latin1'));
  await httpGet(b, '/set?dict=numbers&key=n&value=1.5');
  await becomes('numbers', 'n', '1.5');
  t.equal((await httpGet(a, '/incr?dict=numbers&key=n')).text, '2.5');
  await becomes('numbers', 'n', '2.5');
  await httpGet(b, '/remove?dict=words&key=w');
  await becomes('words', 'w', 'undefined');
  await httpGet(a, '/set?dict=own&key=k&value=1');
  t.equal(await get(b, 'own', 'k'), '[undefined]');
});

t.test('sessions that were learned', { skip }, async (t) => {
  const redis = await startRedis(t);
  const ports = await Promise.all(
    ['one', 'two', 'three'].map(
      (name) =>
        new Promise<number>((done) => {
          const server = createServer((request, response) => {
            const created = new URL(request.url!, 'http://x').searchParams.get('new');
            response.writeHead(200, created === null ? {} : { 'Set-Cookie': `sid=${created}` });
            response.end(name);
          });
          t.teardown(() => void server.close().closeAllConnections());
          server.listen(0, '127.0.0.1', () => done((server.address() as { port: number }).port));
        }),
    ),
  );
  const machines = await startFleet(
    t,
    redis,
    2,
    'location / { proxy_pass http://back; }',
    `upstream back { zone back 64k; ${ports.map((port) => `server 127.0.0.1:${port};`).join(' ')}
      sticky learn create=$upstream_cookie_sid lookup=$cookie_sid zone=sessions:64k timeout=1h sync; }`,
  );
  const [a, b] = machines as [Server, Server];
  const ask = async (s: Server, sid: string) =>
    (await http(s, requestText('GET', '/', { Cookie: `sid=${sid}`, Connection: 'close' }))).text;
  for (const sid of ['s1', 's2', 's3', 's4']) {
    const made = (await httpGet(a, `/?new=${sid}`)).text;
    await waitFor(async () => (await redis.ask('HLEN', 'sluice:{fleet}:pairs')) === sid.slice(1));
    await waitFor(async () => (await ask(b, sid)) === made && (await ask(b, sid)) === made && (await ask(b, sid)) === made);
    t.equal(await ask(b, sid), made, `${sid} stays at ${made} on the other machine`);
  }
});
