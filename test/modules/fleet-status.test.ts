import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet } from '../support/raw-client.js';
import { type Redis, startRedis, withoutEngine } from '../support/redis.js';
import { runCli } from '../support/run-cli.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx ? 'sluice alone has a shared store' : withoutEngine;

const conf = (redis: Redis, node: string): string =>
  `worker_processes 2;
  shared_store fleet { server 127.0.0.1:${redis.port}; timeout 2s; node ${node}; }
  ${serverConf('location /status { sluice_status; } location /bad { return 500; }')}`;

t.test('all machines are seen at each', { skip }, async (t) => {
  const redis = await startRedis(t);
  const key = 'sluice:{fleet}:machines';
  const right = JSON.stringify({
    version: 'x',
    loadedAt: 1,
    workers: 1,
    storeUp: 1,
    active: 0,
    waiting: 0,
    requests: 1,
    rate: 1,
    errors: 0,
    local: 0,
  });
  // What others have put there: another type, what is no machine, what is too long, and what would change a terminal.
  await redis.ask('RPUSH', key, 'x');
  const [a, b] = (await Promise.all(['a', 'b'].map((node) => startServer(t, { conf: conf(redis, node) })))) as [Server, Server];
  t.equal((await httpGet(b, '/bad')).status, 500);
  const machines = async (s: Server) =>
    (
      JSON.parse((await httpGet(s, '/status')).text) as {
        shared_store: { machines: { node: string; workers_up: number; requests: object }[] };
      }
    ).shared_store.machines;
  const found = await waitFor(
    async () => {
      const all = await machines(a);
      const [, other] = all;
      return other?.workers_up === 2 && (other.requests as { '5xx': number })['5xx'] === 1 && all;
    },
    { timeout: 30_000 },
  );
  t.strictSame(
    (found as { node: string }[]).map(({ node }) => node),
    ['a', 'b'],
  );
  const far = String(Date.now());
  for (const [name, text] of [
    ['\u001b[2J', right],
    ['garbage', '{'],
    ['long', `{"version":"${'x'.repeat(5000)}"}`],
    ['old', right],
  ] as const) {
    await redis.ask('HSET', key, name, name === 'old' ? `1 ${right}` : `${far} ${text}`);
  }
  const cli = (...args: string[]) =>
    runCli(['status', '-p', `${b.dir}/`, '-c', `${b.dir}/sluice.conf`, '-g', `pid ${b.dir}/server.pid;`, ...args]);
  const { stdout } = (await waitFor(
    async () => {
      const shown = await cli('--fleet');
      return /^a /m.test(shown.stdout) && shown.stdout.includes('[2J') && shown;
    },
    { what: 'the table', timeout: 60_000 },
  )) as { stdout: string };
  t.match(stdout, /^machine +store +version +workers +connections +req\/s +requests +5xx +decided locally\n/);
  t.match(stdout, /^b +up +\S+ +2 +\d+ +[\d.]+ +\d+ +1 +0$/m);
  t.notMatch(stdout, /\u001b|garbage|long|old/);
  // The table may have been of the moment before this one was put there.
  await waitFor(async () => !(await redis.ask('HKEYS', key)).includes('old'), { what: 'the end of what is over' });
  const json = JSON.parse((await cli('--fleet', '--json')).stdout) as { machines: { node: string }[] };
  t.ok(json.machines.some(({ node }) => node === 'a'));
  await a.stop();
  await waitFor(async () => /^a +lost for \d+s/m.test((await cli('--fleet')).stdout), { what: 'a machine that is gone', timeout: 60_000 });
});
