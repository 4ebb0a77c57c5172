import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import t from 'tap';
import { bareSpec, ListenSocket } from '../../../../src/shared/net/listen-socket.js';
import { kernelAddress } from '../../../../src/shared/net/socket-addresses.js';
import type { UringEngine } from '../../../../src/shared/net/uring/engine.js';
import { UringListener } from '../../../../src/worker/net/uring/uring-listener.js';
import type { UringSocket } from '../../../../src/worker/net/uring/uring-socket.js';
import { fill, readAll } from '../../../support/accepted.js';
import { needsRing, pairOnRing, ring } from '../../../support/ring.js';

const engine = ring as UringEngine;
const [AF_INET, SOCK_STREAM] = [2, 1];

t.test('bytes go both ways, in whichever form they are given', needsRing, async (t) => {
  const { client, socket, owner } = await pairOnRing(t, engine);
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
  t.ok(socket.flushed);
  socket.end();
  t.equal(await readAll(client), 'one\xff two three four five six');
  await owner.until(() => owner.events.includes('ended'));
  t.strictSame(owner.events, ['ended']);
  socket.close();
  await owner.until(() => owner.events.includes('closed'));
});

t.test('what the kernel does not take at once follows in order, and is told of', needsRing, async (t) => {
  const { client, socket, owner } = await pairOnRing(t, engine);
  let sent = fill(socket);
  t.ok(socket.pending);
  t.equal(socket.offer(Buffer.from('x')), 0, 'nothing goes past what waits');
  t.notOk(socket.write('behind'));
  sent += 'behind';
  const all = readAll(client);
  await owner.until(() => owner.events.includes('drained'));
  t.ok(socket.flushed);
  socket.write('last');
  socket.closeSoon();
  t.equal((await all) === `${sent}last`, true);
  await owner.until(() => owner.events.includes('closed'));
  t.strictSame(owner.events, ['drained', 'closed']);
});

t.test('a small write of which the kernel takes a part goes on where that ends', needsRing, async (t) => {
  const { client, socket, owner } = await pairOnRing(t, engine);
  let sent = '';
  while (socket.flushed) {
    const text = `${sent.length}:${'x'.repeat(9000)}`;
    socket.write(text);
    sent += text;
    await new Promise((done) => setImmediate(done));
  }
  t.strictSame(owner.events, []);
  const all = readAll(client);
  await owner.until(() => owner.events.includes('drained'));
  t.ok(socket.flushed);
  socket.write('last');
  socket.end();
  t.equal((await all) === `${sent}last`, true);
  t.strictSame(owner.events.slice(0, 1), ['drained']);
});

t.test('a client that leaves while it is sent to', needsRing, async (t) => {
  const { client, socket, owner } = await pairOnRing(t, engine);
  while (socket.flushed) {
    socket.write('x'.repeat(9000));
    await new Promise((done) => setImmediate(done));
  }
  client.destroy();
  await owner.until(() => owner.events.includes('closed'));
  t.equal(engine.slots.inUse, 0);
});

t.test('a connection that is closed soon sends what it has first', needsRing, async (t) => {
  const { client, socket, owner } = await pairOnRing(t, engine);
  const sent = fill(socket);
  socket.closeSoon();
  t.equal((await readAll(client)) === sent, true);
  await owner.until(() => owner.events.includes('closed'));
  t.equal(engine.slots.inUse, 0);
});

t.test('so does one that was only offered a few bytes', needsRing, async (t) => {
  const { client, socket } = await pairOnRing(t, engine);
  const lent = Buffer.from('few bytes');
  t.equal(socket.offer(lent), lent.length);
  t.notOk(socket.pending);
  socket.closeSoon();
  lent.fill('x');
  t.equal(await readAll(client), 'few bytes');
});

