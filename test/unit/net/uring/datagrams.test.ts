import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { loadNative, type Native } from '../../../../src/shared/native/native.js';
import { DatagramHandle } from '../../../../src/shared/net/datagram-handle.js';
import type { DatagramSocket, DatagramTaker } from '../../../../src/shared/net/datagram-socket.js';
import { ipAddress } from '../../../../src/shared/net/socket-addresses.js';
import { UringEngine } from '../../../../src/shared/net/uring/engine.js';
import { UringDatagramSocket } from '../../../../src/worker/net/uring/uring-datagram-socket.js';
import { Dice, faultyEngine } from '../../../support/faulty-ring.js';
import { needsRing, ring } from '../../../support/ring.js';
import { waitFor } from '../../../support/wait.js';

const engine = ring as UringEngine;
const EAGAIN = -11;
const ECONNREFUSED = -111;
/** As much as a datagram of IPv4 holds. */
const LARGEST = 65_507;

/** Notes what comes; `seen` is told too. */
class Taker implements DatagramTaker {
  readonly texts: string[] = [];
  readonly from: string[] = [];
  readonly errors: number[] = [];
  seen = (_bytes: Buffer, _address: string, _port: number): void => {};

  datagram(bytes: Buffer, address: string, port: number): void {
    this.texts.push(bytes.toString('latin1'));
    this.from.push(`${address} ${port}`);
    this.seen(bytes, address, port);
  }

  receiveFailed(errno: number): void {
    this.errors.push(errno);
  }

  until(count: number): Promise<boolean> {
    return waitFor(() => this.texts.length >= count);
  }
}

/** A bound socket on a ring, and where it is. */
function bound(t: Test, on: UringEngine, address = '127.0.0.1'): { socket: DatagramSocket; taker: Taker; port: number } {
  const handle = DatagramHandle.bind({ address, port: 0 }, address.includes(':'), false) as DatagramHandle;
  const socket = UringDatagramSocket.bound(on, handle);
  t.teardown(() => socket.close());
  const taker = new Taker();
  socket.receive(taker);
  return { socket, taker, port: socket.local().port! };
}

/** A socket on a ring that talks to this port alone. */
function connected(t: Test, on: UringEngine, port: number): { socket: DatagramSocket; taker: Taker } {
  const socket = UringDatagramSocket.connect(on, ipAddress('127.0.0.1', port)!, { keepAlive: false }) as UringDatagramSocket;
  t.teardown(() => socket.close());
  const taker = new Taker();
  socket.receive(taker);
  return { socket, taker };
}

/** The other side. */
async function peer(t: Test, address = '127.0.0.1'): Promise<{ peer: Socket; port: number; texts: string[] }> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  socket.bind(0, address);
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  const texts: string[] = [];
  socket.on('message', (bytes) => texts.push(bytes.toString('latin1')));
  return { peer: socket, port: socket.address().port, texts };
}

for (const address of ['127.0.0.1', '::1']) {
  t.test(`datagrams of several peers, there and back: ${address}`, needsRing, async (t) => {
    const { socket, taker, port } = bound(t, engine, address);
    const one = await peer(t, address);
    const two = await peer(t, address);
    taker.seen = (bytes, from, at) => void socket.sendTo(bytes, socket.peer(from, at));
    const texts = ['small', '', 'x'.repeat(5000), 'y'.repeat(LARGEST)];
    for (const [i, text] of texts.entries()) {
      one.peer.send(text, port, address);
      await taker.until(i + 1);
    }
    t.strictSame(taker.texts, texts);
    t.strictSame(new Set(taker.from), new Set([`${address} ${one.port}`]));
    two.peer.send('other', port, address);
    await waitFor(() => two.texts.length > 0 && one.texts.length === texts.length);
    t.strictSame(one.texts, texts);
    t.strictSame(two.texts, ['other']);
  });
}

