import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { noBrowser, startBrowser } from '../support/browser.js';
import { httpGet } from '../support/raw-client.js';
import { type Redis, startRedis, withoutEngine } from '../support/redis.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx ? 'sluice alone has a shared store' : withoutEngine;
const PASSWORD = 'a-password-that-nobody-sees';
/** A name and a version that would run in a page that takes them for markup. */
const MARKUP = '<img src=x onerror=window.broken=1>';
const TABLE = 'sluice:{fleet}:machines';

const conf = (redis: Redis, node: string): string =>
  `worker_processes 2;
  shared_store fleet { server 127.0.0.1:${redis.port}; timeout 10s; node ${node}; password_file %%DIR%%/secret; }
  ${serverConf('location /dashboard/ { dashboard; } location /bad { return 500; }', 'status_history off;')}`;

const text = JSON.stringify({
  version: `${MARKUP}</script>`,
  loadedAt: -1e15,
  workers: 1e15,
  storeUp: -5,
  active: -1,
  waiting: 0.5,
  requests: 1e15,
  rate: 1e15,
  errors: 7,
  local: 3,
  node: 'b',
});

interface Shown {
  readonly node: string;
  readonly version: string;
  readonly workers_up: number;
  readonly requests: { readonly '5xx': number };
}

const fleetOf = async (s: Server): Promise<{ machines: Shown[] } | null> => JSON.parse((await httpGet(s, '/dashboard/state')).text).fleet;

t.test('the page shows all machines', { skip }, async (t) => {
  const redis = await startRedis(t, { args: ['--requirepass', PASSWORD], clientArgs: ['-a', PASSWORD, '--no-auth-warning'] });
  const files = { secret: `${PASSWORD}\n` };
  const [a, b] = (await Promise.all(['a', 'b'].map((node) => startServer(t, { conf: conf(redis, node), files })))) as [Server, Server];
  t.equal((await httpGet(b, '/bad')).status, 500);
  // What another program has put there; only for ten seconds, so that it is put there until it is seen.
  const put = async (name: string, value: string): Promise<unknown> => redis.ask('HSET', TABLE, name, `${Date.now()} ${value}`);
  const machines = await waitFor(
    async () => {
      await Promise.all([
        put(MARKUP, text),
        put('__proto__', text),
        put('a"b', '{}'),
        put('many', text.replace('"workers":1000000000000000', '"workers":1e16')),
        put('words', text.replace('"errors":7', '"errors":"7"')),
        put('x'.repeat(65), text),
      ]);
      const found = (await fleetOf(a))?.machines;
      return found?.some(({ node, workers_up, requests }) => node === 'b' && workers_up === 2 && requests['5xx'] === 1) &&
        found.some(({ node }) => node === MARKUP) &&
        found.some(({ node }) => node === '__proto__')
        ? found
        : undefined;
    },
    { what: 'all machines' },
  );
  t.strictSame(
    machines.map(({ node }) => node),
    [MARKUP, '__proto__', 'a', 'b'],
    'what is no machine is not shown',
  );
  t.match(machines[0], { version: `${MARKUP}</script>`, requests: { '5xx': 7 } });
  t.notMatch((await httpGet(a, '/dashboard/state')).text, PASSWORD, 'no secret');
  t.notMatch((await httpGet(a, '/dashboard/state')).text, new RegExp(`\\b${redis.port}\\b`), 'nor where the store is');

  t.test('in a browser', { skip: noBrowser }, async (t) => {
    const browser = await startBrowser(t);
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const wrong: string[] = [];
    page.on('console', (message) => message.type() !== 'log' && wrong.push(message.text()));
    page.on('pageerror', (error) => wrong.push(error.message));
    await page.goto(`http://127.0.0.1:${a.port(0)}/dashboard/`);
    const row = (name: string) => page.locator('#fleet tbody tr', { has: page.locator('th', { hasText: name }) });
    await row('b').locator('.pill.ok', { hasText: 'up' }).first().waitFor();
    await row('a (this one)').locator('.pill.ok').waitFor();
    await row(MARKUP).first().waitFor();
    t.match(await row(MARKUP).first().textContent(), `${MARKUP}</script>`, 'markup is text');
    t.match(await page.locator('#fleet').textContent(), /2 of 4 have the store fleet.*This machine: [\d.,K]+ questions, median /);
    await b.stop();
    await row('b').locator('.pill.bad', { hasText: 'lost for' }).first().waitFor();
    await page.locator('#state li', { hasText: 'machine b: lost for' }).waitFor();
    t.equal(await page.evaluate('window.broken'), undefined, 'nothing of it runs');
    t.equal(await page.locator('#fleet img, #state img').count(), 0);
    t.equal(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'), 0);
    t.strictSame(wrong, [], 'no error');
  });
});

t.test('without a store there is nothing to show', { skip }, async (t) => {
  const s = await startServer(t, { conf: serverConf('location /dashboard/ { dashboard; }', 'status_history off;') });
  t.equal(await fleetOf(s), null);
});
