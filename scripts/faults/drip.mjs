// Senders that cut everything into single bytes, each in a segment of its own, and may leave in the middle.
import { connect, createServer } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** Sends the first `count` bytes one at a time, and stops early when nobody takes them any more. */
export async function drip(socket, bytes, count = bytes.length) {
  for (let i = 0; i < count && socket.writable; i++) {
    socket.write(bytes.subarray(i, i + 1));
    await sleep(1);
  }
}

/** Goes away, in one of the two ways there are. */
export function leave(socket, how) {
  if (how === 'reset') {
    socket.resetAndDestroy();
  } else {
    socket.end();
  }
}

export function open(port) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => {});
  return socket;
}

/** A socket for node:tls over another one, which gets what it writes drop by drop, up to `count` bytes of it. */
export function dripping(socket, count = Number.POSITIVE_INFINITY) {
  let left = count;
  const stream = new Duplex({
    read() {},
    write(bytes, _encoding, done) {
      const size = Math.min(bytes.length, left);
      left -= size;
      drip(socket, bytes, size).then(() => {
        if (left === 0) {
          stream.emit('spent');
        }
        done();
      }, done);
    },
    final(done) {
      socket.end();
      done();
    },
    destroy(_error, done) {
      socket.destroy();
      done(null);
    },
  });
  socket.on('data', (bytes) => stream.push(bytes));
  socket.on('end', () => stream.push(null));
  socket.on('close', () => stream.destroy());
  return stream;
}

/**
 * A backend that answers whatever comes, one byte at a time: `answer` is the bytes, or makes them of what came. `next` says how many
 * bytes of the next answer leave before the backend does, and how it goes.
 */
export async function dripServer(answer) {
  const server = { next: /** @type {{ count?: number, how?: string }} */ ({}), port: 0, close: () => listening.close() };
  const listening = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => void respond(socket, typeof answer === 'function' ? answer(bytes) : answer, server.next));
  });
  await listen(listening, server);
  return server;
}

async function respond(socket, answer, /** @type {{ count?: number, how?: string }} */ { count = answer.length, how }) {
  await drip(socket, answer, count);
  leave(socket, how);
}

/** The same for a protocol of its own, such as TLS: `behind` is the port of the real backend, whose bytes come drop by drop. */
export async function dripRelay(behind) {
  const server = { next: {}, port: 0, close: () => listening.close() };
  const listening = createServer({ noDelay: true }, (socket) => {
    const { count = Number.POSITIVE_INFINITY, how } = server.next;
    const real = open(behind);
    let left = count;
    let last = Promise.resolve();
    socket.on('error', () => {});
    socket.pipe(real);
    socket.on('close', () => real.destroy());
    real.on('data', (bytes) => {
      last = last.then(async () => {
        const size = Math.min(bytes.length, left);
        left -= size;
        await drip(socket, bytes, size);
        if (left === 0) {
          leave(socket, how);
        }
      });
    });
    real.on('end', () => void last.then(() => socket.end()));
  });
  await listen(listening, server);
  return server;
}

async function listen(listening, server) {
  await new Promise((done) => listening.listen(0, '127.0.0.1', done));
  server.port = /** @type {import('node:net').AddressInfo} */ (listening.address()).port;
}
