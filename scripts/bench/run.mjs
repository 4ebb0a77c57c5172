// Measures sluice beside nginx: the same configuration, one worker each on the first core, the load generator on the second, rounds in
// turn. Prints CPU microseconds a request of the whole process tree, the ratio to nginx, latency and memory.
//
//   node scripts/bench/run.mjs [ROW ...] [--nginx PATH] [--engine uring,libuv] [--beside caddy,haproxy] [--load wrk|h2load]
//     [--rounds N] [--seconds S] [--json FILE] [--record FILE] [--list] [--quickjs]
//
// `--quickjs`: nginx runs the rows of JavaScript with QuickJS instead of njs's own engine.
// `--record docs/performance.json` measures all rows on both engines; `npm run docs` then makes the tables of the documents of that.
import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import * as datagrams from './datagrams.mjs';
import { atMost } from './goal.mjs';
import * as h2load from './h2load.mjs';
import { holdStreams } from './idle-streams.mjs';
import { cpuOf, memoryOf, takenBy } from './measure.mjs';
import * as neighbour from './neighbour.mjs';
import * as quic from './quic.mjs';
import { largeFile, rows } from './rows.mjs';
import {
  commands,
  contenders,
  freePort,
  makeCertificate,
  startBackend,
  startResponder,
  startSink,
  startStore,
  stop,
  workFolder,
  writeDocuments,
} from './servers.mjs';
import * as websocket from './websocket.mjs';
import * as wrk from './wrk.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    nginx: { type: 'string', default: 'nginx' },
    engine: { type: 'string', default: '' },
    beside: { type: 'string', default: '' },
    load: { type: 'string', default: 'wrk' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    json: { type: 'string' },
    record: { type: 'string' },
    list: { type: 'boolean', default: false },
    quickjs: { type: 'boolean', default: false },
  },
});
if (options.list) {
  for (const row of rows) {
    console.log(`${row.name.padEnd(12)} ${row.what}`);
  }
  process.exit(0);
}
const unknown = positionals.filter((name) => !rows.some((row) => row.name === name));
if (unknown.length > 0) {
  throw new Error(`no such row: ${unknown.join(', ')} (--list shows them)`);
}
if (options.record !== undefined) {
  if (positionals.length > 0 || options.beside !== '' || options.load !== 'wrk') {
    throw new Error('--record measures all rows, with wrk, beside nginx alone: the tables have one date');
  }
  options.engine = 'uring,libuv';
}
// sluice takes the directive, and goes on with V8.
const withEngine = (row) => (options.quickjs && row.http?.includes('js_import') ? { ...row, http: `js_engine qjs; ${row.http}` } : row);
const chosen = rows.filter((row) => positionals.length === 0 || positionals.includes(row.name)).map(withEngine);
/** V8 still compiles a worker's code after 40,000 requests, and hardly any after so many. */
const WARM_REQUESTS = 200_000;
const WARM_SECONDS = 8; // nginx has nothing to compile: one second fills its caches
/** Handshakes that come one after the other: in eight seconds too few for V8 to compile what they run through. */
const WARM_ALONE = 40;
/** Within that a server at rest gives back what it does not need. */
const REST_MS = 45_000;
const generator = { wrk, h2load }[options.load];
if (generator === undefined) {
  throw new Error(`no such load generator: ${options.load} (wrk, h2load)`);
}
/** wrk speaks neither HTTP/2 nor HTTP/3 nor WebSocket nor UDP. */
const generatorOf = (row) =>
  row.http3 ? quic : row.udp ? datagrams : row.neighbour ? neighbour : row.message ? websocket : row.http2 ? h2load : generator;
const rounds = Number(options.rounds);

const work = workFolder();

const docs = `${work}/docs`;
writeDocuments(docs);
writeLargeFile();
const servers = contenders(options.nginx, list(options.beside), list(options.engine));
const names = Object.keys(servers);
const { nginx } = commands(options.nginx);
if (nginx === undefined) {
  console.log(`no ${options.nginx} here: sluice's figures stand alone`);
}
const wanted = (place) => chosen.some((row) => `${row.http}${row.server}${row.only?.sluice?.main}`.includes(place));
const backend = nginx && (await startBackend(nginx, `${work}/backend`, docs));
const responder = wanted('%%FASTCGI%%') ? await startResponder(`${docs}/10k.html`) : undefined;
const sink = wanted('%%SINK%%') ? await startSink() : undefined;
const store = wanted('%%STORE%%') ? await startStore() : undefined;
if (wanted('%%STORE%%') && store === undefined) {
  console.log('no redis-server here: the rows that need one are left out');
  chosen.splice(0, chosen.length, ...chosen.filter(({ only }) => !only?.sluice?.main?.includes('%%STORE%%')));
}

