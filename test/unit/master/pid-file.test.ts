import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { PidFile } from '../../../src/master/processes/pid-file.js';
import { DEBUG } from '../../../src/shared/log/level.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-pid-file-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

/** A pid file that is written and locked, and what it said to the log. */
async function locked(name: string): Promise<{ path: string; file: PidFile; said: string[] }> {
  const path = join(folder, name);
  const said: string[] = [];
  const file = new PidFile(path, { level: DEBUG, log: (_level, text) => said.push(text) });
  await file.lock();
  file.write();
  return { path, file, said };
}

const isLocked = (path: string): boolean => existsSync(`${path}.lock`);

t.test('the lock follows the file through renames that do not wait for it', async (t) => {
  const { path, file, said } = await locked('renamed');
  const old = `${path}.oldbin`;
  for (let i = 0; i < 20; i++) {
    file.rename(old);
    t.equal(file.path, old);
    file.rename(path);
    t.equal(file.path, path);
  }
  file.rename(old);
  t.equal(readFileSync(old, 'latin1'), `${process.pid}\n`);
  t.notOk(existsSync(path));
  await file.lock();
  t.ok(isLocked(old));
  t.notOk(isLocked(path));
  await file.unlock();
  t.notOk(isLocked(old));
  t.strictSame(said, []);
});

t.test('a lock that is given back while it is taken stays away', async (t) => {
  const { path, file, said } = await locked('given-back');
  file.rename(`${path}.oldbin`);
  await file.unlock();
  t.notOk(isLocked(path));
  t.notOk(isLocked(`${path}.oldbin`));
  t.strictSame(said, []);
});

t.test('a rename that fails changes nothing', async (t) => {
  const { path, file } = await locked('kept');
  t.throws(() => file.rename(join(folder, 'missing', 'name')), { code: 'ENOENT' });
  t.equal(file.path, path);
  t.ok(isLocked(path));
  await file.unlock();
});
