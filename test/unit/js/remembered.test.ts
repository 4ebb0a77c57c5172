import * as crypto from 'node:crypto';
import { createHmac, generateKeyPairSync, Hmac, randomBytes, sign, type webcrypto } from 'node:crypto';
import { Readable, Transform } from 'node:stream';
import t from 'tap';
import { scriptCrypto } from '../../../src/worker/js/script-crypto.js';
import { scriptCreateHmac } from '../../../src/worker/js/script-hmac.js';

// What JavaScript's digests and signatures remember: each answer is the one that Node gives without a memory.

const own = scriptCreateHmac(crypto);
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const tokenText = (n: unknown): string => `${part({ alg: 'HS256' })}.${part({ sub: n })}`;

t.test('an HMAC is that of Node', async (t) => {
  const texts = ['', 'a', 'é€\ud800', 'x'.repeat(5000), tokenText(1), tokenText(2), `${tokenText(1)}.x`, `${tokenText(1)}\n`, 'eyJ.eyJ'];
  for (const text of [...texts, ...texts]) {
    for (const algorithm of ['sha1', 'sha256', 'sha384', 'sha512', 'SHA256', 'md5']) {
      for (const key of ['', 'k', 'key\0', '\ud800', randomBytes(200).toString('latin1')]) {
        for (const encoding of ['hex', 'base64', 'base64url', 'latin1', undefined] as const) {
          const wanted = createHmac(algorithm, key)
            .update(text)
            .digest(encoding as 'hex');
          if (
            !t.same(
              own(algorithm, key)
                .update(text)
                .digest(encoding as 'hex'),
              wanted,
            )
          ) {
            return;
          }
        }
      }
    }
  }
  const [first = '', ...rest] = tokenText(3);
  const pieces = own('sha256', 'k')
    .update(first)
    .update(rest.join(''))
    .update(Buffer.from('!') as never)
    .update('21', 'hex');
  t.equal(
    pieces.digest('hex'),
    createHmac('sha256', 'k')
      .update(`${tokenText(3)}!!`)
      .digest('hex'),
  );
  t.equal(
    own('sha256', 'a\0b').update(tokenText(4)).digest('hex') === own('sha256', 'a').update(tokenText(4)).digest('hex'),
    false,
    'another key has another result',
  );
});

t.test('what an HMAC gives is the asker’s own', async (t) => {
  const bytes = own('sha256', 'k').update(tokenText(5)).digest();
  bytes.fill(0);
  t.same(own('sha256', 'k').update(tokenText(5)).digest(), createHmac('sha256', 'k').update(tokenText(5)).digest());
});

t.test('an HMAC is an object of Node’s kind', async (t) => {
  const hmac = own('sha256', 'k');
  t.ok(hmac instanceof Hmac && hmac instanceof Transform);
  t.equal(Object.prototype.toString.call(hmac), '[object Hmac]');
  t.equal(hmac.constructor, createHmac('sha256', 'k').constructor);
  t.equal(own('sha256', 'k'.repeat(5000)).update(tokenText(1)).digest('hex').length, 64);
  hmac.digest();
  t.throws(() => hmac.digest(), { message: 'Digest already called' });
  t.throws(() => hmac.update('x'), { message: 'Digest already called' });
  t.throws(() => own('sha256', 'k').update(5 as never), TypeError);
  t.throws(() => own('nope', 'k'));
  t.throws(() => own('sha256', 5 as never), TypeError);
  const wanted = createHmac('sha256', 'k').update('streamed').digest('hex');
  const written = own('sha256', 'k');
  written.write('strea');
  written.end('med');
  t.equal((written.read() as Buffer).toString('hex'), wanted);
  const piped = Readable.from(['stre', 'amed']).pipe(own('sha256', 'k'));
  const [result] = (await piped.toArray()) as Buffer[];
  t.equal(result!.toString('hex'), wanted);
});

const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };

