// The examples of RFC 9421, appendix B, and of RFC 9530. Keys and signatures are theirs.
import t from 'tap';
import { http } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

const RSA_PSS =
  'r4tmm3r20Wd_PbqvP1s2-QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct-Lh1GH45x28Rw3Ry53mm-oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHqgDsznjPFmTOtCEcN2Z1FpWgchwuYLPL-Wokqltd11nqqzi-bJ9cvSKADYdUAAN5WUtzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4aOT9v6d-nb4bnNkQVklLQ3fVAvJm-xdDOp9LCNCN48V2pnDOkFV6-U9nV5oyc6XI2w';
const KEYS = {
  keys: [
    { kty: 'RSA', kid: 'test-key-rsa-pss', e: 'AQAB', n: RSA_PSS },
    {
      kty: 'EC',
      crv: 'P-256',
      kid: 'test-key-ecc-p256',
      x: 'qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA',
      y: 'Mc4nN9LTDOBhfoUeg8Ye9WedFRhnZXZJA12Qp0zZ6F0',
    },
    { kty: 'OKP', crv: 'Ed25519', kid: 'test-key-ed25519', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' },
    { kty: 'oct', kid: 'test-shared-secret', k: 'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ' },
  ],
};

const SHA512 = 'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:';
const BODY = '{"hello": "world"}';
const CERT =
  ':MIIBqDCCAU6gAwIBAgIBBzAKBggqhkjOPQQDAjA6MRswGQYDVQQKDBJMZXQncyBBdXRoZW50aWNhdGUxGzAZBgNVBAMMEkxBIEludGVybWVkaWF0ZSBDQTAeFw0yMDAxMTQyMjU1MzNaFw0yMTAxMjMyMjU1MzNaMA0xCzAJBgNVBAMMAkJDMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8YnXXfaUgmnMtOXU/IncWalRhebrXmckC8vdgJ1p5Be5F/3YC8OthxM4+k1M6aEAEFcGzkJiNy6J84y7uzo9M6NyMHAwCQYDVR0TBAIwADAfBgNVHSMEGDAWgBRm3WjLa38lbEYCuiCPct0ZaSED2DAOBgNVHQ8BAf8EBAMCBsAwEwYDVR0lBAwwCgYIKwYBBQUHAwIwHQYDVR0RAQH/BBMwEYEPYmRjQGV4YW1wbGUuY29tMAoGCCqGSM49BAMCA0gAMEUCIBHda/r1vaL6G3VliL4/Di6YK0Q6bMjeSkC3dFCOOB8TAiEAx/kHSB4urmiZ0NX5r5XarmPk0wmuydBVoU4hBVZ1yhk=:';

/** The request that most examples sign. */
const test = (signature: string, input: string, body = BODY): string =>
  `POST /foo?param=Value&Pet=dog HTTP/1.1\r\nHost: example.com\r\nDate: Tue, 20 Apr 2021 02:07:55 GMT\r\nContent-Type: application/json\r\n` +
  `Content-Digest: ${SHA512}\r\nContent-Length: ${body.length}\r\nSignature-Input: ${input}\r\nSignature: ${signature}\r\n\r\n${body}`;

const TRANSFORM = `Signature-Input: transform=("@method" "@path" "@authority" "accept");created=1618884473;keyid="test-key-ed25519"\r\nSignature: transform=:ZT1kooQsEHpZ0I1IjCqtQppOmIqlJPeo7DHR3SoMn0s5JZ1eRGS0A+vyYP9t/LXlh5QMFFQ6cpLt2m0pmj3NDA==:\r\n`;
const DATE = 'Date: Fri, 15 Jul 2022 14:24:55 GMT\r\n';
const ACCEPT = 'Accept: application/json\r\nAccept: */*\r\n';

t.test('the examples of the standards', async (t) => {
  const conf = (components: string, path = ''): string =>
    serverConf(
      `error_log %%DIR%%/error.log info; auth_signature_key_file keys; auth_signature_max_age 1000w; auth_signature_components ${components};
      error_page 418 =200 @in; location @in { return 200 "[$signature_label $signature_keyid $signature_tag]"; }
      location / { auth_signature x; try_files /none =418; } ${path}`,
    );
  const s = await startServer(t, { conf: conf('@authority'), files: { keys: JSON.stringify(KEYS) } });
  const send = async (request: string) => {
    const { status, text } = await http(s, request);
    return status === 200 ? text : status;
  };
  const B22 = [
    'sig-b22=:LjbtqUbfmvjj5C5kr1Ugj4PmLYvx9wVjZvD9GsTT4F7GrcQEdJzgI9qHxICagShLRiLMlAJjtq6N4CDfKtjvuJyE5qH7KT8UCMkSowOB4+ECxCmT8rtAmj/0PIXxi0A0nxKyB09RNrCQibbUjsLS/2YyFYXEu4TRJQzRw1rLEuEfY17SARYhpTlaqwZVtR8NV7+4UKkjqpcAoFqWFQh62s7Cl+H2fjBSpqfZUJcsIk4N6wiKYd4je2U/lankenQ99PZfB4jY3I5rSV2DSBVkSFsURIjYErOs0tFTQosMTAoxk//0RoKUqiYY8Bh0aaUEb0rQl3/XaVe4bXTugEjHSw==:',
    'sig-b22=("@authority" "content-digest" "@query-param";name="Pet");created=1618884473;keyid="test-key-rsa-pss";tag="header-example"',
  ] as const;
  t.equal(await send(test(...B22)), '[sig-b22 test-key-rsa-pss header-example]', 'B.2.2');
  t.equal(await send(test(...B22, '{"hello": "World"}')), 401, 'another body');
  t.equal(await send(test(...B22).replace('Pet=dog', 'Pet=cat')), 401, 'another parameter');
  t.equal(await send(test(...B22).replace('Pet=dog', 'Pet=dog&Pet=dog')), 401, 'the parameter twice');
  t.equal(
    await send(test(...B22).replace('param=Value', 'param=Other')),
    '[sig-b22 test-key-rsa-pss header-example]',
    'what is not covered',
  );
  const B23 = [
    'sig-b23=:bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yBiMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRpRRU5p2voTp768ZrCUb38K0fUxN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1pFkh/aYA2HXXZzNBXmIkoQoLd7YfW91kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9bpG6A9BmzhuzF8Eim5f8ui9eH8LZH896+QIF61ka39VBrohr9iyMUJpvRX2Zbhl5ZJzSRxpJyoEZAFL2FUo5fTIztsDZKEgM4cUA==:',
    'sig-b23=("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"',
  ] as const;
  t.equal(await send(test(...B23)), '[sig-b23 test-key-rsa-pss ]', 'B.2.3');
  t.equal(await send(test(...B23).replace('POST', 'PUT')), 401);
  const B25 = [
    'sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:',
    'sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
  ] as const;
  const B26 = [
    'sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:',
    'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
  ] as const;
  t.equal(await send(test(...B25)), '[sig-b25 test-shared-secret ]', 'B.2.5');
  t.equal(await send(test(...B26)), '[sig-b26 test-key-ed25519 ]', 'B.2.6');
  t.equal(
    await send(test(`${B25[0]}, ${B26[0]}`, `${B25[1]}, ${B26[1]}`)),
    '[sig-b25 test-shared-secret ]',
    'two signatures: the first that is right',
  );
  t.equal(await send(test(`${B25[0].replace('pxc', 'pxd')}, ${B26[0]}`, `${B25[1]}, ${B26[1]}`)), '[sig-b26 test-key-ed25519 ]');
  t.equal(await send(test(B25[0], B26[1].replace('sig-b26', 'sig-b25'))), 401, "another key's");
  const B24 = [
    'sig-b24=:wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==:',
    'sig-b24=("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256"',
  ] as const;
  t.equal(await send(test(...B24)), 401, 'B.2.4 is the signature of a response');
  const B21 = [
    'sig-b21=:d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx7zFZsckzXaJMkA7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2VjBqJzsPLMIQKhO4DGezXehhWwE56YCE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1fV5/SITLq9mhho8K3+7EPYTU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q==:',
    'sig-b21=();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd"',
  ] as const;
  t.equal(await send(test(...B21)), 401, 'B.2.1 covers nothing');
  t.match(s.log(), /the signature is refused: it does not cover "@authority"/);
  // What a request without a body need not cover: nothing is left that it must.
  await s.reload(conf('content-digest'));
  const empty = test(...B21, '').replace(/Content-Digest: .*\r\n/, '');
  t.equal(await send(empty), '[sig-b21 test-key-rsa-pss ]', 'B.2.1');
  t.equal(await send(empty.replace('b3k2', 'b3k3')), 401);

  await s.reload(conf('@method @path'));
  t.equal(
    await send(
      `POST /foo?param=Value&Pet=dog HTTP/1.1\r\nHost: service.internal.example\r\nDate: Tue, 20 Apr 2021 02:07:55 GMT\r\nContent-Type: application/json\r\n` +
        `Content-Length: 18\r\nClient-Cert: ${CERT}\r\nSignature-Input: ttrp=("@path" "@query" "@method" "@authority" "client-cert");created=1618884473;keyid="test-key-ecc-p256"\r\n` +
        `Signature: ttrp=:xVMHVpawaAC/0SbHrKRs9i8I3eOs5RtTMGCWXm/9nvZzoHsIg6Mce9315T6xoklyy0yzhD9ah4JHRwMLOgmizw==:\r\n\r\n${BODY}`,
    ),
    '[ttrp test-key-ecc-p256 ]',
    'B.3',
  );
  const demo = '/demo?name1=Value1&Name2=value2';
  for (const [request, answer, why] of [
    [`GET ${demo} HTTP/1.1\r\nHost: example.org\r\n${DATE}${ACCEPT}${TRANSFORM}\r\n`, '[transform test-key-ed25519 ]', 'B.4'],
    [
      `GET ${demo}&param=added HTTP/1.1\r\nHost: example.org\r\n${DATE}${ACCEPT}Accept-Language: en-US,en;q=0.5\r\n${TRANSFORM}\r\n`,
      '[transform test-key-ed25519 ]',
      'a parameter more',
    ],
    [
      `GET ${demo} HTTP/1.1\r\nHost: example.org\r\nReferer: https://developer.example.org/demo\r\nAccept: application/json, */*\r\n${TRANSFORM}\r\n`,
      '[transform test-key-ed25519 ]',
      'one line of two',
    ],
    [`GET ${demo} HTTP/1.1\r\n${ACCEPT}${DATE}Host: example.org\r\n${TRANSFORM}\r\n`, '[transform test-key-ed25519 ]', 'another order'],
    [`POST ${demo} HTTP/1.1\r\nHost: example.com\r\nContent-Length: 0\r\n${DATE}${ACCEPT}${TRANSFORM}\r\n`, 401, 'another method and host'],
    [
      `GET ${demo} HTTP/1.1\r\nHost: example.org\r\n${DATE}Accept: */*\r\nAccept: application/json\r\n${TRANSFORM}\r\n`,
      401,
      'another order of values',
    ],
  ] as const) {
    t.equal(await send(request), answer, why);
  }
});
