// CPU time of a request with one, two, four and eight workers beside one, of sluice and of nginx: without anything that workers share, on
// one zone of limits, with a cache that they share, and with TLS sessions that clients resume by tickets at any worker. Where there are
// fewer cores than workers, part of the growth is that they drive each other's data out of the caches, which the first kind shows alone.
//
//   node scripts/bench/workers.mjs [none|zone|cache|tickets ...] [--workers 1,2,4,8] [--rounds N] [--seconds S] [--warm N] [--nginx PATH]
//
// --warm: requests that each worker gets before it is measured. A busy machine takes long to make as many as V8 needs.
import { mkdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { atMost } from './goal.mjs';
import { cpuOf } from './measure.mjs';
import {
  commands,
  configuration,
  freePort,
  makeCertificate,
  prepare,
  start,
  startBackend,
  stop,
  workFolder,
  writeDocuments,
} from './servers.mjs';
import { load, writeScript } from './wrk.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    workers: { type: 'string', default: '1,2,4,8' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    // After these V8 has compiled what a request runs through: each worker compiles for itself.
    warm: { type: 'string', default: '200000' },
    nginx: { type: 'string', default: 'nginx' },
  },
});
const numbers = options.workers.split(',').map(Number);
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);
const ALL_CORES = `0-${cpus().length - 1}`;
const WARM_UP = Number(options.warm);
/** Handshakes cost much more than requests, and far fewer of them come. */
const WARM_UP_HANDSHAKES = 3000;
/** Clients that resume sessions, each one connection after the other. */
const RESUMING = 4;

const kinds = {
  none: { server: 'location / { }', paths: ['/1k.html'], goal: 1.15 },
  zone: {
    http: 'limit_req_zone $arg_k zone=rate:10m rate=1000000r/s; limit_conn_zone $arg_k zone=count:10m;',
    server: 'location / { limit_req zone=rate burst=100000 nodelay; limit_conn count 10000; }',
    paths: Array.from({ length: 1000 }, (_, i) => `/1k.html?k=10.${(i * 7919) % 1000}`),
    goal: 1.15,
  },
  cache: {
    http: 'proxy_cache_path %%DIR%%/cache keys_zone=bench:10m;',
    server: 'location / { proxy_pass http://%%BACKEND%%/600; proxy_cache bench; proxy_cache_key $uri; proxy_cache_valid 200 1h; }',
    paths: Array.from({ length: 100 }, (_, i) => `/page${i}`),
    goal: 1.15,
  },
  tickets: {
    tls: 'ecdsa',
    resumes: true,
    server: 'ssl_certificate %%DIR%%/tls.crt; ssl_certificate_key %%DIR%%/tls.key; keepalive_timeout 0; location / { }',
    paths: ['/1k.html'],
    goal: 1.15,
  },
};
const unknown = positionals.filter((name) => !(name in kinds));
if (unknown.length > 0) {
  throw new Error(`no such kind: ${unknown.join(', ')} (${Object.keys(kinds).join(', ')})`);
}

const work = workFolder();
const docs = `${work}/docs`;
writeDocuments(docs);
const { nginx, sluice } = commands(options.nginx);
const backend = nginx && (await startBackend(nginx, `${work}/backend`, docs));
let launched = 0;
for (const [name, kind] of Object.entries(kinds)) {
  if (positionals.length > 0 && !positionals.includes(name)) {
    continue;
  }
  if (name === 'cache' && backend === undefined) {
    console.log(`${name}: no nginx to answer as the backend`);
    continue;
  }
  await compare(name, kind);
}
process.exit(0);

async function compare(name, kind) {
  const script = `${work}/${name}.lua`;
  writeScript(script, kind);
  const contenders = [];
  for (const [server, command] of Object.entries({ sluice, ...(nginx === undefined ? {} : { nginx }) })) {
    for (const workers of numbers) {
      contenders.push({ server, workers, measured: /** @type {number[]} */ ([]), target: await launch(command, kind, workers, script) });
    }
  }
  for (const { server, workers, target } of contenders) {
    const enough = server === 'nginx' ? 1000 : workers * (kind.resumes ? WARM_UP_HANDSHAKES : WARM_UP);
    for (let requests = 0; requests < enough; ) {
      requests += await ask(target, 1);
    }
  }
  for (let round = 0; round < rounds; round++) {
    for (const { target, measured } of contenders) {
      const before = cpuOf(target.pid);
      const requests = await ask(target, seconds);
      measured.push((cpuOf(target.pid) - before) / requests);
    }
  }
  for (const { target } of contenders) {
    await stop(target.pid);
  }
  for (const server of new Set(contenders.map((each) => each.server))) {
    const figures = contenders
      .filter((each) => each.server === server)
      .map(({ workers, measured }) => ({ workers, cpu: median(measured) }));
    const ratios = figures.map(({ cpu }) => cpu / /** @type {any} */ (figures[0]).cpu);
    const texts = figures.map(({ workers, cpu }, i) => `${workers}: ${cpu.toFixed(2)} us (${ratios[i].toFixed(2)})`);
    const aim = server === 'sluice' ? atMost({ value: Math.max(...ratios), goal: kind.goal }) : '';
    console.log(`${name.padEnd(7)} ${server.padEnd(6)} ${texts.join(', ')}${aim}`);
  }
}

async function launch(command, kind, workers, script) {
  const dir = `${work}/${launched++}`;
  mkdirSync(dir);
  if (kind.tls) {
    makeCertificate(dir, kind.tls);
  }
  const port = await freePort();
  const refusal = prepare(command, dir, configuration({ dir, docs, port, row: { ...kind, workers }, backend }));
  if (refusal !== undefined) {
    throw new Error(refusal);
  }
  return { script, port, row: kind, pid: await start(command, dir, ALL_CORES) };
}

/** Loads a server for so many seconds; returns how many requests it has answered. */
async function ask(target, duration) {
  const clients = target.row.resumes ? RESUMING : 1;
  const results = await Promise.all(Array.from({ length: clients }, () => load({ ...target, seconds: duration })));
  let sum = 0;
  for (const { requests, refused, broken } of results) {
    if (refused + broken > 0) {
      throw new Error(`${refused} requests were refused and ${broken} broken`);
    }
    sum += requests;
  }
  return sum;
}

/** @param {number[]} values */
function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
