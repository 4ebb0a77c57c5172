import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, type SecureVersion, TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import type { SocketOwner } from '../../../../src/shared/net/socket.js';
import { ipAddress } from '../../../../src/shared/net/socket-addresses.js';
import type { UringEngine } from '../../../../src/shared/net/uring/engine.js';
import { CipherBackendSocket } from '../../../../src/worker/net/cipher-backend-socket.js';
import { RecordBackendSocket } from '../../../../src/worker/net/openssl/record-backend-socket.js';
import { whyNoRecords } from '../../../../src/worker/net/openssl/records.js';
import type { BackendTls, SecureBackendSocket } from '../../../../src/worker/net/secure-backend-socket.js';
import { UringSocket } from '../../../../src/worker/net/uring/uring-socket.js';
import { certs, pem } from '../../../support/certs.js';
import { Dice, faultyEngine } from '../../../support/faulty-ring.js';
import { needsRing, ring } from '../../../support/ring.js';
import { damaging, saidBy, splitting } from '../../../support/splitting.js';
import { startTcpBackend } from '../../../support/tcp-backend.js';
import { trials } from '../../fuzz/mutations.js';

/** SLUICE_FUZZ_SEED is added to it; SLUICE_FUZZ says how many rounds there are. */
const SEED = 20261125 + Number(process.env['SLUICE_FUZZ_SEED'] ?? 0);
const ROUNDS = trials(6);
const AT_ONCE = 12;
const dice = new Dice(SEED);
const needed = { skip: needsRing.skip || (whyNoRecords() !== '' && 'OpenSSL cannot be asked') };

const { rsa, ecdsa } = certs();
const VERSIONS: readonly SecureVersion[] = ['TLSv1.2', 'TLSv1.3'];
const secrets: readonly SecureContext[] = [rsa, ecdsa].map(({ cert, key }) => createSecureContext({ cert: pem(cert), key: pem(key) }));
const contexts = VERSIONS.map((version) => createSecureContext({ ca: [], minVersion: version, maxVersion: version }));
/** What backends say at once. */
const GREETING = 'hello';

t.comment(`seed ${SEED}, ${ROUNDS} rounds`);

/** Begins a connection with TLS to a port. */
type Connect = (port: number, tls: BackendTls, owner: SocketOwner) => SecureBackendSocket;

/** Node's cipher, on libuv's handle. */
const byCipher: Connect = (port, tls, owner) => new CipherBackendSocket({ address: '127.0.0.1', port, keepAlive: false }, tls, owner);

/** Records by OpenSSL, on the ring. */
const byRecords =
  (engine: UringEngine): Connect =>
  (port, tls, owner) =>
    new RecordBackendSocket((below) => UringSocket.connect(engine, ipAddress('127.0.0.1', port)!, { keepAlive: false }, below), tls, owner);

/** Says something to a backend in the ways that there are, and stops to read now and then. */
class Talk implements SocketOwner {
  readonly socket: SecureBackendSocket;
  readonly came: Buffer[] = [];
  readonly #said: Buffer[];
  session: Buffer | undefined;
  resumed: boolean | undefined;
  #length = 0;
  readonly #wanted: number;
  /** In which order the owner was told of what. */
  readonly told: string[] = [];
  #tell = (): void => {};
  /** Everything came back, or the connection ended. */
  readonly over = new Promise<void>((done) => {
    this.#tell = done;
  });

  constructor(connect: Connect, port: number, tls: BackendTls, said: Buffer[]) {
    this.#said = said;
    this.#wanted = GREETING.length + said.reduce((sum, { length }) => sum + length, 0);
    this.socket = connect(port, tls, this);
    this.socket.keepSession((session) => {
      this.session = session;
    });
  }

  socketOpened(): void {
    this.told.push('connected');
  }

  socketSecured(): void {
    this.told.push('ready');
    this.resumed = this.socket.cipher?.isSessionReused();
    this.#send();
  }

  #send(): void {
    const { socket } = this;
    while (this.#said.length > 0 && !socket.pending) {
      const bytes = this.#said.shift()!;
      const half = dice.below(bytes.length + 1);
      switch (dice.below(4)) {
        case 0:
          socket.write(bytes.toString('latin1'));
          break;
        case 1:
          socket.cork();
          socket.write(bytes.toString('latin1', 0, half));
          socket.write(bytes.subarray(half));
          socket.uncork();
          break;
        case 2: {
          const lent = Buffer.from(bytes);
          socket.writeLent('', lent, 0, half, '');
          socket.writeLent('', lent, half, lent.length, '');
          lent.fill('!');
          break;
        }
        default: {
          const lent = Buffer.from(bytes);
          const taken = socket.offer(lent);
          lent.fill('!');
          if (taken < bytes.length) {
            socket.write(bytes.subarray(taken));
          }
        }
      }
    }
    if (this.#said.length > 0) {
      socket.awaitFlush();
    }
  }

  socketReceived(bytes: Buffer, length: number): void {
    this.came.push(Buffer.from(bytes.subarray(0, length)));
    this.#length += length;
    if (this.#length >= this.#wanted) {
      this.#end('whole');
    } else if (dice.below(6) === 0) {
      this.socket.pause();
      setImmediate(() => this.socket.resume());
    }
  }

  socketEnded(): void {
    this.#end('ended');
  }

  socketFailed(): void {
    this.#end('failed');
  }

  socketDrained(): void {
    this.#send();
  }

  #end(how: string): void {
    this.told.push(how);
    this.socket.leave();
    this.#tell();
  }
}

