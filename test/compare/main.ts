import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { whyNoQuic } from '../../src/worker/net/openssl/quic-library.js';
import { axes as allAxes } from './axes.js';
import type { Case, SavedCase } from './case.js';
import { compareConfigs } from './configs.js';
import { FailingCalls, failingCallsOptions } from './failing-calls.js';
import { sufferFaults } from './faults.js';
import { generate } from './generate.js';
import { Report } from './report.js';
import { Runner } from './runner.js';
import { Site } from './site.js';
import { startSites } from './sites.js';

const USAGE = `usage: scripts/compare [--seed N] [--cases N | --minutes N] [--axis NAME,...] [--nginx PATH] [--case FILE] [--with PARTS] [--batch N] [--save DIR] [--shrink N] [--rules]
       scripts/compare --faults [--seed N] [--cases N] [--case FILE] [--with PARTS]
       scripts/compare --configs PATH --nginx PATH [--seed N] [--cases N | --minutes N] [--shrink N]

Axes: ${allAxes.map(({ name }) => name).join(', ')}`;

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    cases: { type: 'string', default: '200' },
    minutes: { type: 'string' },
    axis: { type: 'string' },
    nginx: { type: 'string' },
    case: { type: 'string', multiple: true },
    with: { type: 'string', default: '' },
    batch: { type: 'string', default: '3000' },
    save: { type: 'string' },
    shrink: { type: 'string', default: '20' },
    rules: { type: 'boolean', default: false },
    faults: { type: 'boolean', default: false },
    configs: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log(USAGE);
  process.exit(0);
}

const saved: SavedCase[] = (options.case ?? []).map((file) => JSON.parse(readFileSync(file, 'utf8')));
const names = options.axis?.split(',') ?? (saved.length > 0 ? saved.map(({ axis }) => axis) : undefined);
const unknown = names?.find((name) => !allAxes.some((axis) => axis.name === name));
if (unknown !== undefined) {
  console.error(`no axis ${unknown}\n${USAGE}`);
  process.exit(2);
}
const axes = allAxes.filter(({ name, asked }) =>
  names === undefined ? !asked && (!/^nginx/.test(name) || options.nginx !== undefined) : names.includes(name),
);
if (axes.some(({ name }) => /^nginx/.test(name)) && options.nginx === undefined) {
  console.error('an axis with nginx needs --nginx PATH');
  process.exit(2);
}

const wanted = new RegExp(options.with);

/** The next cases of the seed, those alone of which a part has a wanted name. */
function* generated(): Generator<Case> {
  for (let i = 0; ; i++) {
    const one = generate(Number(options.seed), i);
    if (one.parts.some(({ name }) => wanted.test(name))) {
      yield one;
    }
  }
}

/** At most so many of them. */
function take(from: Generator<Case>, count: number): Case[] {
  return Array.from({ length: count }, () => from.next().value as Case);
}

const ends: (() => unknown)[] = [];
const scene = { teardown: (end: () => unknown) => void ends.unshift(end) };

/** Lets somebody leave at each byte of each case, on one server. */
async function faults(): Promise<number> {
  const sockets = mkdtempSync(`${tmpdir()}/f-`);
  scene.teardown(() => rmSync(sockets, { recursive: true }));
  const site = await Site.start(scene as never, {
    name: 'libuv',
    engine: 'libuv',
    zones: true,
    http3: whyNoQuic() === '',
    alerts: /./,
    ...failingCallsOptions(sockets),
  });
  const calls = new FailingCalls(site.server, sockets);
  const cases = saved.length > 0 ? saved : take(generated(), Number(options.cases));
  let count = 0;
  let harm = 0;
  for (const one of cases) {
    const { faults, harms } = await sufferFaults(site, one, calls);
    count += faults;
    harm += harms.length;
    for (const { fault, problem } of harms.slice(0, 3)) {
      console.log(`${problem}\n  after ${JSON.stringify(fault)}\n${JSON.stringify({ ...one, axis: 'faults' })}`);
    }
  }
  console.log(`${count} faults, ${harm} with harm to others`);
  return harm;
}

const report = new Report((line) => console.log(line));
async function compare(): Promise<void> {
  const runner = new Runner(await startSites(scene as never, axes, options.nginx));
  if (saved.length > 0) {
    await runner.play(saved, axes, report);
  } else {
    const until = options.minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + Number(options.minutes) * 60_000;
    const count = options.minutes === undefined ? Number(options.cases) : Number.POSITIVE_INFINITY;
    const all = generated();
    for (let left = count; left > 0 && Date.now() < until; left -= Number(options.batch)) {
      await runner.play(take(all, Math.min(Number(options.batch), left)), axes, report, { until });
    }
  }
  if (options.rules) {
    report.tellRules();
  }
  await report.finish(runner, Number(options.shrink), (name, text) => {
    if (options.save !== undefined) {
      mkdirSync(options.save, { recursive: true });
      writeFileSync(`${options.save}/${name}`, text);
    }
  });
}

/** Lets both read configurations. */
async function configs(path: string): Promise<number> {
  if (options.nginx === undefined) {
    console.error('--configs needs --nginx PATH');
    return 1;
  }
  return compareConfigs(scene as never, {
    path,
    nginx: options.nginx,
    seed: Number(options.seed),
    count: options.minutes === undefined ? Number(options.cases) : Number.POSITIVE_INFINITY,
    until: options.minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + Number(options.minutes) * 60_000,
    shrink: Number(options.shrink),
    print: (line) => console.log(line),
  });
}

try {
  if (options.configs !== undefined) {
    process.exitCode = (await configs(options.configs)) === 0 ? 0 : 1;
  } else if (options.faults) {
    process.exitCode = (await faults()) === 0 ? 0 : 1;
  } else {
    await compare();
  }
} finally {
  for (const end of ends) {
    await Promise.resolve(end()).catch((error: unknown) => {
      console.error(String(error));
      process.exitCode = 1;
    });
  }
}
process.exit(process.exitCode ?? (report.unnamed === 0 ? 0 : 1));
