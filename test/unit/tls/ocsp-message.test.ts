import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { certificateId, OcspError, type OcspTrust, ocspRequest, readOcspResponse } from '../../../src/worker/tls/ocsp-message.js';
import { certs } from '../../support/certs.js';

const c = certs();
const dir = t.testdir({});
const read = (path: string): X509Certificate => new X509Certificate(readFileSync(path));
const ca = read(c.ca.cert);
const now = Math.floor(Date.now() / 1000);
const DAY = 24 * 60 * 60;
const strict: OcspTrust = { chain: [], roots: [ca], signer: 'authorized' };

const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });

/** Makes a certificate of the authority with an ECDSA key, for a responder. */
function signer(name: string, extension: string): { cert: string; key: string } {
  const [cert, key] = [`${dir}/${name}.crt`, `${dir}/${name}.key`];
  writeFileSync(`${dir}/${name}.ext`, extension);
  const request = ['-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-keyout', key, '-subj', `/CN=${name}`];
  openssl('req', ...request, '-out', `${name}.csr`);
  openssl(
    'x509',
    '-req',
    '-days',
    '2',
    '-CA',
    c.ca.cert,
    '-CAkey',
    c.ca.key,
    '-in',
    `${name}.csr`,
    '-extfile',
    `${name}.ext`,
    '-out',
    cert,
  );
  return { cert, key };
}

/** A response of `openssl ocsp` to our request. */
function response(certificate: X509Certificate, by: { cert: string; key: string } = c.ca, ...more: string[]): Buffer {
  writeFileSync(`${dir}/request.der`, ocspRequest(certificateId(certificate, ca)));
  const paths = ['-reqin', `${dir}/request.der`, '-respout', `${dir}/response.der`];
  openssl('ocsp', '-index', `${c.dir}/index.txt`, '-CA', c.ca.cert, '-rsigner', by.cert, '-rkey', by.key, '-ndays', '1', ...paths, ...more);
  return readFileSync(`${dir}/response.der`);
}

/** What is said of a response: its status, or why it is not believed. */
function verdict(bytes: Buffer, certificate: X509Certificate, trust = strict, at = Math.floor(Date.now() / 1000)): string {
  try {
    return readOcspResponse(bytes, certificate, ca, trust, at).status;
  } catch (error) {
    if (!(error instanceof OcspError)) {
      throw error;
    }
    return error.message;
  }
}

const rsa = read(c.rsa.cert);
const good = response(rsa);

t.test('our requests are the ones of OpenSSL', async (t) => {
  openssl('ocsp', '-issuer', c.ca.cert, '-cert', c.rsa.cert, '-no_nonce', '-reqout', 'theirs.der');
  t.strictSame(ocspRequest(certificateId(rsa, ca)), readFileSync(`${dir}/theirs.der`));
});

t.test('what responders say', async (t) => {
  t.equal(verdict(good, rsa), 'good');
  const revoked = read(c.revoked.cert);
  t.equal(verdict(response(revoked), revoked), 'revoked');
  t.equal(verdict(response(ca), ca), 'unknown', 'not in the index');
  const { valid } = readOcspResponse(good, rsa, ca, strict, now);
  t.ok(Math.abs(valid - now - DAY) < 600, 'until the next update');
  t.equal(verdict(good, revoked), 'certificate status not found in the OCSP response');
});

t.test('the time of a response', async (t) => {
  t.equal(verdict(good, rsa, strict, now + DAY + 400), 'OCSP_check_validity() failed');
  t.equal(verdict(good, rsa, strict, now - 600), 'OCSP_check_validity() failed');
  t.equal(verdict(good, rsa, strict, now - 200), 'good', 'clocks differ');
});

t.test('who has signed', async (t) => {
  const responder = signer('responder', 'extendedKeyUsage=OCSPSigning\n');
  t.equal(verdict(response(rsa, responder), rsa), 'good', 'somebody whom the authority has asked to');
  t.equal(verdict(response(rsa, responder, '-resp_key_id'), rsa), 'good', 'named by the key');
  t.equal(verdict(response(rsa, responder, '-resp_no_certs'), rsa), 'OCSP_basic_verify() failed', 'somebody unknown');
  const chain = { ...strict, chain: [read(responder.cert)], signer: 'chain' } as const;
  t.equal(verdict(response(rsa, responder, '-resp_no_certs'), rsa, chain), 'good', 'somebody in the chain');
  const anybody = signer('anybody', 'basicConstraints=CA:FALSE\n');
  t.equal(verdict(response(rsa, anybody), rsa), 'OCSP_basic_verify() failed', 'somebody else of the same authority');
  t.equal(verdict(response(rsa, c.other), rsa), 'OCSP_basic_verify() failed', 'a stranger');
  t.equal(verdict(response(rsa, c.other), rsa, { ...strict, signer: 'none' }), 'good', 'nobody asks who');
  t.equal(verdict(good, rsa, { ...strict, roots: [] }), 'OCSP_basic_verify() failed', 'nobody is trusted');
});

t.test('refusals of a responder', async (t) => {
  t.equal(verdict(Buffer.from('30030a0103', 'hex'), rsa), 'OCSP response not successful (3: trylater)');
  t.equal(verdict(Buffer.from('30030a0109', 'hex'), rsa), 'OCSP response not successful (9: (UNKNOWN))');
  t.equal(verdict(Buffer.from('not at all'), rsa), 'd2i_OCSP_RESPONSE() failed');
  t.equal(verdict(Buffer.from('30030a0100', 'hex'), rsa), 'OCSP_response_get1_basic() failed');
});

t.test('a response that is damaged is not believed, and does no harm', async (t) => {
  for (let length = 0; length < good.length; length += 7) {
    t.not(verdict(good.subarray(0, length), rsa), 'good', `${length} bytes`);
  }
  for (let at = 0; at < good.length; at++) {
    const damaged = Buffer.from(good);
    damaged[at]! ^= at % 2 === 0 ? 0x80 : 1;
    // The parts that are not signed may differ; what is said of the certificate may not.
    t.notMatch(verdict(damaged, rsa), /^(revoked|unknown)$/, `byte ${at}`);
  }
  const signature = good.indexOf(Buffer.from('300a06082a8648ce3d040302', 'hex'));
  const nameless = Buffer.concat([
    good.subarray(0, signature),
    Buffer.from('300a300806082a8648ce3d04', 'hex'),
    good.subarray(signature + 12),
  ]);
  t.equal(verdict(nameless, rsa), 'OCSP_basic_verify() failed', 'an algorithm without a name');
  const empty = Buffer.concat([good.subarray(0, signature), Buffer.from('30003008060804ce3d040302', 'hex'), good.subarray(signature + 12)]);
  t.equal(verdict(empty, rsa), 'OCSP_response_get1_basic() failed', 'no algorithm at all');
});
