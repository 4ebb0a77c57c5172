import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { UringEngine } from '../../../../src/shared/net/uring/engine.js';
import type { UringSocket } from '../../../../src/worker/net/uring/uring-socket.js';
import { readAll } from '../../../support/accepted.js';
import { needsRing, pairOnRing, ring } from '../../../support/ring.js';
import { waitFor } from '../../../support/wait.js';

const engine = ring as UringEngine;
type Pair = Awaited<ReturnType<typeof pairOnRing>>;

/** Bytes come on so many connections and one more at a time. Calls `act` for each but the last of them, and resolves with these. */
async function cameTogether(t: Test, count: number, act: (pair: Pair) => void): Promise<Pair[]> {
  const acted: Pair[] = [];
  let came = 0;
  const all: Pair[] = [];
  while (all.length <= count) {
    const pair = await pairOnRing(t, engine);
    pair.owner.socketReceived = () => {
      came++;
      if (engine.ring.hasNext) {
        acted.push(pair);
        act(pair);
      }
      return true;
    };
    all.push(pair);
  }
  for (const { client } of all) {
    client.write('x');
  }
  await waitFor(() => came > count);
  t.equal(acted.length, count);
  return acted;
}

t.test('much behind a head leaves together with that of others, before anybody is told', needsRing, async (t) => {
  const body = Buffer.alloc(60_000, 'b');
  const sockets: UringSocket[] = [];
  const pending: boolean[][] = [];
  const texts: Promise<string>[] = [];
  await cameTogether(t, 2, ({ client, socket, owner }) => {
    sockets.push(socket);
    texts.push(readAll(client));
    owner.socketDrained = () => void pending.push(sockets.map((socket) => socket.pending));
    t.notOk(socket.writeJoined('head ', body, ' after'));
    t.ok(socket.pending);
    t.equal(socket.offer(body), 0, 'nothing goes past it');
    t.notOk(socket.write(' behind'));
    socket.end();
    client.end();
  });
  for (const text of await Promise.all(texts)) {
    t.equal(text === `head ${body} after behind`, true);
  }
  t.strictSame(pending, [
    [false, false],
    [false, false],
  ]);
  t.equal(engine.slots.inUse, 0);
});

t.test('with nothing behind it, it leaves at once', needsRing, async (t) => {
  const { client, socket, owner } = await pairOnRing(t, engine);
  const body = Buffer.alloc(60_000, 'b');
  t.ok(socket.writeJoined('head ', body, ' after'));
  t.ok(socket.flushed);
  socket.closeSoon();
  t.equal((await readAll(client)) === `head ${body} after`, true);
  t.strictSame(owner.events, ['closed']);
});

t.test('of much behind a head, the kernel takes a part', needsRing, async (t) => {
  const body = Buffer.alloc(20_000_000, '0123456789');
  const [pair] = await cameTogether(t, 1, ({ socket }) => t.notOk(socket.writeJoined('head ', body, ' after')));
  const { client, socket, owner } = pair!;
  await sleep(20);
  t.ok(socket.pending);
  t.strictSame(owner.events, []);
  const all = readAll(client);
  await owner.until(() => owner.events.includes('drained'));
  socket.closeSoon();
  t.equal((await all) === `head ${body} after`, true);
});

t.test('much behind a head, and thousands of pieces behind that', needsRing, async (t) => {
  let text = `head ${'b'.repeat(60_000)}`;
  const [pair] = await cameTogether(t, 1, ({ socket }) => {
    t.notOk(socket.writeJoined('head ', Buffer.from(text.slice(5)), ''));
    for (let n = 0; n < 5000; n++) {
      const piece = `${n} ${'p'.repeat(1000)}`;
      socket.write(Buffer.from(piece));
      text += piece;
    }
  });
  const { client, socket, owner } = pair!;
  await sleep(20);
  t.ok(socket.pending);
  const all = readAll(client);
  await owner.until(() => owner.events.includes('drained'));
  socket.closeSoon();
  t.equal((await all) === text, true);
});

t.test('much behind a head on a connection that is closed or broken', needsRing, async (t) => {
  const body = Buffer.alloc(60_000, 'b');
  let text = Promise.resolve('');
  await cameTogether(t, 1, ({ client, socket }) => {
    text = readAll(client);
    t.notOk(socket.writeJoined('head ', body, ''));
    socket.closeSoon();
  });
  t.equal((await text) === `head ${body}`, true);
  await cameTogether(t, 1, ({ client, socket }) => {
    text = readAll(client);
    t.notOk(socket.writeJoined('head ', body, ''));
    socket.close();
    t.ok(socket.writeJoined('head ', body, ''), 'nothing waits for a connection that is no more');
  });
  t.equal(await text, '');
  const [broken] = await cameTogether(t, 1, ({ client, socket }) => {
    client.resetAndDestroy();
    t.notOk(socket.writeJoined('head ', body, ''));
  });
  await broken!.owner.until(() => broken!.owner.events.includes('closed'));
  t.strictSame(broken!.owner.events, ['closed']);
  t.equal(engine.slots.inUse, 0);
});

t.teardown(() => process.exit());
