import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, connect as secure } from 'node:tls';
import t, { type Test } from 'tap';
import type { Socket as AnySocket } from '../../../src/shared/net/socket.js';
import type { UringEngine } from '../../../src/shared/net/uring/engine.js';
import { CipherServerSocket } from '../../../src/worker/net/cipher-server-socket.js';
import type { HandleSocket } from '../../../src/worker/net/handle-socket.js';
import { RecordServerSocket } from '../../../src/worker/net/openssl/record-server-socket.js';
import { whyNoRecords } from '../../../src/worker/net/openssl/records.js';
import type { SecureSocket } from '../../../src/worker/net/secure-socket.js';
import { acceptOne, NotingOwner } from '../../support/accepted.js';
import { certs, pem } from '../../support/certs.js';
import { acceptOnRing, needsRing, ring } from '../../support/ring.js';

const { rsa } = certs();
const context: SecureContext = createSecureContext({ cert: pem(rsa.cert), key: pem(rsa.key) });

/** One of the ways to serve TLS. */
interface Kind {
  /** Opens a connection, and gives its server's side to `take`; resolves with its client. */
  accept(t: Test, take: (plain: AnySocket) => void): Promise<Socket>;
  secure(plain: AnySocket, owner: Owner): SecureSocket;
}

const onLibuv: Kind = {
  accept: acceptOne,
  secure: (plain, owner) => new CipherServerSocket(plain as HandleSocket, context, owner),
};
const recordsOnLibuv: Kind = { ...onLibuv, secure: (plain, owner) => new RecordServerSocket(plain, context, owner) };
const recordsOnRing: Kind = {
  ...recordsOnLibuv,
  async accept(t, take) {
    const { client, socket } = await acceptOnRing(t, ring as UringEngine);
    take(socket);
    return client;
  },
};

/** Both ends of a new connection; what happens on the server's side is noted. The handshake runs when the client begins it. */
async function newPair(t: Test, kind: Kind) {
  const owner = new Owner(kind);
  const raw = await kind.accept(t, (plain) => owner.accept(plain));
  t.teardown(() => owner.socket?.close());
  return { raw, owner };
}

class Owner extends NotingOwner {
  readonly #kind: Kind;
  socket: SecureSocket | undefined;

  constructor(kind: Kind) {
    super();
    this.#kind = kind;
  }

  accept(plain: AnySocket): void {
    plain.start({
      socketReceived: (bytes, length) => {
        this.socket = this.#kind.secure(plain, this);
        this.socket.receive(bytes.subarray(0, length));
        return true;
      },
      socketEnded: () => {},
      socketDrained: () => {},
      socketClosed: () => {},
    });
  }
  handshakeDone(): void {
    this.note('secure');
    this.socket!.start(this);
  }
  handshakeFailed(error: (Error & { readonly code?: string }) | undefined): void {
    this.note(`failed: ${error?.code}`);
    this.socket!.close();
  }
}

/** The same with the handshake behind it. */
async function newSecurePair(t: Test, kind: Kind) {
  const { raw, owner } = await newPair(t, kind);
  const client = secure({ socket: raw, rejectUnauthorized: false });
  client.on('error', () => {});
  client.pause();
  await Promise.all([once(client, 'secureConnect'), owner.until(() => owner.events.includes('secure'))]);
  return { raw, client, owner, socket: owner.socket! };
}

async function readAll(client: Socket): Promise<string> {
  let text = '';
  let ended = false;
  client.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
  });
  client.on('end', () => {
    ended = true;
  });
  client.resume();
  await once(client, 'close');
  return ended ? text : `${text}, cut off`;
}

/** Writes until the kernel takes no more; returns all of it. */
function fill(socket: SecureSocket): string {
  const piece = Buffer.alloc(64 * 1024, 'x');
  let sent = '';
  for (let count = 0; count < 200; count++) {
    socket.writeJoined(`${sent.length}:`, piece, '\r\n');
    sent += `${sent.length}:${piece.toString('latin1')}\r\n`;
  }
  return sent;
}

