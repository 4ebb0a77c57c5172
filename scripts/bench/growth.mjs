// Measures what it costs to have more of something: one request with ten locations beside five thousand, and the like, of sluice and of
// nginx under one load, in turn. Then what a new worker's first requests cost more than later ones, and what idle connections take.
// Growth is CPU time with much over CPU time with little. starts.mjs has starts and memory at rest, checks.mjs what `-t` takes.
//
//   node scripts/bench/growth.mjs [ROW ...] [--rounds N] [--seconds S] [--nginx PATH] [--connections N]
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { atMost } from './goal.mjs';
import { cpuOf, memoryOf, treeOf } from './measure.mjs';
import { commands, configuration, freePort, prepare, start, startBackend, stop, workFolder } from './servers.mjs';
import { load, writeScript } from './wrk.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    nginx: { type: 'string', default: 'nginx' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '5000' },
  },
});
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);
/** V8 compiles a worker's code until then. */
const WARM_REQUESTS = 200_000;
const times = (n, make) => Array.from({ length: n }, (_, i) => make(i)).join('\n');

/** `make` gives the parts of a configuration that holds so many; the request asks for one in the middle. `goal`: 1.2 if absent. */
const rows = {
  locations: {
    sizes: [10, 5000],
    make: (n) => ({ server: times(n, (i) => `location /folder${i}/part/ { return 200 ok; }`), paths: [`/folder${n >> 1}/part/x`] }),
  },
  servers: {
    sizes: [1, 10_000],
    make: (n) => ({
      server: `location / { return 200 ok; } server_name ${times(n, (i) => `name${i}.example.com`)};`,
      headers: { Host: `name${n >> 1}.example.com` },
      http: 'server_names_hash_max_size 65536;',
      paths: ['/'],
    }),
  },
  map: {
    sizes: [10, 100_000],
    make: (n) => ({
      http: `map_hash_max_size 262144; map $uri $found { default none; ${times(n, (i) => `/key${i} value${i};`)} }`,
      server: 'location / { return 200 $found; }',
      paths: [`/key${n >> 1}`],
    }),
  },
  geo: {
    sizes: [10, 50_000],
    goal: 1.1,
    make: (n) => ({
      http: `geo $arg_a $found { default none; ${times(n, (i) => `10.${i >> 8}.${i & 255}.0/24 value${i % 100};`)} }`,
      server: 'location / { return 200 $found; }',
      paths: [`/?a=10.${n >> 9}.${(n >> 1) & 255}.7`],
    }),
  },
  upstreams: {
    sizes: [10, 1000],
    goal: 1.1,
    backend: true,
    make: (n) => ({
      http: `upstream backend { ${times(n, () => 'server %%BACKEND%%;')} keepalive 64; }`,
      server: 'location / { proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection ""; }',
      paths: ['/'],
    }),
  },
};
const extras = { first, idle };

const unknown = positionals.filter((name) => !(name in rows || name in extras));
if (unknown.length > 0) {
  throw new Error(`no such row: ${unknown.join(', ')} (${[...Object.keys(rows), ...Object.keys(extras)].join(', ')})`);
}
const chosen = (name) => positionals.length === 0 || positionals.includes(name);

const work = workFolder();
const { nginx, sluice } = commands(options.nginx);
let launched = 0;

for (const [name, row] of Object.entries(rows)) {
  if (chosen(name)) {
    await growth(name, row);
  }
}
for (const [name, measure] of Object.entries(extras)) {
  if (chosen(name)) {
    await measure();
  }
}
process.exit(0);

async function launch(row, backend, command = sluice) {
  const dir = `${work}/${launched++}`;
  mkdirSync(dir);
  const port = await freePort();
  const refusal = prepare(command, dir, configuration({ dir, docs: work, port, row, backend }));
  if (refusal !== undefined) {
    throw new Error(refusal);
  }
  return { dir, port, pid: await start(command, dir) };
}

