import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t from 'tap';
import type { ZonePlan } from '../../../src/shared/zone/plan.js';
import { ZoneSet } from '../../../src/shared/zone/zone-set.js';
import { waitFor } from '../../support/wait.js';
import { buildWorker, Member } from './crew.js';
import { conn, keyOf, rate } from './zones.js';

const folder = t.testdir({ zones: {} });
const script = buildWorker(folder);
const at = 1_000_000;

/** A running service: the master's zone set and some workers that have opened its zones. */
async function service(t: { teardown(f: () => Promise<void>): void }, workers: number) {
  const messages: string[] = [];
  const set = new ZoneSet(`${folder}/zones`, undefined, { level: 8, log: (_level, message) => void messages.push(message) });
  const plan = set.prepare([rate, conn]) as ZonePlan;
  set.commit(plan);
  const crew: Member[] = [];
  const join = async (): Promise<Member> => {
    const member = new Member(script);
    crew.push(member);
    await member.ask({ op: 'open', plan });
    return member;
  };
  t.teardown(async () => {
    await Promise.all(crew.map((member) => member.kill()));
    set.close();
  });
  for (let i = 0; i < workers; i++) {
    await join();
  }
  const sum = async (ask: (member: Member) => Promise<number>): Promise<number> =>
    (await Promise.all(crew.map(ask))).reduce((a, b) => a + b, 0);
  return { set, plan, crew, join, sum, messages, file: (zone: string) => `${plan.directory}/${plan.files[zone]}.0` };
}

const request =
  (n: number, burst: number, turns = false) =>
  (member: Member) =>
    member.ask({ op: 'request', n, burst, at, turns });
const enter = (n: number, max: number) => (member: Member) => member.ask({ op: 'enter', n, max });

t.test('limits are exact over four processes', async (t) => {
  const { sum } = await service(t, 4);
  t.equal(await sum(request(15, 5)), 6, 'all in one turn of each');
  t.equal(
    await sum((member) => member.ask({ op: 'request', n: 500, burst: 999, at, turns: true, key: 'b' })),
    1000,
    'in many turns that contend',
  );
  t.equal(await sum(enter(10, 7)), 7);
  t.equal(await sum(enter(10, 7)), 0);
  const left = await sum((member) => member.ask({ op: 'leave', n: 2 }));
  t.ok(left > 0);
  t.equal(await sum(enter(10, 7)), left, 'places that were given back are taken again');
});

t.test('what a killed worker held is given back', async (t) => {
  const { set, crew, join } = await service(t, 2);
  t.equal(await enter(3, 3)(crew[0]!), 3);
  t.equal(await enter(1, 3)(crew[1]!), 0);
  const { pid } = crew[0]!;
  await crew[0]!.kill();
  t.equal(await enter(1, 3)(crew[1]!), 0, 'not before the master says so');
  set.releaseWorker(pid);
  const next = await join();
  t.equal(await enter(5, 3)(next), 3);
});

t.test('files are private and go with the service', async (t) => {
  const { plan, set, crew } = await service(t, 1);
  t.equal(statSync(plan.directory!).mode & 0o777, 0o700);
  await request(1, 0)(crew[0]!);
  for (const file of readdirSync(plan.directory!)) {
    t.equal(statSync(`${plan.directory}/${file}`).mode & 0o777, 0o600, file);
  }
  await crew[0]!.kill();
  set.close();
  t.notOk(existsSync(plan.directory!));
});

t.test('what a killed service left behind goes when the next one starts, what is in use stays', async (t) => {
  const { plan } = await service(t, 0);
  const orphaned = await service(t, 1);
  const left = `${folder}/zones/sluice-abcdef`;
  mkdirSync(left, { mode: 0o700 });
  for (const file of ['owner', 'rate-0.0']) {
    writeFileSync(`${left}/${file}`, 'x');
  }
  // The workers of a master that was killed serve on.
  rmSync(`${orphaned.plan.directory}/owner`);
  for (const path of [left, plan.directory!, orphaned.plan.directory!]) {
    utimesSync(path, 1000, 1000);
  }
  await service(t, 0);
  t.notOk(existsSync(left));
  t.ok(existsSync(plan.directory!));
  t.ok(existsSync(orphaned.plan.directory!));
  t.equal(await request(3, 0)(orphaned.crew[0]!), 1);
  t.strictSame(await orphaned.crew[0]!.ask({ op: 'messages' }), []);
});

