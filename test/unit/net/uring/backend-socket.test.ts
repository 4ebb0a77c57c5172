import { createServer } from 'node:net';
import t from 'tap';
import { kernelAddress } from '../../../../src/shared/net/socket-addresses.js';
import type { UringEngine } from '../../../../src/shared/net/uring/engine.js';
import { UringSocket } from '../../../../src/worker/net/uring/uring-socket.js';
import { NotingOwner } from '../../../support/accepted.js';
import { needsRing, ring } from '../../../support/ring.js';
import { socketPath } from '../../../support/socket-path.js';
import { startTcpBackend } from '../../../support/tcp-backend.js';
import { waitFor } from '../../../support/wait.js';

const engine = ring as UringEngine;

/** Notes what a connection to a backend is told of. */
class NotingBackend extends NotingOwner {
  socketOpened = (): void => this.note('connected');
  socketSecured = (): void => this.note('ready');
  socketFailed = (error: Error): void => this.note(error.message);
}

t.test('a connection to a backend', needsRing, async (t) => {
  const server = createServer((socket) => socket.on('data', (bytes) => void socket.end(bytes)));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const owner = new NotingBackend();
  const socket = UringSocket.connect(engine, kernelAddress('127.0.0.1', port)!, { keepAlive: true }, owner);
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

t.test('few bytes that were offered leave though the connection is left at once', needsRing, async (t) => {
  const peer = await startTcpBackend(t, (socket) => socket.on('end', () => socket.end()));
  const owner = new NotingBackend();
  const backend = UringSocket.connect(engine, kernelAddress('127.0.0.1', peer.port)!, { keepAlive: true }, owner);
  await owner.until(() => owner.events.includes('connected'));
  const lent = Buffer.from('to the backend');
  t.equal(backend.offer(lent), lent.length);
  t.notOk(backend.pending);
  backend.leave();
  lent.fill('x');
  await waitFor(() => peer.sockets[0]?.closed);
  t.equal(peer.received[0], 'to the backend');
});

t.test('connections that cannot be made', needsRing, async (t) => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  const refused = new NotingBackend();
  const socket = UringSocket.connect(engine, kernelAddress('127.0.0.1', port)!, { keepAlive: false }, refused);
  await refused.until(() => refused.events.length > 0);
  t.strictSame(refused.events, ['connect ECONNREFUSED']);
  socket.close();
  const missing = new NotingBackend();
  UringSocket.connect(engine, kernelAddress(socketPath(t), 0)!, { keepAlive: false }, missing);
  t.strictSame(missing.events, []);
  await missing.until(() => missing.events.length > 0);
  t.strictSame(missing.events, ['connect ENOENT']);
});

t.teardown(() => process.exit());
