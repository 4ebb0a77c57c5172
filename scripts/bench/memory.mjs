// Memory of the whole process tree over many mixed requests: after the first million, and at the end. What it takes counts each page once
// that its processes have in common. starts.mjs has memory at rest.
//
//   node scripts/bench/memory.mjs [--millions N] [--nginx PATH]
//
// nginx, where there is one, is only the backend.
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { atMost } from './goal.mjs';
import { memoryOf, takenBy } from './measure.mjs';
import { commands, configuration, freePort, prepare, start, startBackend, workFolder, writeDocuments } from './servers.mjs';
import { load, writeScript } from './wrk.mjs';

const { values: options } = parseArgs({
  options: { millions: { type: 'string', default: '10' }, nginx: { type: 'string', default: 'nginx' } },
});
const millions = Number(options.millions);

const work = workFolder();
const { nginx, sluice } = commands(options.nginx);
if (nginx === undefined) {
  throw new Error('no nginx to answer as the backend');
}
const backend = await startBackend(nginx, `${work}/backend`);
const docs = `${work}/docs`;
writeDocuments(docs);

const row = {
  http: `upstream backend { server %%BACKEND%%; keepalive 64; }
    proxy_cache_path %%DIR%%/cache keys_zone=cache:10m;
    limit_req_zone $binary_remote_addr zone=rate:10m rate=1000000r/s; limit_conn_zone $binary_remote_addr zone=count:10m;
    map $uri $shown { default none; ~^/ok ok; }`,
  server: `gzip on; access_log %%DIR%%/access.log;
    location /ok { return 200 $shown; }
    location /proxied { proxy_pass http://backend/; proxy_http_version 1.1; proxy_set_header Connection ""; }
    location /cached/ { proxy_pass http://backend/600; proxy_cache cache; proxy_cache_valid 200 1s; }
    location /limited { limit_req zone=rate burst=100000 nodelay; limit_conn count 10000; try_files /1k.html =404; }
    location /moved { rewrite ^/moved/(.*)$ /$1 last; }`,
  headers: { 'Accept-Encoding': 'gzip' },
  paths: [
    ...['/ok', '/1k.html', '/proxied', '/limited', '/moved/1k.html', '/missing', '/10k.html', '/64k.bin'],
    ...Array.from({ length: 8 }, (_, i) => `/cached/${i}`),
    ...Array.from({ length: 8 }, (_, i) => `/many/${i * 37}.html`),
  ],
};
const dir = `${work}/sluice`;
mkdirSync(dir);
const port = await freePort();
const refusal = prepare(sluice, dir, configuration({ dir, docs, port, row, backend }));
if (refusal !== undefined) {
  throw new Error(refusal);
}
const pid = await start(sluice, dir);
const script = `${work}/mixed.lua`;
writeScript(script, row);

let first = 0;
let done = 0;
for (let next = 1; next <= millions; next++) {
  while (done < next * 1_000_000) {
    const { requests, broken } = await load({ script, port, row, seconds: 5 });
    if (broken > 0) {
      throw new Error(`${broken} requests broke`);
    }
    done += requests;
    // A log of gigabytes is nobody's subject here.
    writeFileSync(`${dir}/access.log`, '');
  }
  const memory = memoryOf(pid);
  first ||= memory;
  const { own, files } = takenBy(pid);
  const grown = (memory / first - 1) * 100;
  const taken = own + files;
  console.log(
    `${next} million: ${memory.toFixed(0)} MB, ${grown.toFixed(1)} % more than after the first${atMost({ value: grown, goal: 5, unit: ' %' })}; it takes ${taken.toFixed(0)} MB${atMost({ value: taken, goal: 90, unit: ' MB' })}`,
  );
}
process.exit(0);
