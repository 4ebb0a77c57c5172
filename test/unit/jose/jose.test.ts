import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { CompactEncrypt, generateKeyPair, SignJWT } from 'jose';
import t from 'tap';
import { claimText, memberAt, memberNamed } from '../../../src/worker/jose/claims.js';
import { type JsonObject, parseObject, writeJson } from '../../../src/worker/jose/json.js';
import { decryptJwe, type Jwe } from '../../../src/worker/jose/jwe.js';
import { verifyJws } from '../../../src/worker/jose/jws.js';
import { type KeySet, readKeySet } from '../../../src/worker/jose/key-set.js';
import { TokenVerifier } from '../../../src/worker/jose/token-verifier.js';
import { verifySigned } from '../../../src/worker/jose/verified-token.js';
import { encode, keySet, newKey, sharedKey, signatureOf, type TestKey, token } from '../../support/tokens.js';

const setOf = (...keys: readonly TestKey[]): KeySet => readKeySet(Buffer.from(keySet(...keys))) as KeySet;
const object = (text: string): JsonObject => parseObject(Buffer.from(text))!;
const hs = sharedKey('hs', 'a secret of thirty-two bytes, or more');

t.test('JSON that two readers could understand in two ways is refused', async (t) => {
  for (const text of [
    '{"a":1,"a":2}',
    '{"a":{"b":1,"\\u0062":2}}',
    '{"a":"\\ud800"}',
    '{"a":"\\x"}',
    '{"a":1,}',
    '{"a":01}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":NaN}',
    '{a:1}',
    "{'a':1}",
    '{"a":"\n"}',
    '{"a":tru}',
    '{"a":1} x',
    '{"a":1}{}',
    '\ufeff{"a":1}',
    '[1]',
    '"a"',
    'null',
    '',
    '{',
    '{"a"',
    '{"a":',
    '{"a":[',
    '{"a":"',
    '{"a":"\\',
  ]) {
    t.equal(parseObject(Buffer.from(text)), undefined, text);
  }
  t.equal(parseObject(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), undefined, 'no UTF-8');
  const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  t.ok(parseObject(Buffer.from(nested(32))));
  t.equal(parseObject(Buffer.from(nested(33))), undefined, 'too deep');
  t.equal(parseObject(Buffer.from(`{"a":${'['.repeat(1e6)}`)), undefined, 'far too deep');
});

t.test('claims as texts', async (t) => {
  const claims = object(
    '{ "sub":"Zo\\u00eb ë","n":9007199254740993123,"f":1.50,"i":12,"no":false,"nil":null,"aud":["a","b",3],"info":{"e-mail":"x","deep":{"job title":"y"}},' +
      '"__proto__":"p","camelCase":1,"Two":1,"tWo":2,"quote":"\\"\\n"}',
  );
  const text = (name: string): string | undefined => claimText(memberNamed(claims, name));
  t.equal(text('sub'), Buffer.from('Zoë ë').toString('latin1'), 'as bytes of UTF-8');
  t.equal(text('n'), '9007199254740993123', 'no digit is lost');
  t.equal(text('f'), '1.50');
  t.equal(text('i'), '12');
  t.equal(text('no'), 'false');
  t.equal(text('nil'), undefined);
  t.equal(text('aud'), 'a,b,3');
  t.equal(text('info'), '{"e-mail":"x","deep":{"job title":"y"}}');
  t.equal(text('__proto__'), 'p');
  t.equal(text('constructor'), undefined);
  t.equal(text('camelcase'), '1', 'the only one but for its case');
  t.equal(text('two'), undefined, 'one of two is not chosen');
  t.equal(claimText(memberAt(claims, ['info', 'deep', 'job title'])), 'y');
  t.equal(memberAt(claims, ['sub', 'length']), undefined);
  t.equal(writeJson(claims.get('quote')!), '"\\"\\n"');
});

t.test('each algorithm', async (t) => {
  for (const alg of ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']) {
    const key = newKey('k', alg);
    const good = token(key, { sub: 'me' });
    t.type(verifyJws(good, [setOf(key)]), 'object', alg);
    t.equal(verifyJws(good.replace(/\.([^.]*)\./, `.${encode({ sub: 'other' })}.`), [setOf(key)]), 'its signature is wrong', alg);
    t.equal(verifyJws(token(newKey('k', alg), {}), [setOf(key)]), 'its signature is wrong', `${alg}, another key`);
    // The name of the algorithm as another one of the same family.
    const other = alg.startsWith('E') ? 'HS256' : alg.replace(/256|384|512/, (size) => (size === '256' ? '512' : '256'));
    t.type(verifyJws(token(key, {}, { alg: other }), [setOf(key)]), 'string', `${alg} as ${other}`);
  }
});

