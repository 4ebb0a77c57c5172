import { randomInt } from 'node:crypto';
import t from 'tap';
import { Cubic } from '../../../../src/worker/net/quic/cubic.js';
import { MtuDiscovery } from '../../../../src/worker/net/quic/mtu.js';
import { Pacer } from '../../../../src/worker/net/quic/pacer.js';
import { Ranges } from '../../../../src/worker/net/quic/ranges.js';
import { ReceiveBuffer } from '../../../../src/worker/net/quic/receive-buffer.js';
import { Rtt } from '../../../../src/worker/net/quic/rtt.js';
import { SendBuffer, taken } from '../../../../src/worker/net/quic/send-buffer.js';
import { SentPacket, SentPackets } from '../../../../src/worker/net/quic/sent-packets.js';
import { SpentTokens } from '../../../../src/worker/net/quic/spent-tokens.js';
import { TimerHeap } from '../../../../src/worker/net/quic/timer-heap.js';
import { AddressTokens } from '../../../../src/worker/net/quic/tokens.js';
import { readParameters, writeTransportParameters } from '../../../../src/worker/net/quic/transport-parameters.js';
import { intLength, PacketCursor, putInt } from '../../../../src/worker/net/quic/varint.js';

t.test('integers', async (t) => {
  const into = Buffer.alloc(16);
  const cursor = new PacketCursor();
  for (const value of [0, 63, 64, 16383, 16384, 2 ** 30 - 1, 2 ** 30, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1]) {
    t.equal(putInt(into, 0, value), intLength(value));
    for (let end = 0; end < intLength(value); end++) {
      cursor.set(into, 0, end);
      cursor.int();
      t.equal(cursor.failed, true);
    }
    cursor.set(into, 0, 16);
    t.equal(cursor.int(), value);
    t.equal(cursor.at, intLength(value));
  }
  cursor.set(Buffer.from('c2197c5eff14e88c', 'hex'), 0, 8);
  t.equal(cursor.int(), Number('151288809941952652'));
  cursor.set(Buffer.from('d000000000000001', 'hex'), 0, 8);
  t.ok(cursor.int() > 2 ** 60, 'a bound is not reached by rounding');
  cursor.set(Buffer.from([5]), 0, 1);
  cursor.take(2 ** 60);
  t.equal(cursor.failed, true);
});

t.test('ranges, beside a list of all numbers', async (t) => {
  for (let round = 0; round < 50; round++) {
    const ranges = new Ranges();
    const all = new Set<number>();
    for (let i = 0; i < 60; i++) {
      const from = randomInt(100);
      const to = from + 1 + randomInt(10);
      const fresh = Array.from({ length: to - from }, (_, n) => from + n).some((n) => !all.has(n));
      if (randomInt(4) === 0) {
        ranges.remove(from, to);
        for (let n = from; n < to; n++) {
          all.delete(n);
        }
      } else if (randomInt(8) === 0) {
        ranges.removeBelow(from);
        for (const n of all) {
          if (n < from) {
            all.delete(n);
          }
        }
      } else {
        t.equal(ranges.add(from, to), fresh);
        for (let n = from; n < to; n++) {
          all.add(n);
        }
      }
      const told = new Set<number>();
      for (let k = 0; k < ranges.list.length; k += 2) {
        t.ok(ranges.list[k]! < ranges.list[k + 1]! && (k === 0 || ranges.list[k - 1]! < ranges.list[k]!));
        for (let n = ranges.list[k]!; n < ranges.list[k + 1]!; n++) {
          told.add(n);
        }
      }
      t.strictSame([...told].sort(), [...all].sort());
      t.equal(ranges.has(from), all.has(from));
    }
  }
});

t.test('what is sent arrives whole, whatever is lost, acknowledged late or twice', async (t) => {
  for (let round = 0; round < 30; round++) {
    const [send, receive] = [new SendBuffer(), new ReceiveBuffer()];
    const text = Array.from({ length: 3000 }, (_, i) => String.fromCharCode(97 + (i % 26))).join('');
    for (let at = 0; at < text.length; ) {
      const size = 1 + randomInt(300);
      send.write(Buffer.from(text.slice(at, at + size)));
      at += size;
    }
    send.fin = true;
    let came = '';
    let ended = false;
    const flying: { from: number; to: number; fin: boolean }[] = [];
    for (let step = 0; !send.settled; step++) {
      t.ok(step < 5000);
      if (send.pending && randomInt(3) > 0 && send.take(1 + randomInt(200), Number.POSITIVE_INFINITY)) {
        flying.push({ from: taken.from, to: taken.to, fin: taken.withFin });
        continue;
      }
      const [packet] = flying.splice(randomInt(Math.max(1, flying.length)), 1);
      if (packet === undefined) {
        continue;
      }
      const { from, to, fin } = packet;
      if (randomInt(3) === 0) {
        send.lost(from, to, fin);
        continue;
      }
      const bytes = Buffer.alloc(to - from);
      if (to > send.front) {
        send.copy(Math.max(from, send.front), to, bytes, Math.max(0, send.front - from));
        Buffer.from(text).copy(bytes, 0, from, to);
        receive.put(from, bytes);
        for (let ready = receive.ready(); ready !== undefined; ready = receive.ready()) {
          came += ready.toString('latin1');
        }
      }
      ended ||= fin;
      send.acked(from, to, fin);
    }
    t.equal(came, text);
    t.equal(ended, true);
  }
});

