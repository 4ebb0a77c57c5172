import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, type SecureVersion, connect as secure, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import type { Socket as AnySocket, SocketOwner } from '../../../../src/shared/net/socket.js';
import type { UringEngine } from '../../../../src/shared/net/uring/engine.js';
import { RecordServerSocket } from '../../../../src/worker/net/openssl/record-server-socket.js';
import { whyNoRecords } from '../../../../src/worker/net/openssl/records.js';
import type { HandshakeOwner } from '../../../../src/worker/net/secure-socket.js';
import { certs, pem } from '../../../support/certs.js';
import { Dice, faultyEngine } from '../../../support/faulty-ring.js';
import { listenOnRing, needsRing, ring } from '../../../support/ring.js';
import { damaging, saidBy, splitting } from '../../../support/splitting.js';
import { trials } from '../../fuzz/mutations.js';

/** SLUICE_FUZZ_SEED is added to it; SLUICE_FUZZ says how many rounds there are. */
const SEED = 20261124 + Number(process.env['SLUICE_FUZZ_SEED'] ?? 0);
const ROUNDS = trials(6);
const AT_ONCE = 12;
const dice = new Dice(SEED);
const needed = { skip: needsRing.skip || (whyNoRecords() !== '' && 'OpenSSL cannot be asked') };

const { rsa, ecdsa } = certs();
const contexts: readonly SecureContext[] = [rsa, ecdsa].map(({ cert, key }) => createSecureContext({ cert: pem(cert), key: pem(key) }));

t.comment(`seed ${SEED}, ${ROUNDS} rounds`);

/** Sends back what comes, in the ways that there are, and stops to read now and then. */
class Echo implements SocketOwner, HandshakeOwner {
  readonly #plain: AnySocket;
  #socket: RecordServerSocket | undefined;
  /** All that came. */
  readonly came: Buffer[] = [];
  #waiting: Buffer[] = [];
  #ended = false;
  closed = false;
  #tellClosed = (): void => {};
  readonly whenClosed = new Promise<void>((done) => {
    this.#tellClosed = done;
  });

  constructor(plain: AnySocket) {
    this.#plain = plain;
    plain.start(this);
  }

  socketReceived(bytes: Buffer, length: number): void {
    const copy = Buffer.from(bytes.subarray(0, length));
    if (this.#socket === undefined) {
      this.#socket = new RecordServerSocket(this.#plain, dice.of(contexts), this);
      this.#socket.receive(copy);
      return;
    }
    this.came.push(copy);
    this.#waiting.push(copy);
    this.#send();
    if (dice.below(6) === 0) {
      this.#socket.pause();
      setImmediate(() => this.#socket!.resume());
    }
  }

  #send(): void {
    const socket = this.#socket as RecordServerSocket;
    while (this.#waiting.length > 0 && !socket.pending) {
      const bytes = this.#waiting.shift()!;
      const half = dice.below(bytes.length + 1);
      switch (dice.below(5)) {
        case 0:
          socket.write(bytes.toString('latin1'));
          break;
        case 1:
          socket.writeJoined(bytes.toString('latin1', 0, half), bytes.subarray(half), '');
          break;
        case 2: {
          const lent = Buffer.from(bytes);
          socket.writeLent('', lent, 0, half, lent.toString('latin1', half));
          lent.fill('!');
          break;
        }
        case 3: {
          const lent = Buffer.from(bytes);
          const taken = socket.offer(lent);
          lent.fill('!');
          if (taken < bytes.length) {
            socket.write(bytes.subarray(taken));
          }
          break;
        }
        default:
          socket.write(bytes);
      }
    }
    if (this.#ended && this.#waiting.length === 0) {
      socket.closeSoon();
    }
  }

  socketDrained(): void {
    this.#send();
  }
  socketEnded(): void {
    this.#ended = true;
    this.#send();
  }
  socketClosed(): void {
    this.closed = true;
    this.#tellClosed();
  }
  handshakeDone(): void {
    if (dice.below(3) === 0) {
      this.#socket!.limitRecords(512 + dice.below(4000));
    }
    this.#socket!.start(this);
  }
  handshakeFailed(): void {
    this.#socket!.close();
    this.#tellClosed();
  }
}

const VERSIONS: readonly SecureVersion[] = ['TLSv1.2', 'TLSv1.3'];

function newClient(raw: Socket, change: (piece: Buffer) => Buffer): TLSSocket {
  const version = dice.of(VERSIONS);
  const client = secure({ socket: splitting(dice, raw, change), minVersion: version, maxVersion: version, rejectUnauthorized: false });
  client.on('error', () => {});
  return client;
}

/** A listener whose connections are echoes; gives each with its client's raw socket. */
function echoes(t: Test, engine = ring as UringEngine): () => Promise<{ raw: Socket; echo: Echo }> {
  const accepted = new Map<number, (echo: Echo) => void>();
  const early = new Map<number, Echo>();
  const port = listenOnRing(t, engine, (socket) => {
    const from = socket.remote().port!;
    const echo = new Echo(socket);
    const take = accepted.get(from);
    if (take === undefined) {
      early.set(from, echo);
    } else {
      take(echo);
    }
  });
  return async () => {
    const raw = connect(port, '127.0.0.1');
    t.teardown(() => raw.destroy());
    await once(raw, 'connect');
    const from = raw.localPort!;
    const echo = early.get(from) ?? (await new Promise<Echo>((done) => accepted.set(from, done)));
    return { raw, echo };
  };
}

t.test('what is said comes back, however it is cut, and though the ring sends in parts', needed, async (t) => {
  const { ring: faulty, engine } = faultyEngine(dice);
  faulty.faults = 7;
  const open = echoes(t, engine);
  for (let round = 0; round < ROUNDS; round++) {
    const same = await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, number) => {
        const { raw, echo } = await open();
        const client = newClient(raw, (piece) => piece);
        const said = Array.from({ length: 1 + dice.below(4) }, () => saidBy(dice, round * AT_ONCE + number));
        const heard: Buffer[] = [];
        client.on('data', (bytes: Buffer) => heard.push(bytes));
        for (const bytes of said) {
          client.write(bytes);
        }
        client.end();
        await once(client, 'end');
        await echo.whenClosed;
        return Buffer.concat(heard).equals(Buffer.concat(said));
      }),
    );
    t.strictSame(same, Array(AT_ONCE).fill(true));
  }
});

t.test('a client that breaks off, or whose records are changed: nothing but what it said arrives', needed, async (t) => {
  const open = echoes(t);
  for (let round = 0; round < ROUNDS; round++) {
    const prefixes = await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, number) => {
        const { raw, echo } = await open();
        const client = newClient(raw, damaging(dice, raw, 2000));
        const said = Buffer.concat([saidBy(dice, number), Buffer.alloc(100_000, `<${number}>`)]);
        client.resume();
        client.write(said);
        client.end();
        await echo.whenClosed;
        const came = Buffer.concat(echo.came);
        return came.equals(said.subarray(0, came.length));
      }),
    );
    t.strictSame(prefixes, Array(AT_ONCE).fill(true));
  }
});

t.teardown(() => process.exit());
