import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('nginx has no such handlers');
}

const root = new URL('../../', import.meta.url).pathname;
const example = (name: string): string => readFileSync(`${root}conf/examples/${name}`, 'utf8');
/** Where the example with Hono finds it. */
const packages = `import { createRequire } from 'module';\nconst found = createRequire(${JSON.stringify(`${root}package.json`)});\n`;

/** Serves an example with its port and folder, and what else is replaced in it. */
function serve(t: Test, name: string, files: Record<string, string>, replaced: Record<string, string> = {}): Promise<Server> {
  let conf = example(`${name}.conf`)
    .replace('listen 8080', 'listen 127.0.0.1:%%PORT_0%%')
    .replace(/\/srv\/www\/[\w.]+/, '%%DIR%%/html');
  for (const [from, to] of Object.entries(replaced)) {
    conf = conf.replaceAll(from, to);
  }
  const scripts = readdirSync(`${root}conf/examples`).filter((file) => /\.[jt]s$/.test(file));
  const texts = scripts.map((file): [string, string] => [
    `examples/${file}`,
    example(file).replace(
      /import \{ (\w+) \} from '(hono[^']*)';\n/g,
      (_, what, from) =>
        `${packages.replaceAll('found', `of${what}`).replace('createRequire }', `createRequire as c${what} }`).replace('createRequire(', `c${what}(`)}const { ${what} } = of${what}('${from}');\n`,
    ),
  ]);
  return startServer(t, { conf: httpConf(conf), files: { ...Object.fromEntries(texts), ...files }, asRoot: true });
}

t.test('the guide shows the files as they are', async (t) => {
  const guide = readFileSync(`${root}docs/guides/javascript.md`, 'utf8');
  for (const file of readdirSync(`${root}conf/examples`)) {
    if (/\.[jt]s$/.test(file)) {
      t.ok(guide.includes(example(file).trim()), file);
    } else if (file.startsWith('js-')) {
      t.ok(
        guide.includes(
          example(file)
            .replace(/^#.*\n/, '')
            .trim(),
        ),
        file,
      );
    }
  }
});

t.test('A/B cookies', async (t) => {
  const s = await serve(t, 'js-ab-test', { 'html/a/x': 'variant a', 'html/b/x': 'variant b', 'html/same': 'same' });
  const first = await httpGet(s, '/x');
  const [, variant] = /variant=(.)/.exec(first.header('Set-Cookie')!)!;
  t.equal(first.text, `variant ${variant}`);
  const other = variant === 'a' ? 'b' : 'a';
  const kept = await httpGet(s, '/x', { Cookie: `y=1; variant=${other}` });
  t.equal(`${kept.text} ${kept.header('Set-Cookie')}`, `variant ${other} undefined`);
  t.equal((await httpGet(s, '/same')).text, 'same');
});

t.test('tokens', async (t) => {
  const origin = await startOrigin(t, (request) => ({ body: String(request.header('x-user')) + String(request.header('authorization')) }));
  const s = await serve(t, 'js-jwt', {}, { '127.0.0.1:3000': `127.0.0.1:${origin.port}` });
  const token = (claims: object, secret = 'a secret of at least 32 characters', alg = 'HS256'): string => {
    const text = [{ alg }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  };
  const get = async (given: string | undefined): Promise<string> => {
    const { status, text } = await httpGet(s, '/', given === undefined ? {} : { Authorization: `Bearer ${given}` });
    return status === 200 ? text : String(status);
  };
  const exp = Math.floor(Date.now() / 1000) + 3600;
  t.equal(await get(token({ sub: 'me', exp })), 'meundefined');
  t.equal(await get(undefined), '401');
  t.equal(await get('x.y.z'), '401');
  t.equal(await get(token({ sub: 'me', exp: 1 })), '401');
  t.equal(await get(token({ sub: 'me', exp, nbf: exp })), '401');
  t.equal(await get(token({ sub: 'me', exp }, 'another')), '401');
  t.equal(await get(token({ sub: 'me', exp }, undefined, 'none')), '401');
});

t.test('signed addresses', async (t) => {
  const s = await serve(t, 'js-signed-urls', { 'html/downloads/a b': 'file' });
  const signed = (await httpGet(s, '/sign?path=/downloads/a%20b&seconds=60')).text.trim();
  t.equal((await httpGet(s, signed)).text, 'file');
  t.equal((await httpGet(s, signed.replace('a%20b', 'c'))).status, 403);
  t.equal((await httpGet(s, '/downloads/a%20b')).status, 403);
  t.equal((await httpGet(s, '/sign?path=/etc/passwd')).status, 400);
  const old = createHmac('sha256', 'a secret of at least 32 characters').update('/downloads/a b\n5').digest('base64url');
  t.equal((await httpGet(s, `/downloads/a%20b?expires=5&signature=${old}`)).status, 410);
});

t.test('JSON that is changed', async (t) => {
  const bodies: Record<string, [string, string]> = {
    '/json': ['application/json', '{"user":{"email":"a@b.c","name":"ü"},"token":5}'],
    '/bad': ['application/json', '{"email":'],
    '/text': ['text/plain', '{"email":"a@b.c"}'],
  };
  const origin = await startOrigin(t, ({ target: path }) => ({
    headers: { 'Content-Type': bodies[path]![0] },
    body: Buffer.from(bodies[path]![1]),
  }));
  const s = await serve(t, 'js-json-body', {}, { '127.0.0.1:3000': `127.0.0.1:${origin.port}` });
  t.strictSame(JSON.parse(Buffer.from((await httpGet(s, '/json')).text, 'latin1').toString()), {
    user: { email: '***', name: 'ü' },
    token: '***',
  });
  t.equal((await httpGet(s, '/bad')).text, '{"email":');
  t.equal((await httpGet(s, '/text')).text, '{"email":"a@b.c"}');
});

t.test('a gateway with Hono', async (t) => {
  const users = await startOrigin(t, ({ method, target: path }) => ({
    body: path === '/users/none' ? 'x' : JSON.stringify({ path, method }),
  }));
  const orders = await startOrigin(t, ({ target: path }) => ({ body: JSON.stringify([path]) }));
  const backends = { '127.0.0.1:3001': `127.0.0.1:${users.port}`, '127.0.0.1:3002': `127.0.0.1:${orders.port}` };
  const s = await serve(t, 'js-gateway', {}, backends);
  const profile = await httpGet(s, '/api/profile/a%20b', { Origin: 'https://app.example.com' });
  t.strictSame(JSON.parse(profile.text), { user: { path: '/users/a%20b', method: 'GET' }, orders: ['/orders?user=a%20b'] });
  t.equal(profile.header('Access-Control-Allow-Origin'), 'https://app.example.com');
  const posted = await http(s, requestText('POST', '/api/users/x?y=1', { 'Content-Length': '4' }, 'body'));
  t.strictSame(JSON.parse(posted.text), { path: '/users/x?y=1', method: 'POST' });
  t.equal((await httpGet(s, '/api/profile/none')).status, 502);
  t.equal((await httpGet(s, '/api/other')).status, 404);
});