t.test('too many gaps are refused, in bounded memory', async (t) => {
  const receive = new ReceiveBuffer();
  let ok = true;
  for (let i = 1; i < 600; i++) {
    ok = receive.put(i * 2, Buffer.from('x')) && ok;
  }
  t.equal(ok, false);
});

t.test('packets by their numbers', async (t) => {
  const sent = new SentPackets();
  const there = new Set<number>();
  let next = 0;
  for (let i = 0; i < 5000; i++) {
    if (randomInt(2) === 0) {
      next += 1 + randomInt(3);
      const packet = new SentPacket();
      packet.number = next;
      sent.add(packet);
      there.add(next);
    } else if (there.size > 0) {
      const all = [...there];
      const gone = all[randomInt(Math.min(4, all.length))]!;
      sent.delete(gone);
      there.delete(gone);
    }
    t.equal(sent.size === there.size && (there.size === 0 || [...there].every((n) => sent.get(n)?.number === n)), true);
  }
});

t.test('transport parameters: what is written is refused from a client, and cut off anywhere', async (t) => {
  const own = writeTransportParameters({
    originalDestination: Buffer.alloc(8, 1),
    initialSource: Buffer.alloc(8, 2),
    retrySource: undefined,
    resetToken: Buffer.alloc(16, 3),
    idleTimeout: 30000,
    maxPayload: 65527,
    maxData: 1 << 20,
    maxStreamData: 65536,
    streamsBidi: 128,
    streamsUni: 3,
    maxAckDelay: 25,
    idLimit: 2,
    version: 1,
  });
  t.throws(() => readParameters(own), /a server's/);
  const client = Buffer.from('0f0401020304010480007530030245c004048010000008024080', 'hex');
  t.match(readParameters(client), { idleTimeout: 30000, maxPayload: 1472, maxData: 1 << 20, streamsBidi: 128, ackDelayExponent: 3 });
  for (let end = 0; end < client.length; end++) {
    try {
      readParameters(client.subarray(0, end));
    } catch (error) {
      t.equal((error as Error).name, 'TransportError');
    }
  }
});

t.test('random bytes are never more than refused', async (t) => {
  const bytes = Buffer.alloc(64);
  for (let i = 0; i < 20_000; i++) {
    for (let at = 0; at < bytes.length; at++) {
      bytes[at] = randomInt(4) === 0 ? randomInt(256) : randomInt(20);
    }
    try {
      readParameters(bytes.subarray(0, randomInt(64)));
    } catch (error) {
      if ((error as Error).name !== 'TransportError') {
        throw error;
      }
    }
  }
  t.pass();
});

t.test('round trips', async (t) => {
  const rtt = new Rtt();
  rtt.sample(100, 0, 1);
  t.strictSame([rtt.smoothed, rtt.variation, rtt.min], [100, 50, 100]);
  rtt.sample(140, 20, 2);
  t.strictSame([rtt.smoothed, rtt.min, rtt.latest], [102.5, 100, 140]);
  t.equal(rtt.lossDelay, 140 * 1.125);
});

t.test('the window: slow start, a loss, and the way back', async (t) => {
  const cubic = new Cubic(1200);
  t.equal(cubic.window, 12000);
  let now = 0;
  const trip = (): void => {
    const packets = Math.floor(cubic.window / 1200);
    for (let i = 0; i < packets; i++) {
      cubic.sent(1200);
    }
    cubic.limitedAt = now;
    now += 50;
    for (let i = 0; i < packets; i++) {
      cubic.acked(1200, now - 50, now, 50);
    }
  };
  trip();
  t.equal(cubic.window, 24000);
  for (let i = 0; i < 4; i++) {
    trip();
  }
  const before = cubic.window;
  cubic.sent(1200);
  cubic.lost(1200);
  cubic.congested(now, now + 1);
  t.equal(Math.round(cubic.window), Math.round(before * 0.7));
  cubic.congested(now, now + 2);
  t.equal(Math.round(cubic.window), Math.round(before * 0.7), 'one answer for one round trip');
  now += 10;
  let last = cubic.window;
  for (let i = 0; i < 200 && cubic.window < before; i++) {
    trip();
    t.ok(cubic.window >= last);
    last = cubic.window;
  }
  t.ok(cubic.window >= before * 0.95);
  cubic.collapsed();
  t.equal(cubic.window, 2400);
});

t.test('a small window grows as that of Reno, and one that was not used not at all', async (t) => {
  const cubic = new Cubic(1200);
  cubic.congested(0, 1);
  const low = cubic.window;
  let now = 1;
  const trip = (): void => {
    const packets = Math.floor(cubic.window / 1200);
    for (let i = 0; i < packets; i++) {
      cubic.sent(1200);
    }
    now += 10;
    for (let i = 0; i < packets; i++) {
      cubic.acked(1200, now - 5, now, 10);
    }
  };
  trip();
  t.equal(cubic.window, low, 'nobody was held back');
  cubic.limitedAt = Number.POSITIVE_INFINITY;
  // Half a datagram each trip up to where it was, then one.
  for (let i = 0; i < 8; i++) {
    trip();
  }
  t.ok(cubic.window > 12000 * 0.98, `${cubic.window}`);
  const before = cubic.window;
  for (let i = 0; i < 4; i++) {
    trip();
  }
  t.ok(cubic.window - before > 3.2 * 1200, `${cubic.window - before}`);
});

t.test('pacing spreads a window over a round trip', async (t) => {
  const pacer = new Pacer();
  let sent = 0;
  for (let now = 0; now < 1000; now++) {
    while (pacer.budget(now, 120_000, 100, false, 1200) > 0) {
      pacer.sent(1200);
      sent += 1200;
    }
  }
  t.ok(sent > 1_400_000 && sent < 1_560_000, `${sent} bytes in ten round trips`);
});

t.test('the length of datagrams is found', async (t) => {
  const mtu = new MtuDiscovery();
  mtu.begin(65527);
  for (let carried = 1460; mtu.wanted !== 0; ) {
    const size = mtu.wanted;
    mtu.sent();
    if (size <= carried) {
      mtu.arrived(size);
    } else {
      mtu.lost();
    }
    carried += 0;
  }
  t.equal(mtu.size, 1452);
});

t.test('tokens: of whom, and from where', async (t) => {
  const tokens = new AddressTokens(Buffer.from('secret'));
  const [one, other, otherPort] = [Buffer.alloc(28), Buffer.alloc(28), Buffer.alloc(28)];
  one.set([2, 0, 1, 2, 127, 0, 0, 1]);
  other.set([2, 0, 1, 2, 127, 0, 0, 2]);
  otherPort.set([2, 0, 1, 3, 127, 0, 0, 1]);
  const retry = tokens.retry(one, Buffer.from('original'));
  t.match(tokens.read(retry, one), { valid: true, originalDestination: Buffer.from('original') });
  t.match(tokens.read(retry, otherPort), { valid: false });
  const later = tokens.later(one);
  t.match(tokens.read(later, otherPort), { valid: true, originalDestination: undefined });
  t.match(tokens.read(later, other), { valid: false });
  tokens.spend(tokens.read(later, one)!.name);
  t.match(tokens.read(later, one), { valid: false }, 'good once');
  t.match(tokens.read(tokens.later(one), one), { valid: true });
  t.equal(new AddressTokens(Buffer.from('another')).read(later, one), undefined);
  for (let at = 0; at < retry.length; at++) {
    const broken = Buffer.from(retry);
    broken[at]! ^= 4;
    t.equal(tokens.read(broken, one), undefined);
    t.equal(tokens.read(retry.subarray(0, at), one), undefined);
  }
});

t.test('tokens that were used: as long as they live, and no more than there is room for', async (t) => {
  const spent = new SpentTokens(1000, 2);
  t.equal(spent.isFresh('a', 5000), true);
  spent.spend('a');
  t.equal(spent.isFresh('a', 5000), false);
  t.equal(spent.isFresh('b', 5999), true);
  t.equal(spent.isFresh('a', 6100), false, 'still known in the next span');
  spent.spend('b');
  spent.spend('c');
  t.equal(spent.isFresh('d', 6500), false, 'there is no room to remember it');
  spent.spend('d');
  t.equal(spent.isFresh('d', 7200), true);
  t.equal(spent.isFresh('c', 7200), false);
  t.equal(spent.isFresh('c', 9300), true);
});

t.test('the heap calls in the order of deadlines, and what is put off later', async (t) => {
  const called: number[] = [];
  const items = Array.from({ length: 50 }, (_, i) => ({ i, deadline: 0, heapAt: -1, heapTime: 0 }));
  await new Promise<void>((resolve) => {
    const heap = new TimerHeap<(typeof items)[number]>(
      (item) => {
        called.push(item.i);
        item.deadline = Number.POSITIVE_INFINITY;
      },
      () => {
        if (called.length === 40) {
          resolve();
        }
      },
    );
    const now = performance.now();
    for (const item of items) {
      item.deadline = now + 20 - (item.i % 7);
      heap.schedule(item, now);
    }
    for (const item of items.slice(0, 5)) {
      heap.remove(item);
    }
    for (const item of items.slice(5, 10)) {
      item.deadline = Number.POSITIVE_INFINITY;
      heap.schedule(item, now);
    }
    // Keeps the process while the heap's own timer does not.
    const keep = setInterval(() => called.length === 40 && clearInterval(keep), 5);
  });
  t.strictSame(
    [...called].sort((a, b) => a - b),
    items.slice(10).map(({ i }) => i),
  );
});
