import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import t, { type Test } from 'tap';
import { network } from '../../../../src/worker/net/engine/network.js';
import { whyNoQuic } from '../../../../src/worker/net/openssl/quic-library.js';
import { Forwarder, type ForwarderSockets } from '../../../../src/worker/net/quic/forwarder.js';
import { ID_LENGTH, RoutedIds } from '../../../../src/worker/net/quic/routed-ids.js';
import { waitFor } from '../../../support/wait.js';

const skip = whyNoQuic() !== '' && `no QUIC: ${whyNoQuic()}`;

const sockets: ForwarderSockets = {
  serve: (handle) => network.serveDatagrams(handle),
  connect: (port) => network.connectDatagrams({ address: '127.0.0.1', port }, { keepAlive: false }),
};

/** A process, by what leads to it and what came to it. */
function process(t: Test, key: Buffer): { readonly forwarder: Forwarder; readonly came: Buffer[]; readonly marks: number[] } {
  const [came, marks]: [Buffer[], number[]] = [[], []];
  const forwarder = Forwarder.open(key, sockets, (datagram, peer, local, ecn) => {
    came.push(Buffer.concat([datagram, Buffer.from('|'), peer, Buffer.from('|'), local ?? Buffer.from('none')]));
    marks.push(ecn);
    return true;
  })!;
  t.teardown(() => forwarder.close());
  return { forwarder, came, marks };
}

t.test('datagrams that came to the wrong process', { skip }, async (t) => {
  const key = randomBytes(32);
  const [one, other] = [process(t, key), process(t, key)];
  const peer = Buffer.alloc(28, 1);
  t.equal(one.forwarder.forward(other.forwarder.port, Buffer.from('a datagram'), peer, Buffer.alloc(20, 2), 2), true);
  t.equal(one.forwarder.forward(other.forwarder.port, Buffer.from('another'), peer, undefined, 3), true);
  await waitFor(() => other.came.length === 2);
  t.strictSame(other.marks, [2, 3]);
  t.strictSame(other.came[0], Buffer.concat([Buffer.from('a datagram|'), peer, Buffer.from('|'), Buffer.alloc(20, 2)]));
  t.strictSame(other.came[1], Buffer.concat([Buffer.from('another|'), peer, Buffer.from('|none')]));

  await t.test('what strangers send there is left aside, however long it is', async (t) => {
    const stranger = process(t, randomBytes(32));
    const socket = createSocket('udp4');
    t.teardown(() => socket.close());
    const send = (bytes: Buffer): Promise<unknown> => new Promise((done) => socket.send(bytes, other.forwarder.port, '127.0.0.1', done));
    for (const length of [0, 1, 15, 16, 65, 66, 67, 200, 1500]) {
      await send(randomBytes(length));
    }
    stranger.forwarder.forward(other.forwarder.port, Buffer.from('forged'), peer, undefined, 0);
    one.forwarder.forward(other.forwarder.port, Buffer.from('the last'), peer, undefined, 0);
    await waitFor(() => other.came.length >= 3);
    t.equal(other.came.length, 3);
    t.match(other.came[2]!.toString('latin1'), /^the last/);
  });

  await t.test('a process that has gone is found out', async (t) => {
    const gone = process(t, key);
    const { port } = gone.forwarder;
    gone.forwarder.close();
    await waitFor(() => !one.forwarder.forward(port, Buffer.from('x'), peer, undefined, 0));
    t.equal(one.forwarder.forward(port, Buffer.from('x'), peer, undefined, 0), false);
  });
});

t.test('identifiers name their process, to those that know the key alone', { skip }, async (t) => {
  const key = randomBytes(32);
  const [one, other, stranger] = [
    new RoutedIds(key, 1, 3, 4001),
    new RoutedIds(key, 2, 3, 4002),
    new RoutedIds(randomBytes(32), 0, 3, 4003),
  ];
  for (let i = 0; i < 200; i++) {
    const id = one.make();
    t.equal(id.length, ID_LENGTH);
    t.equal(id[0]! % 3, 1);
    t.equal(one.portOf(id, 0), 0, 'its own');
    t.equal(other.portOf(id, 0), 4001);
    t.equal(stranger.portOf(id, 0), 0);
    const broken = Buffer.from(id);
    broken[i % ID_LENGTH]! ^= 1 << (i % 8);
    t.equal(other.portOf(broken, 0), 0);
  }
  t.equal(other.portOf(randomBytes(ID_LENGTH), 0), 0);
});