t.test('tokens that are not to be accepted', async (t) => {
  const rsa = newKey('rsa', 'RS256');
  const ec = newKey('ec', 'ES256');
  const sets = [setOf(hs, rsa, ec)];
  const refused = (text: string, why: string, what: string): void => {
    t.equal(verifySigned(text, sets), why, what);
  };
  t.type(verifySigned(token(hs, { sub: 'a' }), sets), 'object');
  const unsigned = `${encode({ alg: 'none' })}.${encode({ sub: 'a' })}.`;
  refused(unsigned, 'it is not signed (alg: none)', 'no signature');
  refused(`${unsigned}AA`, 'it is not signed (alg: none)', 'none with a signature');
  refused(`${encode({ alg: 'nOnE' })}.${encode({})}.`, 'its algorithm is not known', 'none in another case');
  refused(`${encode({ alg: ['HS256'] })}.${encode({})}.AA`, 'its algorithm is not known', 'a list of algorithms');
  refused(`${encode({})}.${encode({})}.AA`, 'its algorithm is not known', 'no algorithm');
  // The public key as the secret of an HMAC.
  const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' });
  for (const secret of [pem, JSON.stringify(rsa.jwk), rsa.jwk.n!, Buffer.from(rsa.jwk.n!, 'base64url')]) {
    refused(token({ ...sharedKey('rsa', secret), jwk: rsa.jwk }, {}), 'no key fits it', 'a public key as a secret');
    refused(token({ ...sharedKey('rsa', secret), jwk: {} }, {}), 'its signature is wrong', 'the same without a name');
  }
  refused(token(hs, {}, { crit: ['exp'] }), 'its header has crit', 'crit');
  refused(token(hs, {}, { crit: [] }), 'its header has crit', 'an empty crit');
  refused(token(hs, {}, { b64: false }), 'its payload is not encoded (b64)', 'b64');
  refused(token(hs, {}, { kid: 7 }), 'its header is not well formed', 'a name that is a number');
  refused(token(hs, {}, '{"alg":"HS256","alg":"HS256"}'), 'its header is not well formed', 'a name twice in the header');
  refused(token(hs, '{"sub":"a","sub":"b"}'), 'its claims are not well formed', 'a claim twice');
  refused(token(hs, '["sub"]'), 'its claims are not well formed', 'no object');
  refused(token(hs, 'x'), 'its claims are not well formed', 'no JSON');
  refused(token(hs, { exp: '9999999999' }), 'its exp is no time', 'a time as a text');
  refused(token(hs, '{"exp":1e999}'), 'its exp is no time', 'an endless time');
  refused(token(hs, { nbf: null }), 'its nbf is no time', 'no time');
  const embedded = newKey('new', 'RS256');
  refused(token(embedded, {}, { jwk: embedded.jwk }), 'no key fits it', 'a key in the header');
  refused(token(hs, { x: 'y'.repeat(64 * 1024) }), 'it is too long', 'a long one');
  const good = token(ec, { sub: 'a' });
  for (const changed of [
    `${good}=`,
    `${good} `,
    ` ${good}`,
    good.replace('.', '.='),
    good.replace('.', '+.'),
    `${good}.`,
    `.${good}`,
    `${good}\n`,
  ]) {
    t.type(verifySigned(changed, sets), 'string', JSON.stringify(changed.slice(-10)));
  }
  const data = good.slice(0, good.lastIndexOf('.'));
  const raw = signatureOf(ec, Buffer.from(data));
  t.type(verifySigned(`${data}.${raw.toString('base64url')}`, sets), 'object');
  for (const signature of [
    raw.subarray(0, 63),
    Buffer.concat([raw, Buffer.alloc(1)]),
    Buffer.concat([Buffer.alloc(1), raw]),
    Buffer.concat([Buffer.alloc(1), raw.subarray(0, 32), Buffer.alloc(1), raw.subarray(32)]),
    Buffer.alloc(64),
    Buffer.alloc(64, 0xff),
  ]) {
    refused(`${data}.${signature.toString('base64url')}`, 'its signature is wrong', `${signature.length} bytes`);
  }
  // The two last bits of the last character are left over, so that four texts have the same bytes.
  const lastChar = good.at(-1)!;
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const twin = alphabet[alphabet.indexOf(lastChar) ^ 1]!;
  refused(good.slice(0, -1) + twin, 'it is not well formed', 'another text of the same signature');
});

