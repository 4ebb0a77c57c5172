import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { ListenSocket, plainSpec } from '../../../../src/shared/net/listen-socket.js';
import type { UringEngine } from '../../../../src/shared/net/uring/engine.js';
import { kernelAddress } from '../../../../src/shared/net/uring/socket-addresses.js';
import { UringBackendSocket } from '../../../../src/shared/net/uring/uring-backend-socket.js';
import type { UringClientSocket } from '../../../../src/shared/net/uring/uring-client-socket.js';
import { UringListener } from '../../../../src/shared/net/uring/uring-listener.js';
import { NotingOwner } from '../../../support/accepted.js';
import { acceptOnRing, needsRing, ring } from '../../../support/ring.js';

const engine = ring as UringEngine;
const [AF_INET, SOCK_STREAM] = [2, 1];

/** Both ends of a new connection; what happens on the server's side is noted. The client does not read yet. */
async function pair(t: Test) {
  const { client, socket } = await acceptOnRing(t, engine);
  client.pause();
  t.teardown(() => socket.close());
  const owner = new NotingOwner();
  socket.start(owner);
  return { client, socket, owner };
}

async function readAll(client: Socket): Promise<string> {
  let text = '';
  client.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
  });
  client.resume();
  await once(client, 'close');
  return text;
}

/** Writes until the kernel takes no more; returns all of it. */
function fill(socket: UringClientSocket): string {
  const piece = Buffer.alloc(64 * 1024, 'x');
  let sent = '';
  for (let flowing = true; flowing; ) {
    flowing = socket.writeJoined(`${sent.length}:`, piece, '\r\n');
    sent += `${sent.length}:${piece.toString('latin1')}\r\n`;
  }
  return sent;
}

t.test('bytes go both ways, in whichever form they are given', needsRing, async (t) => {
  const { client, socket, owner } = await pair(t);
  t.strictSame(socket.remote(), { address: '127.0.0.1', port: client.localPort });
  t.strictSame(socket.local(), { address: '127.0.0.1', port: client.remotePort });
  client.write('hello');
  await owner.until(() => owner.text === 'hello');
  socket.pause();
  client.write(' again');
  socket.resume();
  await owner.until(() => owner.text === 'hello again');
  t.ok(socket.write('one\xff '));
  t.ok(socket.write(Buffer.from('two ')));
  t.ok(socket.writeJoined('three ', Buffer.from('four'), ' five'));
  t.equal(socket.offer(Buffer.from(' six')), 4);
  t.ok(socket.empty);
  socket.end();
  t.equal(await readAll(client), 'one\xff two three four five six');
  await owner.until(() => owner.events.includes('ended'));
  t.strictSame(owner.events, ['ended']);
  socket.close();
  await owner.until(() => owner.events.includes('closed'));
});

t.test('what the kernel does not take at once follows in order, and is told of', needsRing, async (t) => {
  const { client, socket, owner } = await pair(t);
  let sent = fill(socket);
  t.ok(socket.pending);
  t.equal(socket.offer(Buffer.from('x')), 0, 'nothing goes past what waits');
  t.notOk(socket.write('behind'));
  sent += 'behind';
  const all = readAll(client);
  await owner.until(() => owner.events.includes('flushed'));
  t.ok(socket.empty);
  socket.write('last');
  socket.closeSoon();
  t.equal((await all) === `${sent}last`, true);
  await owner.until(() => owner.events.includes('closed'));
  t.strictSame(owner.events, ['flushed', 'closed']);
});

t.test('a connection that is closed soon sends what it has first', needsRing, async (t) => {
  const { client, socket, owner } = await pair(t);
  const sent = fill(socket);
  socket.closeSoon();
  t.equal((await readAll(client)) === sent, true);
  await owner.until(() => owner.events.includes('closed'));
  t.equal(engine.slots.inUse, 0);
});

t.test('a connection that is paused brings nothing, and little is read ahead', needsRing, async (t) => {
  const { client, socket, owner } = await pair(t);
  const sizes: number[] = [];
  const received = owner.received.bind(owner);
  owner.received = (bytes, length) => {
    sizes.push(length);
    socket.pause();
    return received(bytes, length);
  };
  const total = 200_000;
  client.end(Buffer.alloc(total, 'x'));
  while (owner.text.length < total) {
    const before = owner.text.length;
    socket.resume();
    await owner.until(() => owner.text.length > before);
  }
  t.ok(Math.max(...sizes) <= 64 * 1024);
  t.notOk(owner.events.includes('ended'));
  socket.resume();
  await owner.until(() => owner.events.includes('ended'));
  t.equal(owner.text.length, total);
});

t.test('a client that resets the connection', needsRing, async (t) => {
  const { client, owner } = await pair(t);
  client.resetAndDestroy();
  await owner.until(() => owner.events.includes('closed'));
  t.strictSame(owner.events, ['closed']);
});

