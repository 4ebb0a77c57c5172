import { once } from 'node:events';
import { setImmediate as iteration } from 'node:timers/promises';
import { connect, createSecureContext } from 'node:tls';
import t from 'tap';
import type { Socket, SocketOwner } from '../../../../src/shared/net/socket.js';
import { RecordServerSocket } from '../../../../src/worker/net/openssl/record-server-socket.js';
import { whyNoRecords } from '../../../../src/worker/net/openssl/records.js';
import { certs, pem } from '../../../support/certs.js';
import { Dice, faultyEngine } from '../../../support/faulty-ring.js';
import { listenOnRing, needsRing } from '../../../support/ring.js';

const needed = { skip: needsRing.skip || (whyNoRecords() !== '' && 'OpenSSL cannot be asked') };

/** Does nothing with what it is told. */
class Idle implements SocketOwner {
  socketReceived(_bytes: Buffer, _length: number): void {}
  socketEnded(): void {}
  socketDrained(): void {}
  socketClosed(): void {}
}

t.test('whoever sees that a write is under way hears of its end', needed, async (t) => {
  const { ring, engine } = faultyEngine(new Dice(1));
  const { cert, key } = certs().ecdsa;
  const context = createSecureContext({ cert: pem(cert), key: pem(key) });
  let flushed = (): void => {};
  const whenFlushed = new Promise<void>((done) => {
    flushed = done;
  });
  const owner = new (class extends Idle {
    override socketDrained(): void {
      flushed();
    }
  })();
  let answer: Promise<string> | undefined;
  const secured = new Promise<RecordServerSocket>((done) => {
    const begin = (plain: Socket): void => {
      let socket: RecordServerSocket | undefined;
      const handshake = { handshakeDone: () => setImmediate(done, socket!), handshakeFailed: () => t.fail('no handshake') };
      plain.start(
        new (class extends Idle {
          override socketReceived(bytes: Buffer, length: number): void {
            socket = new RecordServerSocket(plain, context, handshake);
            socket.receive(Buffer.from(bytes.subarray(0, length)));
          }
        })(),
      );
    };
    const port = listenOnRing(t, engine, begin);
    const client = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    t.teardown(() => client.destroy());
    answer = once(client, 'data').then(String);
  });
  const socket = await secured;
  socket.start(owner);
  // The kernel has no room for what is thought to be sent.
  ring.faults = 1;
  t.ok(socket.write('answer'));
  while (!socket.pending) {
    await iteration();
  }
  ring.faults = 0;
  await whenFlushed;
  t.notOk(socket.pending);
  t.equal(await answer, 'answer');
});

t.teardown(() => process.exit());
