import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import type { SocketOwner } from '../../../../src/shared/net/client-socket.js';
import { UringEngine } from '../../../../src/shared/net/uring/engine.js';
import type { Native } from '../../../../src/shared/net/uring/native.js';
import { loadNative } from '../../../../src/shared/net/uring/native.js';
import { Ring } from '../../../../src/shared/net/uring/ring.js';
import type { UringClientSocket } from '../../../../src/shared/net/uring/uring-client-socket.js';
import { listenOnRing, needsRing } from '../../../support/ring.js';

/** Numbers that are the same in each run. */
let seed = 20261123;
const random = (below: number): number => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return Math.floor((seed / 0x100000000) * below);
};

const [EINTR, EAGAIN, ECONNRESET, ENOBUFS] = [-4, -11, -104, -105];

/** A ring that does some operations in part, and lets some fail without doing them. */
class FaultyRing extends Ring {
  readonly #made: { tag: number; generation: number; result: number }[] = [];
  /** One in so many sends and receives meets a fault; 0 for none. */
  faults = 0;
  /** How many connections were told that they were reset. */
  resets = 0;

  override send(fd: number, address: number, length: number, tag: number, generation: number): void {
    if (this.faults === 0 || random(this.faults) !== 0) {
      super.send(fd, address, length, tag, generation);
    } else if (random(2) === 0 && length > 1) {
      super.send(fd, address, 1 + random(length - 1), tag, generation);
    } else {
      this.#fail(tag, generation, [EINTR, EAGAIN]);
    }
  }

  override receive(fd: number, group: number, most: number, tag: number, generation: number): void {
    if (this.faults === 0 || random(this.faults) !== 0) {
      super.receive(fd, group, random(3) === 0 ? 0 : most, tag, generation);
    } else {
      this.#fail(tag, generation, [EINTR, EAGAIN, ENOBUFS, ENOBUFS, random(10) === 0 ? ECONNRESET : EINTR]);
    }
  }

  #fail(tag: number, generation: number, errors: number[]): void {
    const result = errors[random(errors.length)]!;
    if (result === ECONNRESET) {
      this.resets++;
    }
    this.#made.push({ tag, generation, result });
  }

  override get more(): boolean {
    return this.#made.length > 0 || super.more;
  }

  override next(): boolean {
    if (this.#made.length > 0 && random(2) === 0) {
      const { tag, generation, result } = this.#made.splice(random(this.#made.length), 1)[0]!;
      Object.assign(this, { tag, generation, result, flags: 0 });
      return true;
    }
    return super.next();
  }
}

/** Sends back what comes, in the ways that there are, and stops to read now and then. */
class Echo implements SocketOwner {
  readonly #socket: UringClientSocket;
  closed = false;

  constructor(socket: UringClientSocket) {
    this.#socket = socket;
    socket.start(this);
  }

  received(bytes: Buffer, length: number): boolean {
    const socket = this.#socket;
    const copy = Buffer.from(bytes.subarray(0, length));
    let flowing: boolean;
    switch (random(5)) {
      case 0:
        flowing = socket.write(copy.toString('latin1'));
        break;
      case 1:
        flowing = socket.writeJoined(copy.toString('latin1', 0, 1), copy.subarray(1), '');
        break;
      case 2:
        flowing = socket.writeLent('', bytes, 0, length, '');
        break;
      case 3: {
        const taken = socket.offer(copy);
        flowing = taken === length || socket.write(copy.subarray(taken));
        break;
      }
      default:
        flowing = socket.write(copy);
    }
    if (!flowing) {
      socket.pause();
    } else {
      this.#vary(random(20));
    }
    return true;
  }

  #vary(choice: number): void {
    const socket = this.#socket;
    if (choice === 0) {
      socket.pause();
      setImmediate(() => socket.resume());
    } else if (choice < 3) {
      socket.expectMuch(choice === 1);
    }
  }

  clientEnded(): void {
    if (random(2) === 0) {
      this.#socket.closeSoon();
    } else {
      this.#socket.end();
      this.#socket.closeSoon();
    }
  }

  flushed(): void {
    this.#socket.resume();
  }

  socketClosed(): void {
    this.closed = true;
  }
}

/** Bytes of one client, which no other sends. */
function pattern(client: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let i = 0; i < length; i++) {
    bytes[i] = (client * 31 + i * 7 + (i >> 8)) & 0xff;
  }
  return bytes;
}

async function talk(port: number, number: number): Promise<'whole' | 'cut'> {
  const sent = pattern(number, 1 + random(random(4) === 0 ? 400_000 : 3000));
  const pieces: Buffer[] = [];
  const client: Socket = connect(port, '127.0.0.1');
  client.on('error', () => {});
  client.on('data', (bytes) => pieces.push(bytes));
  const closed = once(client, 'close').catch(() => {});
  for (let at = 0; at < sent.length; ) {
    const size = 1 + random(random(3) === 0 ? 100_000 : 2000);
    client.write(sent.subarray(at, at + size));
    at += size;
  }
  if (random(10) === 0) {
    setImmediate(() => client.resetAndDestroy());
  } else {
    client.end();
  }
  await closed;
  const got = Buffer.concat(pieces);
  if (!got.equals(sent.subarray(0, got.length))) {
    throw new Error(`client ${number} got bytes that it did not send`);
  }
  return got.length === sent.length ? 'whole' : 'cut';
}

t.test('no fault gives a client what is not its own', needsRing, async (t) => {
  const native = loadNative() as Native;
  const ring = new FaultyRing(native);
  const engine = new UringEngine(native, ring);
  engine.start();
  const owners: Echo[] = [];
  const port = listenOnRing(t, engine, (socket) => owners.push(new Echo(socket)));
  for (const faults of [0, 10, 3]) {
    ring.faults = faults;
    const results: string[] = [];
    for (let batch = 0; batch < 10; batch++) {
      results.push(...(await Promise.all(Array.from({ length: 20 }, (_, i) => talk(port, batch * 20 + i)))));
    }
    t.ok(results.filter((result) => result === 'whole').length > 100, `${results.filter((result) => result === 'whole').length} of 200`);
  }
  ring.faults = 0;
  while (owners.some(({ closed }) => !closed)) {
    await new Promise((done) => setImmediate(done));
  }
  t.equal(engine.slots.inUse, 0, 'every slot came back');
  t.equal(engine.endpoints, 1, 'and every number but that of the listener');
});

t.test('connections that are opened and reset', needsRing, async (t) => {
  const native = loadNative() as Native;
  const engine = new UringEngine(native);
  engine.start();
  let closed = 0;
  let opened = 0;
  const port = listenOnRing(t, engine, (socket) => {
    opened++;
    socket.start({
      received: (bytes, length) => socket.write(Buffer.from(bytes.subarray(0, length))),
      clientEnded: () => socket.close(),
      flushed() {},
      socketClosed: () => void closed++,
    });
  });
  for (let batch = 0; batch < 20; batch++) {
    await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const client = connect(port, '127.0.0.1');
        client.on('error', () => {});
        await once(client, 'connect');
        client.write('x'.repeat(i));
        client.resetAndDestroy();
      }),
    );
  }
  while (opened < 2000 || closed < opened) {
    await new Promise((done) => setImmediate(done));
  }
  t.equal(engine.slots.inUse, 0);
  t.equal(engine.endpoints, 1);
});

t.teardown(() => process.exit());
