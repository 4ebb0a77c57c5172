import fs, { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import t, { type Test } from 'tap';
import { appendWhole, closeLogFd, openLogFd } from '../../../src/shared/log/log-fd.js';

/** From now on a write takes this many bytes, and the next one finds the disk full, after something has happened meanwhile. */
function fillDisk(t: Test, room: number, meanwhile: () => void): void {
  const { writeSync } = fs;
  let calls = 0;
  const write = (fd: number, data: string, _at: null, encoding: BufferEncoding): number => {
    if (calls++ === 0) {
      return writeSync(fd, data.slice(0, room), null, encoding);
    }
    meanwhile();
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' });
  };
  fs.writeSync = write as typeof fs.writeSync;
  syncBuiltinESMExports();
  t.teardown(() => {
    fs.writeSync = writeSync;
    syncBuiltinESMExports();
  });
}

t.test('a disk that fills up in the middle of a line', { skip: !existsSync('/proc/self/fdinfo') && 'no /proc' }, async (t) => {
  const path = `${t.testdir({ 'a.log': 'old\n' })}/a.log`;
  const log = openLogFd(path);
  t.teardown(() => closeLogFd(log));
  fillDisk(t, 7, () => {});
  t.throws(() => appendWhole(log, 'one\ntwo\n', true), { code: 'ENOSPC' });
  t.equal(readFileSync(path, 'latin1'), 'old\none\n', 'its beginning is taken off');
});

t.test('a line of another process behind the torn one stays', async (t) => {
  const path = `${t.testdir({ 'a.log': 'old\n' })}/a.log`;
  const log = openLogFd(path);
  t.teardown(() => closeLogFd(log));
  fillDisk(t, 7, () => appendFileSync(path, 'of another\n'));
  t.throws(() => appendWhole(log, 'one\ntwo\n', true), { code: 'ENOSPC' });
  t.equal(readFileSync(path, 'latin1'), 'old\none\ntwoof another\n');
});
