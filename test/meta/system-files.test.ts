import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import t from 'tap';
import { runCli } from '../support/run-cli.js';
import { root } from './source-files.js';

const conf = `${root}conf`;
const has = (command: string): boolean => spawnSync(command, ['--version']).error === undefined;

t.test('the unit', { skip: !has('systemd-analyze') && 'no systemd-analyze' }, async (t) => {
  const dir = t.testdir({});
  // The program may not be installed where the unit looks for it.
  const text = readFileSync(`${conf}/systemd/sluice.service`, 'utf8').replaceAll('/usr/sbin/sluice', '/bin/true');
  writeFileSync(`${dir}/sluice.service`, text);
  const verified = spawnSync('systemd-analyze', ['verify', '--man=no', `${dir}/sluice.service`], { encoding: 'utf8' });
  t.same([verified.status, verified.stderr], [0, '']);
  const security = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', '--threshold=40', `${dir}/sluice.service`], {
    encoding: 'utf8',
  });
  t.equal(security.status, 0, /→.*/.exec(security.stdout)?.[0] ?? security.stderr);
});

t.test('sysusers', { skip: !has('systemd-sysusers') && 'no systemd-sysusers' }, async (t) => {
  const dir = t.testdir({ etc: { passwd: '', group: '' } });
  const made = spawnSync('systemd-sysusers', [`--root=${dir}`, '-'], {
    input: readFileSync(`${conf}/sysusers/sluice.conf`, 'utf8'),
    encoding: 'utf8',
  });
  t.equal(made.status, 0, made.stderr);
  t.match(readFileSync(`${dir}/etc/passwd`, 'utf8'), /^sluice:x:\d+:\d+:sluice web server:\/nonexistent:\/usr\/sbin\/nologin$/m);
  t.match(readFileSync(`${dir}/etc/group`, 'utf8'), /^www-data:x:33:sluice$/m);
});

t.test('tmpfiles', { skip: (!has('systemd-tmpfiles') || process.getuid?.() !== 0) && 'no systemd-tmpfiles, or not root' }, async (t) => {
  const dir = t.testdir({ etc: { passwd: 'root:x:0:0::/root:/bin/sh\n', group: 'root:x:0:\nadm:x:4:\n' } });
  for (const folder of ['run', 'var/cache', 'var/log']) {
    mkdirSync(`${dir}/${folder}`, { recursive: true });
  }
  const made = spawnSync('systemd-tmpfiles', [`--root=${dir}`, '--create', `${conf}/tmpfiles/sluice.conf`], { encoding: 'utf8' });
  t.equal(made.status, 0, made.stderr);
  const listed = spawnSync('stat', ['-c', '%A %u:%g', `${dir}/run/sluice`, `${dir}/var/cache/sluice`, `${dir}/var/log/sluice`], {
    encoding: 'utf8',
  });
  t.equal(listed.stdout, 'drwxr-xr-x 0:0\ndrwxr-xr-x 0:0\ndrwxr-xr-x 0:4\n');
});

t.test('the configuration of an installed system', async (t) => {
  // A socket's path has at most 107 bytes, which a folder in a deep work tree may already have.
  const dir = mkdtempSync(`${tmpdir()}/sluice-system-`);
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const made = spawnSync('sh', [
    '-c',
    `cp -R ${conf}/mime.types ${conf}/snippets ${conf}/*_params ${conf}/fastcgi.conf ${conf}/system/* ${dir}`,
  ]);
  t.equal(made.status, 0);
  mkdirSync(`${dir}/var`);
  const adapted = (text: string): string =>
    text
      .replaceAll(/\/var\/log\/sluice|\/run\/sluice/g, `${dir}/var`)
      .replace(/^user .*/m, '')
      .replace(/listen( +)(\[::\]:)?80 default_server/g, (_, space, six) => `listen${space}unix:${dir}/${six ? 6 : 4}`);
  for (const file of ['sluice.conf', 'conf.d/default.conf']) {
    writeFileSync(`${dir}/${file}`, adapted(readFileSync(`${dir}/${file}`, 'utf8')));
  }
  const { code, stderr } = await runCli(['-t', '-p', `${dir}/`, '-c', 'sluice.conf', '-e', 'stderr']);
  t.equal(code, 0, stderr);
  t.notMatch(stderr, /warn/);
});
