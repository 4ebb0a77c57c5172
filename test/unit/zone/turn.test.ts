import t from 'tap';
import type { Sql, ZoneJob, ZoneRef } from '../../../src/shared/zone/kind.js';
import { SqliteZoneStore } from '../../../src/shared/zone/store.js';

const log = { level: 8 as const, log: () => {} };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Zones in memory that keep the words they are given. */
function open(t: { teardown(f: () => void): void }, names: readonly string[]) {
  const events: string[] = [];
  const kind = {
    id: 'words',
    ddl: 'CREATE TABLE IF NOT EXISTS words (word TEXT)',
    open(sql: Sql, ref: ZoneRef<Sql, null>) {
      sql.hook({
        begin: () => events.push(`begin ${ref.name}`),
        end: () => events.push(`end ${ref.name}`),
        committed: () => events.push(`committed ${ref.name}`),
      });
      return sql;
    },
  };
  const refs = names.map((name) => ({ name, kind, bytes: 32768, data: null }));
  const store = new SqliteZoneStore({ directory: undefined, files: {} }, refs, 1, log);
  t.teardown(() => store.close());
  const job = (name: string, after?: () => void): ZoneJob => ({
    work: () => events.push(name),
    after: () => {
      events.push(`after ${name}`);
      after?.();
    },
  });
  return { store, refs, events, job, zones: refs.map((ref) => store.open(ref)) };
}

t.test('the jobs of a turn share a transaction, and go on after it', async (t) => {
  const { zones, events, job } = open(t, ['a']);
  zones[0]!.submit(job('1'));
  zones[0]!.submit(job('2'));
  t.strictSame(events, [], 'nothing happens within the turn');
  await turn();
  t.strictSame(events, ['begin a', '1', '2', 'end a', 'committed a', 'after 1', 'after 2']);
});

t.test('all zones are let go before the first request goes on', async (t) => {
  const { zones, events, job } = open(t, ['a', 'b']);
  zones[0]!.submit(job('1'));
  zones[1]!.submit(job('2'));
  await turn();
  t.strictSame(events, ['begin a', '1', 'end a', 'committed a', 'begin b', '2', 'end b', 'committed b', 'after 1', 'after 2']);
});

t.test('a job over several zones', async (t) => {
  const { store, refs, events, job } = open(t, ['b', 'a']);
  store.together(refs).submit(job('1'));
  await turn();
  t.strictSame(events, ['begin a', 'begin b', '1', 'end a', 'end b', 'committed a', 'committed b', 'after 1']);
});

t.test('what a job brings about is done in the same turn', async (t) => {
  const { zones, events, job } = open(t, ['a', 'b']);
  zones[0]!.submit(job('1', () => zones[1]!.submit(job('2'))));
  await turn();
  t.strictSame(events.slice(-2), ['committed b', 'after 2']);
});

t.test('a deferred job goes with the next transaction of its zone, or comes a turn later', async (t) => {
  const { zones, events, job } = open(t, ['a']);
  const zone = zones[0]!;
  zone.submit(job('1', () => zone.defer(job('late'))));
  await turn();
  t.notOk(events.includes('late'));
  zone.submit(job('2'));
  await turn();
  t.strictSame(events.slice(6), ['2', 'late', 'end a', 'committed a', 'after 2', 'after late']);
  events.length = 0;
  zone.submit(job('3', () => zone.defer(job('later'))));
  await turn();
  t.notOk(events.includes('later'));
  await turn();
  t.strictSame(events.slice(-5), ['begin a', 'later', 'end a', 'committed a', 'after later']);
});

t.test('a transaction in which nothing is left to do does not take place', async (t) => {
  const { zones, events, job } = open(t, ['a']);
  zones[0]!.submit({ ...job('1'), idle: () => true });
  await turn();
  t.strictSame(events, ['after 1']);
});

t.test('jobs that defer each turn cost each turn the same', async (t) => {
  const { zones, events, job } = open(t, ['a']);
  for (let i = 0; i < 20; i++) {
    zones[0]!.submit(job('now', () => zones[0]!.defer(job('late'))));
    await turn();
  }
  for (let i = 0; i < 3; i++) {
    await turn();
  }
  t.equal(events.filter((event) => event === 'late').length, 20);
  t.ok(events.filter((event) => event === 'begin a').length <= 21);
});

t.test('an error in one request does not keep the others', async (t) => {
  const { zones, events, job } = open(t, ['a']);
  const caught = new Promise((resolve) => process.once('uncaughtException', resolve));
  zones[0]!.submit(
    job('1', () => {
      throw new Error('a bug');
    }),
  );
  zones[0]!.submit(job('2'));
  t.match(await caught, { message: 'a bug' });
  t.ok(events.includes('after 2'));
});

t.test('now() and read()', async (t) => {
  const { zones } = open(t, ['a']);
  const zone = zones[0]!;
  const insert = zone.prepare<never>('INSERT INTO words VALUES (?)');
  const all = zone.prepare<string>('SELECT word FROM words');
  t.ok(zone.now(() => void insert.run('one')));
  t.strictSame(
    zone.read(() => all.all()),
    ['one'],
  );
  t.throws(() => zone.now(() => void zone.prepare('SELECT nonsense')), 'a wrong statement is a bug');
  t.ok(
    zone.now(() => void insert.run('two')),
    'the zone is usable all the same',
  );
  t.strictSame(
    zone.read(() => all.all()),
    ['one', 'two'],
  );
});
