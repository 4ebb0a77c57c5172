import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { challengeServerName, NameError, orderId, parseIdentifiers } from '../../../src/worker/acme/identifier.js';
import { generateKey, parseKeyKind, USUAL_KEY } from '../../../src/worker/acme/key-kind.js';
import { StateFolder } from '../../../src/worker/acme/state-folder.js';
import { certificateSpan, renewalId } from '../../../src/worker/acme-process/check-certificate.js';
import { issueCertificate, makeRoot } from '../../../src/worker/acme-process/issue-certificate.js';
import { pauseAfter, usualWindow } from '../../../src/worker/acme-process/schedule.js';

const DAY = 24 * 3600 * 1000;

t.test('what a certificate may be for', async (t) => {
  const values = (text: string): string[] => parseIdentifiers(text).map(({ type, value }) => `${type}:${value}`);
  t.strictSame(values('Example.COM'), ['dns:example.com']);
  t.strictSame(values('.example.com'), ['dns:www.example.com', 'dns:example.com']);
  t.strictSame(values('*.example.com'), ['dns:*.example.com']);
  t.strictSame(values('192.0.2.1'), ['ip:192.0.2.1']);
  t.strictSame(values('2001:0db8:0:0::1'), ['ip:2001:db8::1']);
  const wrong: readonly [string, string][] = [
    ['', 'does not end with a label'],
    ['example.com.', 'does not end with a label'],
    ['*', 'does not end with a label'],
    ['a..b', "unexpected character '.' at position 2"],
    ['w*.b', "unexpected character '*' at position 1"],
    ['*w.b', "unexpected character 'w' at position 1"],
    ['a\x10b', 'invalid character 10 at position 1'],
    ['\xd0.b', 'invalid character d0 at position 0'],
  ];
  for (const [text, message] of wrong) {
    t.throws(() => parseIdentifiers(text), new NameError(message), text);
  }
  t.equal(challengeServerName({ type: 'ip', value: '192.0.2.1' }), '1.2.0.192.in-addr.arpa');
  t.equal(challengeServerName({ type: 'ip', value: '2001:db8::1' }), `1.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`);
  const wildcard = parseIdentifiers('*.example.com');
  t.match(orderId(wildcard, USUAL_KEY), /^_\.example\.com-[0-9a-f]{16}$/);
  t.not(orderId(wildcard, USUAL_KEY), orderId(wildcard, { algorithm: 'rsa', size: 2048 }));
});

t.test('kinds of keys', async (t) => {
  t.strictSame(parseKeyKind('rsa'), { algorithm: 'rsa', size: 2048 });
  t.strictSame(parseKeyKind('ecdsa:521'), { algorithm: 'ecdsa', size: 521 });
  t.equal(parseKeyKind('rsa:1024'), 'unsupported key size');
  t.equal(parseKeyKind('rsa:'), 'unsupported key size');
  t.equal(parseKeyKind('ecdsa:0256'), 'unsupported curve');
  t.equal(parseKeyKind('my.key'), undefined);
});

t.test('when certificates are renewed', async (t) => {
  const long = usualWindow({ start: 0, end: 90 * DAY });
  t.ok(long.start < 60 * DAY && 60 * DAY < long.end && long.end < 63 * DAY, 'after two thirds');
  const short = usualWindow({ start: 0, end: 6 * DAY });
  t.ok(short.start < 3 * DAY && 3 * DAY < short.end, 'after half of a short time');
});

t.test('pauses grow, and have a bound', async (t) => {
  const around =
    (ms: number): ((fails: number, kind: 'passing' | 'refused' | 'final') => boolean) =>
    (fails, kind) =>
      Math.abs(pauseAfter(fails, kind) - ms) <= ms / 50;
  t.ok(around(1000)(1, 'passing'));
  t.ok(around(8000)(4, 'passing'));
  t.ok(around(3_600_000)(1000, 'passing'));
  t.ok(around(60_000)(1, 'refused'));
  t.ok(around(600_000)(2, 'refused'));
  t.ok(around(DAY)(1000, 'refused'));
  t.ok(around(DAY)(1, 'final'));
});

t.test('state in a folder, and a CA of our own', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-acme-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  const root = { key: await generateKey(USUAL_KEY), chain: '' };
  root.chain = await makeRoot(root.key, 100 * DAY);
  const pairOf = async (kind = USUAL_KEY): Promise<{ key: string; chain: string }> => {
    const key = await generateKey(kind);
    return { key, chain: await issueCertificate(root, parseIdentifiers('a.example'), key, DAY) };
  };
  const first = await pairOf();
  const second = await pairOf({ algorithm: 'rsa', size: 2048 });
  t.match(renewalId(first.chain), /^[\w-]{20,}\.[\w-]{20,}$/);
  t.equal(renewalId(root.chain), undefined);
  t.ok(certificateSpan(first.chain).end > Date.now());

  const state = new StateFolder(dir);
  t.equal(state.readPair('a'), undefined);
  state.writePair('a', first);
  t.strictSame(state.readPair('a'), first);
  t.equal(statSync(`${dir}/a.key`).mode & 0o777, 0o600);
  // The moments at which a process may end while it stores the second pair.
  state.write('a.crt.new', second.chain);
  t.strictSame(state.readPair('a'), first, 'the new certificate is there');
  state.write('a.key', second.key);
  t.strictSame(state.readPair('a'), second, 'and the new key');
  state.writePair('a', second);
  t.strictSame(state.readPair('a'), second);
  state.write('a.crt', 'nonsense');
  state.remove('a.crt.new');
  t.equal(state.readPair('a'), undefined);
  t.throws(() => new StateFolder(`${dir}/none`).write('x', ''), { code: 'ENOENT' });
  t.strictSame(
    readdirSync(dir).filter((name) => name.endsWith('.new')),
    [],
  );
});
