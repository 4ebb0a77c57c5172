import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { makeRing } from '../../src/shared/net/engine/choose.js';
import { startForeground } from '../support/foreground.js';
import { reservePort } from '../support/ports.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const root = new URL('../../', import.meta.url).pathname;
const ring = makeRing();
const uid = process.geteuid!();
const own = `sluice-executable-${uid}`;

// Outside of this folder, so that a package that is missing is not found above. Workers become nobody.
const dir = mkdtempSync(join(tmpdir(), 'sluice-executable-'));
chmodSync(dir, 0o755);
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
const executable = `${dir}/sluice`;
// Without tap's hooks, which would be part of what is packed.
const built = spawnSync('/usr/bin/env', ['-u', 'NODE_OPTIONS', `${root}scripts/build-executable`, executable], { encoding: 'utf8' });
t.equal(built.status, 0, `${built.stdout}${built.stderr}`);
t.match(built.stdout, /sluice: \d+ MB, with Node v\d+/);

/** Runs it with nothing in its environment but what is given. */
function sluice(args: readonly string[], env: Record<string, string> = {}): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(executable, args, { encoding: 'utf8', env, cwd: dir });
  return { status, said: `${stdout}${stderr}` };
}

/** A folder in which the executable may keep its files. */
function place(name: string): string {
  const folder = `${dir}/${name}`;
  mkdirSync(folder, { mode: 0o755 });
  return folder;
}

/** The only folder with the files of an executable in it. */
function filesIn(t: import('tap').Test, folder: string): string {
  const [name, ...others] = readdirSync(`${folder}/${own}`);
  t.equal(others.length, 0, 'nothing else is left there');
  return `${folder}/${own}/${name}`;
}

t.test(
  'a machine that has nothing but the C library serves a folder',
  { skip: uid !== 0 && 'only root may change the root' },
  async (t) => {
    const jail = place('jail');
    const libraries = spawnSync('ldd', [executable], { encoding: 'utf8' }).stdout.match(/\/\S+/g) ?? [];
    t.ok(libraries.length > 0);
    for (const library of libraries) {
      mkdirSync(dirname(`${jail}${library}`), { recursive: true });
      copyFileSync(library, `${jail}${library}`);
    }
    for (const folder of ['dev', 'tmp', 'public']) {
      mkdirSync(`${jail}/${folder}`);
    }
    chmodSync(`${jail}/tmp`, 0o1777);
    t.equal(spawnSync('mknod', [`${jail}/dev/null`, 'c', '1', '3']).status, 0);
    chmodSync(`${jail}/dev/null`, 0o666);
    copyFileSync(executable, `${jail}/sluice`);
    chmodSync(`${jail}/sluice`, 0o755);
    writeFileSync(`${jail}/public/index.html`, 'from the jail');
    const chroot = ['/usr/sbin/chroot', '/usr/bin/chroot', '/sbin/chroot'].find((path) => statSync(path, { throwIfNoEntry: false }));
    const { port, release } = await reservePort();
    t.teardown(release);
    const server = startForeground(t, '/usr/bin/env', ['-i', chroot!, jail, '/sluice', './public', '--port', String(port)]);
    await server.until(/sluice: serving \.\/public on http/);
    t.match(server.said(), 'this machine has no user nobody, so the workers stay root');
    t.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'from the jail');
    server.child.kill('SIGQUIT');
    t.equal(await server.end(), 0);
    // As other systems than Debian have it: nobody's group has his name.
    mkdirSync(`${jail}/etc`);
    writeFileSync(`${jail}/etc/passwd`, 'root:x:0:0::/:/\nnobody:x:65534:65534::/:/\n');
    writeFileSync(`${jail}/etc/group`, 'root:x:0:\nnobody:x:65534:\n');
    const dropped = startForeground(t, '/usr/bin/env', ['-i', chroot!, jail, '/sluice', './public', '--port', String(port)]);
    await dropped.until(/sluice: serving \.\/public on http/);
    t.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'from the jail');
    t.notMatch(dropped.said(), 'stay root');
    dropped.child.kill('SIGQUIT');
    t.equal(await dropped.end(), 0);
  },
);