t.test('a write that finds the connection broken asks for no more before its end is told', needsRing, async (t) => {
  const file = openSync(process.execPath, 'r');
  t.teardown(() => closeSync(file));
  const much = Buffer.alloc(100_000);
  for (const [name, write] of [
    ['of a file', (socket: UringClientSocket) => socket.offerFile(file, 0, 100_000)],
    ['of a file behind a head', (socket: UringClientSocket) => socket.write('head') && socket.offerFile(file, 0, 100_000)],
    ['offered', (socket: UringClientSocket) => socket.offer(much)],
    ['large', (socket: UringClientSocket) => Number(socket.write(much))],
  ] as const) {
    const { client, socket, owner } = await pair(t);
    client.resetAndDestroy();
    t.equal(write(socket), 0, name);
    t.equal(socket.write('more'), false, name);
    await owner.until(() => owner.events.includes('closed'));
    t.notOk(owner.events.includes('flushed'), name);
  }
  t.equal(engine.slots.inUse, 0);
});

t.test('a connection that is reset', needsRing, async (t) => {
  const { client, socket, owner } = await pair(t);
  const errors: Error[] = [];
  client.on('error', (error) => errors.push(error));
  client.resume();
  const gone = new Promise((done) => client.once('close', done));
  socket.reset();
  await gone;
  t.match(errors, [{ code: 'ECONNRESET' }]);
  await owner.until(() => owner.events.includes('closed'));
});

t.test('the end comes after what the bytes before it bring about', needsRing, async (t) => {
  const { client, owner } = await pair(t);
  owner.received = (bytes, length) => {
    setImmediate(() => owner.note('after'));
    owner.text += bytes.toString('latin1', 0, length);
    return true;
  };
  client.end('bytes and the end');
  await owner.until(() => owner.events.includes('ended'));
  t.strictSame(owner.events, ['after', 'ended']);
});

t.test('also after bytes that were held, with the end behind them', needsRing, async (t) => {
  const { client, socket, owner } = await pair(t);
  owner.received = (bytes, length) => {
    owner.text += bytes.toString('latin1', 0, length);
    owner.note('piece');
    setImmediate(() => owner.note('after'));
    if (length < owner.text.length) {
      return true;
    }
    // The rest and the end come in the same tick, or wait in the kernel.
    socket.pause();
    setTimeout(() => socket.resume(), 20);
    return false;
  };
  client.end(Buffer.alloc(6000, 'x'));
  await owner.until(() => owner.events.includes('ended'));
  t.equal(owner.text.length, 6000);
  t.equal(owner.events.at(-1), 'ended');
  const count = (name: string) => owner.events.filter((event) => event === name).length;
  t.equal(count('after'), count('piece'));
});

/** Notes what a connection to a backend is told of. */
class NotingBackend extends NotingOwner {
  socketConnected = (): void => this.note('connected');
  socketReady = (): void => this.note('ready');
  socketReceived = (bytes: Buffer, length: number): void => void this.received(bytes, length);
  socketEnded = (): void => this.note('ended');
  socketFailed = (error: Error): void => this.note(error.message);
  socketDrained = (): void => this.note('drained');
}

t.test('a connection to a backend', needsRing, async (t) => {
  const server = createServer((socket) => socket.on('data', (bytes) => void socket.end(bytes)));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const owner = new NotingBackend();
  const socket = UringBackendSocket.connect(engine, kernelAddress('127.0.0.1', port)!, true, owner);
  t.strictSame(owner.events, [], 'nothing is told before the call returns');
  await owner.until(() => owner.events.includes('connected'));
  t.ok(socket.write('back again'));
  t.ok(socket.flushed);
  socket.awaitFlush();
  await owner.until(() => owner.events.includes('ended'));
  t.equal(owner.text, 'back again');
  t.strictSame(owner.events, ['connected', 'drained', 'ended']);
  socket.close();
});

t.test('connections that cannot be made', needsRing, async (t) => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  const refused = new NotingBackend();
  UringBackendSocket.connect(engine, kernelAddress('127.0.0.1', port)!, false, refused);
  await refused.until(() => refused.events.length > 0);
  t.strictSame(refused.events, ['connect ECONNREFUSED']);
  const missing = new NotingBackend();
  UringBackendSocket.connect(engine, kernelAddress(`${t.testdirName}.sock`, 0)!, false, missing);
  t.strictSame(missing.events, []);
  await missing.until(() => missing.events.length > 0);
  t.strictSame(missing.events, ['connect ENOENT']);
});

// The kernel wakes one of them, and no other one when that gives up.
t.test('a client that comes as one of two stops accepting', needsRing, async (t) => {
  const { native } = engine;
  const accepted: UringClientSocket[] = [];
  const listening = ListenSocket.bind({ ...plainSpec('ipv4', '127.0.0.1'), backlog: 511 });
  const [first, second] = [0, 1].map(() => new UringListener(engine, false, (socket) => accepted.push(socket)));
  t.teardown(() => {
    second!.close();
    listening.close();
  });
  for (const listener of [first!, second!]) {
    t.equal(listener.open(listening.fd, 511), 0);
    engine.flush();
  }
  const name: { port?: number } = {};
  listening.handle.getsockname!(name);
  const { bytes } = kernelAddress('127.0.0.1', name.port!)!;
  const client = native.socket(AF_INET, SOCK_STREAM);
  t.equal(native.connect(client, bytes, bytes.length), 0);
  first!.close();
  for (let turns = 0; turns < 100 && accepted.length === 0; turns++) {
    await new Promise(setImmediate);
  }
  t.equal(accepted.length, 1);
  accepted[0]?.close();
  native.close(client);
});

t.teardown(() => process.exit());