const echo = chosen.some(({ udp }) => udp) ? await datagrams.startEcho() : undefined;

const results = [];
printHead();
for (const row of chosen) {
  const result = await measureRow(row);
  results.push(result);
  printRow(row, result);
}
if (options.json !== undefined) {
  writeFileSync(options.json, `${JSON.stringify(results, undefined, 2)}\n`);
}
if (options.record !== undefined) {
  writeFileSync(options.record, recordingOf(results));
}
process.exit(0);

/** What tables.mjs reads: when, where, and each row's figures on a line. */
function recordingOf(results) {
  const [{ model }, ...others] = cpus();
  const recording = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${1 + others.length} cores (${model.trim()}), Linux ${release().split('-')[0]}`,
    node: process.versions.node,
    nginx: nginx && /nginx\/(\S+)/.exec(spawnSync(nginx[0], ['-v'], { encoding: 'utf8' }).stderr)?.[1],
    rounds: `${rounds} rounds of ${options.seconds} s`,
  };
  const short = (number) => (number === undefined ? undefined : Number(number.toPrecision(5)));
  const lines = results.map(({ row, servers: measured, missing }) => {
    const figures = Object.entries(measured).map(([name, { cpu, p50, p99 }]) => [
      name,
      { cpu: short(cpu), p50: short(p50), p99: short(p99) },
    ]);
    return `    ${JSON.stringify({ row, servers: Object.fromEntries(figures), missing })}`;
  });
  const head = Object.entries(recording).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`);
  return `{\n${head.join('')}  "results": [\n${lines.join(',\n')}\n  ]\n}\n`;
}

function writeLargeFile() {
  if (!chosen.some((row) => row.paths[0]?.endsWith(`/${largeFile.name}`))) {
    return;
  }
  const file = openSync(`${docs}/${largeFile.name}`, 'w');
  const piece = Buffer.alloc(1024 * 1024, 'large file ');
  for (let at = 0; at < largeFile.length; at += piece.length) {
    writeSync(file, piece);
  }
  ftruncateSync(file, largeFile.length);
  closeSync(file);
}

/** The names in an option's text. */
function list(text) {
  return text === '' ? [] : text.split(',');
}

/** One row of the table: for each server the median of its rounds, or why it could not run. */
async function measureRow(row) {
  const result = { row: row.name, servers: {} };
  if (backend === undefined && /%%(BACKEND|SECURE)%%/.test(`${row.http}${row.server}${row.stream}`)) {
    return { ...result, missing: 'no nginx to answer as the backend' };
  }
  const cannot = generatorOf(row).cannot?.(row);
  if (cannot !== undefined) {
    return { ...result, missing: cannot };
  }
  const script = `${work}/${row.name}.script`;
  generatorOf(row).writeScript(script, row);
  const started = [];
  const held = [];
  try {
    for (const [name, server] of Object.entries(servers)) {
      if (server.cannot(row)) {
        continue;
      }
      const place = {
        dir: `${work}/${row.name}-${name}`,
        docs,
        port: await freePort(),
        backend,
        responder,
        store,
        sink,
        echo,
        core: row.workers === undefined ? 0 : null,
      };
      mkdirSync(place.dir);
      if (row.tls) {
        makeCertificate(place.dir, row.tls);
      }
      const refusal = server.prepare(place, row);
      if (refusal !== undefined && row.optional && name !== 'sluice') {
        continue;
      }
      if (refusal !== undefined) {
        return { ...result, missing: `${name}: ${refusal}` };
      }
      started.push({ name, port: place.port, pid: await server.start(place), rounds: /** @type {any[]} */ ([]) });
    }
    for (const each of started) {
      await (generatorOf(row).check ?? wrk.check)({ port: each.port, row, name: each.name });
      await warm({ script, port: each.port, row }, each.name === 'nginx' ? 1 : row.resumes ? WARM_ALONE : WARM_SECONDS);
    }
    if (row.idleStreams !== undefined) {
      for (const { port } of started) {
        held.push(await holdStreams(port, row.idleStreams.count, row.idleStreams.path));
      }
    }
    if (row.http3?.idle) {
      // Once: what a first round leaves behind would serve for the next.
      await measureIdle(started, row);
    } else {
      await measureRounds(started, script, row);
    }
    for (const each of started) {
      result.servers[each.name] = { ...summary(each.rounds), memory: memoryOf(each.pid) };
    }
  } finally {
    for (const release of held) {
      release();
    }
    for (const { pid } of started) {
      await stop(pid);
    }
  }
  return result;
}