t.test('a reload keeps a zone, replaces one of another size, and refuses another key', async (t) => {
  const { set, crew, plan } = await service(t, 1);
  t.equal(await request(3, 0)(crew[0]!), 1);
  const kept = set.prepare([{ ...rate, data: { rate: 2000, key: keyOf('$key') } }, conn]) as ZonePlan;
  t.equal(kept.files.rate, plan.files.rate);
  set.commit(kept);
  t.equal(
    set.prepare([{ ...rate, data: { rate: 1000, key: keyOf('$other') } }, conn]),
    'limit_req "rate" uses the "$other" key while previously it used the "$key" key',
  );
  t.equal(
    set.prepare([{ ...conn, data: { key: keyOf('$other') } }]),
    'limit_conn_zone "conn" uses the "$other" key while previously it used the "$key" key',
  );
  t.equal(set.prepare([{ ...rate, bytes: 0 }]), 'zero size shared memory zone "rate"');
  const bigger = set.prepare([{ ...rate, bytes: 2 << 20 }, conn]) as ZonePlan;
  t.not(bigger.files.rate, plan.files.rate);
  t.equal(bigger.files.conn, plan.files.conn);
  set.commit(bigger);
  set.retire(plan);
  const member = new Member(script);
  await member.ask({ op: 'open', plan: bigger });
  t.equal(await request(3, 0)(member), 1, 'the new zone is empty');
  await Promise.all([crew[0]!.kill(), member.kill()]);
  t.ok(
    readdirSync(plan.directory!).some((file) => file.startsWith(`${plan.files.rate}.`)),
    'a plan still has it',
  );
  set.retire(kept);
  const files = readdirSync(plan.directory!);
  t.notOk(files.some((file) => file.startsWith(`${plan.files.rate}.`)));
  t.ok(files.some((file) => file.startsWith(`${bigger.files.rate}.`)));
});

t.test('names may hold anything', async (t) => {
  const { set } = await service(t, 0);
  const names = ['../../x', 'a b', '\xff', '', 'x'.repeat(300)];
  const plan = set.prepare(names.map((name) => ({ ...rate, name }))) as ZonePlan;
  const files = names.map((name) => plan.files[name]!);
  t.equal(new Set(files).size, names.length);
  for (const file of files) {
    t.ok(existsSync(`${plan.directory}/${file}.0`), file);
  }
});

// Each fault hits workers that go on asking, while one more starts. In the end all must share one sound zone again.
const faults: Readonly<Record<string, (file: string) => void>> = {
  'is replaced by noise': (file) => {
    writeFileSync(`${file}.new`, Buffer.alloc(20_000, 0xa5));
    renameSync(`${file}.new`, file);
  },
  'is overwritten with noise': (file) => {
    writeFileSync(file, Buffer.alloc(8192, 0xa5));
    rmSync(`${file}-wal`);
  },
  'is cut to half': (file) => truncateSync(file, statSync(file).size / 2),
  'is removed': (file) => rmSync(file),
  'loses its write-ahead log': (file) => rmSync(`${file}-wal`),
  'loses all its files': (file) => {
    for (const suffix of ['', '-wal', '-shm']) {
      rmSync(file + suffix);
    }
  },
};
t.test('zone files come to harm', { jobs: 3 }, async (t) => {
  for (const [name, fault] of Object.entries(faults)) {
    t.test(`a file that ${name}`, async (t) => {
      const { crew, file, join, plan } = await service(t, 2);
      const ask = (key: string) => (member: Member) => member.ask({ op: 'request', n: 20, burst: 99, at, turns: true, key });
      const all = async (key: string): Promise<number> => (await Promise.all(crew.map(ask(key)))).reduce((a, b) => a + b, 0);
      t.equal(await all('before'), 40);
      fault(file('rate'));
      await join();
      let refused = false;
      await waitFor(
        async () => {
          const key = `k${Math.random()}`;
          const [first, second] = [await all(key), await all(key)];
          refused ||= first < 60 || second < 40;
          return second === 40;
        },
        { what: 'one zone over all three workers' },
      );
      t.notOk(refused, 'every request is decided, and none refused below the limit');
      const files = readdirSync(plan.directory!).filter((candidate) => /^rate-\d+\.\d+$/.test(candidate));
      t.equal(files.length, 1, 'one file is left');
      const db = new Database(`${plan.directory}/${files[0]}`, { readonly: true });
      t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
      db.close();
    });
  }
});