async function growth(name, row) {
  if (row.backend && nginx === undefined) {
    console.log(`${name}: no nginx to answer as the backend`);
    return;
  }
  const backend = row.backend ? await startBackend(nginx, `${work}/backend-${name}`) : undefined;
  const servers = Object.entries({ sluice, ...(nginx === undefined ? {} : { nginx }) });
  const contenders = [];
  for (const size of row.sizes) {
    const made = row.make(size);
    const script = `${work}/${name}-${size}.lua`;
    writeScript(script, made);
    for (const [server, command] of servers) {
      contenders.push({ server, made, script, measured: /** @type {number[]} */ ([]), ...(await launch(made, backend, command)) });
    }
  }
  for (const each of contenders) {
    await warm(each, each.server === 'nginx' ? 1 : 8);
  }
  for (let round = 0; round < rounds; round++) {
    for (const each of contenders) {
      each.measured.push((await loaded(each)).cpu);
    }
  }
  for (const { pid } of contenders) {
    await stop(pid);
  }
  const texts = servers.map(([server]) => {
    const [few, many] = contenders.filter((each) => each.server === server).map(({ measured }) => median(measured));
    const aim = server === 'sluice' ? atMost({ value: many / few, goal: row.goal ?? 1.2 }) : '';
    return `${server} ${few.toFixed(2)} to ${many.toFixed(2)} us of CPU a request, ${(many / few).toFixed(2)} times${aim}`;
  });
  console.log(`${name}, ${row.sizes.join(' to ')}: ${texts.join('; ')}`);
}

/** Loads a server until V8 has compiled its code, or for so many seconds. */
async function warm({ script, port, made }, most) {
  for (let requests = 0, spent = 0; requests < WARM_REQUESTS && spent < most; spent++) {
    requests += (await load({ script, port, row: made, seconds: 1 })).requests;
  }
}

/** One round: microseconds of CPU a request, and how many there were. */
async function loaded({ pid, script, port, made }) {
  const before = cpuOf(pid);
  const { requests, refused, broken } = await load({ script, port, row: made, seconds });
  if (refused > 0 || broken > 0) {
    throw new Error(`${refused} requests were refused and ${broken} broken`);
  }
  return { cpu: (cpuOf(pid) - before) / requests, requests };
}

/** What the first 200,000 requests of a new worker cost beside those that come after 400,000 more, the median of the rounds. */
async function first() {
  const made = { server: 'location / { return 200 ok; }', paths: ['/'] };
  const script = `${work}/first.lua`;
  writeScript(script, made);
  const ratios = [];
  for (let round = 0; round < rounds; round++) {
    const target = { script, made, ...(await launch(made)) };
    const many = async () => {
      const before = cpuOf(target.pid);
      let requests = 0;
      while (requests < WARM_REQUESTS) {
        requests += (await loaded(target)).requests;
      }
      return (cpuOf(target.pid) - before) / requests;
    };
    const atFirst = await many();
    await many();
    await many();
    ratios.push(atFirst / (await many()));
    await stop(target.pid);
  }
  const value = median(ratios);
  console.log(
    `first ${WARM_REQUESTS} requests of a worker: ${value.toFixed(2)} times the CPU of later ones${atMost({ value, goal: 1.1 })}`,
  );
}

/** @param {number[]} values */
function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Memory of a worker for each connection that has had one answer and waits for its next request. */
async function idle() {
  const wanted = Number(options.connections);
  const server = await launch({ server: 'location / { return 200 ok; }', paths: ['/'] });
  const open = async (count) => {
    const sockets = [];
    for (let i = 0; i < count; i += 100) {
      const some = Array.from({ length: Math.min(100, count - i) }, () => connect(server.port, '127.0.0.1'));
      await Promise.all(
        some.map(
          (socket) =>
            new Promise((done, fail) => {
              socket.once('data', done).once('error', fail).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
            }),
        ),
      );
      sockets.push(...some);
    }
    return sockets;
  };
  // The first ones pay for compiled code and for what is allocated once.
  for (const socket of await open(2000)) {
    socket.destroy();
  }
  const worker = treeOf(server.pid)[1];
  const before = memoryOf(worker);
  const sockets = await open(wanted);
  const value = ((memoryOf(worker) - before) * 1024) / wanted;
  console.log(`idle: ${value.toFixed(1)} KB for each of ${wanted} connections${atMost({ value, goal: 2, unit: ' KB' })}`);
  for (const socket of sockets) {
    socket.destroy();
  }
  await stop(server.pid);
}
