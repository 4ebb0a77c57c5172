import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { PEER, peerKind } from '../../../src/shared/zone/meter-kinds.js';
import type { ZonePlan } from '../../../src/shared/zone/plan.js';
import { SqliteZoneStore } from '../../../src/shared/zone/store.js';
import { ZoneSet } from '../../../src/shared/zone/zone-set.js';
import { waitFor } from '../../support/wait.js';

const log = { level: 8 as const, log: () => {} };
const folder = t.testdir({ zones: {} });

class Source {
  accepted = 0;
  handled = 0;
  requests = 0;
  active = 0;
  reading = 0;
  writing = 0;
  waiting = 0;
  statusClasses = [0, 0, 0, 0, 0, 0];
  changed = (): void => {};

  /** A connection comes, sends a request and waits for the next. */
  serve(status: number): void {
    this.accepted++;
    this.handled++;
    this.requests++;
    this.active++;
    this.waiting++;
    this.statusClasses[Math.floor(status / 100)]!++;
    this.changed();
  }
}

/** Stores of some workers over the zones of one service. All live in this process, with numbers of their own. */
function service(t: { teardown(f: () => void): void }, numbers: readonly number[]) {
  const set = new ZoneSet(`${folder}/zones`, undefined, log);
  const plan = set.prepare([]) as ZonePlan;
  set.commit(plan);
  const stores: SqliteZoneStore[] = [];
  const workers = numbers.map((number) => {
    const store = new SqliteZoneStore(plan, [], number, log);
    stores.push(store);
    const source = new Source();
    store.counters.attach(source);
    return { store, counters: store.counters, source };
  });
  t.teardown(() => {
    for (const store of stores) {
      store.close();
    }
    set.close();
  });
  return { set, plan, workers };
}

t.test('a reader never misses its own numbers', async (t) => {
  const { workers } = service(t, [11]);
  const { source, counters } = workers[0]!;
  for (let i = 1; i <= 100; i++) {
    source.serve(200);
    t.equal(counters.totals().requests, i);
  }
  t.match(counters.totals(), { accepts: 100, handled: 100, active: 100, waiting: 100, reading: 0, writing: 0, c2xx: 100 });
});

t.test('after settling, what other workers did before is in', async (t) => {
  const { workers } = service(t, [11, 12, 13]);
  for (const { source } of workers) {
    for (let i = 0; i < 5; i++) {
      source.serve(404);
    }
  }
  await new Promise<void>((resolve) => workers[0]!.counters.settle(3, resolve));
  t.match(workers[0]!.counters.totals(), { accepts: 15, requests: 15, active: 15, c4xx: 15 });
  t.same(
    workers[0]!.counters.perWorker().map(({ worker, requests }) => [worker, requests]),
    [
      [11, 5],
      [12, 5],
      [13, 5],
    ],
  );
});

t.test('numbers are written soon without a reader', async (t) => {
  const { workers } = service(t, [11, 12]);
  workers[1]!.source.serve(200);
  workers[1]!.source.serve(503);
  await waitFor(() => workers[0]!.counters.totals().requests === 2);
  t.match(workers[0]!.counters.totals(), { c2xx: 1, c5xx: 1 });
});

t.test('of a worker that has ended, what it had done stays and what it was doing goes', async (t) => {
  const { set, workers } = service(t, [11, 12, 13]);
  for (const { source } of workers) {
    source.serve(200);
  }
  for (const { counters } of workers) {
    counters.flush();
  }
  workers[1]!.store.close();
  set.releaseWorker(12);
  set.releaseWorker(12);
  t.match(workers[0]!.counters.totals(), { accepts: 3, handled: 3, requests: 3, active: 2, waiting: 2, c2xx: 3 });
  workers[2]!.store.close();
  set.releaseWorker(13);
  t.match(workers[0]!.counters.totals(), { accepts: 3, requests: 3, active: 1 });
  t.same(
    workers[0]!.counters.perWorker().map(({ worker }) => worker),
    [0, 11],
  );
});

t.test('a variable shows the present numbers of its own worker, and those of others a little later', async (t) => {
  const { workers } = service(t, [11, 12]);
  const { source, counters } = workers[0]!;
  for (let i = 1; i <= 20; i++) {
    source.serve(200);
    t.equal(counters.current('active'), i);
  }
  workers[1]!.source.serve(200);
  await waitFor(() => counters.current('active') === 21);
  t.equal(counters.current('writing'), 0);
});

t.test('hundreds of meters are published a share at a time, and none is missed', async (t) => {
  const { workers } = service(t, [11, 12]);
  const [writer, reader] = workers as [(typeof workers)[0], (typeof workers)[0]];
  const meters = Array.from({ length: 300 }, (_, i) => writer.counters.meters.meter(peerKind, `peer${i}`));
  // The reader has the same configuration.
  for (const { kind, name } of meters) {
    reader.counters.meters.meter(kind, name);
  }
  const countAll = (): void => {
    for (const meter of meters) {
      meter.count(PEER.requests);
    }
  };
  const sum = (): number =>
    [...reader.counters.meters.read(peerKind).values()].reduce((total, { values }) => total + values[PEER.requests]!, 0);
  for (let round = 1; round <= 4; round++) {
    countAll();
    await waitFor(() => sum() === 300 * round);
  }
  t.equal(reader.counters.meters.flushes, 5, 'for which a reader waits');
  await new Promise<void>((resolve) => reader.counters.settleMeters(2, resolve));
  t.equal(sum(), 1200, 'none is counted twice');
  countAll();
  writer.counters.flush();
  t.equal(sum(), 1500, 'whoever reads its own has them at once');
});

// Somebody who holds a zone may lose its processor for a moment.
const HOLDER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const db = require('better-sqlite3')(workerData.path);
  db.exec('BEGIN IMMEDIATE');
  parentPort.postMessage('held');
  Atomics.wait(workerData.go, 0, 0);
  Atomics.wait(workerData.go, 1, 0, 10);
  db.exec('COMMIT');
  db.close();
`;

t.test('a number that is published at once is there although another process held the zone', async (t) => {
  const { plan, workers } = service(t, [11, 12]);
  const [{ source, counters }, reader] = workers as [(typeof workers)[0], (typeof workers)[0]];
  counters.publishAtOnce();
  source.serve(200);
  const go = new Int32Array(new SharedArrayBuffer(8));
  const path = `${plan.directory}/${plan.files[':counters']}.0`;
  const holder = new Worker(HOLDER, { eval: true, workerData: { path, go } });
  const ended = once(holder, 'exit');
  await once(holder, 'message');
  Atomics.store(go, 0, 1);
  Atomics.notify(go, 0);
  source.serve(200);
  t.equal(reader.counters.current('active'), 2);
  await ended;
});

t.test('totals outlive a reload', async (t) => {
  const { set, plan, workers } = service(t, [11]);
  workers[0]!.source.serve(200);
  workers[0]!.counters.flush();
  const next = set.prepare([]) as ZonePlan;
  t.same(next, plan);
  set.commit(next);
  set.retire(plan);
  const store = new SqliteZoneStore(next, [], 12, log);
  t.equal(store.counters.totals().requests, 1);
  store.close();
});