t.test('a worker that opened an older file than the others follows them', async (t) => {
  const { crew, file, join, plan } = await service(t, 2);
  const ask = (key: string) => (member: Member) => member.ask({ op: 'request', n: 20, burst: 29, at, turns: true, key });
  const all = async (key: string): Promise<number> => (await Promise.all(crew.map(ask(key)))).reduce((a, b) => a + b, 0);
  t.equal(await all('before'), 30);
  rmSync(file('rate'));
  // The two go on with the second file, which is put aside while the third process starts: it finds none, and makes the first one.
  const second = file('rate').replace(/0$/, '1');
  const aside = `${plan.directory}/aside`;
  await waitFor(async () => (await all(`k${Math.random()}`)) === 30 && existsSync(second));
  const move = (from: string, to: string): void => {
    for (const suffix of ['', '-wal', '-shm']) {
      renameSync(from + suffix, to + suffix);
    }
  };
  move(second, aside);
  await join();
  t.ok(existsSync(file('rate')));
  move(aside, second);
  await waitFor(async () => (await all(`k${Math.random()}`)) === 30, { what: 'one zone over all three workers' });
  t.notOk(existsSync(file('rate')), 'the older file is gone');
});

t.test('while a stuck process holds the lock, each worker counts for itself', async (t) => {
  const { crew, file, sum } = await service(t, 2);
  t.equal(await sum(enter(1, 10)), 2);
  const stuck = new Database(file('conn'));
  stuck.exec('BEGIN EXCLUSIVE');
  t.equal(await crew[0]!.ask({ op: 'enter', n: 20, max: 10 }), 9, 'after a while with what it holds itself');
  t.equal(await crew[0]!.ask({ op: 'enter', n: 1, max: 11 }), 1, 'then at once');
  t.match(await crew[0]!.ask({ op: 'messages' }), [/^zone "conn": ".*" is locked by another process, this process counts for itself$/]);
  stuck.exec('ROLLBACK');
  stuck.close();
  await waitFor(async () => {
    await crew[0]!.ask({ op: 'enter', n: 1, max: 1 });
    return (await crew[0]!.ask<string[]>({ op: 'messages' })).some((message) => message.endsWith('is shared again'));
  });
  t.equal(await crew[1]!.ask({ op: 'enter', n: 20, max: 13 }), 1, 'what was counted apart is in the zone: 11 and 1 of 13');
});

t.test('a lock that others take in turn is not stuck', async (t) => {
  /** Others take turns; gives the longest turn (milliseconds) and what the worker said meanwhile. */
  const turns = async (): Promise<{ longest: number; messages: string[] }> => {
    const { crew, file } = await service(t, 1);
    const others = new Database(file('conn'));
    const take = others.prepare("INSERT OR REPLACE INTO held VALUES ('other', 0, ?)");
    others.exec('BEGIN IMMEDIATE');
    const entered = crew[0]!.ask({ op: 'enter', n: 1, max: 10 });
    let longest = 0;
    for (let i = 0; i < 60; i++) {
      const began = performance.now();
      await sleep(20);
      take.run(i);
      others.exec('COMMIT; BEGIN IMMEDIATE');
      longest = Math.max(longest, performance.now() - began);
    }
    others.exec('COMMIT');
    others.close();
    t.equal(await entered, 1);
    return { longest, messages: await crew[0]!.ask<string[]>({ op: 'messages' }) };
  };
  let tried = await turns();
  // A machine that stands still makes a turn as long as a stuck one's.
  while (tried.longest > 150) {
    tried = await turns();
  }
  t.strictSame(tried.messages, [], 'the worker waited for its turn');
});

t.test('without a folder for zones each worker counts for itself', async (t) => {
  const messages: string[] = [];
  const set = new ZoneSet(`${folder}/nowhere/zones`, undefined, { level: 8, log: (_level, message) => void messages.push(message) });
  t.teardown(() => set.close());
  const plan = set.prepare([rate, conn]) as ZonePlan;
  set.commit(plan);
  set.releaseWorker(1);
  set.retire(plan);
  t.match(messages, [/^shared zones cannot be stored \(ENOENT.*\), each worker counts for itself$/]);
  const member = new Member(script);
  t.teardown(() => member.kill());
  await member.ask({ op: 'open', plan });
  t.equal(await request(9, 2)(member), 3);
});
