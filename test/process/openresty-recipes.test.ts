// The recipes of docs/guides/from-openresty.md run as they stand there, but for ports and the folder of certificates.
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs, pem } from '../support/certs.js';
import { type Origin, type OriginHandler, startOrigin } from '../support/origin.js';
import { exchange, http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { type Server, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('nginx has no such handlers');
}

const root = new URL('../../', import.meta.url).pathname;
const guide = readFileSync(`${root}docs/guides/from-openresty.md`, 'utf8');
const RECIPE = /```nginx\n(.*?)```\n\n```js\n(.*?)```/gs;
const recipes = new Map(
  [...guide.matchAll(RECIPE)].map(([, conf = '', script = '']) => [/openresty\/(\w+)\.js/.exec(conf)![1]!, { conf, script }] as const),
);

interface Scene {
  readonly s: Server;
  readonly origins: readonly Origin[];
}

/** Serves a recipe; the handlers are those of the applications at ports 3000 and 3001. */
async function scene(t: Test, name: string, ...handlers: readonly OriginHandler[]): Promise<Scene> {
  const { conf, script } = recipes.get(name)!;
  t.equal(script, readFileSync(`${root}conf/examples/openresty/${name}.js`, 'utf8'), 'the file is what the guide shows');
  const origins = await Promise.all(handlers.map((handler) => startOrigin(t, handler)));
  const placed = (text: string): string =>
    text
      .replace(/listen (8080|443|7000)/, 'listen 127.0.0.1:%%PORT_0%%')
      .replace(/127\.0\.0\.1:300([01])/g, (_all, n: string) => `127.0.0.1:${origins[Number(n)]?.port ?? 1}`)
      .replace('/srv/tenants', '%%DIR%%/tenants');
  const { rsa } = certs();
  const s = await startServer(t, {
    conf: conf.startsWith('worker_processes')
      ? placed(conf)
      : `worker_processes 2; events {}\n${conf.startsWith('stream') ? placed(conf) : `http {\n${placed(conf)}}\n`}`,
    files: {
      [`examples/openresty/${name}.js`]: placed(script),
      ...(name === 'tenants' ? { 'tenants/shop.example.com.crt': pem(rsa.cert), 'tenants/shop.example.com.key': pem(rsa.key) } : {}),
    },
    asRoot: true,
  });
  return { s, origins };
}

t.equal(recipes.size, 10);

t.test('hello', async (t) => {
  const { s } = await scene(t, 'hello');
  t.strictSame(JSON.parse((await httpGet(s, '/?name=ada')).text), { name: 'ada', method: 'GET', body: '' });
  t.strictSame(JSON.parse((await http(s, requestText('POST', '/', {}, 'text'))).text), { name: 'world', method: 'POST', body: 'text' });
});

t.test('users', async (t) => {
  const { s, origins } = await scene(
    t,
    'users',
    (request) => (request.header('authorization') === 'good' ? { body: 'ada\n' } : { status: 404 }),
    (request) => ({ body: `for ${request.header('x-user')}` }),
  );
  t.equal((await httpGet(s, '/')).status, 401);
  t.equal((await httpGet(s, '/', { Authorization: 'bad' })).status, 403);
  for (let i = 0; i < 2; i++) {
    t.equal((await httpGet(s, '/', { Authorization: 'good' })).text, 'for ada');
  }
  t.equal(origins[1]!.requests.length, 2);
});

t.test('routes', async (t) => {
  const { s } = await scene(t, 'routes');
  t.match((await httpGet(s, '/old')).header('location'), /^http:\/\/localhost:\d+\/new$/);
  t.equal((await httpGet(s, '/@ada/notes')).text, 'tenant: /tenants/ada/notes\n');
  t.equal((await httpGet(s, '/@ada')).text, 'tenant: /tenants/ada/\n');
  t.equal((await httpGet(s, '/other')).text, 'page: /other\n');
  t.equal((await httpGet(s, '/tenants/ada/')).status, 404);
});

t.test('links', async (t) => {
  const { s } = await scene(t, 'links', () => ({ body: `${'x'.repeat(100_000)}<a href="http://a"><a href="http://b">` }));
  const response = await httpGet(s, '/');
  t.equal(response.text, `${'x'.repeat(100_000)}<a href="https://a"><a href="https://b">`);
  t.equal(response.header('x-links'), 'secure');
});

t.test('counts', async (t) => {
  const { s } = await scene(t, 'counts');
  for (let i = 0; i < 3; i++) {
    await httpGet(s, '/x');
  }
  t.match((await httpGet(s, '/counts')).text, 'requests{status="404"} 3\n');
});

t.test('blocked', async (t) => {
  const { s, origins } = await scene(
    t,
    'blocked',
    () => ({ body: 'evil\nworse\n' }),
    () => ({ body: 'in' }),
  );
  t.ok(origins[0]!.requests.length >= 2, 'each worker has the list before it serves');
  t.equal((await httpGet(s, '/', { 'X-Api-Key': 'worse' })).status, 403);
  t.equal((await httpGet(s, '/', { 'X-Api-Key': 'good' })).text, 'in');
});

t.test('shards', async (t) => {
  const { s } = await scene(
    t,
    'shards',
    () => ({ body: 'a' }),
    () => ({ body: 'b' }),
  );
  const of = async (user: string): Promise<string> => (await httpGet(s, '/', { Cookie: `user=${user}` })).text;
  t.strictSame([await of('a'), await of('a'), await of('b'), await of('b')], ['b', 'b', 'a', 'a']);
  t.match((await httpGet(s, '/')).text, /^[ab]$/);
});

t.test('tenants', async (t) => {
  const { s } = await scene(t, 'tenants', ({ target }) => ({ status: target === '/ask?domain=shop.example.com' ? 200 : 404 }));
  const get = (servername: string): Promise<{ text: string }> => httpGet(s, '/', {}, { tls: { servername } });
  t.equal((await get('shop.example.com')).text, 'shop.example.com\n');
  await t.rejects(get('other.example.com'), /unrecognized name/);
});

t.test('page', async (t) => {
  const { s } = await scene(
    t,
    'page',
    () => ({ body: '{"name":"ada"}' }),
    () => ({ status: 500 }),
  );
  t.strictSame(JSON.parse((await httpGet(s, '/')).text), { user: { name: 'ada' }, news: null });
  t.equal((await httpGet(s, '/user')).status, 404);
});

t.test('numbers', async (t) => {
  const { s } = await scene(t, 'numbers');
  t.equal(await exchange(s.port(0), 'INCR a\r\nINCR a\nINCR b\nWHAT\nQUIT\n'), '1\n2\n1\nunknown command\n');
  const client = await RawClient.connect(s.port(0));
  client.send('INCR a\n').end();
  t.equal(await client.rest(), '3\n');
});
