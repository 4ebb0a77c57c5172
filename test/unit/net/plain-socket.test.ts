import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { ListenSocket, takeConnections } from '../../../src/shared/net/listen-socket.js';
import { canBePlain, PlainSocket } from '../../../src/shared/net/plain-socket.js';

/** Both ends of a new connection; what happens on the server's side is noted. The client does not read yet. */
async function pair(t: Test) {
  const spec = {
    key: '127.0.0.1:0',
    family: 'ipv4',
    address: '127.0.0.1',
    port: 0,
    backlog: 8,
    ipv6only: false,
    reuseport: false,
    udp: false,
  } as const;
  const listening = ListenSocket.bind(spec);
  const server = createServer();
  const accepted = new Promise<PlainSocket>((done) => takeConnections(server, (handle) => done(new PlainSocket(handle))));
  listening.attach(server);
  await new Promise<void>((done, fail) => listening.open((error) => (error === undefined ? done() : fail(error))));
  const name: { port?: number } = {};
  listening.handle.getsockname!(name);
  const client = connect(name.port!, '127.0.0.1');
  client.on('error', () => {});
  client.pause();
  const [socket] = await Promise.all([accepted, once(client, 'connect')]);
  t.teardown(() => {
    client.destroy();
    socket.close();
    listening.close();
  });
  return { client, socket, owner: new Owner(socket) };
}

class Owner {
  text = '';
  readonly events: string[] = [];
  #wake = (): void => {};
  constructor(socket: PlainSocket) {
    socket.start(this);
  }
  received(bytes: Buffer, length: number): boolean {
    this.text += bytes.toString('latin1', 0, length);
    this.#wake();
    return true;
  }
  clientEnded = (): void => this.#note('ended');
  flushed = (): void => this.#note('flushed');
  socketClosed = (): void => this.#note('closed');
  #note(event: string): void {
    this.events.push(event);
    this.#wake();
  }
  async until(test: () => boolean): Promise<void> {
    while (!test()) {
      await new Promise<void>((done) => {
        this.#wake = done;
      });
    }
  }
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
function fill(socket: PlainSocket): string {
  const piece = Buffer.alloc(64 * 1024, 'x');
  let sent = '';
  for (let flowing = true; flowing; ) {
    flowing = socket.writeJoined(`${sent.length}:`, piece, '\r\n');
    sent += `${sent.length}:${piece.toString('latin1')}\r\n`;
  }
  return sent;
}

t.ok(canBePlain(), 'this Node lets its handles be used');

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
  t.ok(socket.empty);
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
  t.notOk(socket.empty);
  t.equal(socket.offer(Buffer.from('x')), 0, 'nothing gets past what waits');
  t.notOk(socket.write('after'));
  sent += 'after';
  const all = readAll(client);
  await owner.until(() => owner.events.includes('flushed'));
  t.ok(socket.empty);
  socket.closeSoon();
  t.equal((await all) === sent, true);
  t.strictSame(owner.events.slice(0, 1), ['flushed']);
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

t.test('the connection of a tunnel becomes one of Node, and its bytes still come', async (t) => {
  const { client, socket, owner } = await pair(t);
  let sent = fill(socket);
  const over = socket.handOver();
  over.socket.write('tunnel');
  sent += 'tunnel';
  client.write('from the client');
  await owner.until(() => owner.text === 'from the client');
  over.socket.end();
  const all = readAll(client);
  client.end();
  t.equal((await all) === sent, true);
  await owner.until(() => owner.events.includes('closed'));
});
