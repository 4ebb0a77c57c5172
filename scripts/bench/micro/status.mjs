// What it costs a request that it is counted: micro/request.mjs with `status_zones off`, as it comes, and with a status_zone in server and
// location, by turns. Prints microseconds of CPU time a request, the best of the rounds, and what counting adds.
//
//   node scripts/bench/micro/status.mjs [--rounds 5] [ROW ...]
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({ options: { rounds: { type: 'string', default: '5' } }, allowPositionals: true });
const rows = positionals.length > 0 ? positionals : ['return200', 'static1k'];
const script = new URL('request.mjs', import.meta.url).pathname;
const WAYS = ['off', 'auto', 'zones'];

const best = new Map();
for (let round = 0; round < Number(values.rounds); round++) {
  for (const way of WAYS) {
    const text = execFileSync(process.execPath, [script, ...rows], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, STATUS: way },
    });
    for (const [, us, row] of text.matchAll(/^([\d.]+) us .* (\S+)$/gm)) {
      const key = `${row} ${way}`;
      best.set(key, Math.min(best.get(key) ?? Number.POSITIVE_INFINITY, Number(us)));
    }
  }
}
for (const row of rows) {
  const [off, ...counted] = WAYS.map((way) => best.get(`${row} ${way}`));
  const added = counted.map((us, i) => `${WAYS[i + 1]} ${us.toFixed(2)} (+${(us - off).toFixed(2)})`);
  console.log(`${row}: off ${off.toFixed(2)}, ${added.join(', ')} us`);
}
