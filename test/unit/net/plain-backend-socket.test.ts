import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import type { SocketOwner } from '../../../src/shared/net/socket.js';
import { HandleSocket } from '../../../src/worker/net/handle-socket.js';
import { socketPath } from '../../support/socket-path.js';
import { waitFor } from '../../support/wait.js';

/** Notes what happens. */
class Owner implements SocketOwner {
  text = '';
  readonly events: string[] = [];
  onConnected: () => void = () => {};

  socketOpened(): void {
    this.events.push('connected');
    this.onConnected();
  }

  socketSecured(): void {}

  socketReceived(bytes: Buffer, length: number): void {
    this.text += bytes.toString('latin1', 0, length);
  }

  socketEnded(): void {
    this.events.push('ended');
  }

  socketFailed(error: Error): void {
    const { syscall, code } = error as NodeJS.ErrnoException;
    this.events.push(`${syscall} ${code}`);
  }

  socketDrained(): void {
    this.events.push('drained');
  }

  async until(event: string): Promise<void> {
    await waitFor(() => this.events.includes(event));
  }
}

/** Both ends of a new connection. */
async function pair(t: Test, options: { readonly path?: string } = {}) {
  const server = createServer({ allowHalfOpen: true });
  server.listen(options.path === undefined ? { port: 0, host: '127.0.0.1' } : options);
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = options.path === undefined ? (server.address() as AddressInfo) : { port: 0 };
  const owner = new Owner();
  const accepted = once(server, 'connection');
  const socket = HandleSocket.connect({ address: options.path ?? '127.0.0.1', port, keepAlive: true }, owner);
  t.teardown(() => socket.close());
  t.strictSame(owner.events, [], 'nothing is told before it returns');
  const [peer] = (await accepted) as [Socket];
  t.teardown(() => peer.destroy());
  await owner.until('connected');
  let got = '';
  peer.on('data', (bytes: Buffer) => (got += bytes.toString('latin1')));
  peer.on('error', () => {});
  return { owner, socket, peer, port, got: () => got };
}

for (const unix of [false, true]) {
  t.test(`bytes both ways, ${unix ? 'a Unix-domain socket' : 'TCP'}`, async (t) => {
    const { owner, socket, peer, got } = await pair(t, unix ? { path: socketPath(t) } : {});
    t.ok(socket.write('text '));
    t.ok(socket.write(Buffer.from('bytes ')));
    t.ok(socket.writeLent('', Buffer.from('xlentx'), 1, 5, ''));
    t.equal(socket.offer(Buffer.from(' offered')), 8);
    await waitFor(() => got() === 'text bytes lent offered');
    peer.write('answer');
    await waitFor(() => owner.text === 'answer');
    socket.pause();
    peer.end('more');
    await new Promise(setImmediate);
    t.equal(owner.text, 'answer', 'nothing is read while it pauses');
    socket.resume();
    await owner.until('ended');
    t.equal(owner.text, 'answermore');
    socket.write(' half');
    socket.end();
    await once(peer, 'end');
    t.equal(got(), 'text bytes lent offered half', 'an end of the backend leaves this way open');
    t.strictSame(owner.events, ['connected', 'ended']);
  });
}

t.test('what is corked leaves together', async (t) => {
  const { owner, socket, got } = await pair(t);
  socket.cork();
  socket.cork();
  socket.write('a');
  socket.writeLent('', Buffer.from('b'), 0, 1, '');
  t.equal(socket.offer(Buffer.from('c')), 0, 'nothing goes past it');
  socket.uncork();
  socket.write(Buffer.from('c'));
  t.notOk(socket.flushed);
  await new Promise(setImmediate);
  t.equal(got(), '');
  socket.uncork();
  t.ok(socket.flushed);
  await waitFor(() => got() === 'abc');
  socket.cork();
  socket.uncork();
  socket.cork();
  socket.write('d');
  socket.end();
  await waitFor(() => got() === 'abcd');
  t.strictSame(owner.events, ['connected']);
});

t.test('a backend that does not read', async (t) => {
  const { owner, socket, peer, got } = await pair(t);
  peer.pause();
  const piece = Buffer.alloc(64 * 1024, 'x');
  let sent = 0;
  do {
    sent += piece.length;
  } while (socket.write(piece));
  t.ok(socket.pending);
  t.notOk(socket.flushed);
  t.equal(socket.offer(piece), 0);
  socket.awaitFlush();
  peer.resume();
  await owner.until('drained');
  t.ok(socket.flushed);
  await waitFor(() => got().length === sent);
  t.strictSame(owner.events, ['connected', 'drained'], 'told once');
  socket.awaitFlush();
  await waitFor(() => owner.events.length === 3);
  t.equal(owner.events[2], 'drained', 'also where nothing waits');
});

t.test('connections that cannot be made, or break', async (t) => {
  const { owner, socket, peer, port } = await pair(t);
  peer.resetAndDestroy();
  await owner.until('read ECONNRESET');
  t.ok(socket.write('x'), 'writes are swallowed');
  t.strictSame(owner.events, ['connected', 'read ECONNRESET'], 'one failure is told');
  const failure = async (target: Partial<Parameters<typeof HandleSocket.connect>[0]>): Promise<string[]> => {
    const other = new Owner();
    const opened = HandleSocket.connect({ address: '127.0.0.1', port: 1, keepAlive: false, ...target }, other);
    t.teardown(() => opened.close());
    t.strictSame(other.events, []);
    await waitFor(() => other.events.length > 0);
    return other.events;
  };
  t.strictSame(await failure({}), ['connect ECONNREFUSED']);
  t.strictSame(await failure({ address: '/nowhere/socket', port: 0 }), ['connect ENOENT']);
  t.strictSame(await failure({ localAddress: '127.0.0.1', localPort: port }), ['bind EADDRINUSE']);
  t.strictSame(await failure({ localAddress: '192.0.2.1' }), ['bind EADDRNOTAVAIL']);
  const bound = await failure({ localAddress: '127.0.0.9' });
  t.strictSame(bound, ['connect ECONNREFUSED']);
});

t.test('what is closed is told nothing', async (t) => {
  const owner = new Owner();
  const { port } = await pair(t);
  const socket = HandleSocket.connect({ address: '127.0.0.1', port, keepAlive: false }, owner);
  socket.close();
  const refused = new Owner();
  HandleSocket.connect({ address: '127.0.0.1', port: 1, keepAlive: false }, refused).close();
  const other = new Owner();
  const closing = HandleSocket.connect({ address: '127.0.0.1', port, keepAlive: false }, other);
  other.onConnected = () => closing.close();
  await other.until('connected');
  t.ok(closing.write('x'));
  t.equal(closing.offer(Buffer.from('x')), 0);
  closing.end();
  await new Promise(setImmediate);
  t.strictSame([owner.events, refused.events, other.events], [[], [], ['connected']]);
});
