import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { promisify } from 'node:util';
import t from 'tap';
import type { UringEngine } from '../../../../src/shared/net/uring/engine.js';
import { acceptOnRing, needsRing, ring } from '../../../support/ring.js';

const engine = ring as UringEngine;

t.test('what is not the ring’s goes on while the event loop waits in it', needsRing, async (t) => {
  await new Promise((done) => setTimeout(done, 20));
  t.pass('timers');
  await new Promise((done) => setTimeout(() => setTimeout(done, 1), 1));
  t.pass('timers that timers start');
  t.ok((await readFile(import.meta.filename ?? new URL(import.meta.url))).length > 0, 'threads');
  t.equal((await promisify(execFile)('echo', ['out'])).stdout, 'out\n', 'processes');
  const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as { port: number }).port, '127.0.0.1');
  client.write('there and back');
  const [bytes] = (await once(client, 'data')) as [Buffer];
  t.equal(bytes.toString(), 'there and back', 'sockets of libuv’s');
  client.destroy();
  server.close();
});

t.test('the event loop sleeps while nothing happens', needsRing, async (t) => {
  // Behind the start V8 marks its heap in steps, each of which is a millisecond's timer. That ends.
  const counts: number[] = [];
  do {
    const before = engine.ticks;
    await new Promise((done) => setTimeout(done, 300));
    counts.push(engine.ticks - before);
  } while (counts.at(-1)! >= 100 && counts.length < 20);
  t.ok(counts.at(-1)! < 100, `${counts.join()} ticks`);
});

t.test('what a connection on the ring starts is not forgotten', needsRing, async (t) => {
  const { client, socket } = await acceptOnRing(t, engine);
  const events: string[] = [];
  const all = new Promise<void>((done) => {
    const note = (event: string): void => void (events.push(event) === 6 && done());
    socket.start({
      socketReceived() {
        process.nextTick(note, 'tick');
        void Promise.resolve().then(() => note('microtask'));
        setImmediate(note, 'immediate');
        setTimeout(note, 30, 'timer');
        void readFile('/dev/null').then(() => note('thread'));
        connect(1, '127.0.0.1').on('error', () => note('libuv’s connect'));
      },
      socketEnded: () => socket.close(),
      socketDrained() {},
      socketClosed() {},
    });
  });
  client.write('x');
  await all;
  t.strictSame(events.slice(0, 2), ['tick', 'microtask']);
  t.same([...events].sort(), ['tick', 'microtask', 'immediate', 'timer', 'thread', 'libuv’s connect'].sort());
});

t.test('an exception does not end it', needsRing, async (t) => {
  const { client, socket } = await acceptOnRing(t, engine);
  const seen = new Promise<Error>((done) => process.once('uncaughtException', done));
  let times = 0;
  socket.start({
    socketReceived(bytes, length) {
      if (++times === 1) {
        throw new Error('on purpose');
      }
      socket.write(Buffer.from(bytes.subarray(0, length)));
    },
    socketEnded: () => socket.close(),
    socketDrained() {},
    socketClosed() {},
  });
  client.write('first');
  t.match(await seen, { message: 'on purpose' });
  client.write('second');
  const [bytes] = (await once(client, 'data')) as [Buffer];
  t.equal(bytes.toString(), 'second');
});

t.teardown(() => process.exit());
