import t from 'tap';
import { whyNoQuic } from '../../../../src/worker/net/openssl/quic-library.js';
import type { ServerConnection } from '../../../../src/worker/net/quic/connection.js';
import { PathMarks } from '../../../../src/worker/net/quic/ecn.js';
import { APPLICATION, Space } from '../../../../src/worker/net/quic/space.js';
import { HqEndpoint } from '../../../support/hq-endpoint.js';
import { frame, QuicClient } from '../../../support/quic-client.js';

/** A path on which so many marked packets have left. */
function after(sent: number): { readonly marks: PathMarks; readonly space: Space } {
  const [marks, space] = [new PathMarks(), new Space(APPLICATION)];
  for (let i = 0; i < sent; i++) {
    space.markedSent++;
    marks.sent();
  }
  return { marks, space };
}

t.test('what is told of marks, and what follows', async (t) => {
  const row = (sent: number, marked: number, counts: readonly number[] | undefined, latest = true): readonly [boolean, boolean] => {
    const { marks, space } = after(sent);
    return [marks.told(space, marked, counts, latest), marks.used];
  };
  t.strictSame(row(0, 0, undefined), [false, true], 'the first packets are marked');
  t.strictSame(row(9, 0, undefined), [false, true]);
  t.strictSame(row(10, 0, undefined), [false, false], 'ten are tried');
  t.strictSame(row(10, 1, [1, 0, 0]), [false, true], 'one that arrives shows that marks do');
  t.strictSame(row(10, 2, [2, 0, 0], false), [false, false], 'what is told late says nothing');
  t.strictSame(row(5, 2, [1, 0, 1]), [true, true], 'congestion');
  t.strictSame(row(5, 2, undefined), [false, false], 'nothing is told');
  t.strictSame(row(5, 2, [1, 0, 0]), [false, false], 'marks were taken off');
  t.strictSame(row(5, 2, [6, 0, 0]), [false, false], 'more than were sent');
  t.strictSame(row(5, 2, [0, 2, 0]), [false, false], 'another mark');
  t.strictSame(row(5, 2, [2, 1, 0]), [false, false]);
});

t.test('counts only grow', async (t) => {
  const { marks, space } = after(5);
  t.equal(marks.told(space, 2, [1, 0, 1], true), true);
  t.equal(marks.told(space, 1, [2, 0, 1], true), false, 'that congestion was told before');
  t.equal(marks.used, true);
  t.equal(marks.told(space, 0, [3, 0, 0], true), false);
  t.equal(marks.used, false, 'it is not taken back');
  t.equal(marks.told(space, 1, [3, 0, 2], true), false, 'what failed is not believed again');
});

const skip = whyNoQuic() !== '' && `no QUIC: ${whyNoQuic()}`;

for (const engine of ['uring', 'libuv'] as const) {
  t.test(`a connection on ${engine} marks what it sends, and answers congestion`, { skip }, async (t) => {
    const server = new HqEndpoint({}, engine);
    t.teardown(() => server.close());
    const sent: boolean[] = [];
    const { socket } = server;
    const send = socket.send.bind(socket);
    socket.send = (peer, local, from, length, segment, marked) => {
      sent.push(marked);
      return send(peer, local, from, length, segment, marked);
    };
    const open = async (marks: boolean): Promise<QuicClient> => {
      const client = await QuicClient.open(server.port);
      client.tellsMarks = marks;
      t.teardown(() => client.close());
      await client.until(() => client.confirmed);
      client.get(0, '/100000');
      await client.until(() => client.streams.get(0)?.end === true);
      return client;
    };

    await open(false);
    t.equal(sent[0], true, 'the first packets are marked');
    t.equal(sent.at(-1), false, 'no more once the client tells nothing of it');

    const client = await open(true);
    t.equal(sent.at(-1), true);
    const { recovery } = server.connections.at(-1) as ServerConnection;
    const before = recovery.cubic.window;
    client.congested = 1;
    client.get(4, '/10000');
    await client.until(() => client.streams.get(4)?.end === true);
    client.send(APPLICATION, frame(1));
    client.get(8, '/1');
    await client.until(() => client.streams.get(8)?.end === true);
    t.ok(recovery.cubic.window < before, `${recovery.cubic.window} of ${before}`);
    t.equal(recovery.lostPackets, 0);
    t.equal(sent.at(-1), true, 'congestion is no failure');
  });
}

// The ring keeps the process.
t.teardown(() => process.exit());
