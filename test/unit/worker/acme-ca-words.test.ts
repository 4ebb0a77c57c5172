import t from 'tap';
import type { Identifier } from '../../../src/worker/acme/identifier.js';
import { certificatesOf, challengeRecord, checkToken, checkUrl, orderedIdentifier } from '../../../src/worker/acme-process/ca-words.js';

t.test('only what was ordered is validated', async (t) => {
  const ordered: Identifier[] = [
    { type: 'dns', value: 'a.example' },
    { type: 'dns', value: '*.b.example' },
    { type: 'ip', value: '2001:db8::1' },
  ];
  const asked = (type: string, value: unknown): unknown => {
    try {
      return orderedIdentifier(ordered, { type, value } as Identifier).value;
    } catch (error) {
      return (error as Error).message;
    }
  };
  t.equal(asked('dns', 'A.example'), 'a.example');
  t.equal(asked('dns', 'b.example'), '*.b.example');
  t.equal(asked('ip', '2001:DB8:0::1'), '2001:db8::1');
  t.equal(asked('dns', 'bank.example. $(id)'), 'the CA wants "bank.example. $(id)" validated, which was not ordered');
  t.match(asked('ip', 'a.example'), 'not ordered');
  t.match(asked('dns', undefined), 'not ordered');
  t.match(asked('dns', ['a.example', 'x']), 'not ordered');
  t.throws(() => orderedIdentifier(ordered, undefined), /not ordered/);
});

t.test('only tokens, names of records, safe addresses and certificates', async (t) => {
  t.equal(checkToken('aZ09_-'), 'aZ09_-');
  for (const token of ['', '../x', 'a b', '<script>', 'a\n', 'a'.repeat(257), 1, undefined]) {
    t.throws(() => checkToken(token), /invalid token/);
  }
  t.equal(challengeRecord('*.a.example'), '_acme-challenge.a.example.');
  t.throws(() => challengeRecord('$(id).example'), /cannot be validated with DNS/);
  const safe = 'https://ca.example/directory';
  checkUrl('https://other.example/x', safe);
  checkUrl('http://ca.example/x', 'http://ca.example/directory');
  for (const url of ['http://127.0.0.1/', 'file:///etc/passwd', 'data:,x', 'x', '', undefined, 1]) {
    t.throws(() => checkUrl(url, safe), /invalid address/);
  }
  const pem = (body: string): string => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----`;
  t.equal(
    certificatesOf(`text ${pem('AA==')}\n-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----${pem('BB==')}`),
    `${pem('AA==')}\n${pem('BB==')}\n`,
  );
  t.throws(() => certificatesOf('text'), /no certificate/);
  t.throws(() => certificatesOf(pem('AA==').repeat(17)), /too many certificates/);
});
