// Drives WebSockets: each connection sends a message and waits until the backend's echo has come before it sends the next. As a program
// (node scripts/bench/websocket.mjs PORT SIZE CONNECTIONS SECONDS) it is the load; as a module, it starts that and reads what it found.
import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pinned } from './servers.mjs';

const SELF = fileURLToPath(import.meta.url);
const HANDSHAKE =
  'GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';

/** There is no script: the program is told all in its arguments. */
export function writeScript() {}

/** Sends one message and throws when it does not come back. */
export async function check({ port, row, name }) {
  const { requests } = await load({ port, row: { ...row, connections: 1 }, seconds: 0.2 });
  if (requests === 0) {
    throw new Error(`${row.name}: ${name} passed no message on`);
  }
}

/** Loads a server for some seconds; a message there and back is a request. Latencies are in microseconds. */
export async function load({ port, row, seconds }) {
  const [file, ...args] = pinned(1, [process.execPath, SELF, ...[port, row.message, row.connections ?? 64, seconds].map(String)]);
  const { stdout } = await promisify(execFile)(file, args);
  return { refused: 0, bytes: 0, ...JSON.parse(stdout) };
}

if (process.argv[1] === SELF) {
  const [port, size, connections, seconds] = process.argv.slice(2).map(Number);
  const message = frame(size);
  const times = [];
  let broken = 0;
  const until = performance.now() + seconds * 1000;
  await Promise.all(Array.from({ length: connections }, () => converse(port)));
  times.sort((a, b) => a - b);
  const at = (share) => Math.round(times[Math.floor(times.length * share)] ?? 0);
  console.log(JSON.stringify({ requests: times.length, broken, p50: at(0.5), p99: at(0.99) }));

  function converse(to) {
    return new Promise((done) => {
      const socket = connect({ port: to, host: '127.0.0.1', noDelay: true });
      let upgraded = false;
      let left = 0;
      let begun = 0;
      const send = () => {
        begun = performance.now();
        left = message.length;
        socket.write(message);
      };
      socket.on('error', () => broken++);
      socket.on('close', done);
      socket.on('connect', () => socket.write(HANDSHAKE));
      socket.on('data', (bytes) => {
        if (!upgraded) {
          upgraded = true;
          send();
          return;
        }
        left -= bytes.length;
        if (left > 0) {
          return;
        }
        const now = performance.now();
        times.push((now - begun) * 1000);
        if (now < until) {
          send();
        } else {
          socket.destroy();
        }
      });
    });
  }
}

/** A binary message as a client sends it, masked with zeros. */
function frame(size) {
  const head =
    size < 65536 ? Buffer.from([0x82, 0x80 | 126, size >> 8, size & 255]) : Buffer.from([0x82, 0x80 | 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  if (size >= 65536) {
    head.writeUInt32BE(size, 6);
  }
  return Buffer.concat([head, Buffer.alloc(4), Buffer.alloc(size, 'message ')]);
}
