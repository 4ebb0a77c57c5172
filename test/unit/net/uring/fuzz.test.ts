import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { loadNative, type Native } from '../../../../src/shared/native/native.js';
import type { Socket as AnySocket, SocketOwner } from '../../../../src/shared/net/socket.js';
import { kernelAddress } from '../../../../src/shared/net/socket-addresses.js';
import { UringEngine } from '../../../../src/shared/net/uring/engine.js';
import { UringSocket } from '../../../../src/worker/net/uring/uring-socket.js';
import { Dice, faultyEngine } from '../../../support/faulty-ring.js';
import { listenOnRing, needsRing } from '../../../support/ring.js';
import { trials } from '../../fuzz/mutations.js';

/** SLUICE_FUZZ_SEED is added to it; SLUICE_FUZZ says how many rounds there are. */
const SEED = 20261123 + Number(process.env['SLUICE_FUZZ_SEED'] ?? 0);
const ROUNDS = trials(1);
const dice = new Dice(SEED);
const random = (below: number): number => dice.below(below);

t.comment(`seed ${SEED}, ${ROUNDS} rounds`);

/** Writes in one of the ways that there are. Returns false if the rest has to wait. */
function writeSomehow(socket: UringSocket, bytes: Buffer, length: number): boolean {
  const copy = Buffer.from(bytes.subarray(0, length));
  switch (random(5)) {
    case 0:
      return socket.write(copy.toString('latin1'));
    case 1:
      return socket.writeJoined(copy.toString('latin1', 0, 1), copy.subarray(1), '');
    case 2:
      return socket.writeLent('', bytes, 0, length, '');
    case 3: {
      const taken = socket.offer(copy);
      return taken === length || socket.write(copy.subarray(taken));
    }
    default:
      return socket.write(copy);
  }
}

/** Ends a connection in one of the ways that there are. */
function endSomehow(socket: UringSocket): void {
  switch (random(4)) {
    case 0:
      socket.reset();
      break;
    case 1:
      socket.close();
      break;
    case 2:
      socket.end();
      break;
    default:
      socket.closeSoon();
  }
}

/** Sends back what comes, in the ways that there are, and stops to read now and then. */
class Echo implements SocketOwner {
  readonly #socket: UringSocket;
  /** One in so many pieces has the connection end on this side. */
  readonly #ends: number;
  closed = false;

  constructor(socket: UringSocket, ends: number) {
    this.#socket = socket;
    this.#ends = ends;
    socket.start(this);
  }

  socketReceived(bytes: Buffer, length: number): void {
    const socket = this.#socket;
    const flowing = writeSomehow(socket, bytes, length);
    if (!flowing) {
      socket.pause();
    } else {
      this.#vary(random(20));
    }
    if (this.#ends > 0 && random(this.#ends) === 0) {
      if (random(2) === 0) {
        endSomehow(socket);
      } else {
        setImmediate(endSomehow, socket);
      }
    }
  }

  #vary(choice: number): void {
    const socket = this.#socket;
    if (choice === 0) {
      socket.pause();
      setImmediate(() => socket.resume());
    } else if (choice < 3) {
      socket.expectMuch(choice === 1);
    } else if (choice === 3) {
      // The kernel has not heard of the pause when it is over.
      socket.pause();
      socket.resume();
    }
  }

  socketEnded(): void {
    if (random(2) === 0) {
      this.#socket.closeSoon();
    } else {
      this.#socket.end();
      this.#socket.closeSoon();
    }
  }

  socketDrained(): void {
    this.#socket.resume();
  }

  socketClosed(): void {
    this.closed = true;
  }
}

/** Passes on what comes to a backend, and what that answers. */
class Relay implements SocketOwner {
  readonly #client: UringSocket;
  readonly #backend: AnySocket;
  readonly #ends: number;
  #early: Buffer[] | null = [];
  #ended = false;
  closed = false;
  /** Is told what happens on the backend's side. */
  readonly #answers: SocketOwner = {
    socketOpened: (): void => {
      const early = this.#early ?? [];
      this.#early = null;
      for (const bytes of early) {
        this.#backend.write(bytes);
      }
      if (this.#ended) {
        this.#backend.end();
      }
    },
    socketReceived: (bytes: Buffer, length: number): void => {
      if (!writeSomehow(this.#client, bytes, length)) {
        this.#backend.pause();
      }
      if (this.#ends > 0 && random(this.#ends) === 0) {
        endSomehow(this.#client);
      }
    },
    socketEnded: (): void => {
      this.#client.closeSoon();
      this.#backend.leave();
    },
    socketFailed: (): void => {
      this.#client.closeSoon();
      this.#backend.leave();
    },
    socketDrained: (): void => {
      this.#client.resume();
    },
  };

  constructor(client: UringSocket, engine: UringEngine, port: number, ends: number) {
    this.#client = client;
    this.#ends = ends;
    this.#backend = UringSocket.connect(engine, kernelAddress('127.0.0.1', port)!, { keepAlive: true }, this.#answers);
    client.start(this);
  }

  socketReceived(bytes: Buffer, length: number): void {
    if (this.#early !== null) {
      this.#early.push(Buffer.from(bytes.subarray(0, length)));
    } else if (!this.#toBackend(bytes, length)) {
      this.#client.pause();
    }
  }

  #toBackend(bytes: Buffer, length: number): boolean {
    const copy = Buffer.from(bytes.subarray(0, length));
    switch (random(4)) {
      case 0:
        return this.#backend.write(copy.toString('latin1'));
      case 1:
        return this.#backend.writeLent('', bytes, 0, length, '');
      case 2: {
        const taken = this.#backend.offer(copy);
        return taken === length || this.#backend.write(copy.subarray(taken));
      }
      default:
        return this.#backend.write(copy);
    }
  }

