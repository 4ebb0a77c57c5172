import t from 'tap';
import { ClosedStreams } from '../../../src/worker/http/http2/closed-streams.js';
import { ReceiveWindow, SendWindow } from '../../../src/worker/http/http2-frames/flow-window.js';
import { FloodGuard } from '../../../src/worker/http/multiplexed/flood.js';

t.test('a window to send in grows up to 2^31-1, and may be below zero', async (t) => {
  const window = new SendWindow(100);
  window.left -= 100;
  t.ok(window.grow(-50));
  t.equal(window.left, -50);
  t.ok(window.grow(2 ** 31 - 1));
  t.equal(window.left, 2 ** 31 - 51);
  t.ok(window.grow(50));
  t.notOk(window.grow(1));
  t.equal(window.left, 2 ** 31 - 1, 'what was refused changes nothing');
});

t.test('a window to receive in', async (t) => {
  const window = new ReceiveWindow(100);
  t.notOk(window.take(101));
  t.ok(window.take(100));
  t.notOk(window.take(1));
  t.equal(window.refill(100, 0.5), 0, 'nothing was used');
  t.equal(window.refill(40, 0.5), 60);
  t.equal(window.left, 60);
  t.equal(window.refill(40, 0.5), 0, 'not worth a frame');
  window.size = 1000;
  t.equal(window.refill(0, 1), 940, 'as large as it is now');
});

t.test('streams that were closed', async (t) => {
  const closed = new ClosedStreams();
  closed.addEnded(1);
  closed.addReset(3, 10);
  closed.addReset(5, -1);
  t.strictSame([closed.ended(1), closed.wasReset(1)], [true, false]);
  t.strictSame([closed.ended(3), closed.wasReset(3)], [false, true]);
  t.strictSame([closed.ended(7), closed.wasReset(7)], [false, false]);
  t.ok(closed.took(5, 1000, true), 'nobody knows its length');
  t.ok(closed.took(3, 4, false));
  t.notOk(closed.took(3, 7, false), 'longer than announced');
  t.ok(closed.ended(3));
  closed.addReset(9, 10);
  t.notOk(closed.took(9, 4, true), 'shorter');
  closed.addReset(11, 10);
  t.ok(closed.took(11, 10, true));
  for (let id = 101; id < 101 + 256; id += 2) {
    closed.addEnded(id);
  }
  t.notOk(closed.ended(1), 'the oldest is forgotten');
});

t.test('what bounds a flood', async (t) => {
  const guard = new FloodGuard(10);
  t.test('frames that bring nothing', async (t) => {
    let frames = 0;
    while (guard.idleFrame()) {
      frames++;
    }
    t.equal(frames, 10_000);
    guard.useful(1);
    t.ok(guard.idleFrame());
  });
  t.test('bytes', async (t) => {
    guard.moved(8 * 1024 * 1024);
    t.notOk(guard.wasteful);
    guard.moved(100);
    t.ok(guard.wasteful);
    guard.useful(100);
    t.notOk(guard.wasteful);
  });
  t.test('streams broken off, against those that end well', async (t) => {
    for (let i = 0; i < 100; i++) {
      t.ok(guard.broken());
    }
    t.notOk(guard.broken());
    guard.finished();
    guard.finished();
    t.ok(guard.broken());
    t.notOk(guard.broken());
  });
  t.test('refused streams, priorities, CONTINUATION, idle reads', async (t) => {
    for (let i = 0; i <= 100; i++) {
      t.ok(guard.refuse());
    }
    t.notOk(guard.refuse());
    for (let i = 0; i < 99; i++) {
      t.ok(guard.prioritized());
    }
    t.notOk(guard.prioritized());
    guard.opened(10);
    t.ok(guard.prioritized());
    guard.beginSection();
    for (let i = 0; i < 128; i++) {
      t.ok(guard.continued());
    }
    t.notOk(guard.continued());
    guard.beginSection();
    t.ok(guard.continued());
    for (let i = 0; i <= 20; i++) {
      t.ok(guard.idleRead(2));
    }
    t.notOk(guard.idleRead(2));
  });
});
