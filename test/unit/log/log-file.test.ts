import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, closeSync, constants, existsSync, mkdirSync, openSync, readFileSync, readSync, renameSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import t from 'tap';
import { LogFiles } from '../../../src/shared/log/log-files.js';

// The writer processes run from one bundled file, which starts many times faster than TypeScript does.
const base = t.testdir({ disk: {} });
const writer = `${base}/log-writer.mjs`;
buildSync({
  entryPoints: [new URL('./log-writer.ts', import.meta.url).pathname],
  bundle: true,
  platform: 'node',
  format: 'esm',
  outfile: writer,
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Log files whose reported failures are collected. */
function openFiles() {
  const failures: string[] = [];
  const files = new LogFiles();
  files.failures = { log: (level, message) => failures.push(`${level} ${message}`) };
  return { files, failures };
}

t.test('lines of a turn are written together', async (t) => {
  const path = `${t.testdir({ 'a.log': 'old\n' })}/a.log`;
  const { files } = openFiles();
  const file = files.open(path);
  t.equal(files.open(path), file, 'one file per path');
  file.write('one\n');
  file.write('\xe9\xff\n');
  t.equal(readFileSync(path, 'latin1'), 'old\n');
  await turn();
  t.equal(readFileSync(path, 'latin1'), 'old\none\n\xe9\xff\n');
  const big = `${'x'.repeat(200_000)}\n`;
  file.write('before\n');
  file.write(big);
  t.equal(readFileSync(path, 'latin1'), `old\none\n\xe9\xff\nbefore\n${big}`, 'a long line does not wait, and keeps its place');
  file.write('last\n');
  files.closeAll();
  t.match(readFileSync(path, 'latin1'), /\nlast\n$/);
  file.write('too late\n');
  await turn();
  t.match(readFileSync(path, 'latin1'), /\nlast\n$/, 'a closed file takes no more');
  t.throws(() => files.open(`${path}/b`), { code: 'ENOTDIR' });
});

t.test('what is held at exit is written', async (t) => {
  const path = `${t.testdir({})}/exit.log`;
  execFileSync(process.execPath, [writer, 'exit', path]);
  t.equal(readFileSync(path, 'latin1'), 'held\n');
});

t.test('buffer', async (t) => {
  const path = `${t.testdir({})}/b.log`;
  const { files } = openFiles();
  const file = files.open(path);
  file.buffer({ size: 16, flush: 0, gzip: 0 });
  file.write('0123456\n');
  file.write('89abcde\n');
  await turn();
  t.equal(readFileSync(path, 'latin1'), '', 'full to the brim is not written yet');
  file.write('x\n');
  t.equal(readFileSync(path, 'latin1'), '0123456\n89abcde\n');
  file.write('a line longer than the buffer\n');
  t.equal(readFileSync(path, 'latin1'), '0123456\n89abcde\nx\na line longer than the buffer\n');
  file.write('y\n');
  file.flush();
  t.match(readFileSync(path, 'latin1'), /\ny\n$/);
  files.closeAll();
});

t.test('buffer with flush', async (t) => {
  const path = `${t.testdir({})}/f.log`;
  const { files } = openFiles();
  const file = files.open(path);
  file.buffer({ size: 1000, flush: 30, gzip: 0 });
  file.write('x\n');
  while (readFileSync(path, 'latin1') === '') {
    await sleep(5);
  }
  t.equal(readFileSync(path, 'latin1'), 'x\n');
  files.closeAll();
});

t.test('gzip: each write is a member', async (t) => {
  const path = `${t.testdir({})}/g.log`;
  const { files } = openFiles();
  const file = files.open(path);
  file.buffer({ size: 10, flush: 0, gzip: 1 });
  file.write('12345678\n');
  file.write('abcdefgh\n');
  t.equal(gunzipSync(readFileSync(path)).toString(), '12345678\n');
  files.closeAll();
  t.equal(gunzipSync(readFileSync(path)).toString(), '12345678\nabcdefgh\n');
});

t.test('reopen lets go of a renamed file', async (t) => {
  const dir = t.testdir({});
  const { files, failures } = openFiles();
  const a = files.open(`${dir}/a.log`);
  const b = files.open(`${dir}/b.log`);
  a.write('1\n');
  renameSync(`${dir}/a.log`, `${dir}/a.1`);
  files.reopenAll();
  a.write('2\n');
  b.write('3\n');
  files.flushAll();
  t.equal(readFileSync(`${dir}/a.1`, 'latin1'), '1\n', 'what was held went to the old file');
  t.equal(readFileSync(`${dir}/a.log`, 'latin1'), '2\n');
  t.equal(readFileSync(`${dir}/b.log`, 'latin1'), '3\n');
  t.same(failures, []);
  files.closeAll();
});

t.test('a file that cannot be reopened stays as it is', async (t) => {
  const dir = t.testdir({});
  mkdirSync(`${dir}/d`);
  const { files, failures } = openFiles();
  const file = files.open(`${dir}/d/a.log`);
  renameSync(`${dir}/d`, `${dir}/e`);
  files.reopenAll();
  file.write('still\n');
  files.flushAll();
  t.equal(readFileSync(`${dir}/e/a.log`, 'latin1'), 'still\n');
  t.same(failures, [`1 open() "${dir}/d/a.log" failed (2: No such file or directory)`]);
  files.closeAll();
});

t.test('as root, reopened files are given to the worker’s user', { skip: process.getuid?.() !== 0 && 'needs root' }, async (t) => {
  const dir = t.testdir({});
  const { files, failures } = openFiles();
  files.open(`${dir}/a.log`);
  files.open('/dev/null');
  const nullOwner = statSync('/dev/null').uid;
  chmodSync(`${dir}/a.log`, 0o044);
  files.reopenAll(65534);
  t.equal(statSync(`${dir}/a.log`).uid, 65534);
  t.equal(statSync(`${dir}/a.log`).mode & 0o777, 0o644);
  t.equal(statSync('/dev/null').uid, nullOwner, 'devices keep their owner');
  t.same(failures, []);
  files.closeAll();
});

t.test('no line is lost or torn while several processes write and files are renamed', async (t) => {
  const dir = t.testdir({});
  const path = `${dir}/access.log`;
  const writers = [0, 1, 2].map((id) => {
    const child = spawn(process.execPath, [writer, 'load', path, String(id)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return { child, done: new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? -1))) };
  });
  await Promise.all(writers.map(({ child }) => new Promise((resolve) => child.stdout.once('data', resolve))));
  const names = [path];
  for (let i = 0; i < 10; i++) {
    await sleep(20);
    renameSync(path, `${path}.${i}`);
    names.push(`${path}.${i}`);
    for (const { child } of writers) {
      child.kill('SIGUSR2');
    }
    while (!existsSync(path)) {
      await sleep(1);
    }
  }
  for (const { child } of writers) {
    child.kill('SIGTERM');
  }
  t.same(await Promise.all(writers.map(({ done }) => done)), [0, 0, 0]);
  const seen = [new Set<number>(), new Set<number>(), new Set<number>()];
  const highest = [-1, -1, -1];
  let torn = 0;
  let twice = 0;
  for (const name of names) {
    const text = readFileSync(name, 'latin1');
    t.ok(text === '' || text.endsWith('\n'), 'ends with a whole line');
    for (const line of text.split('\n').slice(0, -1)) {
      const match = /^(\d) (\d+) (x+)\.$/.exec(line);
      if (match === null || match[3]?.length !== 10 + (Number(match[2]) % 300)) {
        torn++;
        continue;
      }
      const id = Number(match[1]);
      const number = Number(match[2]);
      twice += seen[id]?.has(number) ? 1 : 0;
      seen[id]?.add(number);
      highest[id] = Math.max(highest[id] as number, number);
    }
  }
  t.equal(torn, 0);
  t.equal(twice, 0);
  t.same(
    seen.map((set) => set.size),
    highest.map((n) => n + 1),
    'every number up to the last is there',
  );
  t.ok(highest.every((n) => n > 100));
});

t.test('a full disk drops lines, says so once and never throws', { skip: !existsSync('/dev/full') && 'no /dev/full' }, async (t) => {
  const { files, failures } = openFiles();
  const file = files.open('/dev/full');
  for (let i = 0; i < 100; i++) {
    file.write(`line ${i}\n`);
    await turn();
  }
  t.same(failures, ['2 write() to "/dev/full" failed (28: No space left on device)']);
  files.closeAll();
});

// The disk is mounted in a namespace of its own, so that nothing of it can be left behind.
const onSmallDisk = (command: string): [string, string[]] => [
  'unshare',
  ['-m', 'sh', '-c', `mount -t tmpfs -o size=64k tmpfs "$1" && ${command}`, process.execPath, disk, writer],
];
const disk = `${base}/disk`;
const mountable = spawnSync(...onSmallDisk('true')).status === 0;

t.test(
  'a disk that fills up leaves whole lines, and is used again when there is space',
  { skip: !mountable && 'cannot mount a small tmpfs' },
  async (t) => {
    const [command, args] = onSmallDisk('"$0" "$2" full "$1"');
    const { full, after, failures } = JSON.parse(execFileSync(command, args, { encoding: 'latin1' }));
    t.ok(full > 0 && full < 60_000);
    t.equal(full % 999, 0, 'no torn line');
    t.ok(after > full, 'lines return');
    t.equal(after % 999, 0);
    t.same(failures, [`2 write() to "${disk}/a.log" failed (28: No space left on device)`]);
  },
);

t.test('a FIFO', async (t) => {
  const dir = t.testdir({});
  const path = `${dir}/fifo`;
  execFileSync('mkfifo', [path]);

  t.test('without a reader holds the first lines and then drops, without waiting', async (t) => {
    const { files, failures } = openFiles();
    const file = files.open(path);
    const line = `${'z'.repeat(99)}\n`;
    for (let i = 0; i < 10_000; i++) {
      file.write(line);
    }
    await turn();
    t.same(failures, [`2 write() to "${path}" failed (11: Resource temporarily unavailable)`]);
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const chunk = Buffer.alloc(65536);
    let text = '';
    const deadline = Date.now() + 30_000;
    while (text.length < 250_000 && Date.now() < deadline) {
      try {
        text += chunk.toString('latin1', 0, readSync(fd, chunk));
      } catch {
        await sleep(10);
      }
    }
    t.ok(text.length >= 250_000, 'the reader gets what was held');
    t.equal(text, line.repeat(text.length / line.length), 'in whole lines');
    closeSync(fd);
    files.closeAll();
  });
});

t.test('a pipe whose reader is gone', async (t) => {
  const dir = t.testdir({});
  const child = spawn('/bin/sh', ['-c', `"$0" "$@" ${dir}/report | true`, process.execPath, writer, 'broken', '/dev/stdout']);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  t.equal(code, 0);
  t.match(readFileSync(`${dir}/report`, 'latin1'), /^alive 2 write\(\) to "\/dev\/stdout" failed \(32: Broken pipe\)$/);
});

t.test('/dev/stdout and standard error are pipes here', async (t) => {
  const child = spawn(process.execPath, [writer, 'standard', '-']);
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (err += chunk));
  await new Promise((resolve) => child.once('close', resolve));
  t.equal(out, 'to stdout\n');
  t.equal(err, 'to stderr\n');
});

t.test('a symbolic link to standard output that is a socket', { skip: !existsSync('/dev/stdout') && 'no /dev/stdout' }, async (t) => {
  // Node gives its children sockets, which have no file to open; a container's log is a link to it.
  const dir = t.testdir({ 'a.log': t.fixture('symlink', '/dev/stdout'), 'b.log': t.fixture('symlink', 'a.log') });
  const child = spawn(process.execPath, [writer, 'at', `${dir}/b.log`]);
  let out = '';
  child.stdout.on('data', (chunk) => (out += chunk));
  await new Promise((resolve) => child.once('close', resolve));
  t.equal(out, 'a line\n');
});