  socketEnded(): void {
    this.#ended = true;
    if (this.#early === null) {
      this.#backend.end();
    }
  }

  socketDrained(): void {
    this.#backend.resume();
  }

  socketClosed(): void {
    this.closed = true;
    this.#backend.leave();
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

let talks = 0;
let bytes = 0;

/** One client's life. Throws when it gets something else than it sent. */
async function talk(port: number): Promise<'whole' | 'cut'> {
  const number = talks++;
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
  bytes += got.length;
  if (!got.equals(sent.subarray(0, got.length))) {
    throw new Error(`client ${number} got bytes that it did not send`);
  }
  return got.length === sent.length ? 'whole' : 'cut';
}

/** So many clients, a few at a time; how many of them got all back. */
async function crowd(port: number, clients: number): Promise<number> {
  let whole = 0;
  for (let begun = 0; begun < clients; begun += 20) {
    const results = await Promise.all(Array.from({ length: 20 }, () => talk(port)));
    whole += results.filter((result) => result === 'whole').length;
  }
  return whole;
}

/** Every connection ends, and nothing is left of any. */
async function allCameBack(t: Test, engine: UringEngine, rest: number, owners: readonly { closed: boolean }[]): Promise<void> {
  while (owners.some(({ closed }) => !closed) || engine.endpoints > rest || engine.slots.inUse > 0) {
    await new Promise((done) => setImmediate(done));
  }
  t.equal(engine.slots.inUse, 0, 'every slot came back');
  t.equal(engine.endpoints, rest, 'and every number but that of the listener');
}

/** Descriptors of this process that are open: the next one that the system gives out. */
function nextDescriptor(): number {
  const fd = openSync('/dev/null', 'r');
  closeSync(fd);
  return fd;
}

/** Rings: as they are; and so small that entries and completions do not fit. */
const SIZES = [
  ['a ring as it is', undefined, undefined],
  ['a ring that overflows', 8, 16],
] as const;

for (const [name, entries, completions] of SIZES) {
  t.test(`no fault gives a client what is not its own: ${name}`, needsRing, async (t) => {
    const { ring, engine } = faultyEngine(dice, entries, completions);
    const own = engine.endpoints;
    const backend = createServer((socket) => socket.on('error', () => {}).pipe(socket));
    await new Promise<void>((done) => backend.listen(0, '127.0.0.1', done));
    t.teardown(() => backend.close());
    const { port: backendPort } = backend.address() as { port: number };
    const owners: (Echo | Relay)[] = [];
    let ends = 0;
    const echoPort = listenOnRing(t, engine, (socket) => owners.push(new Echo(socket, ends)));
    const relayPort = listenOnRing(t, engine, (socket) => owners.push(new Relay(socket, engine, backendPort, ends)), 2);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [faults, fatal, ending] of [
        [0, false, 0],
        [10, false, 0],
        [3, false, 0],
        [0, false, 10],
        [5, true, 30],
      ] as const) {
        ring.faults = faults;
        ring.fatal = fatal;
        ends = ending;
        for (const port of [echoPort, relayPort]) {
          const whole = await crowd(port, 100);
          const enough = fatal || ending > 0 ? 5 : 60;
          t.ok(whole > enough, `${whole} of 100 ${port === echoPort ? 'echoed' : 'relayed'}, a fault in ${faults}, an end in ${ending}`);
        }
        owners.splice(0, owners.length, ...owners.filter(({ closed }) => !closed));
      }
    }
    ring.faults = 0;
    ends = 0;
    while (owners.some(({ closed }) => !closed) || engine.endpoints > own + 2 || engine.slots.inUse > 0) {
      await new Promise((done) => setImmediate(done));
    }
    t.equal(engine.slots.inUse, 0, 'every slot came back');
    t.equal(engine.endpoints, own + 2, 'and every number but those of the listeners');
    t.ok(nextDescriptor() < 200, 'and every descriptor');
    t.comment(`${talks} clients, ${bytes} bytes, faults: ${JSON.stringify(ring.counts)}`);
  });
}

t.test('connections that are opened and reset', needsRing, async (t) => {
  const engine = new UringEngine(loadNative() as Native);
  engine.start();
  const own = engine.endpoints;
  const owners: { closed: boolean }[] = [];
  let opened = 0;
  const port = listenOnRing(t, engine, (socket) => {
    opened++;
    const owner = { closed: false };
    owners.push(owner);
    socket.start({
      socketReceived: (bytes, length) => socket.write(Buffer.from(bytes.subarray(0, length))),
      socketEnded: () => socket.close(),
      socketDrained() {},
      socketClosed() {
        owner.closed = true;
      },
    });
  });
  const batches = 20 * ROUNDS;
  for (let batch = 0; batch < batches; batch++) {
    await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const client = connect(port, '127.0.0.1');
        client.on('error', () => {});
        await once(client, 'connect');
        client.write('x'.repeat(i));
        client.resetAndDestroy();
      }),
    );
    owners.splice(0, owners.length, ...owners.filter(({ closed }) => !closed));
  }
  while (opened < batches * 100) {
    await new Promise((done) => setImmediate(done));
  }
  await allCameBack(t, engine, own + 1, owners);
});

t.teardown(() => process.exit());
