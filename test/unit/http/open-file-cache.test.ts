import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { HotFiles } from '../../../src/worker/files/hot-files.js';
import { closeFile, openFile, testFile } from '../../../src/worker/http/files/open-file.js';
import { OpenFileCache } from '../../../src/worker/http/files/open-file-cache.js';
import type { FileSettings } from '../../../src/worker/http/request/file-settings.js';
import type { Request } from '../../../src/worker/http/request/request.js';

const dir = mkdtempSync(join(tmpdir(), 'sluice-'));
t.teardown(() => rmSync(dir, { recursive: true }));

function write(name: string, content: string): string {
  writeFileSync(`${dir}/new`, content);
  // Old enough for its times to be relied on.
  utimesSync(`${dir}/new`, 1e9, 1e9);
  renameSync(`${dir}/new`, `${dir}/${name}`);
  return `${dir}/${name}`;
}

function request(settings: Partial<FileSettings>): Request {
  const files: FileSettings = {
    disableSymlinks: 'off',
    disableSymlinksFrom: undefined,
    openFileCache: new OpenFileCache(2, 60),
    openFileCacheValid: 60,
    openFileCacheMinUses: 1,
    openFileCacheErrors: false,
    directio: Number.POSITIVE_INFINITY,
    aio: false,
    readSize: 65536,
    maxReadSize: 65536,
    subrequestOutputBufferSize: 4096,
    ...settings,
  };
  return { location: { conf: () => files }, http: { hotFiles: new HotFiles() } } as unknown as Request;
}

const text = (r: Request, path: string): string | undefined => openFile(r, path).body?.toString();

t.test('a file is remembered while it is valid', async (t) => {
  const r = request({});
  const path = write('a', 'one');
  t.equal(text(r, path), 'one');
  write('a', 'three');
  t.equal(text(r, path), 'one');
  rmSync(path);
  t.equal(text(r, path), 'one');
  t.equal(testFile(r, path).size, 3);
  const never = request({ openFileCacheValid: 0 });
  write('a', 'one');
  t.equal(text(never, path), 'one');
  write('a', 'three');
  t.equal(text(never, path), 'three');
});

t.test('a file must be used often enough', async (t) => {
  const r = request({ openFileCacheMinUses: 2 });
  const path = write('b', '1');
  t.equal(text(r, path), '1');
  write('b', '22');
  t.equal(text(r, path), '22');
  write('b', '333');
  t.equal(text(r, path), '22');
});

t.test('errors are remembered only on demand', async (t) => {
  const path = `${dir}/c`;
  for (const openFileCacheErrors of [false, true]) {
    rmSync(path, { force: true });
    const r = request({ openFileCacheErrors });
    t.equal(openFile(r, path).errno, 2);
    write('c', 'there');
    t.equal(openFile(r, path).errno, openFileCacheErrors ? 2 : 0);
  }
});

t.test('the least recently used entry goes when there are too many', async (t) => {
  const r = request({});
  const paths = ['d', 'e', 'f'].map((name) => write(name, 'old'));
  text(r, paths[0]!);
  text(r, paths[1]!);
  text(r, paths[0]!);
  text(r, paths[2]!);
  for (const name of ['d', 'e', 'f']) {
    write(name, 'new');
  }
  t.equal(text(r, paths[0]!), 'old');
  t.equal(text(r, paths[2]!), 'old');
  t.equal(text(r, paths[1]!), 'new');
});

t.test('a file that was only looked at is read when it is to be sent', async (t) => {
  const r = request({});
  const path = write('g', 'text');
  t.strictSame([testFile(r, path).size, testFile(r, path).body], [4, null]);
  t.equal(text(r, path), 'text');
});

t.test('large files are opened each time', async (t) => {
  const r = request({});
  const path = write('h', 'x'.repeat(200_000));
  const first = openFile(r, path);
  const second = openFile(r, path);
  t.ok(first.fd > 0 && second.fd > 0 && first.fd !== second.fd);
  t.equal(first.body, null);
  closeFile(first);
  closeFile(second);
});

t.test('without a cache a kept file is compared with the file system, once a turn', async (t) => {
  const r = request({ openFileCache: undefined });
  const path = write('i', 'one');
  // Its ctime is too new to be relied on at first.
  await new Promise((done) => setTimeout(done, 60));
  const kept = openFile(r, path);
  t.equal(openFile(r, path), kept);
  write('i', 'two');
  await new Promise((done) => setImmediate(done));
  await new Promise((done) => setTimeout(done, 2));
  t.equal(text(r, path), 'two');
});
