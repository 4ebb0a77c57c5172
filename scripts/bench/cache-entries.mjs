// What a cache HIT costs with few and with many entries: fills a cache folder for each size, starts the built server on it, waits until its
// index knows all entries, and asks for 500 of them. Prints CPU microseconds a request, of the server alone, and the ratio to the first
// size.
//
//   node scripts/bench/cache-entries.mjs [--entries 1000,1000000] [--seconds S] [--rounds N] [--folder DIR]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bundleSources } from './bundle.mjs';
import { atMost } from './goal.mjs';
import { cpuOf } from './measure.mjs';
import { commands, freePort, start, stop, workFolder } from './servers.mjs';
import { check, load, writeScript } from './wrk.mjs';

const { values: options } = parseArgs({
  options: {
    entries: { type: 'string', default: '1000,1000000' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    folder: { type: 'string', default: tmpdir() },
  },
});
const seconds = Number(options.seconds);
const work = workFolder(options.folder);

const format = await bundleSources(
  'cache-format',
  `export { BlockSums, encodeHeader, tableChecksum } from './worker/cache/file-format.js';
export { cacheFilePath } from './worker/cache/path.js'; export { md5Hex } from './worker/digest/md5.js';`,
);
const { BlockSums, encodeHeader, tableChecksum, cacheFilePath, md5Hex } = await import(format);

const contenders = [];
for (const text of options.entries.split(',')) {
  contenders.push(await prepare(Number(text)));
}
for (let round = 0; round < Number(options.rounds); round++) {
  for (const each of contenders) {
    const before = cpuOf(each.pid);
    const { requests, refused, broken } = await load({ ...each, seconds });
    if (refused + broken > 0) {
      throw new Error(`${refused} requests were refused, ${broken} broke`);
    }
    each.costs.push((cpuOf(each.pid) - before) / requests);
  }
}
const [first] = contenders;
for (const { entries, pid, costs } of contenders) {
  const value = best(costs) / best(first.costs);
  const aim = atMost({ value, goal: 1.2 });
  console.log(`${String(entries).padStart(8)} entries: ${best(costs).toFixed(2)} us a HIT, ${value.toFixed(2)} times the first${aim}`);
  await stop(pid);
}
process.exit(0);

function best(costs) {
  return Math.min(...costs);
}

async function prepare(entries) {
  const dir = `${work}/${entries}`;
  mkdirSync(`${dir}/logs`, { recursive: true });
  fill(`${dir}/cache`, entries);
  const port = await freePort();
  writeFileSync(
    `${dir}/server.conf`,
    `worker_processes 1; user root; pid ${dir}/server.pid; error_log ${dir}/error.log notice; events { worker_connections 4096; }
http { access_log off; keepalive_requests 100000000; proxy_temp_path ${dir}/temp;
  proxy_cache_path ${dir}/cache levels=1:2 keys_zone=many:1000m inactive=1d loader_files=20000 loader_sleep=1ms loader_threshold=10s;
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:9; proxy_cache many; proxy_cache_key $uri; } } }
`,
  );
  const pid = await start(commands('none').sluice, dir);
  while (!readFileSync(`${dir}/error.log`, 'latin1').includes('http file cache: ')) {
    await sleep(100);
  }
  const row = { name: `${entries}`, paths: Array.from({ length: 500 }, (_, i) => `/e/${Math.floor((i * entries) / 500)}`) };
  const script = `${dir}/script.lua`;
  writeScript(script, row);
  await check({ port, row, name: 'sluice' });
  await load({ script, port, row, seconds: 1 });
  return { entries, pid, port, row, script, costs: /** @type {number[]} */ ([]) };
}

/** Writes fresh entries of 600 bytes under the keys `/e/0` and so on. */
function fill(folder, entries) {
  const body = Buffer.alloc(600, 'x');
  const sums = new BlockSums();
  sums.add(body);
  const table = sums.table();
  const now = Math.floor(Date.now() / 1000);
  const common = { validUntil: now + 86400, updating: 0, onError: 0, lastModified: -1, date: now, bodyLength: 600, contentLength: 600 };
  const rest = {
    status: 200,
    error: 0,
    vary: '',
    variant: '',
    etag: '',
    reason: 'OK',
    lines: ['Content-Type', 'text/plain', 'Content-Length', '600'],
  };
  const tail = Buffer.concat([body, table]);
  const tableCrc = tableChecksum(table);
  for (let i = 0; i < 256 * 16; i++) {
    const digits = i.toString(16).padStart(3, '0');
    mkdirSync(`${folder}/${digits[2]}/${digits.slice(0, 2)}`, { recursive: true });
  }
  for (let i = 0; i < entries; i++) {
    const key = `/e/${i}`;
    writeFileSync(
      cacheFilePath(folder, [1, 2], md5Hex(key)),
      Buffer.concat([encodeHeader({ key, tags: '', ...common, ...rest }, tableCrc), tail]),
    );
  }
}
