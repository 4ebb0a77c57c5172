// Clients and a backend of datagrams for the drills, in the drill's own process.
import { createSocket } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';

const bound = (port = 0) =>
  new Promise((done) => {
    const socket = createSocket('udp4');
    socket.on('error', () => {});
    socket.bind(port, '127.0.0.1', () => done(socket));
  });

/** A backend that sends back what it gets. */
export async function echo() {
  const socket = await bound();
  socket.on('message', (bytes, { port, address }) => socket.send(bytes, port, address));
  return { address: `127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (socket.address()).port}`, end: () => socket.close() };
}

/**
 * Clients that each send one numbered datagram after the other, and wait for each to come back: `lost` counts those that do not in time.
 */
export async function pingPong(port, count, { patience = 2000, pause = 5 } = {}) {
  const totals = { answered: 0, lost: 0, slowest: 0 };
  let stopping = false;
  const one = async (number) => {
    const socket = await bound();
    let came;
    socket.on('message', (bytes) => came?.(String(bytes)));
    for (let i = 0; !stopping; i++) {
      const text = `${number} ${i}`;
      const since = performance.now();
      const back = new Promise((done) => {
        const timer = setTimeout(done, patience, false);
        came = (got) => {
          if (got === text) {
            clearTimeout(timer);
            done(true);
          }
        };
      });
      socket.send(text, port, '127.0.0.1');
      if (await back) {
        totals.answered++;
        totals.slowest = Math.max(totals.slowest, Math.round(performance.now() - since));
      } else {
        totals.lost++;
      }
      await sleep(pause);
    }
    socket.close();
  };
  const all = Array.from({ length: count }, (_, i) => one(i));
  return {
    totals,
    stop: async () => {
      stopping = true;
      await Promise.all(all);
      return totals;
    },
  };
}

/** So many at a time: more would fill the kernel's buffers, those of the backend in this process too, and push others' datagrams out. */
const AT_ONCE = 50;

/** Sends one datagram from each of so many ports, as a flood with invented addresses looks to the server. */
export async function manyPeers(port, count) {
  for (let sent = 0; sent < count; sent += AT_ONCE) {
    const sockets = await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - sent) }, () => bound()));
    await Promise.all(sockets.map((socket) => new Promise((done) => socket.send('flood', port, '127.0.0.1', done))));
    for (const socket of sockets) {
      socket.close();
    }
    await sleep(2);
  }
}
