// Measures sluice beside nginx: the same configuration, one worker each on the first core, wrk on the second, rounds in
// turn. Prints CPU microseconds a request of the whole process tree, the ratio to nginx, latency and memory.
//
//   node scripts/bench/run.mjs [ROW ...] [--nginx PATH] [--rounds N] [--seconds S] [--json FILE] [--list]
import { closeSync, ftruncateSync, mkdirSync, openSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { cpuOf, memoryOf } from './measure.mjs';
import { files, largeFile, modified, rows } from './rows.mjs';
import {
  commands,
  configuration,
  freePort,
  makeCertificate,
  prepare,
  start,
  startBackend,
  startResponder,
  stop,
  workFolder,
} from './servers.mjs';
import { check, load, writeScript } from './wrk.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    nginx: { type: 'string', default: 'nginx' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    json: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
if (options.list) {
  for (const row of rows) console.log(`${row.name.padEnd(12)} ${row.what}`);
  process.exit(0);
}
const unknown = positionals.filter((name) => !rows.some((row) => row.name === name));
if (unknown.length > 0) throw new Error(`no such row: ${unknown.join(', ')} (--list shows them)`);
const chosen = positionals.length === 0 ? rows : rows.filter((row) => positionals.includes(row.name));
/** A worker's code is compiled anew until it has served some ten thousand requests. */
const WARM_REQUESTS = 40_000;
const WARM_SECONDS = 8;
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);

const work = workFolder();

const docs = `${work}/docs`;
writeDocuments();
const servers = commands(options.nginx);
if (servers.nginx === undefined) console.log(`no ${options.nginx} here: sluice's figures stand alone`);
const backend = servers.nginx && (await startBackend(servers.nginx, `${work}/backend`));
const responder = chosen.some((row) => row.http?.includes('%%FASTCGI%%')) ? await startResponder() : undefined;

const results = [];
printHead();
for (const row of chosen) {
  const result = await measureRow(row);
  results.push(result);
  printRow(row, result);
}
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results, undefined, 2)}\n`);
process.exit(0);

function writeDocuments() {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(`${docs}/${name}`), { recursive: true });
    writeFileSync(`${docs}/${name}`, content);
    utimesSync(`${docs}/${name}`, modified, modified);
  }
  if (!chosen.some((row) => row.paths.includes(`/${largeFile.name}`))) return;
  const file = openSync(`${docs}/${largeFile.name}`, 'w');
  const piece = Buffer.alloc(1024 * 1024, 'large file ');
  for (let at = 0; at < largeFile.length; at += piece.length) writeSync(file, piece);
  ftruncateSync(file, largeFile.length);
  closeSync(file);
}

/** One row of the table: for each server the median of its rounds, or why it could not run. */
async function measureRow(row) {
  const result = { row: row.name, servers: {} };
  if (backend === undefined && `${row.http}${row.server}`.includes('%%BACKEND%%'))
    return { ...result, missing: 'no nginx to answer as the backend' };
  const script = `${work}/${row.name}.lua`;
  writeScript(script, row);
  const contenders = [];
  try {
    for (const [name, command] of Object.entries(servers)) {
      const dir = `${work}/${row.name}-${name}`;
      mkdirSync(dir);
      if (row.tls) makeCertificate(dir, row.tls);
      const port = await freePort();
      const refusal = prepare(command, dir, configuration({ dir, docs, port, row, backend, responder }));
      if (refusal !== undefined) return { ...result, missing: `${name}: ${refusal}` };
      contenders.push({ name, port, pid: await start(command, dir), rounds: [] });
    }
    for (const each of contenders) {
      await check({ port: each.port, row, name: each.name });
      await warm({ script, port: each.port, row });
    }
    for (let round = 0; round < rounds; round++) {
      for (const each of contenders) each.rounds.push(await measureRound(each, script, row));
    }
    for (const each of contenders) result.servers[each.name] = { ...summary(each.rounds), memory: memoryOf(each.pid) };
  } finally {
    for (const { pid } of contenders) await stop(pid);
  }
  return result;
}

/** Loads a server until its code is compiled: for so many requests, or some seconds where a request is a lot of work. */
async function warm(target) {
  for (let requests = 0, spent = 0; requests < WARM_REQUESTS && spent < WARM_SECONDS; spent++)
    requests += (await load({ ...target, seconds: 1 })).requests;
}

async function measureRound({ port, pid, name }, script, row) {
  const before = cpuOf(pid);
  const loaded = await load({ script, port, row, seconds });
  const used = cpuOf(pid) - before;
  if (loaded.refused > 0 || loaded.broken > 0)
    throw new Error(`${row.name}: ${name} refused ${loaded.refused} requests and broke ${loaded.broken}`);
  const work = row.perMegabyte ? loaded.bytes / 1024 / 1024 : loaded.requests;
  return { cpu: used / work, perSecond: work / seconds, p50: loaded.p50, p99: loaded.p99 };
}

function summary(measured) {
  const median = (key) => measured.map((round) => round[key]).sort((a, b) => a - b)[Math.floor(measured.length / 2)];
  return { cpu: median('cpu'), perSecond: median('perSecond'), p50: median('p50'), p99: median('p99') };
}

function printHead() {
  console.log(`${rounds} rounds of ${seconds} s each, CPU in microseconds a request, latency in microseconds (p50/p99), memory in MB\n`);
  console.log(
    '| row | nginx | sluice | ratio | goal | latency nginx | latency sluice | a second nginx | a second sluice | memory nginx | memory sluice |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|---|---|');
}

function printRow(row, { servers: { nginx, sluice }, missing }) {
  if (missing !== undefined) {
    console.log(`| ${row.name} | | | | ${row.goal} | not available: ${missing} | | | | | |`);
    return;
  }
  const cells = (format) => [nginx && format(nginx), format(sluice)].map((cell) => cell ?? '');
  const ratio = nginx ? (sluice.cpu / nginx.cpu).toFixed(2) : '';
  const line = [
    row.name,
    ...cells(({ cpu }) => cpu.toFixed(cpu < 100 ? 2 : 0)),
    ratio,
    row.goal,
    ...cells(({ p50, p99 }) => `${p50}/${p99}`),
    ...cells(({ perSecond }) => Math.round(perSecond)),
    ...cells(({ memory }) => memory.toFixed(1)),
  ];
  console.log(`| ${line.join(' | ')} |`);
}
