// Loads a server with clients that come one after another, each on a connection of its own, while one of its workers computes most of the
// time. Its own process is the load generator, on a core of its own.
import { execFile } from 'node:child_process';
import { Agent, get } from 'node:http';
import { promisify } from 'node:util';
import { pinned } from './servers.mjs';

const self = new URL(import.meta.url).pathname;
/** For how long the computing worker rests, in milliseconds, so that it comes to accept as well. */
const REST = 20;
/** Milliseconds between two clients. */
const BETWEEN = 2;

export function cannot() {
  return undefined;
}

/** There is none to write. */
export function writeScript() {}

/** Loads a server for so many seconds. Latencies are in microseconds, from the beginning of a connection to the end of its answer. */
export async function load({ port, seconds }) {
  const [file, ...args] = pinned(1, [process.execPath, self, String(port), String(seconds)]);
  const { stdout } = await promisify(execFile)(file, args);
  return JSON.parse(stdout);
}

async function ask(port, path, agent) {
  const response = await new Promise((done, failed) => get({ port, host: '127.0.0.1', path, agent }, done).on('error', failed));
  response.resume();
  await new Promise((done) => response.once('end', done));
  return response;
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function generate(port, seconds) {
  const until = performance.now() + seconds * 1000;
  const computing = new Agent({ keepAlive: true, maxSockets: 1 });
  const neighbour = (async () => {
    while (performance.now() < until) {
      await ask(port, '/busy', computing);
      await sleep(REST);
    }
    computing.destroy();
  })();
  const times = [];
  let [refused, bytes] = [0, 0];
  while (performance.now() < until) {
    const since = performance.now();
    const { statusCode } = await ask(port, '/', false);
    times.push(performance.now() - since);
    refused += statusCode === 200 ? 0 : 1;
    bytes += 2;
    await sleep(BETWEEN);
  }
  await neighbour;
  times.sort((a, b) => a - b);
  const at = (share) => Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))] * 1000);
  console.log(JSON.stringify({ requests: times.length, refused, broken: 0, bytes, p50: at(0.5), p99: at(0.99) }));
}

if (process.argv[1] === self) {
  await generate(Number(process.argv[2]), Number(process.argv[3]));
}