t.test('a signature that was right is right again, and no other is', async (t) => {
  const { subtle } = scriptCrypto();
  const pairs = [0, 1].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 }));
  const [jwk, otherJwk] = pairs.map(({ publicKey }) => publicKey.export({ format: 'jwk' }));
  const text = Buffer.from(tokenText(6));
  const right = sign('sha256', text, pairs[0]!.privateKey);
  const wrong = Buffer.from(right);
  wrong[5]! ^= 1;
  const imported = (given: object): Promise<webcrypto.CryptoKey> => subtle.importKey('jwk', given, algorithm, false, ['verify']);
  for (let turn = 0; turn < 3; turn++) {
    const key = await imported({ ...jwk });
    t.equal(await subtle.verify(algorithm, key, right, text), true);
    t.equal(await subtle.verify(algorithm.name, key, right, text), true);
    t.equal(await subtle.verify(algorithm, key, wrong, text), false);
    t.equal(await subtle.verify(algorithm, key, right, Buffer.from(tokenText(7))), false);
    t.equal(await subtle.verify(algorithm, key, Buffer.concat([right, text.subarray(0, 1)]), text.subarray(1)), false);
    t.equal(await subtle.verify(algorithm, await imported({ ...otherJwk }), right, text), false);
    await t.rejects(subtle.verify({ name: 'RSA-PSS', saltLength: 32 }, key, right, text));
    await t.rejects(subtle.verify({ name: 'RSA-PSS', saltLength: Number.NaN }, key, right, text), TypeError);
    await t.rejects(subtle.verify(algorithm, {} as never, right, text));
    await t.rejects(subtle.verify(algorithm, Object.create(Object.getPrototypeOf(key) as object) as never, right, text));
  }
  t.equal(await imported({ ...jwk }), await imported({ ...jwk }), 'the key is the one that was made before');
  for (const other of [
    subtle.importKey('jwk', { ...jwk }, algorithm, true, ['verify']),
    subtle.importKey('jwk', { ...jwk }, { ...algorithm, hash: 'SHA-512' }, false, ['verify']),
    subtle.importKey('jwk', { ...jwk }, { name: 'RSA-PSS', hash: 'SHA-256' }, false, ['verify']),
  ]) {
    t.not(await other, await imported({ ...jwk }));
  }
});

t.test('what is changed behind its back is not remembered', async (t) => {
  const { subtle } = scriptCrypto();
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = publicKey.export({ format: 'jwk' });
  const text = Buffer.from(tokenText(8));
  const right = sign('sha256', text, privateKey);
  const key = await subtle.importKey('jwk', jwk, algorithm, false, ['verify']);
  const asked = subtle.verify(algorithm, key, right, text);
  text.write(tokenText(9));
  t.equal(await asked, true);
  t.equal(await subtle.verify(algorithm, key, right, text), false);
  t.equal(await subtle.verify(algorithm, key, right, Buffer.from(tokenText(8))), true);
  t.throws(() => (key.usages as string[]).push('sign'), TypeError);
  t.throws(() => Object.assign(key.algorithm, { name: 'RSA-PSS' }), TypeError);
  t.throws(() => Object.assign((key.algorithm as webcrypto.RsaHashedKeyAlgorithm).hash, { name: 'SHA-1' }), TypeError);
  // Each time it is asked, it says something else.
  let asks = 0;
  const { n } = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
  const changing = {
    ...jwk,
    get n() {
      return asks++ === 0 ? jwk.n : n;
    },
  };
  await subtle.importKey('jwk', changing as never, algorithm, false, ['verify']).catch(() => undefined);
  const lying = new Proxy(jwk, { get: (target, name) => (name === 'n' ? n : Reflect.get(target, name)) });
  t.equal(
    await subtle.verify(algorithm, await subtle.importKey('jwk', lying, algorithm, false, ['verify']), right, Buffer.from(tokenText(8))),
    false,
  );
  t.equal(
    await subtle.verify(
      algorithm,
      await subtle.importKey('jwk', { ...jwk }, algorithm, false, ['verify']),
      right,
      Buffer.from(tokenText(8)),
    ),
    true,
  );
});