t.test('master, workers, threads, reload and upgrade', async (t) => {
  const cache = place('cache');
  const s = await startServer(t, {
    nginx: executable,
    conf: httpConf(
      `limit_req_zone $remote_addr zone=z:1m rate=1000r/s; js_import program.js;
      server { listen 127.0.0.1:%%PORT_0%%;
        location / { limit_req zone=z; return 200 "one $pid"; }
        location /js { js_content program.handler; }
        location /closed { auth_basic realm; auth_basic_user_file users; try_files /none @open; }
        location @open { return 200 open; } }`,
      'worker_processes 2;',
    ),
    files: {
      users: 'apr1:$apr1$saltsalt$LrttParrLPdxvgutaSXWJ0\n',
      'program.js':
        'import crypto from "crypto"; export default { handler(r) { r.return(200, crypto.createHash("md5").update("a").digest("hex")); } };',
    },
    env: { SLUICE_CACHE_DIR: cache, PATH: '' },
  });
  t.match((await httpGet(s, '/')).text, /^one \d+$/);
  t.equal((await httpGet(s, '/js')).text, '0cc175b9c0f1b6a831c399e269772661');
  const Authorization = `Basic ${Buffer.from('apr1:secret').toString('base64')}`;
  t.equal((await httpGet(s, '/closed', { Authorization })).text, 'open', 'a thread hashes the password');
  t.notMatch(s.log(), /koffi/);
  if (typeof ring !== 'string') {
    t.match(s.log(), /using the "uring" network engine/);
  }
  const say = (...args: string[]) =>
    sluice([...args, '-p', `${s.dir}/`, '-c', 'sluice.conf', '-g', `pid ${s.dir}/server.pid;`], { SLUICE_CACHE_DIR: cache });
  if (typeof ring !== 'string') {
    t.match(say('status').said, / on uring/);
  }
  await s.reload(readFileSync(`${s.dir}/sluice.conf`, 'latin1').replace('"one', '"two'));
  t.match((await httpGet(s, '/')).text, /^two \d+$/);
  const old = s.pid;
  s.signal('USR2');
  await waitFor(
    () => statSync(`${s.dir}/server.pid.oldbin`, { throwIfNoEntry: false }) && statSync(`${s.dir}/server.pid`, { throwIfNoEntry: false }),
  );
  t.not(s.pid, old);
  process.kill(old, 'SIGQUIT');
  await s.logged(new RegExp(`${old}#.*: exit$`));
  t.match((await httpGet(s, '/')).text, /^two \d+$/, 'the new master serves');
  const quit = say('-s', 'quit');
  t.equal(quit.status, 0, quit.said);
});

t.test("its files are this user's, and what they are in the executable", async (t) => {
  const cache = place('files');
  const env = { SLUICE_CACHE_DIR: cache };
  const first = sluice(['-V'], env);
  const folder = filesIn(t, cache);
  t.match(first.said, `single executable, its files in ${folder}\n`);
  const mode = uid === 0 ? 0o755 : 0o700;
  t.equal(statSync(`${cache}/${own}`).mode & 0o777, mode);
  t.equal(statSync(folder).mode & 0o777, mode);
  t.equal(statSync(`${folder}/dist/program.js`).mode & 0o777, mode & 0o666);
  // One that somebody has changed, one that is a link, one that is missing.
  const program = `${folder}/dist/program.js`;
  const text = readFileSync(program, 'latin1');
  writeFileSync(program, text.replace('(function', '(FUNCTION'));
  t.equal(sluice(['-v'], env).status, 0);
  t.ok(readFileSync(program, 'latin1') === text, 'one byte is enough');
  rmSync(program);
  writeFileSync(`${dir}/elsewhere.js`, text);
  symlinkSync(`${dir}/elsewhere.js`, program);
  t.equal(sluice(['-v'], env).status, 0);
  t.ok(statSync(program).ino !== statSync(`${dir}/elsewhere.js`).ino, 'no link is followed, to the same text either');
  rmSync(`${folder}/node_modules`, { recursive: true });
  t.equal(sluice(['-v'], env).status, 0);
  filesIn(t, cache);
});

t.test('a place that others decide about is refused', async (t) => {
  const refused = (folder: string, why: RegExp | string): void => {
    const { status, said } = sluice(['-v'], { SLUICE_CACHE_DIR: folder });
    t.equal(status, 1, said);
    t.match(said, 'SLUICE_CACHE_DIR names a folder where programs may be run from');
    t.match(said, why);
  };
  const open = place('open');
  chmodSync(open, 0o777);
  refused(open, `others may write into "${open}"`);
  mkdirSync(`${open}/below`, { mode: 0o755 });
  refused(`${open}/below`, `others may write into "${open}"`);
  const linked = place('linked');
  symlinkSync(place('target'), `${linked}/${own}`);
  refused(linked, /ELOOP|ENOTDIR/);
  const loose = place('loose');
  mkdirSync(`${loose}/${own}`);
  chmodSync(`${loose}/${own}`, 0o770);
  refused(loose, `others may write into "${loose}/${own}"`);
  refused(`${dir}/none`, 'ENOENT');
});

t.test('without -c it serves sluice.conf of the current directory', async (t) => {
  const env = { SLUICE_CACHE_DIR: `${dir}/files` };
  const none = sluice(['-t'], env);
  if (statSync('/etc/sluice/sluice.conf', { throwIfNoEntry: false }) === undefined) {
    t.equal(none.status, 1);
    t.match(none.said, `open() "${dir}/sluice.conf" failed (2: No such file or directory)`);
    writeFileSync(`${dir}/sluice.conf`, 'events { } http { server { listen 127.0.0.1:1; } }');
    const there = sluice(['-t'], env);
    t.equal(there.status, 0, there.said);
    t.match(there.said, `configuration file ${dir}/sluice.conf test is successful`);
  }
});