/** A backend that greets and sends back what comes, with one of the secrets; returns its port. */
async function startEcho(t: Test, change: (raw: Socket) => (piece: Buffer) => Buffer, known = secrets): Promise<number> {
  const { port } = await startTcpBackend(t, (raw) => {
    const tls = new TLSSocket(splitting(dice, raw, change(raw)), { isServer: true, secureContext: dice.of(known) });
    tls.on('error', () => raw.destroy());
    tls.write(GREETING);
    tls.pipe(tls);
  });
  return port;
}

const options = (session?: Buffer, version = dice.below(2)): BackendTls => ({
  context: contexts[version]!,
  serverName: dice.below(2) === 0 ? undefined : 'localhost',
  protocols: [],
  session,
  preface: undefined,
});

async function says(t: Test, connect: Connect): Promise<void> {
  const port = await startEcho(t, () => (piece) => piece);
  for (let round = 0; round < ROUNDS; round++) {
    const results = await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, number) => {
        const said = Array.from({ length: 1 + dice.below(4) }, () => saidBy(dice, round * AT_ONCE + number));
        const whole = Buffer.concat([Buffer.from(GREETING), ...said]);
        const talk = new Talk(connect, port, options(), said);
        await talk.over;
        return [Buffer.concat(talk.came).equals(whole), ...talk.told];
      }),
    );
    t.strictSame(results, Array(AT_ONCE).fill([true, 'connected', 'ready', 'whole']));
  }
}

async function resumes(t: Test, connect: Connect): Promise<void> {
  const port = await startEcho(t, () => (piece) => piece, secrets.slice(1));
  for (const [version, name] of VERSIONS.entries()) {
    const first = new Talk(connect, port, options(undefined, version), []);
    await first.over;
    const second = new Talk(connect, port, options(first.session, version), []);
    await second.over;
    t.strictSame([first.resumed, second.resumed], [false, true], name);
  }
}

async function breaks(t: Test, connect: Connect): Promise<void> {
  const port = await startEcho(t, (raw) => damaging(dice, raw, 3000));
  for (let round = 0; round < ROUNDS; round++) {
    const results = await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, number) => {
        const said = [saidBy(dice, number), Buffer.alloc(100_000, `<${number}>`)];
        const whole = Buffer.concat([Buffer.from(GREETING), ...said]);
        const talk = new Talk(connect, port, options(), said);
        await talk.over;
        const came = Buffer.concat(talk.came);
        return came.equals(whole.subarray(0, came.length)) && /^connected (ready )?(whole|ended|failed)$/.test(talk.told.join(' '));
      }),
    );
    t.strictSame(results, Array(AT_ONCE).fill(true));
  }
}

/** What backends do in place of a handshake. */
const STRANGERS: Readonly<Record<string, (raw: Socket) => void>> = {
  'speak something else': (raw) => void raw.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
  'go at once': (raw) => void raw.end(),
  'reset at once': (raw) => void raw.resetAndDestroy(),
  'go after the hello': (raw) => void raw.once('data', () => raw.end()),
  'reset after the hello': (raw) => void raw.once('data', () => raw.resetAndDestroy()),
};

async function refuses(t: Test, connect: Connect): Promise<void> {
  for (const [what, act] of Object.entries(STRANGERS)) {
    const { port } = await startTcpBackend(t, (raw) => {
      raw.on('error', () => {});
      act(raw);
    });
    const talk = new Talk(connect, port, options(), [Buffer.from('said')]);
    await talk.over;
    t.match(talk.told.join(' '), /^(connected )?failed$/, what);
  }
}

const SAID = 'what is said comes back, however it is cut';
const RESUMED = 'a session is gone on with';
const REFUSED = 'backends that do not shake hands';
const BROKEN = 'a backend that breaks off, or whose records are changed: nothing but what it said arrives';

t.test(`${SAID}, and though the ring sends in parts`, needed, async (t) => {
  const { ring: faulty, engine } = faultyEngine(dice);
  faulty.faults = 7;
  await says(t, byRecords(engine));
});
t.test(RESUMED, needed, async (t) => resumes(t, byRecords(ring as UringEngine)));
t.test(REFUSED, needed, async (t) => refuses(t, byRecords(ring as UringEngine)));
t.test(BROKEN, needed, async (t) => breaks(t, byRecords(ring as UringEngine)));

t.test("Node's cipher on libuv's handle", async (t) => {
  t.test(SAID, async (t) => says(t, byCipher));
  t.test(RESUMED, async (t) => resumes(t, byCipher));
  t.test(REFUSED, async (t) => refuses(t, byCipher));
  t.test(BROKEN, async (t) => breaks(t, byCipher));
});

t.teardown(() => process.exit());