t.test('which keys are tried', async (t) => {
  const first = sharedKey('one', 'the first secret');
  const second = sharedKey('two', 'the second secret');
  const { kid: _, ...nameless } = first.jwk;
  const noName = { ...first, jwk: nameless };
  t.type(verifyJws(token(second, {}), [setOf(first), setOf(second)]), 'object', 'in any of the sets');
  t.equal(
    verifyJws(token({ ...second, jwk: first.jwk }, {}), [setOf(first, second)]),
    'its signature is wrong',
    'only the one of its name',
  );
  t.type(verifyJws(token({ ...second, jwk: {} }, {}), [setOf(first, second)]), 'object', 'all for a token without a name');
  t.type(verifyJws(token(first, {}, { kid: 'other' }), [setOf(noName)]), 'object', 'those without a name for any name');
  t.equal(verifyJws(token(first, {}, { kid: 'other' }), [setOf(first)]), 'no key fits it');
  const many = Array.from({ length: 40 }, (_, i) => sharedKey(`k${i}`, `secret ${i}`));
  t.type(verifyJws(token({ ...many[15]!, jwk: {} }, {}), [setOf(...many)]), 'object', 'the sixteenth');
  t.equal(verifyJws(token({ ...many[16]!, jwk: {} }, {}), [setOf(...many)]), 'its signature is wrong', 'no more than that');
  t.type(verifyJws(token(many[39]!, {}), [setOf(...many)]), 'object', 'by its name any');
  const restricted = { ...first, jwk: { ...first.jwk, alg: 'HS512' } };
  t.equal(verifyJws(token(first, {}), [setOf(restricted)]), 'no key fits it', 'its algorithm is another');
  t.equal(verifyJws(token(first, {}), [setOf({ ...first, jwk: { ...first.jwk, use: 'enc' } })]), 'no key fits it');
  t.equal(verifyJws(token(first, {}), [setOf({ ...first, jwk: { ...first.jwk, key_ops: ['sign'] } })]), 'no key fits it');
});

