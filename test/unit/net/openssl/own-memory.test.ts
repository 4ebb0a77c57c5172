// OpenSSL is called on a stack of koffi's, where V8 may do nothing: it ends the process if it is to collect garbage there. Node's own
// memory for records tells V8 of each piece that it takes.
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { connect, createSecureContext } from 'node:tls';
import t from 'tap';
import type { Socket } from '../../../../src/shared/net/socket.js';
import { RecordServerSocket } from '../../../../src/worker/net/openssl/record-server-socket.js';
import { whyNoRecords } from '../../../../src/worker/net/openssl/records.js';
import { certs, pem } from '../../../support/certs.js';

const needed = { skip: whyNoRecords() !== '' && 'OpenSSL cannot be asked' };

/** More memory than V8 lets come since the last collection: 64 MB. */
const HELD = 80 * 1024 * 1024;
const STEP = 8192;
const ROUNDS = 8;

t.test('V8 is not told of records on the stack that they are made on', needed, async (t) => {
  const { cert, key } = certs().ecdsa;
  const context = createSecureContext({ cert: pem(cert), key: pem(key) });
  let toClient: ((bytes: Buffer) => void) | undefined;
  const send = (bytes: Buffer): boolean => {
    toClient?.(Buffer.from(bytes));
    return true;
  };
  const below = {
    start: () => {},
    write: send,
    writeLent: (_before: string, bytes: Buffer, start: number, end: number) => send(bytes.subarray(start, end)),
    closeSoon: () => {},
    pending: false,
  } as unknown as Socket;
  let ready = (): void => {};
  const secured = new Promise<void>((done) => {
    ready = () => setImmediate(done);
  });
  const server = new RecordServerSocket(below, context, { handshakeDone: () => ready(), handshakeFailed: () => t.fail('no handshake') });
  const wire = new Duplex({
    read() {},
    write(bytes: Buffer, _encoding, done) {
      server.receive(bytes);
      done();
    },
  });
  toClient = (bytes) => wire.push(bytes);
  const client = connect({ socket: wire, rejectUnauthorized: false });
  await Promise.all([once(client, 'secureConnect'), secured]);
  toClient = undefined;

  const answer = Buffer.alloc(48 * 1024, 'answer');
  for (let round = 0; round < ROUNDS; round++) {
    // Somewhere on the way the memory that one answer needs is what makes V8 collect.
    const held: Buffer[] = [];
    while (held.length * STEP < HELD) {
      held.push(Buffer.alloc(STEP));
      server.write(answer);
    }
  }
  t.notOk(server.pending);
  client.destroy();
});
