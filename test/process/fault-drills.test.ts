import { execFile } from 'node:child_process';
import t from 'tap';
import { againstNginx } from '../support/binary.js';

// The short form of scripts/fault-drills; docs/reliability.md has the figures of the long one. It runs without tap's hooks, which end workers that
// dropped the right to write tap's notes (see binary.ts). Rotation has a test of its own with logrotate.
const runner = new URL('../../scripts/faults/run.mjs', import.meta.url).pathname;
const drills = ['reloads', 'broken-configs', 'killed-workers', 'killed-master', 'catastrophic-patterns', 'zone-files'];

for (const drill of drills) {
  t.test(drill, { skip: againstNginx }, async (t) => {
    const { output, code } = await new Promise<{ output: string; code: unknown }>((done) => {
      execFile(
        '/usr/bin/env',
        ['-u', 'NODE_OPTIONS', process.execPath, runner, drill, '--short', '--no-nginx'],
        { timeout: 120_000 },
        (error, stdout, stderr) => done({ output: `${stdout}${error ? stderr : ''}`, code: error?.code ?? error?.signal ?? 0 }),
      );
    });
    t.equal(code, 0, output);
    t.match(output, / sluice: \{.*"failed":\d+/);
  });
}
