import t from 'tap';
import { workerSettings } from '../../../src/master/processes/spare-worker.js';

// The build writes it in.
Object.assign(globalThis, { NO_DEBUGGER: '--inspect-port=nobody:0' });

const SMALL = '--max-semi-space-size=8';

/** What of V8's new space stands among the options of a worker while the master's environment and own options are these. */
function newSpace(environment: string | undefined, own: readonly string[]): string[] {
  const { execArgv } = process;
  const before = process.env['NODE_OPTIONS'];
  try {
    process.execArgv = [...own];
    if (environment === undefined) {
      delete process.env['NODE_OPTIONS'];
    } else {
      process.env['NODE_OPTIONS'] = environment;
    }
    return (workerSettings('worker').execArgv ?? []).filter((option) => option.includes('semi'));
  } finally {
    process.execArgv = execArgv;
    if (before === undefined) {
      delete process.env['NODE_OPTIONS'];
    } else {
      process.env['NODE_OPTIONS'] = before;
    }
  }
}

t.test("a worker has a small new space unless the master's Node was given another", async (t) => {
  t.strictSame(newSpace(undefined, []), [SMALL]);
  t.strictSame(newSpace('--no-warnings', ['--no-deprecation']), [SMALL]);
  t.strictSame(newSpace('--max-semi-space-size=64', []), [], 'the command line would count more');
  t.strictSame(newSpace('--max_semi_space_size=64', []), []);
  t.strictSame(newSpace(undefined, ['--max-semi-space-size=64']), [SMALL, '--max-semi-space-size=64'], 'the last one counts');
});
