// Puts the built sluice, and a real nginx where there is one, through faults, and prints what was lost beside what may be.
//
//   scripts/fault-drills [DRILL ...] [--short] [--engine ENGINE,...] [--nginx PATH | --no-nginx] [--json FILE] [--log FILE] [--list]
//
// Exits with 1 when sluice loses more than a drill allows. `--short` is for CI: seconds instead of minutes.
// `--engine uring,libuv` puts sluice through each drill with each of these (`net_engine`).
// `--log` keeps the error log of the last drill that had something to complain about.
import { chmodSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { commands, workFolder } from '../bench/servers.mjs';
import { Stage } from './stage.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    engine: { type: 'string', default: process.env.SLUICE_TEST_NET_ENGINE ?? '' },
    nginx: { type: 'string', default: 'nginx' },
    'no-nginx': { type: 'boolean', default: false },
    json: { type: 'string' },
    log: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

const folder = new URL('drills/', import.meta.url);
const drills = [];
for (const file of readdirSync(folder).sort()) {
  drills.push({ name: file.replace(/\.mjs$/, ''), ...(await import(new URL(file, folder).href)).default });
}
drills.sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
if (options.list) {
  for (const { id, name, what } of drills) {
    console.log(`${id.padEnd(4)} ${name.padEnd(18)} ${what}`);
  }
  process.exit(0);
}
const unknown = positionals.filter((name) => !drills.some((drill) => drill.name === name || drill.id === name));
if (unknown.length > 0) {
  throw new Error(`no such drill: ${unknown.join(', ')} (--list shows them)`);
}
const chosen =
  positionals.length === 0
    ? drills.filter((drill) => !options.short || drill.inCi !== false)
    : drills.filter(({ id, name }) => positionals.includes(name) || positionals.includes(id));

/** What the drill that runs works with; undefined between two drills. */
let current;
// A server that became a daemon is found by its pid file, which the work folder's own handler removes: this one comes first.
process.once('exit', () => current?.abandon());
const work = workFolder();

const servers = commands(options.nginx);
if (options['no-nginx']) {
  delete servers.nginx;
}
const contenders = Object.entries(servers).flatMap(([server, command]) =>
  (server === 'sluice' ? options.engine.split(',') : ['']).map((engine) => ({ server, command, engine: engine || undefined })),
);
const results = [];
let lost = 0;
for (const drill of chosen) {
  for (const { server, command, engine } of contenders) {
    if (server === 'nginx' && drill.nginx === false) {
      continue;
    }
    const result = { id: drill.id, drill: drill.name, server, engine, ...(await runOne(drill, server, command, engine)) };
    results.push(result);
    if (server === 'sluice' && result.complaints.length > 0) {
      lost++;
    }
    const name = engine ? `${server} on ${engine}` : server;
    console.log(`${drill.id} ${drill.name} ${name}: ${result.skipped ? `skipped, ${result.skipped}` : JSON.stringify(result.figures)}`);
    for (const complaint of result.complaints) {
      console.log(`   ${server === 'sluice' ? 'FAILED' : 'noted'}: ${complaint}`);
    }
  }
}
if (options.json !== undefined) {
  writeFileSync(options.json, `${JSON.stringify(results, undefined, 2)}\n`);
}
process.exit(lost > 0 ? 1 : 0);

async function runOne(drill, server, command, engine) {
  const stage = new Stage({
    server,
    command,
    dir: mkdtempSync(`${work}/${drill.name}-${server}-`),
    short: options.short,
    engine,
    env: server === 'sluice' ? drill.env : undefined,
  });
  current = stage;
  chmodSync(stage.dir, 0o755);
  const complaints = [];
  const skipped = drill.needs?.(stage);
  if (skipped) {
    return { skipped, complaints };
  }
  /** Notes what must hold. */
  const expect = (holds, complaint) => {
    if (!holds) {
      complaints.push(complaint);
    }
  };
  let figures = {};
  try {
    await stage.origin();
    figures = await drill.run(stage, expect);
  } catch (error) {
    complaints.push(/** @type {Error} */ (error).stack);
  } finally {
    await stage.end();
    current = undefined;
    await drill.cleanUp?.(stage);
  }
  if (server === 'sluice' && drill.alerts !== true) {
    const alert = /^.*\[(?:alert|emerg)\].*$|^.*(?:TypeError|RangeError|ReferenceError|uncaught).*$/m.exec(stage.log());
    if (alert) {
      complaints.push(`the error log has: ${alert[0]}`);
    }
  }
  // What led to it, for whoever looks for the cause.
  if (options.log) {
    writeFileSync(options.log, stage.log());
  }
  return { figures, complaints };
}
