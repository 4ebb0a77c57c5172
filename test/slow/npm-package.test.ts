import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { startForeground } from '../support/foreground.js';
import { reservePort } from '../support/ports.js';
import { makePrefix } from '../support/prefix.js';

if (againstNginx) {
  t.bailout('nginx is no package of npm');
}

const root = new URL('../../', import.meta.url).pathname;
const env: NodeJS.ProcessEnv = { ...process.env, NODE_OPTIONS: '' };
const run = (command: string, args: readonly string[], cwd: string, options: SpawnSyncOptions = {}) =>
  spawnSync(command, args, { cwd, env, ...options, encoding: 'utf8' });
/** What an install may take, far more than it does: to compile SQLite takes longer. */
const INSTALL = 60_000;

/** A folder for the path with nothing in it but Node, npm and a shell: no compiler, no make, no Python. */
function barePath(dir: string): string {
  mkdirSync(dir);
  for (const name of ['npm', 'sh', 'env']) {
    symlinkSync(run('/bin/sh', ['-c', `command -v ${name}`], root).stdout.trim(), `${dir}/${name}`);
  }
  symlinkSync(process.execPath, `${dir}/node`);
  return dir;
}

t.test('the tarball, installed in an empty folder', { timeout: 600_000 }, async (t) => {
  const { dir } = await makePrefix(t, { 'app/public/index.html': 'packed', 'app/package.json': '{ "private": true, "type": "module" }' });
  const app = `${dir}/app`;
  // The build that is tested is the one that is packed.
  const packed = run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', dir], root);
  t.equal(packed.status, 0, packed.stderr);
  const [{ filename, files }] = JSON.parse(packed.stdout);
  const paths = files.map(({ path }: { path: string }) => path);
  for (const path of [
    'dist/sluice.js',
    'dist/worker.js',
    'dist/cache-worker.js',
    'dist/cache-program.js',
    'dist/old-node.js',
    'dist/program.js',
    'dist/program.js.cache',
    'dist/index.js',
    'dist/index.d.ts',
    'conf/sluice.conf',
    'conf/mime.types',
    'packaging/sluice.8',
  ]) {
    t.ok(paths.includes(path), path);
  }
  t.notOk(paths.some((path: string) => /^(src|test|scripts|node_modules)\/|\.map$/.test(path)));
  t.same(
    paths.filter((path: string) => path.startsWith('logs/')),
    ['logs/README'],
  );

  const bare = { env: { ...env, PATH: barePath(`${dir}/bin`) }, timeout: INSTALL };
  const installed = run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--no-save', '--prefer-offline', '--fetch-retries=0', `${dir}/${filename}`],
    app,
    bare,
  );
  if (installed.status !== 0) {
    t.match(installed.stderr, /E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|403|404)|network/, installed.stderr);
    t.comment(installed.stderr);
    t.pass('not installed', { skip: 'its packages cannot be had: the registry is out of reach' });
    return;
  }
  const own = readdirSync(`${app}/node_modules/sluice`).sort();
  t.match(own, ['CHANGELOG.md', 'LICENSE', 'README.md', 'conf', 'dist']);

  const { port, release } = await reservePort();
  t.teardown(release);
  const sluice = `${app}/node_modules/.bin/sluice`;
  const tested = run(sluice, ['-t'], app, bare);
  t.equal(tested.status, 0, tested.stderr);
  const server = startForeground(t, sluice, ['./public', '--port', String(port)], { cwd: app, env: { NODE_OPTIONS: '' } });
  await server.until(/serving \.\/public on/);
  t.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'packed');
  t.equal(await server.stop('SIGINT'), 0);

  const imported = run(
    process.execPath,
    [
      '-e',
      "import('sluice').then(({ program, configurationForProxy }) => console.log(program + '\\n' + configurationForProxy({ target: '3000' })))",
    ],
    app,
  );
  t.equal(imported.status, 0, imported.stderr);
  t.ok(imported.stdout.startsWith(`${app}/node_modules/sluice/dist/sluice.js\n# Made by sluice.`), imported.stdout);
  t.match(readFileSync(`${app}/node_modules/sluice/dist/index.d.ts`, 'utf8'), 'configurationForDirectory');
});
