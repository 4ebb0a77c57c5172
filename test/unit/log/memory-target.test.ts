import t from 'tap';
import { ErrorLog } from '../../../src/shared/log/error-log.js';
import { DEBUG } from '../../../src/shared/log/level.js';
import { memoryTarget } from '../../../src/shared/log/memory-target.js';

const head = 'MEMLOG 60 /etc/sluice.conf:3\n';

t.test('keeps the latest lines in a ring', async (t) => {
  const target = memoryTarget(60, '/etc/sluice.conf:3', DEBUG, false);
  t.equal(target.buffer.toString('latin1'), head.padEnd(60));
  target.write(DEBUG, 'first line, 17 b\n');
  target.write(DEBUG, 'second \xff\n');
  t.equal(target.buffer.toString('latin1'), `${head}first line, 17 b\nsecond \xff\n`.padEnd(60));
  target.write(DEBUG, 'third\nfourth\n');
  t.equal(target.buffer.toString('latin1'), `${head}\nfourth\nne, 17 b\nsecond \xff\nthird`);
});

t.test('is a target of an error log', async (t) => {
  const target = memoryTarget(4096, 'x:1', DEBUG, false);
  new ErrorLog([target]).log(DEBUG, 'seen');
  t.match(target.buffer.toString('latin1'), /^MEMLOG 4096 x:1\n\S+ \S+ \[debug\] \d+#\d+: seen\n +$/);
});