function cases(t: Test, kind: Kind): void {
  const pair = (t: Test) => newPair(t, kind);
  const securePair = (t: Test) => newSecurePair(t, kind);

  t.test('bytes go both ways, in whichever form they are given', async (t) => {
    const { raw, client, owner, socket } = await securePair(t);
    t.match(socket.remote(), { address: '127.0.0.1', port: raw.localPort });
    t.match(socket.local(), { address: '127.0.0.1', port: raw.remotePort });
    t.equal(socket.cipher?.getProtocol(), 'TLSv1.3');
    client.write('hello');
    await owner.until(() => owner.text === 'hello');
    socket.pause();
    client.write(' again');
    socket.resume();
    await owner.until(() => owner.text === 'hello again');
    socket.write('one\xff ');
    socket.write(Buffer.from('two '));
    socket.writeJoined('three ', Buffer.from('four'), ' five');
    socket.writeJoined(' ', Buffer.alloc(40 * 1024, '.'), '');
    socket.writeJoined('', Buffer.alloc(40 * 1024, '.'), '!');
    socket.end();
    t.ok(socket.write('too late'));
    const dots = '.'.repeat(40 * 1024);
    t.equal((await readAll(client)) === `one\xff two three four five ${dots}${dots}!`, true);
    await owner.until(() => owner.events.includes('ended'));
    socket.closeSoon();
    await owner.until(() => owner.events.includes('closed'));
    t.equal(socket.cipher, null);
  });

  t.test('a piece that is offered is taken as a whole, or not at all', async (t) => {
    const { client, owner, socket } = await securePair(t);
    const piece = Buffer.alloc(socket.offerLimit, 'x');
    let taken = 0;
    while (socket.flushed) {
      const count = socket.offer(piece);
      taken += count;
      if (count === 0) {
        socket.write('.');
        taken++;
      }
      await owner.until(() => true);
    }
    t.equal(socket.offer(piece), 0);
    const all = readAll(client);
    await owner.until(() => owner.events.includes('drained'));
    t.ok(socket.flushed);
    socket.closeSoon();
    t.equal((await all).length, taken);
  });

  t.test('what the kernel does not take at once follows, and is told of', async (t) => {
    const { client, owner, socket } = await securePair(t);
    const sent = fill(socket);
    t.ok(socket.pending);
    const all = readAll(client);
    await owner.until(() => owner.events.includes('drained'));
    t.ok(socket.flushed);
    socket.closeSoon();
    t.equal((await all) === sent, true);
  });

  t.test('a connection that is closed soon sends what it has first, and that this is the end', async (t) => {
    const { client, owner, socket } = await securePair(t);
    const sent = fill(socket);
    socket.closeSoon();
    t.equal((await readAll(client)) === sent, true);
    await owner.until(() => owner.events.includes('closed'));
    t.notOk(owner.events.includes('drained'));
    t.ok(socket.write('too late'), 'and then takes everything and sends nothing');
  });

  t.test('a connection that is closed without a word', async (t) => {
    const { client, socket } = await securePair(t);
    socket.closeSoon();
    t.equal(await readAll(client), '');
  });

  t.test('a reset, and a client that resets', async (t) => {
    const one = await securePair(t);
    one.raw.resume();
    one.socket.reset();
    await one.owner.until(() => one.owner.events.includes('closed'));
    const other = await securePair(t);
    other.client.write('hello');
    await other.owner.until(() => other.owner.text === 'hello');
    // What Node's own method does first would be an end, not a reset.
    (other.raw as unknown as { readonly _handle: { reset(done: () => void): void } })._handle.reset(() => {});
    await other.owner.until(() => other.owner.events.includes('closed'));
    t.strictSame(other.owner.events, ['secure', 'closed']);
  });

  t.test('handshakes that fail', async (t) => {
    const broken = await pair(t);
    broken.raw.write(Buffer.from([22, 3, 1, 0, 4, 1, 0, 0, 0]));
    await broken.owner.until(() => broken.owner.events.length > 0);
    t.match(broken.owner.events[0], /^failed: ERR_SSL_/);
    const gone = await pair(t);
    gone.raw.end(Buffer.from([22, 3, 1, 0, 4]));
    await gone.owner.until(() => gone.owner.events.length > 0);
    t.equal(gone.owner.events[0], 'failed: undefined');
  });

  t.test('a broken record after the handshake', async (t) => {
    const { raw, owner } = await securePair(t);
    raw.write(Buffer.from([23, 3, 3, 0, 4, 1, 2, 3, 4]));
    await owner.until(() => owner.events.includes('closed'));
    t.strictSame(owner.events, ['secure', 'closed']);
  });
}

const needsRecords = { skip: whyNoRecords() !== '' && 'OpenSSL cannot be asked' };

t.test("Node's cipher on libuv's handle", async (t) => cases(t, onLibuv));
t.test('records on a socket of libuv', needsRecords, async (t) => cases(t, recordsOnLibuv));
t.test('records on a socket of the ring', { skip: needsRing.skip || needsRecords.skip }, async (t) => cases(t, recordsOnRing));

t.teardown(() => process.exit());
