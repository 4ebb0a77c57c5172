import { execFile } from 'node:child_process';
import t from 'tap';
import { againstNginx } from './binary.js';

const runner = new URL('../../scripts/faults/run.mjs', import.meta.url).pathname;

/**
 * A test for each of these drills of scripts/fault-drills in its short form; docs/reliability.md has the figures of the long one. They
 * run without tap's hooks, which end workers that dropped the right to write tap's notes (see binary.ts).
 */
export function testDrills(drills: readonly string[]): void {
  for (const drill of drills) {
    t.test(drill, { skip: againstNginx }, async (t) => {
      const { output, code } = await new Promise<{ output: string; code: unknown }>((done) => {
        execFile(
          '/usr/bin/env',
          ['-u', 'NODE_OPTIONS', process.execPath, runner, drill, '--short', '--no-nginx'],
          { timeout: 180_000 },
          (error, stdout, stderr) => done({ output: `${stdout}${error ? stderr : ''}`, code: error?.code ?? error?.signal ?? 0 }),
        );
      });
      t.equal(code, 0, output);
      t.match(output, / sluice: \{.*"failed":\d+/);
    });
  }
}
