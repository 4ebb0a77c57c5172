import t from 'tap';
import type { Request } from '../../../src/worker/http/request/request.js';
import {
  defaultPeerOptions,
  HEALTHY,
  PEER_FAILED,
  PEER_OK,
  Peer,
  type PeerOptions,
  PeerSet,
  UNHEALTHY,
} from '../../../src/worker/upstream/balancing/peer.js';
import { Rotation } from '../../../src/worker/upstream/balancing/rotation.js';
import { RoundRobinPicker } from '../../../src/worker/upstream/balancing/round-robin.js';

const request = { log: () => undefined } as unknown as Request;

function setOf(options: readonly Partial<PeerOptions>[], rotating: boolean): PeerSet {
  const peers = options.map((own, i) => new Peer(`p${i}`, `p${i}`, '127.0.0.1', i + 1, { ...defaultPeerOptions, ...own }));
  const set = new PeerSet('backend', peers, null);
  if (rotating) {
    set.rotation = new Rotation(set);
  }
  return set;
}

/** Two sets of the same peers, of which one rotates; what is done to both has to give the same. */
class Pair {
  readonly sets: readonly [PeerSet, PeerSet];

  constructor(options: readonly Partial<PeerOptions>[]) {
    this.sets = [setOf(options, true), setOf(options, false)];
  }

  /** One request, whose first `failures` attempts fail; the names of the peers that both sets chose. */
  ask(failures: number, hint?: string): [string, string] {
    return this.sets.map((set) => {
      const picker = new RoundRobinPicker(request, set);
      picker.hint = hint;
      let chosen = '';
      for (let attempt = 0; attempt <= failures; attempt++) {
        const peer = picker.pick();
        chosen += ` ${peer?.name}`;
        if (peer === null) {
          break;
        }
        picker.done(peer, attempt < failures ? PEER_FAILED : PEER_OK, null);
      }
      return chosen;
    }) as [string, string];
  }

  turn(index: number, health: number): void {
    for (const set of this.sets) {
      set.rotation?.settle();
      set.peers[index]!.health = health;
    }
  }

  weights(): [number[], number[]] {
    this.sets[0].rotation!.settle();
    return this.sets.map((set) => set.peers.map((peer) => peer.currentWeight)) as [number[], number[]];
  }
}

const many = (n: number): Partial<PeerOptions>[] => new Array(n).fill({});

t.test('undisturbed peers take turns, and no choice compares them', (t) => {
  const set = setOf(many(5), true);
  const names = Array.from({ length: 12 }, () => {
    const picker = new RoundRobinPicker(request, set);
    const peer = picker.pick()!;
    picker.done(peer, PEER_OK, null);
    return peer.name;
  });
  t.strictSame(names, ['p0', 'p1', 'p2', 'p3', 'p4', 'p0', 'p1', 'p2', 'p3', 'p4', 'p0', 'p1']);
  t.strictSame(
    set.peers.map(({ currentWeight }) => currentWeight),
    [-4, 1, 1, 1, 1],
    'the weights stand still after the first',
  );
  set.rotation!.settle();
  t.strictSame(
    set.peers.map(({ currentWeight }) => currentWeight),
    [-3, -3, 2, 2, 2],
  );
  t.end();
});

t.test('the same choices as by comparison, whatever happens', (t) => {
  const { now } = Date;
  let clock = 1_000_000_000_000;
  Date.now = () => clock;
  t.teardown(() => {
    Date.now = now;
  });
  let seed = 1;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (seed >> 8) % below;
  };
  let rotated = 0;
  let compared = 0;
  for (let trial = 0; trial < 40; trial++) {
    const n = 2 + random(9);
    const options = many(n).map((_, i) => ({
      maxFails: random(3),
      slowStart: trial % 7 === 6 ? 5000 : 0,
      down: trial % 5 === 4 && i === 1 ? 1 : 0,
      weight: trial % 11 === 10 ? 1 + random(3) : 1,
    }));
    const pair = new Pair(options);
    let wrong = '';
    for (let step = 0; step < 600 && wrong === ''; step++) {
      const kind = random(200);
      if (kind === 0) {
        pair.turn(random(n), UNHEALTHY);
      } else if (kind < 3) {
        for (let i = 0; i < n; i++) {
          pair.turn(i, HEALTHY);
        }
      } else if (kind === 3) {
        clock += 3000;
      } else if (kind === 4) {
        clock += 30_000;
      }
      const hint = kind === 5 ? pair.sets[0].peers[random(n)]!.sid : undefined;
      const weights = (): string => pair.sets[0].peers.map(({ currentWeight }) => currentWeight).join();
      const before = weights();
      const [ours, nginx] = pair.ask(kind === 6 ? 1 : kind === 7 ? 2 : 0, hint);
      if (ours !== nginx) {
        wrong = `trial ${trial}, step ${step}: ${ours} in place of ${nginx}`;
      }
      if (weights() === before) {
        rotated++;
      } else {
        compared++;
      }
    }
    t.equal(wrong, '');
    t.strictSame(...pair.weights());
  }
  t.ok(rotated > 5000 && compared > 5000, `${rotated} choices by rotation, ${compared} by comparison`);
  t.end();
});

t.test('peers that are replaced take their places', (t) => {
  const pair = new Pair(many(4));
  for (let i = 0; i < 6; i++) {
    t.equal(...pair.ask(0));
  }
  for (const set of pair.sets) {
    set.replace([...set.peers.slice(1), new Peer('new', 'new', '127.0.0.1', 9, defaultPeerOptions)]);
  }
  for (let i = 0; i < 20; i++) {
    t.equal(...pair.ask(0));
  }
  t.strictSame(...pair.weights());
  t.end();
});
