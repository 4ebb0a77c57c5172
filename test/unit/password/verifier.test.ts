import t from 'tap';
import { md5Crypt } from '../../../src/worker/password/md5-crypt.js';
import { type PasswordVerdict, PasswordVerifier, type PendingCheck } from '../../../src/worker/password/verifier.js';

/** A scheme that is hashed off the event loop. */
const hash = (password: string, stored: string): string => md5Crypt(Buffer.from(password), stored, '$1$');

/** Keeps jobs until run() is called, and a clock that tests set. */
class Bench {
  readonly jobs: { password: string; stored: string; callback: (hash: string | undefined) => void }[] = [];
  readonly verdicts: PasswordVerdict[] = [];
  now = 0;
  readonly verifier = new PasswordVerifier(
    (password, stored, callback) => void this.jobs.push({ password, stored, callback }),
    () => this.now,
  );

  verify(password: string, stored: string): PasswordVerdict | PendingCheck {
    return this.verifier.verify(password, stored, (verdict) => this.verdicts.push(verdict));
  }

  run(): void {
    for (let job = this.jobs.shift(); job !== undefined; job = this.jobs.shift()) {
      job.callback(hash(job.password, job.stored));
    }
  }
}

const stored = hash('secret', '$1$salt$');

t.test('quick schemes are answered at once', async (t) => {
  const bench = new Bench();
  t.equal(bench.verify('secret', '{PLAIN}secret'), 'match');
  t.equal(bench.verify('Secret', '{PLAIN}secret'), 'mismatch');
  t.equal(bench.verify('secret', '{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ='), 'match');
  t.equal(bench.jobs.length, 0);
});

t.test('slow schemes are answered later, and a right pair is remembered for a minute', async (t) => {
  const bench = new Bench();
  t.type(bench.verify('secret', stored), 'object');
  t.same(bench.verdicts, []);
  bench.run();
  t.same(bench.verdicts, ['match']);
  bench.now = 59_999;
  t.equal(bench.verify('secret', stored), 'match');
  t.type(bench.verify('other', stored), 'object', 'another password is not in the memo');
  t.type(bench.verify('secret', hash('secret', '$1$pepper$')), 'object', 'nor is another hash');
  bench.run();
  bench.now = 60_000;
  t.type(bench.verify('secret', stored), 'object', 'forgotten');
});

t.test('a wrong pair is hashed each time', async (t) => {
  const bench = new Bench();
  bench.verify('wrong', stored);
  bench.run();
  t.type(bench.verify('wrong', stored), 'object');
  bench.run();
  t.same(bench.verdicts, ['mismatch', 'mismatch']);
});

t.test('checks of one pair share a hash', async (t) => {
  const bench = new Bench();
  bench.verify('secret', stored);
  bench.verify('secret', stored);
  bench.verify('wrong', stored);
  t.equal(bench.jobs.length, 2);
  bench.run();
  t.same(bench.verdicts, ['match', 'match', 'mismatch']);
});

t.test('a thread that dies says nothing about the password', async (t) => {
  const bench = new Bench();
  bench.verify('secret', stored);
  bench.jobs.shift()!.callback(undefined);
  t.same(bench.verdicts, ['failed']);
  t.type(bench.verify('secret', stored), 'object', 'and is not remembered');
});

t.test('two are hashed at a time, in order, and what nobody waits for is not', async (t) => {
  const bench = new Bench();
  const checks = ['a', 'b', 'c', 'd', 'd', 'e'].map((password) => bench.verify(password, stored) as PendingCheck);
  const hashed = (): string => bench.jobs.map(({ password }) => password).join('');
  t.equal(hashed(), 'ab');
  checks[2]!.abandon();
  checks[3]!.abandon();
  checks[0]!.abandon();
  bench.jobs.shift()!.callback(undefined);
  t.equal(hashed(), 'bd', 'one still waits for the fourth');
  checks[5]!.abandon();
  bench.verify('e', stored);
  bench.run();
  t.same(bench.verdicts, ['mismatch', 'mismatch', 'mismatch'], 'b, d and the later e');
  checks[4]!.abandon();
  t.type(bench.verify('d', stored), 'object', 'one that is over is not given up');
});
