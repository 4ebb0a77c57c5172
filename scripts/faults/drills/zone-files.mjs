import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { clients } from '../stage.mjs';

const http = `
  limit_req_zone $binary_remote_addr zone=rate:1m rate=1000000r/s;
  limit_conn_zone $binary_remote_addr zone=count:1m;
  proxy_cache_path %%DIR%%/cache keys_zone=cache:1m;
  upstream origin { zone origin 256k; server %%ORIGIN%%; }
  server {
    listen 127.0.0.1:%%PORT_0%%;
    limit_req zone=rate burst=100000 nodelay;
    limit_conn count 10000;
    location /proxy/ { proxy_pass http://origin; proxy_cache cache; proxy_cache_valid 200 1s; }
    location / { }
  }`;

/** The databases themselves, without what SQLite puts beside them. */
const databases = /^(?!.*-(wal|shm)$)/;

const harms = {
  noise: (file) => overwrite(file, randomBytes(statSync(file).size)),
  truncated: (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  emptied: (file) => truncateSync(file, 0),
  removed: (file) => rmSync(file),
};

/** The databases behind shared zones come to harm while they are used: requests go on being answered. */
export default {
  id: 'F19',
  what: 'zone files overwritten, truncated, removed, locked: requests go on',
  nginx: false,
  alerts: true,
  async run(stage, expect) {
    const folder = `${stage.dir}/zones`;
    await stage.start(http, `zone_directory ${folder};`);
    const files = (kind) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && kind.test(entry.name))
        .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`);
    expect(files(databases).length > 0, `no zone files in ${folder}: ${files(/./)}`);
    const load = stage.load(clients.keepAlive(stage, 6), clients.proxied(stage, 4));
    await load.answered(200);
    const figures = {};
    const master = stage.pid;
    const workers = stage.workers();
    for (const [name, harm] of Object.entries(harms)) {
      const harmed = files(databases).filter((file) => wasThere(() => harm(file)));
      expect(harmed.length > 0, `${name}: no zone file came to harm`);
      await load.answered((await load.report()).answered + (stage.short ? 300 : 1000));
      figures[name] = (await load.report()).failed;
    }
    await locked(files(databases), stage.short ? 1000 : 10_000, async () => {
      await load.answered((await load.report()).answered + (stage.short ? 100 : 1000));
    });
    const { answered, failed, why, slowest } = await load.stop();
    expect(failed === 0, `${failed} requests failed: ${JSON.stringify(why)}`);
    expect(stage.pid === master && stage.serve(workers), 'a process died');
    return { ...figures, answered, failed, slowest: Math.round(slowest) };
  },
};

/** Does it, unless the file is gone: a worker may just have replaced it, since it found the harm before. */
function wasThere(work) {
  try {
    work();
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') {
      throw error;
    }
    return false;
  }
}

function overwrite(file, bytes) {
  const fd = openSync(file, 'r+');
  writeSync(fd, bytes, 0, bytes.length, 0);
  closeSync(fd);
}

/** Another process holds every database for a while. */
async function locked(files, milliseconds, during) {
  const sqlite = createRequire(import.meta.url).resolve('better-sqlite3');
  const program = `const D = require(${JSON.stringify(sqlite)});
for (const file of process.argv.slice(1)) try { (globalThis[file] = new D(file, { fileMustExist: true })).exec('BEGIN EXCLUSIVE'); } catch {}
console.log('locked'); setTimeout(() => {}, ${milliseconds});`;
  const child = spawn(process.execPath, ['-e', program, ...files], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((done) => child.once('exit', done));
  await Promise.race([ended, new Promise((done) => child.stdout.once('data', done))]);
  await during();
  child.kill('SIGKILL');
  await ended;
}
