import t from 'tap';
import type { QuicStreamHandler } from '../../../../src/worker/net/quic/contract.js';
import { ControlQueue } from '../../../../src/worker/net/quic/control-queue.js';
import type { Stream } from '../../../../src/worker/net/quic/stream.js';
import { StreamTable } from '../../../../src/worker/net/quic/stream-table.js';
import { readParameters } from '../../../../src/worker/net/quic/transport-parameters.js';
import { parameter } from '../../../support/quic-client.js';

const MIB = 1024 * 1024;
const STREAMS = 128;
const WINDOW = 64 * 1024;

const handler: QuicStreamHandler = {
  received() {},
  wasReset() {},
  refused() {},
  finished() {},
  drained() {},
  closed() {},
};

/** Streams of a client that lets everything be sent, and has a congestion window of 16 MB. */
function streams(): Stream[] {
  const limits = { bidi: STREAMS, uni: 3, window: WINDOW, connectionWindow: MIB };
  const owner = { touch() {}, window: 16 * MIB, handler: { opened: () => handler } as never };
  const table = new StreamTable(owner, limits, new ControlQueue());
  table.allow(readParameters(Buffer.concat([parameter(0x04, 2 ** 40), parameter(0x05, 2 ** 40), parameter(0x0f, Buffer.alloc(4))])));
  return Array.from({ length: STREAMS }, (_, i) => table.find(i * 4, true)!);
}

/** Writes for as long as there is room. Returns how many bytes that were. */
function fill(stream: Stream): number {
  let written = 0;
  for (let { room } = stream; room > 0; { room } = stream) {
    const size = Math.min(room, WINDOW);
    stream.write(Buffer.alloc(size), false);
    written += size;
  }
  return written;
}

t.test('what a client does not take is bounded for all of its streams together', async (t) => {
  const all = streams();
  const kept = all.map(fill);
  t.equal(kept[0], 2 * MIB, 'a stream alone');
  t.equal(kept.at(-1), WINDOW, 'one beside many has what it has in any case');
  const sum = kept.reduce((total, bytes) => total + bytes, 0);
  t.ok(sum <= 8 * MIB + STREAMS * WINDOW, `${sum} bytes`);
});

t.test('what was acknowledged, or given up, makes room for others', async (t) => {
  const [first, second, third, ...others] = streams() as [Stream, Stream, Stream, ...Stream[]];
  for (const stream of [first, second, third, others[0]!]) {
    fill(stream);
  }
  const last = others.at(-1)!;
  t.equal(fill(last), WINDOW);
  first.acked(0, MIB, false);
  t.ok(last.room > MIB / 2, 'by an acknowledgement');
  fill(last);
  t.ok(last.room <= 0);
  second.reset(0);
  t.ok(others[1]!.room >= MIB, 'by a reset');
});
