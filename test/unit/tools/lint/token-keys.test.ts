import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
