// Loads a server with datagrams, and reads what came back. Its own process is the load generator, on a core of its own.
import { execFile, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { promisify } from 'node:util';
import { pinned } from './servers.mjs';

const self = new URL(import.meta.url).pathname;

export function cannot() {
  return undefined;
}

/** There is none to write. */
export function writeScript() {}

/** Sends one datagram, and throws when it does not come back. */
export async function check({ port, row, name }) {
  const { requests } = await load({ port, row, seconds: 0.2 });
  if (requests === 0) {
    throw new Error(`${row.name}: ${name} sends no datagram back`);
  }
}

/** Clients that each send a datagram as soon as the one before is back. Latencies are in microseconds. */
export async function load({ port, row, seconds }) {
  const [file, ...args] = pinned(1, [process.execPath, self, 'load', String(port), String(row.connections ?? 64), String(seconds)]);
  const { stdout } = await promisify(execFile)(file, args);
  return JSON.parse(stdout);
}

/** Starts a backend that sends back what it gets, on the load generator's core; resolves with its address. */
export async function startEcho() {
  const [file, ...args] = pinned(1, [process.execPath, self, 'echo']);
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill());
  child.unref();
  /** @type {import('node:net').Socket} */ (child.stdout).unref();
  return new Promise((done) => child.stdout.once('data', (text) => done(String(text).trim())));
}

function echo() {
  const socket = createSocket('udp4');
  socket.on('message', (bytes, { port, address }) => socket.send(bytes, port, address));
  socket.bind(0, '127.0.0.1', () => console.log(`127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (socket.address()).port}`));
}

function generate(port, clients, seconds) {
  const times = [];
  const bytes = Buffer.alloc(64, 'x');
  const sockets = [];
  let requests = 0;
  let stopped = false;
  for (let i = 0; i < clients; i++) {
    const socket = createSocket('udp4');
    let since = 0;
    const send = () => {
      since = performance.now();
      socket.send(bytes);
    };
    socket.on('message', () => {
      requests++;
      times.push(performance.now() - since);
      if (!stopped) {
        send();
      }
    });
    socket.on('error', () => {});
    socket.connect(port, '127.0.0.1', send);
    sockets.push(socket);
  }
  setTimeout(() => {
    stopped = true;
    times.sort((a, b) => a - b);
    const at = (share) => Math.round((times[Math.floor(times.length * share)] ?? 0) * 1000);
    console.log(JSON.stringify({ requests, bytes: requests * bytes.length, p50: at(0.5), p99: at(0.99), refused: 0, broken: 0 }));
    for (const socket of sockets) {
      socket.close();
    }
  }, seconds * 1000);
}

if (process.argv[2] === 'echo') {
  echo();
} else if (process.argv[2] === 'load') {
  generate(Number(process.argv[3]), Number(process.argv[4]), Number(process.argv[5]));
}
