import t from 'tap';
import { parseCommandLine, programName, UsageError } from '../../../src/master/command-line/cli.js';

t.test('options stand alone, in groups, and with attached or following values', (t) => {
  t.match(parseCommandLine([]), { test: false, quiet: false, conf: undefined, signal: undefined });
  t.match(parseCommandLine(['-tqc', 'a.conf']), { test: true, dump: false, quiet: true, conf: 'a.conf' });
  t.match(parseCommandLine(['-Tca.conf', '-p/x', '-p', 'last']), { test: true, dump: true, conf: 'a.conf', prefix: 'last' });
  t.match(parseCommandLine(['-sreload']), { signal: 'reload' });
  t.match(parseCommandLine(['-s', 'quit', '-g', 'daemon off;']), { signal: 'quit', globals: 'daemon off;' });
  t.match(parseCommandLine(['-s', 'reload', '--check', 'x']), { signal: 'reload', check: 'x' });
  t.match(parseCommandLine(['-e', 'stderr']), { errorLog: '' });
  t.match(parseCommandLine(['-e', 'logs/e']), { errorLog: 'logs/e' });
  t.match(parseCommandLine(['-?']), { version: true, help: true });
  t.match(parseCommandLine(['-V']), { version: true, configure: true, help: false });
  t.match(parseCommandLine(['-c', 'é']), { conf: '\xc3\xa9' });
  t.match(parseCommandLine(['-']), { test: false });
  t.end();
});

t.test('what cannot be understood is named', (t) => {
  const message = (...args: string[]) => {
    try {
      parseCommandLine(args);
    } catch (error) {
      return error instanceof UsageError ? error.message : String(error);
    }
    return 'accepted';
  };
  t.equal(message('foo'), 'invalid option: "foo"');
  t.equal(message('--check', 'x'), 'option "--check" goes with "-s reload"');
  t.equal(message('-s', 'reload', '--check'), 'option "--check" requires the file or folder of the cases');
  t.throws(() => parseCommandLine(['-s', 'reload', '--check', 'x'], false), 'nginx has no such option');
  t.equal(message('-z'), 'invalid option: "z"');
  t.equal(message('-tz'), 'invalid option: "z"');
  t.equal(message('-s', 'foo'), 'invalid option: "-s foo"');
  t.equal(message('-sfoo'), 'invalid option: "-s foo"');
  t.equal(message('-p'), 'option "-p" requires directory name');
  t.equal(message('-e'), 'option "-e" requires file name');
  t.equal(message('-tc'), 'option "-c" requires file name');
  t.equal(message('-g'), 'option "-g" requires parameter');
  t.equal(message('-s'), 'option "-s" requires parameter');
  t.end();
});

t.test('the program has the name it was called by', (t) => {
  t.equal(programName('/usr/sbin/nginx'), 'nginx');
  t.equal(programName('/usr/sbin/sluice'), 'sluice');
  t.equal(programName('/x/nginx/sluice.js'), 'sluice');
  t.equal(programName(undefined), 'sluice');
  t.end();
});
