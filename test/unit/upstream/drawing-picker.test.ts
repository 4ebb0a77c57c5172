import t from 'tap';
import type { Request } from '../../../src/worker/http/request/request.js';
import { DrawingPicker } from '../../../src/worker/upstream/balancing/drawing-picker.js';
import { defaultPeerOptions, Peer, PeerSet } from '../../../src/worker/upstream/balancing/peer.js';

const request = { log: () => undefined } as unknown as Request;

const setOf = (count: number): PeerSet =>
  new PeerSet(
    'backend',
    Array.from({ length: count }, (_, i) => new Peer(`p${i}`, `p${i}`, '127.0.0.1', i + 1, defaultPeerOptions)),
    null,
  );

/** Draws the last peer from the `succeeds`th draw on. */
class Drawer extends DrawingPicker {
  draws = 0;
  succeeds = 1;

  override draw(): Peer | null {
    return ++this.draws < this.succeeds ? null : this.set.peers.at(-1)!;
  }
}

t.test('peers are drawn until one can be asked', async (t) => {
  const picker = new Drawer(request, setOf(3));
  picker.succeeds = 20;
  t.equal(picker.choose()?.name, 'p2');
  t.equal(picker.draws, 20);
  t.ok(picker.wasTried(2), 'it is marked as asked');
});

t.test('after 21 draws round robin takes over, for good', async (t) => {
  const picker = new Drawer(request, setOf(3));
  picker.succeeds = 22;
  t.equal(picker.choose()?.name, 'p0');
  t.equal(picker.draws, 21);
  picker.choose();
  t.equal(picker.draws, 21);
});

t.test('who draws no more, and who has too few peers, never draws', async (t) => {
  const resigned = new Drawer(request, setOf(3));
  resigned.drawNoMore();
  t.equal(resigned.choose()?.name, 'p0');
  const alone = new Drawer(request, setOf(1));
  t.equal(alone.choose()?.name, 'p0');
  t.equal(resigned.draws + alone.draws, 0);
  alone.least = 1;
  alone.forgetTried();
  t.equal(alone.choose()?.name, 'p0');
  t.equal(alone.draws, 1);
});
