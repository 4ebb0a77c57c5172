import { readFileSync } from 'node:fs';
import t from 'tap';
import { filesBelow, root } from './source-files.js';

/** Who may use Node's timers itself, and how often. */
const THEMSELVES: { readonly [file: string]: readonly [uses: number, why: string] } = {
  'shared/time/timer.ts': [2, 'setTimer itself'],
  'master/operations/start-master.ts': [1, 'an interval of a constant length, which keeps the process'],
  'worker/js/handlers/confine.ts': [4, 'what code in a thread with grants finds under these names'],
  'worker/js/handlers/isolate-thread.ts': [1, 'a heartbeat of a constant length'],
  'worker/js/handlers/node-handler.ts': [2, 'the methods of node:http that are called so'],
  'worker/js/handlers/watchdog-thread.ts': [2, 'times of constant lengths, in a thread without the program'],
  'worker/js/ngx-object.ts': [1, 'the name under which scripts find setTimer'],
  'tools/rehearsal/virtual-time.ts': [7, 'what takes the place of timers'],
  'worker/tls/ocsp-fetch.ts': [1, "a socket's own timeout, of a constant length"],
};

/** Node takes a time over 24.8 days for 1 ms, and a configured time may be longer: `setTimer` takes any. */
t.test('nothing uses Node timers but setTimer', async (t) => {
  for (const file of filesBelow('src', '.ts')) {
    const text = readFileSync(`${root}src/${file}`, 'utf8').replaceAll(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
    const uses = text.match(/\bset(?:Timeout|Interval)\b(?! as sleep\b)/g)?.length ?? 0;
    t.equal(uses, THEMSELVES[file]?.[0] ?? 0, `${file}: use setTimer of shared/time/timer.ts`);
  }
});

/** `timers/promises` serves pauses of a constant length in the master alone. */
t.test('sleep is called with constants', async (t) => {
  for (const file of filesBelow('src', '.ts')) {
    const text = readFileSync(`${root}src/${file}`, 'utf8');
    for (const [call] of text.matchAll(/\bawait sleep\([^)]*\)/g)) {
      t.match(call, /^await sleep\((?:\d+|[A-Z_]+)\)$/, file);
    }
  }
});
