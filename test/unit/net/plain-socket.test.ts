import { once } from 'node:events';
import t, { type Test } from 'tap';
import type { HandleSocket } from '../../../src/worker/net/handle-socket.js';
import { acceptOne, fill, NotingOwner, readAll } from '../../support/accepted.js';

/** Both ends of a new connection; what happens on the server's side is noted. The client does not read yet. */
async function pair(t: Test) {
  let accepted: HandleSocket | undefined;
  const client = await acceptOne(t, (socket) => {
    accepted = socket;
  });
  client.pause();
  const socket = accepted!;
  t.teardown(() => socket.close());
  const owner = new NotingOwner();
  socket.start(owner);
  return { client, socket, owner };
}

t.test('bytes go both ways, in whichever form they are given', async (t) => {
  const { client, socket, owner } = await pair(t);
  t.strictSame(socket.remote(), { address: '127.0.0.1', family: 'IPv4', port: client.localPort });
  t.strictSame(socket.local(), { address: '127.0.0.1', family: 'IPv4', port: client.remotePort });
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
  socket.closeSoon();
  await owner.until(() => owner.events.includes('closed'));
  t.strictSame(owner.events, ['ended', 'closed']);
});

t.test('what the kernel does not take at once follows, and is told of', async (t) => {
  const { client, socket, owner } = await pair(t);
  let sent = fill(socket);
  t.notOk(socket.flushed);
  t.equal(socket.offer(Buffer.from('x')), 0, 'nothing gets past what waits');
  t.notOk(socket.write('after'));
  sent += 'after';
  const all = readAll(client);
  await owner.until(() => owner.events.includes('drained'));
  t.ok(socket.flushed);
  socket.closeSoon();
  t.equal((await all) === sent, true);
  t.strictSame(owner.events.slice(0, 1), ['drained']);
});

t.test('a connection that is closed soon sends what it has first', async (t) => {
  const { client, socket, owner } = await pair(t);
  const sent = fill(socket);
  socket.closeSoon();
  t.equal((await readAll(client)) === sent, true);
  await owner.until(() => owner.events.includes('closed'));
  t.ok(socket.write('too late'), 'and then takes everything and sends nothing');
});

t.test('a reset', async (t) => {
  const { client, socket, owner } = await pair(t);
  client.resume();
  const [error] = await Promise.all([once(client, 'error'), socket.reset()]);
  t.match(error, [{ code: 'ECONNRESET' }]);
  await owner.until(() => owner.events.includes('closed'));
});

t.test('a client that resets the connection', async (t) => {
  const { client, owner } = await pair(t);
  client.resetAndDestroy();
  await owner.until(() => owner.events.includes('closed'));
  t.strictSame(owner.events, ['closed']);
});

t.test('little is read at a time until much is expected', async (t) => {
  const { client, socket, owner } = await pair(t);
  const sizes: number[] = [];
  const received = owner.socketReceived.bind(owner);
  owner.socketReceived = (bytes, length) => {
    sizes.push(length);
    return received(bytes, length);
  };
  const total = 100_000;
  client.write(Buffer.alloc(total, 'x'));
  await owner.until(() => owner.text.length === total);
  t.ok(Math.max(...sizes) <= 4096);
  socket.expectMuch(true);
  sizes.length = 0;
  client.write(Buffer.alloc(total, 'y'));
  await owner.until(() => owner.text.length === 2 * total);
  t.ok(Math.max(...sizes) > 4096);
  t.equal(owner.text, 'x'.repeat(total) + 'y'.repeat(total));
});
