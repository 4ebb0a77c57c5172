// Packages from the registry that handlers use, as the guide shows them: installed beside the modules, and bundled with them.
import { execFile as execFileWithCallback } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { CLIENT_ID, CLIENT_SECRET, OpenIdProvider } from '../support/openid-provider.js';
import { startPostgres, withoutPostgres } from '../support/postgres.js';
import { makePrefix } from '../support/prefix.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { startRedis, withoutEngine } from '../support/redis.js';
import { runCli } from '../support/run-cli.js';
import { httpConf, type Server, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('nginx has no packages');
}

const execFile = promisify(execFileWithCallback);
const root = new URL('../../', import.meta.url).pathname;
const examples = `${root}conf/examples/libraries`;
const names = readdirSync(examples).map((file) => file.replace(/\.ts$/, ''));
const PACKAGES = [
  'ajv@8.20.0',
  'iovalkey@0.4.0',
  'jose@6.2.18',
  'openid-client@6.9.0',
  'pg@8.23.1',
  '@types/pg@8.23.1',
  'sharp@0.35.5',
  'zod@4.6.7',
];

/** What the workers keep of the environment. */
const ENVIRONMENT = ['TOKEN_KEY', 'ISSUER', 'CLIENT_ID', 'CLIENT_SECRET', 'DATABASE', 'STORE', 'NODE_EXTRA_CA_CERTS', 'NODE_PATH'];

/** A red picture of 400 to 300. */
const PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300"><rect width="400" height="300" fill="red"/></svg>';

const { dir: project } = await makePrefix(t, {
  'package.json': '{ "private": true }',
  // Workers read it with no rights.
  'ca.pem': readFileSync(certs().ca.cert, 'utf8'),
});
const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', ...PACKAGES];
const installed = await execFile('npm', install, { cwd: project, timeout: 120_000 }).then(
  () => true,
  () => false,
);

interface Peers {
  readonly env: Readonly<Record<string, string>>;
  readonly database: boolean;
  readonly store: boolean;
}

async function startPeers(t: Test): Promise<Peers> {
  const provider = await OpenIdProvider.start(t, {
    redirectUris: ['https://app.test/cb'],
    grants: ['client_credentials'],
    features: { clientCredentials: { enabled: true } },
  });
  const database = withoutPostgres === false;
  const store = withoutEngine === false;
  const env: Record<string, string> = {
    TOKEN_KEY: '0123456789abcdef0123456789abcdef',
    ISSUER: provider.issuer,
    CLIENT_ID,
    CLIENT_SECRET,
    NODE_EXTRA_CA_CERTS: `${project}/ca.pem`,
  };
  if (database) {
    env.DATABASE = `postgres://tester@127.0.0.1:${await startPostgres(t)}/postgres`;
    const { default: pg } = await import(createRequire(`${project}/x.js`).resolve('pg'));
    const client = new pg.Client({ connectionString: env.DATABASE });
    await client.connect();
    await client.query("CREATE TABLE people AS SELECT * FROM (VALUES (1, 'Ada'), (2, 'Grace'), (3, 'Alan')) AS p (id, name)");
    await client.end();
  }
  if (store) {
    env.STORE = `redis://127.0.0.1:${(await startRedis(t)).port}`;
  }
  return { env, database, store };
}

const conf = (modules: string): string =>
  httpConf(
    `${names.map((name) => `js_import ${name} from ${modules}/${name}.%%EXT%%;`).join('\n')} js_var $token;
    server {
      listen 127.0.0.1:%%PORT_0%%;
      location = /orders { client_body_in_single_buffer on; js_content orders.checked; }
      location @orders { return 201 "ordered\n"; }
      location = /list { js_content orders.listed; }
      location = /issue { js_content tokens.issue; }
      location = /closed { js_access tokens.check; alias %%DIR%%/html/closed; }
      location /visits/ { js_content counts.visit; }
      location = /people { js_content people.list; }
      location /picture { js_content thumbnails.small; }
      location /original/ { internal; alias %%DIR%%/html/; }
      location = /service { js_access service.login; proxy_set_header Authorization "Bearer $token"; proxy_pass http://127.0.0.1:%%PORT_0%%/seen; }
      location = /seen { return 200 $http_authorization; }
    }`,
    ENVIRONMENT.map((name) => `env ${name};`).join(' '),
  );

