import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { makeRing } from '../../src/shared/net/engine/choose.js';
import { httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

const ring = makeRing();

const root = new URL('../../', import.meta.url).pathname;
const tools = ['dpkg-deb', 'dpkg-shlibdeps', 'strip'];
const missing = tools.filter((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0);

/** Runs a program without tap's hooks, which would be part of what is measured and packed. */
const run = (program: string, ...args: string[]) =>
  spawnSync('/usr/bin/env', ['-u', 'NODE_OPTIONS', program, ...args], { encoding: 'utf8', cwd: root });

t.test('the package holds all that a server needs', { skip: missing.length > 0 && `not installed: ${missing.join(', ')}` }, async (t) => {
  // Outside of this folder, so that a package that is missing is not found above.
  const dir = mkdtempSync(join(tmpdir(), 'sluice-deb-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const built = run(`${root}scripts/package-deb`, dir);
  t.equal(built.status, 0, built.stderr);
  const deb = built.stdout.trim().split('\n').at(-1)!;
  const unpacked = run('dpkg-deb', '-x', deb, `${dir}/root`);
  t.equal(unpacked.status, 0, unpacked.stderr);
  // Serves a request.
  const served = run(process.execPath, `${root}scripts/code-cache.mjs`, `${dir}/root/usr/lib/sluice/dist`);
  t.equal(served.status, 0, served.stderr);
  // What is not bundled. Those that configurations ask for are loaded late.
  const { dependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { dependencies: Record<string, string> };
  const packages = run(process.execPath, 'packaging/runtime-packages.mjs').stdout.split('\n');
  const names = Object.keys(dependencies).filter((name) => packages.includes(`node_modules/${name}`));
  t.ok(names.includes('jose') && names.includes('ioredis') && names.includes('oauth4webapi'));
  const lines = names.map((name) => `createRequire(${JSON.stringify(`${dir}/root/usr/lib/sluice/dist/`)})('${name}');`);
  const loaded = run(process.execPath, '-e', `const { createRequire } = require('node:module'); ${lines.join(' ')}`);
  t.equal(loaded.status, 0, `all packages are there ${loaded.stderr}`);
  // A folder that none but its owner may enter, as /root is: whatever root still loads after it has taken on the workers' rights for
  // something would be missing.
  process.env['SLUICE_DIST'] = `${dir}/root/usr/lib/sluice/dist`;
  t.teardown(() => delete process.env['SLUICE_DIST']);
  const s = await startServer(t, {
    conf: serverConf(`location / { return 200 packed; }
      location /closed { auth_basic realm; auth_basic_user_file users; try_files /none @open; }
      location @open { return 200 open; }`),
    files: { users: 'apr1:$apr1$saltsalt$LrttParrLPdxvgutaSXWJ0\n' },
  });
  t.equal((await httpGet(s, '/')).text, 'packed');
  const Authorization = `Basic ${Buffer.from('apr1:secret').toString('base64')}`;
  t.equal((await httpGet(s, '/closed', { Authorization })).text, 'open', 'a thread hashes the password');
  t.notMatch(s.log(), /\[alert\]/);
  t.notMatch(s.log(), /koffi/, 'the binary of koffi is there');
  if (typeof ring !== 'string' && process.env['SLUICE_TEST_NET_ENGINE'] !== 'libuv') {
    t.match(s.log(), /using the "uring" network engine/);
    const globals = `pid ${s.dir}/server.pid;`;
    const sluice = `${process.env['SLUICE_DIST']}/sluice.js`;
    const status = run(process.execPath, sluice, 'status', '-p', `${s.dir}/`, '-c', 'sluice.conf', '-g', globals);
    t.match(status.stdout, / on uring/, status.stderr);
  }
  const printed = run(process.execPath, `${dir}/root/usr/lib/sluice/dist/sluice.js`, '--print-config', dir);
  t.match(printed.stdout, 'text/html', `a folder is served without /etc/sluice ${printed.stderr}`);
  const { stdout: control } = run('dpkg-deb', '-f', deb);
  t.match(control, /^Maintainer: .+ <\S+@\S+>$/m);
  t.notMatch(control, /\.invalid/);
  for (const file of [
    'usr/sbin/sluice',
    'usr/share/man/man8/sluice.8.gz',
    'etc/sluice/sluice.conf',
    'usr/share/sluice/monitoring/prometheus.yml',
    'usr/share/sluice/monitoring/sluice-alerts.yml',
    'usr/share/sluice/monitoring/sluice-grafana.json',
    'usr/lib/systemd/system/sluice.service',
  ]) {
    t.ok(existsSync(`${dir}/root/${file}`) || existsSync(`${dir}/root/${file.replace('usr/lib', 'lib')}`), file);
  }
});
