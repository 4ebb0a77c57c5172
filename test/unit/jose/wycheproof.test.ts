import { readFileSync } from 'node:fs';
import t from 'tap';
import { decryptJwe, type Jwe } from '../../../src/worker/jose/jwe.js';
import { verifyJws } from '../../../src/worker/jose/jws.js';
import { KeySet, readKeySet } from '../../../src/worker/jose/key-set.js';

interface Group {
  readonly comment: string;
  readonly key: object;
  /** Number, expected result, comment, token, plain text. */
  readonly tests: readonly (readonly [number, 'valid' | 'invalid', string, string, string?])[];
}

const groups = (name: string): Group[] =>
  readFileSync(new URL(`./wycheproof/${name}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Group);

function keysOf({ key }: Group): readonly KeySet[] {
  const set = readKeySet(Buffer.from(JSON.stringify(key)));
  return [typeof set === 'string' ? new KeySet([], [set]) : set];
}

/** What we answer otherwise, and why. */
const SIGNATURES: Readonly<Record<number, string>> = {
  346: 'the key is for PS256 alone, the signature is PS384',
  350: 'the key is for PS256 alone, the signature is PS384',
  367: 'the token is the same as that of number 357, which is valid',
  370: 'the token is the same as that of number 357, which is valid',
  372: 'there is a question mark in the header',
  373: 'there is a question mark in the payload',
  347: 'the key of RFC 7520 names an algorithm that there is not, ES521',
  351: 'the key of RFC 7520 names an algorithm that there is not, ES521',
};
/** The only one that is valid and compressed: what is compressed is refused, since it may grow beyond all bounds. */
const COMPRESSED = 135;
const KEYS: Readonly<Record<number, string>> = {
  1: 'keys of several types may stand in one set: a token is only checked with those of its own type',
  4: 'several keys may have one name: all of them are tried',
  7: 'keys with the ROCA weakness are not looked for',
  10: 'the documentation of NGINX Plus shows short secrets; `sluice lint` tells of them',
  11: 'the same',
  12: 'the same',
};

t.test('signatures', async (t) => {
  let tests = 0;
  for (const group of groups('signature')) {
    const sets = keysOf(group);
    for (const [id, result, comment, token] of group.tests) {
      tests++;
      const accepted = typeof verifyJws(token, sets) !== 'string';
      t.equal(accepted !== id in SIGNATURES, result === 'valid', `${id} ${group.comment}: ${comment}`);
    }
  }
  t.equal(tests, 401);
});

t.test('the figure of RFC 7520 whose key has a wrong name is right without it', async (t) => {
  const group = groups('signature').find(({ tests }) => tests[0]![0] === 347)!;
  t.type(verifyJws(group.tests[0]![3], keysOf({ ...group, key: { ...group.key, alg: undefined } })), 'object');
});

t.test('keys', async (t) => {
  for (const group of groups('key')) {
    const sets = keysOf(group);
    for (const [id, result, comment, token] of group.tests) {
      const accepted = typeof verifyJws(token, sets) !== 'string';
      t.equal(accepted !== id in KEYS, result === 'valid', `${id} ${group.comment}: ${comment}`);
    }
  }
});

t.test('encryption', async (t) => {
  // What NGINX Plus does not document is refused, whatever the vectors say.
  const ours = /^(dir|A(128|192|256)(GCM)?KW|RSA-OAEP(-\d+)?)$/;
  let accepted = 0;
  for (const group of groups('encryption')) {
    const sets = keysOf(group);
    for (const [id, result, comment, token, plaintext] of group.tests) {
      const jwe = await new Promise<Jwe | string>((resolve) => decryptJwe(token, sets, resolve));
      let algorithm: unknown;
      try {
        algorithm = JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).alg;
      } catch {
        algorithm = undefined;
      }
      const valid = result === 'valid' && ours.test(String(algorithm)) && id !== COMPRESSED;
      t.equal(typeof jwe !== 'string', valid, `${id} ${group.comment}: ${comment} ${typeof jwe === 'string' ? jwe : ''}`);
      if (typeof jwe !== 'string') {
        accepted++;
        t.equal(jwe.plaintext.toString('hex'), plaintext, `${id}: plain text`);
      }
    }
  }
  t.ok(accepted > 20, `${accepted} are accepted`);
});