async function use(t: Test, s: Server, { database, store }: Peers): Promise<void> {
  const order = async (body: string): Promise<string> => {
    const { status, text } = await http(s, requestText('POST', '/orders', { Connection: 'close' }, body));
    return `${status} ${text}`;
  };
  t.equal(await order('{"item":"book","count":2}'), '201 ordered\n', 'ajv');
  t.equal(await order('{"item":"","count":1.5,"x":1}').then((text) => text.split('\n').length), 4, 'ajv says all that is wrong');
  t.equal(await order('{'), '400 no JSON\n');
  t.equal((await httpGet(s, '/list?page=3&sort=date')).text, 'page 3 by date\n', 'zod');
  t.equal((await httpGet(s, '/list?page=0')).status, 400);
  const { text: token } = await httpGet(s, '/issue');
  t.equal((await httpGet(s, '/closed', { Authorization: `Bearer ${token}` })).text, 'open', 'jose');
  t.equal((await httpGet(s, '/closed', { Authorization: `Bearer ${token}x` })).status, 401);
  await s.logged('token refused: ERR_JWS');
  const { text: bearer } = await httpGet(s, '/service');
  t.match(bearer, /^Bearer [\w-]{20,}$/, 'openid-client');
  t.equal((await httpGet(s, '/service')).text, bearer, 'asked for once');
  const picture = await httpGet(s, '/picture.svg?width=100');
  t.equal(picture.header('Content-Type'), 'image/webp', `sharp ${picture.status}`);
  const sharp = createRequire(`${project}/x.js`)('sharp');
  const { width, height } = await sharp(picture.body).metadata();
  t.strictSame([width, height], [100, 75]);
  t.equal((await httpGet(s, '/picture-that-is-not-there')).status, 404);
  if (database) {
    t.strictSame(
      JSON.parse((await httpGet(s, '/people?q=a')).text),
      [
        { id: 1, name: 'Ada' },
        { id: 3, name: 'Alan' },
      ],
      'pg',
    );
    t.equal((await httpGet(s, "/people?q=';--")).text, '[]');
  }
  if (store) {
    const page = `/visits/${Math.random()}`;
    await httpGet(s, page);
    t.equal((await httpGet(s, page)).text, '2\n', 'iovalkey');
  }
}

t.test('the guide shows the handlers as they are', async (t) => {
  const guide = readFileSync(`${root}docs/guides/packages.md`, 'utf8');
  for (const name of names) {
    t.ok(guide.includes(readFileSync(`${examples}/${name}.ts`, 'utf8').trim()), name);
  }
});

t.test('handlers with packages', { skip: !installed && 'the registry cannot be reached' }, async (t) => {
  const peers = await startPeers(t);
  cpSync(examples, `${project}/modules`, { recursive: true });
  for (const needed of ['esbuild', 'typescript']) {
    mkdirSync(dirname(`${project}/node_modules/${needed}`), { recursive: true });
    symlinkSync(dirname(createRequire(import.meta.url).resolve(`${needed}/package.json`)), `${project}/node_modules/${needed}`);
  }

  await t.test('the configuration of the guide', async (t) => {
    const [, text] = /```nginx\n(.*?)```/s.exec(readFileSync(`${root}docs/guides/packages.md`, 'utf8'))!;
    const { dir } = await makePrefix(t, { 'sluice.conf': text!.replace('js_path   modules', `js_path ${project}/modules`) });
    const { code, stderr } = await runCli(['-t', '-p', `${dir}/`, '-c', `${dir}/sluice.conf`], { env: { ...peers.env } });
    t.equal(code, 0, stderr);
  });

  await t.test('installed beside the modules', async (t) => {
    const s = await startServer(t, {
      conf: conf(`${project}/modules`).replaceAll('%%EXT%%', 'ts'),
      files: { 'html/picture.svg': PICTURE, 'html/closed': 'open' },
      env: { ...peers.env },
    });
    await use(t, s, peers);
    await s.reload();
    await use(t, s, peers);
  });

  await t.test('bundled', async (t) => {
    const text = conf(`${project}/modules`).replaceAll('%%EXT%%', 'ts').replaceAll('%%PORT_0%%', '1').replaceAll('%%DIR%%', project);
    const { dir } = await makePrefix(t, { 'sluice.conf': text });
    const build = (...args: string[]) => runCli(['build', '-p', `${dir}/`, '-c', `${dir}/sluice.conf`, ...args], { cwd: dir });
    const whole = await build('--bundle', 'out');
    t.equal(whole.code, 1, whole.stdout || 'machine code cannot be bundled');
    t.match(whole.stderr, /the package sharp has machine code, which a bundle cannot hold: leave it out, by "--external sharp"/);
    const { code, stdout, stderr } = await build('--bundle', 'out', '--external', 'sharp');
    t.equal(code, 0, stderr);
    t.match(stdout, /^out\/people\.js: \S+\/modules\/people\.ts with all that it imports, \d+\.\d KB$/m);
    const bundles = names.map((name): [string, string] => [`modules/${name}.js`, readFileSync(`${dir}/out/${name}.js`, 'utf8')]);
    mkdirSync(`${dir}/alone`);
    symlinkSync(`${project}/node_modules/sharp`, `${dir}/alone/sharp`);
    const s = await startServer(t, {
      conf: conf('modules').replaceAll('%%EXT%%', 'js'),
      files: { 'html/picture.svg': PICTURE, 'html/closed': 'open', ...Object.fromEntries(bundles) },
      env: { ...peers.env, NODE_PATH: `${dir}/alone` },
    });
    await use(t, s, peers);
  });
});
