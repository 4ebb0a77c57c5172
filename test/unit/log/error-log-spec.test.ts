import { readFileSync } from 'node:fs';
import t from 'tap';
import { type ErrorLogSpec, openErrorLog, parseErrorLog, withDefaultErrorLog } from '../../../src/shared/log/error-log-spec.js';
import { CRIT, DEBUG, ERROR, INFO, WARN } from '../../../src/shared/log/level.js';
import { LogFiles } from '../../../src/shared/log/log-files.js';

const read = (...args: string[]): ErrorLogSpec =>
  parseErrorLog(args, {
    file: '/etc/sluice.conf',
    line: 7,
    tag: 'sluice',
    fullPath: (path) => `/prefix/${path}`,
    fail: (message) => {
      throw new Error(message);
    },
  });

t.test('targets and levels', async (t) => {
  t.same(read('logs/error.log'), { to: { kind: 'file', path: '/prefix/logs/error.log' }, level: ERROR, json: false });
  t.same(read('stderr', 'warn'), { to: { kind: 'stderr' }, level: WARN, json: false });
  t.same(read('a', 'info', 'json'), { to: { kind: 'file', path: '/prefix/a' }, level: INFO, json: true });
  t.match(read('a', 'json'), { level: ERROR, json: true });
  t.match(read('a', 'debug_http', 'debug_event'), { level: DEBUG });
  t.same(read('memory:32k', 'debug').to, { kind: 'memory', size: 32768, where: '/etc/sluice.conf:7' });
  t.match(read('syslog:server=127.0.0.1,tag=x', 'crit'), { to: { kind: 'syslog', syslog: { tag: 'x' } }, level: CRIT });
});

t.test('errors', async (t) => {
  t.throws(() => read('a', 'loud'), { message: 'invalid log level "loud"' });
  t.throws(() => read('a', 'info', 'warn'), { message: 'duplicate log level "warn"' });
  t.throws(() => read('a', 'debug_http', 'info'), { message: 'duplicate log level "info"' });
  t.throws(() => read('a', 'info', 'debug_http'), { message: 'invalid log level "debug_http"' });
  t.throws(() => read('memory:'), { message: 'invalid buffer size ""' });
  t.throws(() => read('memory:2k'), { message: 'invalid buffer size "2k"' });
  t.throws(() => read('syslog:tag=x'), { message: 'no syslog server specified' });
});

t.test('the main level always has a file', async (t) => {
  const file = { to: { kind: 'file', path: '/x' }, level: ERROR, json: false };
  t.same(withDefaultErrorLog([], '/x'), [file]);
  t.same(withDefaultErrorLog([read('memory:32k')], '/x'), [read('memory:32k'), file]);
  t.same(withDefaultErrorLog([read('stderr')], '/x'), [read('stderr')]);
});

t.test('several logs of one level', async (t) => {
  const dir = t.testdir({});
  const files = new LogFiles();
  const at = (name: string, level: ErrorLogSpec['level'], json = false): ErrorLogSpec => ({
    to: { kind: 'file', path: `${dir}/${name}` },
    level,
    json,
  });
  const log = openErrorLog([at('e', ERROR), at('i', INFO, true)], files, () => '');
  t.equal(log.level, INFO);
  log.log(INFO, 'one');
  log.log(ERROR, 'two');
  files.flushAll();
  t.match(readFileSync(`${dir}/e`, 'latin1'), /^[^\n]* two\n$/);
  t.same(
    readFileSync(`${dir}/i`, 'latin1')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).message),
    ['one', 'two'],
  );
  log.close();
  files.closeAll();
  t.throws(() => openErrorLog([at('none/x', ERROR)], files, () => ''), { code: 'ENOENT' });
});
