import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { UringEngine } from '../../../../src/shared/net/uring/engine.js';
import { readAll } from '../../../support/accepted.js';
import { needsRing, pairOnRing, ring } from '../../../support/ring.js';

const engine = ring as UringEngine;

t.test('much behind a head leaves together with that of others, before anybody is told', needsRing, async (t) => {
  const [one, two] = [await pairOnRing(t, engine), await pairOnRing(t, engine)];
  const body = Buffer.alloc(60_000, 'b');
  const text = `head ${body} after behind`;
  const all = [one, two].map(({ client }) => readAll(client));
  const othersPending: boolean[] = [];
  one.owner.flushed = () => othersPending.push(two.socket.pending);
  two.owner.flushed = () => othersPending.push(one.socket.pending);
  for (const { socket } of [one, two]) {
    t.notOk(socket.writeJoined('head ', body, ' after'));
    t.ok(socket.pending);
    t.equal(socket.offer(body), 0, 'nothing goes past it');
    t.notOk(socket.write(' behind'));
    socket.end();
  }
  one.client.end();
  two.client.end();
  t.equal((await all[0]) === text, true);
  t.equal((await all[1]) === text, true);
  t.strictSame(othersPending, [false, false]);
  t.equal(engine.slots.inUse, 0);
});

t.test('of much behind a head, the kernel takes a part', needsRing, async (t) => {
  const { client, socket, owner } = await pairOnRing(t, engine);
  const body = Buffer.alloc(20_000_000, '0123456789');
  t.notOk(socket.writeJoined('head ', body, ' after'));
  await sleep(20);
  t.ok(socket.pending);
  t.strictSame(owner.events, []);
  const all = readAll(client);
  await owner.until(() => owner.events.includes('flushed'));
  socket.closeSoon();
  t.equal((await all) === `head ${body} after`, true);
});

t.test('much behind a head, and thousands of pieces behind that', needsRing, async (t) => {
  const { client, socket, owner } = await pairOnRing(t, engine);
  let text = `head ${'b'.repeat(60_000)}`;
  t.notOk(socket.writeJoined('head ', Buffer.from(text.slice(5)), ''));
  for (let n = 0; n < 5000; n++) {
    const piece = `${n} ${'p'.repeat(1000)}`;
    socket.write(Buffer.from(piece));
    text += piece;
  }
  await sleep(20);
  t.ok(socket.pending);
  const all = readAll(client);
  await owner.until(() => owner.events.includes('flushed'));
  socket.closeSoon();
  t.equal((await all) === text, true);
});

t.test('much behind a head on a connection that is closed or broken', needsRing, async (t) => {
  const body = Buffer.alloc(60_000, 'b');
  const soon = await pairOnRing(t, engine);
  t.notOk(soon.socket.writeJoined('head ', body, ''));
  soon.socket.closeSoon();
  t.equal((await readAll(soon.client)) === `head ${body}`, true);
  const now = await pairOnRing(t, engine);
  t.notOk(now.socket.writeJoined('head ', body, ''));
  now.socket.close();
  t.equal(await readAll(now.client), '');
  t.ok(now.socket.writeJoined('head ', body, ''), 'nothing waits for a connection that is no more');
  const broken = await pairOnRing(t, engine);
  broken.client.resetAndDestroy();
  broken.socket.pause();
  await sleep(20);
  t.notOk(broken.socket.writeJoined('head ', body, ''));
  await broken.owner.until(() => broken.owner.events.includes('closed'));
  t.strictSame(broken.owner.events, ['closed']);
  t.equal(engine.slots.inUse, 0);
});

t.teardown(() => process.exit());
