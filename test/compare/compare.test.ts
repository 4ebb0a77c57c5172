import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { whyNoQuic } from '../../src/worker/net/openssl/quic-library.js';
import { againstNginx, serverCommand } from '../support/binary.js';
import { axesWith } from './axes.js';
import type { Compared } from './differences.js';
import { generate } from './generate.js';
import { rules, unnamedOf } from './rules.js';
import { Runner } from './runner.js';
import { kindOf } from './shrink.js';
import { startSites } from './sites.js';

/** Cases that every change must leave the same; enough of them to meet each handler, few enough for each run of the tests. */
const SEED = 36;
const CASES = 120;
/** Cases of one configuration. */
const SHARED = 2;

const [command, ...first] = serverCommand();
const hasRing = /^network engines: .*\buring/m.test(spawnSync(command, [...first, '-V'], { encoding: 'utf8' }).stderr);

const axes = axesWith(hasRing, whyNoQuic() === '').filter(({ name, asked }) => !/^nginx/.test(name) && !asked);

const told = (one: Compared): string =>
  unnamedOf(one)
    .map((difference) => `${kindOf(difference)}: ${JSON.stringify(difference.left)} | ${JSON.stringify(difference.right)}`)
    .join('\n');

t.test('a request means the same, however it comes and is served', { skip: againstNginx }, async (t) => {
  const runner = new Runner(await startSites(t, axes));
  const cases = Array.from({ length: CASES }, (_, i) => generate(SEED, i, SHARED));
  let count = 0;
  await runner.play(cases, axes, {
    compared(one) {
      count++;
      if (unnamedOf(one).length > 0) {
        t.fail(`${one.axis.name}: ${told(one)}\n${JSON.stringify(one.case)}`);
      }
    },
    refused: ({ message }) => t.fail(message),
    passing() {},
  });
  t.ok(count > 4 * CASES, `${count} comparisons`);
});

t.test('a difference to nginx is told in the page', async (t) => {
  const page = readFileSync(new URL('../../docs/compatibility.md', import.meta.url), 'utf8');
  for (const { name, told: words, why } of rules) {
    t.ok(words === undefined ? why : page.includes(words), name);
  }
});

t.test('a comparison finds what is different', async (t) => {
  const [axis] = axes;
  const left = new Map([['response 1: status', '200']]);
  const one = { axis: axis!, case: generate(SEED, 0), left, right: new Map([['response 1: status', '404']]) };
  t.strictSame(told(one), 'response N: status: "200" | "404"');
  t.strictSame(told({ ...one, right: left }), '');
});
