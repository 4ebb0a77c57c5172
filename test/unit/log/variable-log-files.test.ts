import { existsSync, readdirSync, readFileSync, readlinkSync, renameSync } from 'node:fs';
import t from 'tap';
import { VariableLogFiles } from '../../../src/shared/log/variable-log-files.js';

const noReport = (message: string) => t.fail(message);
const read = (path: string) => readFileSync(path, 'latin1');

t.test('without a cache each line finds the file of the moment', async (t) => {
  const dir = t.testdir({});
  const files = new VariableLogFiles(undefined, noReport);
  files.write(`${dir}/a`, '1\n');
  files.write(`${dir}/b`, '2\n');
  renameSync(`${dir}/a`, `${dir}/c`);
  files.write(`${dir}/a`, '3\n');
  t.equal(read(`${dir}/c`), '1\n');
  t.equal(read(`${dir}/b`), '2\n');
  t.equal(read(`${dir}/a`), '3\n');
  t.throws(() => files.write(`${dir}/none/x`, '4\n'), { code: 'ENOENT' });
});

t.test('the cache keeps what is used, up to its limit', async (t) => {
  const dir = t.testdir({ d: {} });
  const files = new VariableLogFiles({ max: 3, inactive: 20, valid: 60, minUses: 2 }, noReport);
  for (const name of ['lru', 'lru', 'once', 'first', 'first', 'second', 'second']) {
    files.write(`${dir}/d/${name}`, 'x\n');
  }
  renameSync(`${dir}/d`, `${dir}/moved`);
  t.throws(() => files.write(`${dir}/d/lru`, 'x\n'), { code: 'ENOENT' }, 'pushed out');
  t.throws(() => files.write(`${dir}/d/once`, 'x\n'), { code: 'ENOENT' }, 'used less than twice');
  files.write(`${dir}/d/first`, 'x\n');
  files.write(`${dir}/d/second`, 'x\n');
  files.close();
  t.equal(read(`${dir}/moved/first`), 'x\nx\nx\n', 'not pushed out by names that lead nowhere');
  t.equal(read(`${dir}/moved/second`), 'x\nx\nx\n');
  t.equal(read(`${dir}/moved/lru`), 'x\nx\n');
});

t.test('a file that lost its name is opened anew once it is checked', async (t) => {
  const dir = t.testdir({});
  const files = new VariableLogFiles({ max: 3, inactive: 20, valid: 0, minUses: 1 }, noReport);
  files.write(`${dir}/a`, '1\n');
  renameSync(`${dir}/a`, `${dir}/b`);
  files.write(`${dir}/a`, '2\n');
  files.write(`${dir}/a`, '3\n');
  files.close();
  t.equal(read(`${dir}/b`), '1\n');
  t.equal(read(`${dir}/a`), '2\n3\n');
});

t.test('closing lets go of all descriptors', { skip: !existsSync('/proc/self/fd') && 'no /proc' }, async (t) => {
  const dir = t.testdir({});
  const open = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(dir);
      } catch {
        return false;
      }
    }).length;
  const files = new VariableLogFiles({ max: 10, inactive: 20, valid: 60, minUses: 1 }, noReport);
  for (const name of ['a', 'b', 'c']) {
    files.write(`${dir}/${name}`, 'x\n');
  }
  t.equal(open(), 3);
  files.close();
  t.equal(open(), 0);
  t.equal(read(`${dir}/c`), 'x\n');
});