t.test('sets of keys', async (t) => {
  const read = (text: string): KeySet | string => readKeySet(Buffer.from(text));
  t.equal(read('{'), 'it is not well-formed JSON');
  t.equal(read('{}'), 'it has no "keys"');
  t.equal(read('{"keys":{}}'), 'it has no "keys"');
  t.equal((read(JSON.stringify(hs.jwk)) as KeySet).keys.length, 1, 'one key by itself');
  t.equal(read(JSON.stringify({ keys: new Array(1001).fill({}) })), 'it has more than 1000 keys');
  const pem = '-----BEGIN PUBLIC KEY-----\nMII';
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
  const bad = [
    7,
    { kty: 'LMS' },
    { kty: 'oct', k: '' },
    { kty: 'oct', k: Buffer.from(pem).toString('base64url') },
    small,
    { ...newKey('k', 'RS256').jwk, e: 'AQ' },
    { kty: 'EC', crv: 'secp112r1', x: 'AA', y: 'AA' },
    { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' },
  ];
  const set = read(JSON.stringify({ keys: [...bad, hs.jwk] })) as KeySet;
  t.equal(set.keys.length, 1, 'the others are left out');
  t.strictSame(set.complaints, [
    'key 1 is not used: it is no object',
    'key 2 is not used: its type ("kty") is not known',
    'key 3 is not used: its value ("k") is empty or no base64url',
    'key 4 is not used: its value ("k") is a public key or a certificate, and no secret',
    'key 5 is not used: its modulus has 1024 bits',
    'key 6 is not used: its exponent ("e") is not safe',
    'key 7 is not used: its curve ("crv") is not known',
    'key 8 is not used: it is not well formed',
  ]);
});

t.test('times, and what is remembered', async (t) => {
  const verifier = new TokenVerifier([setOf(hs)], 'signed');
  const text = token(hs, { exp: 1000, nbf: 500.5 });
  t.equal(verifier.recall(text), undefined);
  const verified = verifier.verify(text);
  if (typeof verified === 'string') {
    throw new Error(verified);
  }
  t.equal(verifier.recall(text), verified);
  t.equal(verified.refusal(999.9, 0), undefined);
  t.equal(verified.refusal(1000, 0), 'it has expired');
  t.equal(verified.refusal(1059, 60), undefined);
  t.equal(verified.refusal(1060, 60), 'it has expired');
  t.equal(verified.refusal(500, 0), 'it does not hold yet');
  t.equal(verified.refusal(500, 1), undefined);
  verifier.forget(text);
  t.equal(verifier.recall(text), undefined);
  t.type(verifier.verify(`${text}A`), 'string');
  t.equal(verifier.recall(`${text}A`), undefined, 'what is wrong is not remembered');
  // More tokens than there is room for.
  const first = token(hs, { n: 0 });
  verifier.verify(first);
  for (let n = 1; n < 4000; n++) {
    verifier.verify(token(hs, { n }));
  }
  t.equal(verifier.recall(first), undefined, 'the memory is bounded');
});

t.test('tokens that another library made', async (t) => {
  for (const alg of ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']) {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const text = await new SignJWT({ sub: 'me' }).setProtectedHeader({ alg, typ: 'JWT' }).setExpirationTime('1h').sign(privateKey);
    const jwk = await crypto.subtle.exportKey('jwk', publicKey);
    const set = readKeySet(Buffer.from(JSON.stringify({ keys: [{ ...jwk, use: 'sig' }] }))) as KeySet;
    const verified = verifySigned(text, [set]);
    t.equal(typeof verified === 'string' ? verified : verified.claims.get('sub'), 'me', alg);
  }
});

t.test('no change of a token by chance makes another right one', async (t) => {
  const rsa = newKey('rsa', 'RS256');
  const sets = [setOf(hs, rsa)];
  let seed = 7;
  const next = (below: number): number => ((seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) >> 8) % below;
  for (const good of [token(hs, { sub: 'me', exp: 4e9 }), token(rsa, { sub: 'me' })]) {
    for (let i = 0; i < 2000; i++) {
      const at = next(good.length);
      const char = String.fromCharCode(next(3) === 0 ? next(256) : good.charCodeAt(next(good.length)));
      const changed = [
        good.slice(0, at) + char + good.slice(at + 1),
        good.slice(0, at) + good.slice(at + 1 + next(9)),
        good.slice(0, at) + char.repeat(next(9)) + good.slice(at),
      ][next(3)]!;
      if (changed !== good && typeof verifySigned(changed, sets) !== 'string') {
        t.fail(`${changed} is accepted`);
      }
    }
  }
});

t.test('no change of an encrypted text by chance makes another right one', async (t) => {
  const secret = Buffer.alloc(32, 5);
  const rsa = newKey('rsa', 'RS256');
  const keys = [{ kty: 'oct', k: secret.toString('base64url') }, (rsa.secret as KeyObject).export({ format: 'jwk' })];
  const sets = [readKeySet(Buffer.from(JSON.stringify({ keys }))) as KeySet];
  const encrypt = (key: Uint8Array | KeyObject, header: { alg: string; enc: string }): Promise<string> =>
    new CompactEncrypt(Buffer.from('{"sub":"me"}')).setProtectedHeader(header).encrypt(key);
  const decrypt = (text: string): Promise<Jwe | string> => new Promise((resolve) => decryptJwe(text, sets, resolve));
  let seed = 11;
  const next = (below: number): number => ((seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) >> 8) % below;
  for (const good of [
    await encrypt(secret, { alg: 'dir', enc: 'A256GCM' }),
    await encrypt(secret, { alg: 'A256KW', enc: 'A128CBC-HS256' }),
    await encrypt(secret, { alg: 'A256GCMKW', enc: 'A256GCM' }),
    await encrypt(createPublicKey(rsa.secret as KeyObject), { alg: 'RSA-OAEP-256', enc: 'A256CBC-HS512' }),
  ]) {
    t.type(await decrypt(good), 'object');
    for (let i = 0; i < 200; i++) {
      const at = next(good.length);
      const char = good[next(good.length)]!;
      const changed = [good.slice(0, at) + char + good.slice(at + 1), good.slice(0, at) + good.slice(at + 1 + next(9))][next(2)]!;
      if (changed !== good && typeof (await decrypt(changed)) !== 'string') {
        t.fail(`${changed} is accepted`);
      }
    }
  }
  for (const alg of ['PBES2-HS256+A128KW', 'RSA1_5', 'ECDH-ES', 'none', '']) {
    t.equal(await decrypt(`${encode({ alg, enc: 'A256GCM', p2c: 1e9, p2s: 'AA' })}.AA.AA.AA.AA`), 'its algorithm is not known', alg);
  }
  t.equal(await decrypt(`${encode({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' })}..AA.AA.AA`), 'it is compressed (zip)');
});
