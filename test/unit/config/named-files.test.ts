import { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { NamedFiles } from '../../../src/shared/config/named-files.js';

const always = (): boolean => true;

t.test('each file is read once, and workers get what was read', async (t) => {
  const path = `${t.testdir({ a: 'one\xff' })}/a`;
  writeFileSync(path, 'one\xff', 'latin1');
  const files = new NamedFiles();
  t.equal(files.read(path), 'one\xff');
  writeFileSync(path, 'two');
  t.equal(files.readKept(path, always), 'one\xff');
  t.equal(new NamedFiles(JSON.parse(JSON.stringify(files.texts()))).read(path), 'one\xff');
  files.renew(path);
  t.equal(files.read(path), 'two');
  t.throws(() => files.read(`${path}.none`), { code: 'ENOENT' });
  t.strictSame(files.texts(), { [path]: 'two' });
});

t.test('the next configuration keeps what has not changed', async (t) => {
  const path = `${t.testdir({ a: 'one' })}/a`;
  const then = new Date('2026-01-02T03:04:05Z');
  utimesSync(path, then, then);
  const first = new NamedFiles();
  first.read(path);
  const again = (): NamedFiles => new NamedFiles({}, first.versions);
  writeFileSync(path, 'two');
  utimesSync(path, then, then);
  t.equal(again().readKept(path, always), 'one', 'neither inode nor time says that it is another');
  t.equal(again().read(path), 'two', 'what is not to be kept');
  t.equal(
    again().readKept(path, (text) => text !== 'one'),
    'two',
    'what must not be kept',
  );
  const renewed = again();
  t.equal(renewed.readKept(path, always), 'one');
  renewed.renew(path);
  t.equal(renewed.readKept(path, always), 'two');
  utimesSync(path, then, new Date(then.getTime() + 1000));
  t.equal(again().readKept(path, always), 'two', 'a later time');
  writeFileSync(`${path}.new`, 'three');
  utimesSync(`${path}.new`, then, then);
  renameSync(`${path}.new`, path);
  t.equal(again().readKept(path, always), 'three', 'another inode');
  rmSync(path);
  t.throws(() => again().readKept(path, always), { code: 'ENOENT' });
});