t.test('many at once', needsRing, async (t) => {
  const { taker, port } = bound(t, engine);
  const { peer: sender } = await peer(t);
  const texts = Array.from({ length: 150 }, (_, i) => `datagram ${i}`);
  for (const text of texts) {
    sender.send(text, port, '127.0.0.1');
  }
  await taker.until(texts.length);
  t.strictSame(taker.texts, texts);
});

t.test('a connected socket: what comes waits while it pauses', needsRing, async (t) => {
  const { peer: backend, port, texts } = await peer(t);
  backend.on('message', (bytes, from) => {
    for (const piece of bytes.toString().split(' ')) {
      backend.send(piece, from.port, from.address);
    }
  });
  const { socket, taker } = connected(t, engine, port);
  t.equal(socket.send(Buffer.from('a')), 0);
  await taker.until(1);
  taker.seen = () => socket.pause();
  socket.send(Buffer.from('b c d e'));
  for (let count = 2; count <= 5; count++) {
    await taker.until(count);
    await new Promise((done) => setTimeout(done, 10));
    t.equal(taker.texts.length, count);
    socket.resume();
  }
  t.strictSame(taker.texts, ['a', 'b', 'c', 'd', 'e']);
  t.strictSame(texts, ['a', 'b c d e']);
  t.equal(taker.from[0], ' 0');
});

t.test('nobody is there', needsRing, async (t) => {
  const { peer: gone, port } = await peer(t);
  const { socket, taker } = connected(t, engine, port);
  gone.close();
  gone.close = () => gone;
  await new Promise((done) => setImmediate(done));
  socket.send(Buffer.from('anybody?'));
  await waitFor(() => taker.errors.length > 0);
  t.strictSame(taker.errors, [ECONNREFUSED]);
});

t.test('what the kernel has no room for follows in order', needsRing, async (t) => {
  let full = true;
  const native = loadNative() as Native;
  const tight = new UringEngine({
    ...native,
    sendDatagram: (fd, bytes, address) => (full ? EAGAIN : native.sendDatagram(fd, bytes, address)),
  });
  tight.start();
  const { port, texts } = await peer(t);
  const { socket } = connected(t, tight, port);
  t.equal(socket.send(Buffer.from('a')), 0);
  t.equal(socket.send(Buffer.from('b')), 0);
  for (let i = 0; i < 4; i++) {
    t.equal(socket.send(Buffer.alloc(65_000)), 0);
  }
  t.ok(socket.send(Buffer.alloc(65_000)) <= 0);
  t.ok(socket.send(Buffer.alloc(65_000)) < 0, 'there is a bound');
  full = false;
  await waitFor(() => texts.length >= 2);
  t.strictSame(texts.slice(0, 2), ['a', 'b']);
  full = true;
  const last = connected(t, tight, port);
  last.socket.send(Buffer.from('never'));
  last.socket.close();
  t.ok(last.socket.send(Buffer.from('closed')) < 0);
});

t.test('no fault gives anybody what is not its own, and nothing is left of a socket', needsRing, async (t) => {
  const { ring: faulty, engine: on } = faultyEngine(new Dice(Number(process.env.SLUICE_TEST_SEED ?? 1)));
  const { socket, taker, port } = bound(t, on);
  taker.seen = (bytes, address, from) => void socket.sendTo(bytes, socket.peer(address, from));
  const before = on.endpoints;
  for (const faults of [0, 5, 2]) {
    faulty.faults = faults;
    const clients = Array.from({ length: 20 }, () => connected(t, on, port));
    for (let round = 0; round < 20; round++) {
      for (const [i, client] of clients.entries()) {
        client.socket.send(Buffer.from(`${i} ${round}`));
      }
      await waitFor(() => clients.every((client) => client.taker.texts.length > round));
    }
    for (const [i, client] of clients.entries()) {
      t.strictSame(
        client.taker.texts,
        Array.from({ length: 20 }, (_, round) => `${i} ${round}`),
      );
      client.socket.close();
    }
    await waitFor(() => on.endpoints === before);
  }
  faulty.faults = 0;
  socket.close();
  await waitFor(() => on.endpoints === before - 1);
  t.strictSame(taker.errors, []);
});

t.teardown(() => process.exit());