t.test('a connection that is paused brings nothing, and little is read ahead', needsRing, async (t) => {
  const { client, socket, owner } = await pairOnRing(t, engine);
  const sizes: number[] = [];
  const received = owner.socketReceived.bind(owner);
  owner.socketReceived = (bytes, length) => {
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
  const { client, owner } = await pairOnRing(t, engine);
  client.resetAndDestroy();
  await owner.until(() => owner.events.includes('closed'));
  t.strictSame(owner.events, ['closed']);
});

t.test('a write that finds the connection broken asks for no more before its end is told', needsRing, async (t) => {
  const file = openSync(process.execPath, 'r');
  t.teardown(() => closeSync(file));
  const much = Buffer.alloc(100_000);
  for (const [name, write] of [
    ['of a file', (socket: UringSocket) => socket.offerFile(file, 0, 100_000)],
    ['of a file behind a head', (socket: UringSocket) => socket.write('head') && socket.offerFile(file, 0, 100_000)],
    ['offered', (socket: UringSocket) => socket.offer(much)],
    ['large', (socket: UringSocket) => Number(socket.write(much))],
  ] as const) {
    const { client, socket, owner } = await pairOnRing(t, engine);
    client.resetAndDestroy();
    t.equal(write(socket), 0, name);
    t.equal(socket.write('more'), false, name);
    await owner.until(() => owner.events.includes('closed'));
    t.notOk(owner.events.includes('drained'), name);
  }
  t.equal(engine.slots.inUse, 0);
});

t.test('a file goes out as the client takes it', needsRing, async (t) => {
  const folder = t.testdir({ file: '0123456789abcdef'.repeat(512 * 1024) });
  const file = openSync(`${folder}/file`, 'r');
  t.teardown(() => closeSync(file));
  const size = 8 * 1024 * 1024;
  const { client, socket, owner } = await pairOnRing(t, engine);
  let at = 0;
  let waits = 0;
  const more = () => {
    while (at < size) {
      const taken = socket.offerFile(file, at, Math.min(512 * 1024, size - at));
      at += taken;
      if (socket.pending) {
        waits++;
        return;
      }
    }
    socket.closeSoon();
  };
  owner.socketDrained = more;
  socket.write('head ');
  more();
  t.ok(waits === 1 && at < size, 'the kernel has no room for all of it');
  t.notOk(socket.flushed);
  t.equal(await readAll(client), `head ${'0123456789abcdef'.repeat(512 * 1024)}`);
});

t.test('a file that waits for a client which leaves', needsRing, async (t) => {
  const file = openSync(process.execPath, 'r');
  t.teardown(() => closeSync(file));
  const before = engine.endpoints;
  for (const leave of [(client: Socket) => client.resetAndDestroy(), (client: Socket) => client.destroy()]) {
    const { client, socket, owner } = await pairOnRing(t, engine);
    let at = 0;
    const more = () => {
      do {
        at += Math.max(0, socket.offerFile(file, at, 512 * 1024));
      } while (!socket.pending);
    };
    owner.socketDrained = more;
    more();
    leave(client);
    await owner.until(() => owner.events.includes('closed'));
  }
  const { socket, owner } = await pairOnRing(t, engine);
  while (socket.offerFile(file, 0, 512 * 1024) > 0) {}
  socket.close();
  await owner.until(() => owner.events.includes('closed'));
  t.notOk(owner.events.includes('drained'));
  // Beside the listeners of the three pairs.
  while (engine.endpoints > before + 3) {
    await new Promise((done) => setImmediate(done));
  }
  t.equal(engine.slots.inUse, 0);
});

t.test('a file that is shorter than it was', needsRing, async (t) => {
  const folder = t.testdir({ file: 'short' });
  const file = openSync(`${folder}/file`, 'r');
  t.teardown(() => closeSync(file));
  const { socket } = await pairOnRing(t, engine);
  t.equal(socket.offerFile(file, 0, 10), 5);
  t.equal(socket.offerFile(file, 5, 5), -1);
});

t.test('a connection that is reset', needsRing, async (t) => {
  const { client, socket, owner } = await pairOnRing(t, engine);
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
  const { client, owner } = await pairOnRing(t, engine);
  owner.socketReceived = (bytes, length) => {
    setImmediate(() => owner.note('after'));
    owner.text += bytes.toString('latin1', 0, length);
    return true;
  };
  client.end('bytes and the end');
  await owner.until(() => owner.events.includes('ended'));
  t.strictSame(owner.events, ['after', 'ended']);
});

t.test('also after bytes that were held, with the end behind them', needsRing, async (t) => {
  const { client, socket, owner } = await pairOnRing(t, engine);
  owner.socketReceived = (bytes, length) => {
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

t.test('an error with what was held ends one request, and what others on the connection wait for comes', needsRing, async (t) => {
  const { client, socket, owner } = await pairOnRing(t, engine);
  const errors: string[] = [];
  const seen = (error: Error): void => {
    errors.push(error.message);
    owner.note('error');
  };
  const others = process.rawListeners('uncaughtException') as ((error: Error) => void)[];
  process.removeAllListeners('uncaughtException').on('uncaughtException', seen);
  t.teardown(() => {
    process.off('uncaughtException', seen);
    for (const other of others) {
      process.on('uncaughtException', other);
    }
  });
  const received = owner.socketReceived.bind(owner);
  owner.socketReceived = (bytes, length) => {
    received(bytes, length);
    if (owner.text.length === 6000) {
      throw new Error('on purpose');
    }
    socket.pause();
    return false;
  };
  // More than a buffer: the rest comes before the kernel knows of the pause, and is held.
  client.write(Buffer.alloc(6000, 'x'));
  await owner.until(() => owner.text.length > 0);
  await new Promise((done) => setTimeout(done, 20));
  socket.write('an answer');
  socket.resume();
  await owner.until(() => errors.length > 0);
  owner.socketReceived = received;
  const answer = new Promise<string>((done) => client.once('data', (bytes) => done(bytes.toString('latin1'))));
  client.resume();
  t.equal(await answer, 'an answer');
  client.write('c');
  await owner.until(() => owner.text.endsWith('c'));
  t.strictSame(errors, ['on purpose']);
});

// The kernel wakes one of them, and no other one when that gives up.
t.test('a client that comes as one of two stops accepting', needsRing, async (t) => {
  const { native } = engine;
  const accepted: UringSocket[] = [];
  const listening = ListenSocket.bind({ ...bareSpec('ipv4', '127.0.0.1'), backlog: 511 });
  const [first, second] = [0, 1].map(() => new UringListener(engine, 2, (socket) => accepted.push(socket)));
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

t.test('whoever works for long takes no turns, and accepts nevertheless', needsRing, async (t) => {
  const { native } = engine;
  const endpoints = engine.endpoints;
  const accepted: UringSocket[] = [];
  const listening = ListenSocket.bind({ ...bareSpec('ipv4', '127.0.0.1'), backlog: 511 });
  t.teardown(() => listening.close());
  const listener = new UringListener(engine, 2, (socket) => accepted.push(socket));
  t.equal(listener.open(listening.fd, 511), 0);
  engine.flush();
  engine.longWork.begins();
  const until = performance.now() + 21;
  while (performance.now() < until) {
    // It works.
  }
  engine.longWork.ends();
  t.ok(engine.longWork.isExpected);
  const name: { port?: number } = {};
  listening.handle.getsockname!(name);
  const { bytes } = kernelAddress('127.0.0.1', name.port!)!;
  for (const count of [1, 2, 3]) {
    const client = native.socket(AF_INET, SOCK_STREAM);
    t.equal(native.connect(client, bytes, bytes.length), 0);
    while (accepted.length < count) {
      await new Promise(setImmediate);
    }
    accepted[count - 1]!.close();
    native.close(client);
  }
  listener.close();
  while (engine.endpoints > endpoints) {
    await new Promise(setImmediate);
  }
  t.equal(engine.endpoints, endpoints, 'nothing is left in the ring');
});

t.teardown(() => process.exit());
