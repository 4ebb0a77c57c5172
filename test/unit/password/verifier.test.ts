import t from 'tap';
import { md5Crypt } from '../../../src/worker/password/md5-crypt.js';
import { type PasswordVerdict, PasswordVerifier } from '../../../src/worker/password/verifier.js';

/** A scheme that is hashed off the event loop. */
const hash = (password: string, stored: string): string => md5Crypt(Buffer.from(password), stored, '$1$');

/** Keeps jobs until run() is called, and a clock that tests set. */
class Bench {
  readonly jobs: { password: string; stored: string; callback: (hash: string | undefined) => void }[] = [];
  readonly verdicts: PasswordVerdict[] = [];
  now = 0;
  readonly verifier = new PasswordVerifier(
    { hash: (password, stored, callback) => void this.jobs.push({ password, stored, callback }) },
    () => this.now,
  );

  verify(password: string, stored: string): PasswordVerdict | undefined {
    return this.verifier.verify(password, stored, (verdict) => this.verdicts.push(verdict));
  }

  run(): void {
    for (const { password, stored, callback } of this.jobs.splice(0)) {
      callback(hash(password, stored));
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
  t.equal(bench.verify('secret', stored), undefined);
  t.same(bench.verdicts, []);
  bench.run();
  t.same(bench.verdicts, ['match']);
  bench.now = 59_999;
  t.equal(bench.verify('secret', stored), 'match');
  t.equal(bench.verify('other', stored), undefined, 'another password is not in the memo');
  t.equal(bench.verify('secret', hash('secret', '$1$pepper$')), undefined, 'nor is another hash');
  bench.jobs.splice(0);
  bench.now = 60_000;
  t.equal(bench.verify('secret', stored), undefined, 'forgotten');
});

t.test('a wrong pair is hashed each time', async (t) => {
  const bench = new Bench();
  bench.verify('wrong', stored);
  bench.run();
  t.equal(bench.verify('wrong', stored), undefined);
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
  t.equal(bench.verify('secret', stored), undefined, 'and is not remembered');
});