/** Loads a server until its code is compiled: for so many requests, or `most` seconds where a request is a lot of work. */
async function warm(target, most) {
  // A few requests at a time would take long to get there.
  const row = target.row.http3?.streams < 128 ? { ...target.row, http3: { ...target.row.http3, streams: 128 } } : target.row;
  for (let requests = 0, spent = 0; requests < WARM_REQUESTS && spent < most; spent++) {
    requests += (await generatorOf(row).load({ ...target, row, seconds: 1 })).requests;
  }
}

async function measureRounds(started, script, row) {
  for (let round = 0; round < rounds; round++) {
    for (const each of started) {
      each.rounds.push(await measureRound(each, script, row));
    }
  }
}

async function measureRound({ port, pid, name }, script, row) {
  const seconds = Math.max(Number(options.seconds), row.seconds ?? 0);
  const before = cpuOf(pid);
  const loaded = await generatorOf(row).load({ script, port, row, seconds });
  const used = cpuOf(pid) - before;
  if (loaded.refused > (name === 'nginx' ? (row.nginxLoses ?? 0) * loaded.requests : 0) || loaded.broken > 0) {
    throw new Error(`${row.name}: ${name} refused ${loaded.refused} requests and broke ${loaded.broken}`);
  }
  const bytes = row.upload === undefined ? loaded.bytes : row.upload * loaded.requests;
  const work = row.perMegabyte ? bytes / 1024 / 1024 : loaded.requests;
  return { cpu: used / work, perSecond: work / seconds, p50: loaded.p50, p99: loaded.p99 };
}

/**
 * Kilobytes of the processes' own memory that a connection takes on which nothing moves: of servers that have come to rest, and have again
 * with the connections.
 */
async function measureIdle(started, row) {
  const { idle } = row.http3;
  await sleep(REST_MS);
  const before = started.map(({ pid }) => takenBy(pid).own);
  const held = [];
  for (const { port } of started) {
    held.push(await quic.hold(port, row, idle));
  }
  await sleep(REST_MS);
  for (const [i, { pid, rounds }] of started.entries()) {
    rounds.push({ cpu: ((takenBy(pid).own - before[i]) * 1024) / idle, perSecond: 0, p50: 0, p99: 0 });
  }
  for (const giveUp of held) {
    giveUp();
  }
}

function summary(measured) {
  const median = (key) => measured.map((round) => round[key]).sort((a, b) => a - b)[Math.floor(measured.length / 2)];
  return { cpu: median('cpu'), perSecond: median('perSecond'), p50: median('p50'), p99: median('p99') };
}

function printHead() {
  console.log(
    `${rounds} rounds of ${options.seconds} s each, CPU in microseconds a request, latency in microseconds (p50/p99), memory in MB\n`,
  );
  const measures = ['latency', 'a second', 'memory'].flatMap((measure) => names.map((name) => `${measure} ${name}`));
  const ratios = names.filter((name) => name !== 'nginx').map((name) => (names.length > 2 ? `ratio ${name}` : 'ratio'));
  const columns = ['row', ...names, ...ratios, 'goal', ...measures];
  console.log(`| ${columns.join(' | ')} |`);
  console.log('|---'.repeat(columns.length).concat('|'));
}

function printRow(row, /** @type {{ servers: any, missing?: any }} */ { servers: measured, missing }) {
  if (missing !== undefined) {
    console.log(`| ${row.name} | not available: ${missing} |`);
    return;
  }
  const cells = (format, of = names) => of.map((name) => (measured[name] === undefined ? '' : format(measured[name])));
  const ratio = ({ cpu }) => (measured.nginx === undefined ? '' : (cpu / measured.nginx.cpu).toFixed(2));
  const missed = measured.nginx !== undefined && Number(ratio(measured.sluice ?? measured[list(options.engine)[0]])) > row.goal;
  const line = [
    row.name,
    ...cells(({ cpu }) => cpu.toFixed(cpu < 100 ? 2 : 0)),
    ...cells(
      ratio,
      names.filter((name) => name !== 'nginx'),
    ),
    missed ? `${row.goal} missed` : row.goal,
    ...cells(({ p50, p99 }) => `${p50}/${p99}`),
    ...cells(({ perSecond }) => Math.round(perSecond)),
    ...cells(({ memory }) => memory.toFixed(1)),
  ];
  console.log(`| ${line.join(' | ')} |`);
  printSlowest(row, measured);
}

/** How long the slowest hundredth of requests waits beside nginx's, where the row has a goal for it. */
function printSlowest(row, measured) {
  if (row.slowest === undefined || measured.nginx === undefined) {
    return;
  }
  for (const name of names.filter((each) => each !== 'nginx' && measured[each] !== undefined)) {
    const value = measured[name].p99 / measured.nginx.p99;
    const aim = atMost({ value, goal: row.slowest });
    console.log(`  ${row.name}: the slowest hundredth waits ${value.toFixed(2)} times as long as nginx's with ${name}${aim}`);
  }
}
