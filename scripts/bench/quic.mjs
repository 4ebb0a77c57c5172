// Loads a server over HTTP/3 by quic-load.mjs, a process of its own on the load generator's core.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { bundleSources } from './bundle.mjs';
import { SOURCES } from './quic-client.mjs';
import { pinned } from './servers.mjs';

const self = new URL('./quic-load.mjs', import.meta.url).pathname;

let bundled;

/** The path of what the client uses of the sources. */
function bundle() {
  bundled ??= bundleSources('quic', SOURCES);
  return bundled;
}

export function cannot() {
  return undefined;
}

/** There is none to write. */
export function writeScript() {}

/** Sends some requests, and throws when they are not answered. */
export async function check({ port, row, name }) {
  const { requests, bytes, refused, broken } = await load({ port, row, seconds: 0.5 });
  // A large file takes longer.
  if (bytes === 0 || refused > 0 || broken > 0) {
    throw new Error(`${row.name}: ${name} answered ${requests} requests, refused ${refused} and broke ${broken}`);
  }
}

async function command(port, row, more) {
  const options = { port, path: row.paths[0], headers: row.headers, ...row.http3, ...more };
  return pinned(1, [process.execPath, self, await bundle(), JSON.stringify(options)]);
}

/**
 * Connections with `streams` requests under way on each, or with `each` one after another with a single request. Latencies are in
 * microseconds.
 */
export async function load({ port, row, seconds }) {
  const [file, ...args] = await command(port, row, { seconds });
  const { stdout } = await promisify(execFile)(file, args);
  return JSON.parse(stdout);
}

/** Opens so many connections on which nothing moves afterwards; returns a function that gives them up. */
export async function hold(port, row, count) {
  const [file, ...args] = await command(port, row, { hold: true, connections: count });
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return () => child.kill();
}
