import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import t from 'tap';
import { snapshotSources } from '../../../../src/shared/config/sources.js';
import { lintConfiguration } from '../../../../src/tools/lint/lint.js';
import { newKey, sharedKey } from '../../../support/tokens.js';

t.test('files of keys', async (t) => {
  const dir = `${mkdtempSync(`${tmpdir()}/lint-`)}/`;
  t.teardown(() => rmSync(dir, { recursive: true }));
  const found = (keys: readonly object[] | string, type = ''): string | undefined => {
    writeFileSync(`${dir}keys.json`, typeof keys === 'string' ? keys : JSON.stringify({ keys }));
    const conf = `http { server { ${type === '' ? '' : `auth_jwt_type ${type};`}\nauth_jwt_key_file keys.json; auth_jwt_key_file none.json; auth_jwt_key_file $k; } }`;
    const entry = `${dir}main.conf`;
    const origin = { entry, prefix: dir, confPrefix: dir, globals: '', globs: {}, named: {}, hosts: {} };
    return lintConfiguration(snapshotSources({ ...origin, files: { [entry]: conf } })).find(({ rule }) => rule === 'weak-token-key')
      ?.problem;
  };
  const long = sharedKey('a', 'x'.repeat(32)).jwk;
  t.equal(found([long, newKey('b', 'ES256').jwk]), undefined);
  t.match(found([sharedKey('a', 'fantasticjwt').jwk]), 'a secret of 12 bytes');
  t.match(found([{ ...long, alg: 'HS512' }]), 'a secret of 32 bytes');
  t.equal(found([{ ...sharedKey('a', 'x'.repeat(16)).jwk, use: 'enc' }]), undefined, 'a key of 128 bits for encryption');
  t.equal(found([sharedKey('a', 'x'.repeat(16)).jwk], 'encrypted'), undefined);
  const pair = newKey('c', 'RS256');
  const secret = { ...(pair.secret as import('node:crypto').KeyObject).export({ format: 'jwk' }) };
  t.match(found([secret]), 'a private key');
  t.match(found([secret], 'encrypted'), 'everybody who has the public key');
  t.equal(found([secret], 'nested'), undefined);
  t.match(found([{ ...long, alg: 'none' }]), '`none`');
  t.match(found([{ kty: 'oct', k: '' }]), 'key 1 is not used');
  t.equal(found('{'), undefined, 'the server tells of it');
});

t.test('secrets that everybody can read', async (t) => {
  const dir = `${mkdtempSync(`${tmpdir()}/lint-`)}/`;
  t.teardown(() => rmSync(dir, { recursive: true }));
  const entry = `${dir}main.conf`;
  const conf = 'http { oidc_provider x { issuer https://i.example;\nclient_secret s;\nsession_key key;\ndecryption_key none; } }';
  writeFileSync(entry, conf);
  writeFileSync(`${dir}key`, 'x');
  const found = (confMode: number, keyMode: number): readonly number[] => {
    chmodSync(entry, confMode);
    chmodSync(`${dir}key`, keyMode);
    const origin = { entry, prefix: dir, confPrefix: dir, globals: '', globs: {}, named: {}, hosts: {} };
    return lintConfiguration(snapshotSources({ ...origin, files: { [entry]: conf } }))
      .filter(({ rule }) => rule === 'readable-secret')
      .map(({ line }) => line);
  };
  t.strictSame(found(0o644, 0o600), [2]);
  t.strictSame(found(0o640, 0o604), [3]);
  t.strictSame(found(0o640, 0o640), []);
});

t.test('keys of signatures', async (t) => {
  const dir = `${mkdtempSync(`${tmpdir()}/lint-`)}/`;
  t.teardown(() => rmSync(dir, { recursive: true }));
  const entry = `${dir}main.conf`;
  writeFileSync(`${dir}keys`, JSON.stringify({ keys: [sharedKey('a', 'x'.repeat(16)).jwk] }));
  const origin = { entry, prefix: dir, confPrefix: dir, globals: '', globs: {}, named: {}, hosts: {} };
  const conf = 'http { auth_jwt_type encrypted; server { auth_signature_key_file keys; } }';
  t.match(lintConfiguration(snapshotSources({ ...origin, files: { [entry]: conf } })), [{ rule: 'weak-token-key', problem: /16 bytes/ }]);
});
