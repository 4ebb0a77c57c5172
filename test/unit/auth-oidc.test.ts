import { randomBytes } from 'node:crypto';
import t from 'tap';
import { safePath } from '../../src/worker/modules/auth-oidc/own-address.js';
import { deriveKey, seal, unseal } from '../../src/worker/modules/auth-oidc/seal.js';
import {
  type LoginData,
  LoginSession,
  lineOfClaim,
  logoutName,
  readSession,
  writeSession,
} from '../../src/worker/modules/auth-oidc/session.js';
import { uriPath } from '../../src/worker/modules/auth-oidc/settings.js';

const token = (claims: object): string => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`;

const data: LoginData = {
  id: 'id',
  sub: 'jönes',
  sid: 'one',
  idToken: token({ sub: 'jönes', email: 'a@b', givenName: 'J' }),
  accessToken: 'at',
  refreshToken: 'rt',
  userinfo: JSON.stringify({ email: 'other', groups: ['a', 'b'], constructor: 'c' }),
  loggedInAt: 1000,
  tokenAt: 1000,
  tokenUntil: 301_000,
  refreshes: 0,
  until: 900_000,
};

t.test('what is sealed is opened by its key alone, whole, for its purpose', async (t) => {
  const [one, two] = [deriveKey(Buffer.from('a'), 'x'), deriveKey(Buffer.from('a'), 'y')];
  const bytes = randomBytes(1000);
  const text = seal(one, bytes, 'purpose');
  t.match(text, /^[\w-]+$/);
  t.not(seal(one, bytes, 'purpose'), text);
  t.strictSame(unseal([two, one], text, 'purpose'), bytes);
  t.equal(unseal([two], text, 'purpose'), undefined);
  t.equal(unseal([], text, 'purpose'), undefined);
  t.equal(unseal([one], text, 'other'), undefined);
  for (let i = 0; i < text.length; i += 7) {
    const changed = text.slice(0, i) + (text[i] === 'A' ? 'B' : 'A') + text.slice(i + 1);
    t.equal(unseal([one], changed, 'purpose'), undefined, `${i}`);
    t.equal(unseal([one], text.slice(0, i), 'purpose'), undefined);
  }
  for (const other of [`${text}A`, `${text}=`, ` ${text}`, `${text}\n`]) {
    t.equal(unseal([one], other, 'purpose'), undefined, JSON.stringify(other.slice(-3)));
  }
});

t.test('a session as it is stored', async (t) => {
  t.strictSame(readSession(writeSession(data)), data);
  for (const other of ['', '{}', '[]', 'null', '[1,2,3]', JSON.stringify(Object.values({ ...data, until: '1' }))]) {
    t.equal(readSession(Buffer.from(other)), undefined, other);
  }
});

t.test('when a session ends, and when its tokens are refreshed', async (t) => {
  const session = new LoginSession(data, 'key', 'p');
  const over = (now: number, pairs: Record<string, string> = {}): boolean => session.isOver(now, (name) => pairs[name]);
  t.notOk(over(899_999));
  t.ok(over(900_000));
  for (const [kind, name] of [
    ['sid', 'one'],
    ['sub', 'jönes'],
  ] as const) {
    t.ok(over(2000, { [logoutName('p', kind, name)]: '1000' }), kind);
    t.notOk(over(2000, { [logoutName('p', kind, name)]: '999' }), 'a login after it');
    t.notOk(over(2000, { [logoutName('q', kind, name)]: '1000' }), 'another provider');
    t.notOk(over(2000, { [logoutName('p', kind, 'two')]: '1000' }));
  }
  t.equal(session.refreshAt, 241_000, 'a minute early');
  t.equal(new LoginSession({ ...data, tokenUntil: 11_000 }, 'key', 'p').refreshAt, 6000, 'but not in the first half');
  t.equal(new LoginSession({ ...data, tokenUntil: 0 }, 'key', 'p').refreshAt, Number.POSITIVE_INFINITY);
  t.equal(new LoginSession({ ...data, refreshToken: '' }, 'key', 'p').refreshAt, Number.POSITIVE_INFINITY);
});

t.test('claims', async (t) => {
  const session = new LoginSession(data, 'key', 'p');
  t.equal(session.claim('email'), 'a@b', 'the ID token counts before the UserInfo data');
  t.strictSame(session.claim('groups'), ['a', 'b']);
  t.equal(session.claim('givenname'), 'J');
  t.equal(session.claim('constructor'), 'c');
  t.equal(session.claim('tostring'), undefined);
  t.equal(session.claim('__proto__'), undefined);
  for (const [value, text] of [
    ['jönes', 'j\xc3\xb6nes'],
    ['a\r\nb\0c\x7fd', 'a  b c d'],
    [12.5, '12.5'],
    [true, 'true'],
    [null, undefined],
    [undefined, undefined],
    [['a', 1, false], 'a,1,false'],
    [[], ''],
    [['a\nb'], 'a b'],
    [{ a: [1] }, '{"a":[1]}'],
    [[{ a: 1 }], '[{"a":1}]'],
  ] as const) {
    t.equal(lineOfClaim(value), text, JSON.stringify(value));
  }
});

t.test('ways back stay here', async (t) => {
  for (const [target, path] of [
    ['/a?b=c&d', '/a?b=c&d'],
    ['//evil.example', '/evil.example'],
    ['///evil.example//x', '/evil.example//x'],
    ['/\\evil.example', '/%5Cevil.example'],
    ['\\\\evil.example', '/%5C%5Cevil.example'],
    ['https://evil.example/', '/https://evil.example/'],
    ['', '/'],
    ['/a\r\nSet-Cookie: b', '/a%0D%0ASet-Cookie:%20b'],
    ['/\xc3\xb6', '/%C3%B6'],
    ['/%0d%0a', '/%0d%0a'],
  ] as const) {
    t.equal(safePath(target), path, target);
    t.equal(new URL(safePath(target), 'https://own.example').origin, 'https://own.example');
  }
  t.equal(uriPath('/cb'), '/cb');
  t.equal(uriPath('https://own.example:8443/cb?x'), '/cb');
  t.equal(uriPath('https://own.example'), '/');
});
