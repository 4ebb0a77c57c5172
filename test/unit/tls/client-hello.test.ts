import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import t from 'tap';
import { HelloProgress } from '../../../src/worker/task/tls-terminator.js';
import { type ClientHello, readClientHello } from '../../../src/worker/tls/client-hello.js';

/** The first bytes of a client of node:tls. */
function hello(servername: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        resolve(chunk);
        done();
      },
    });
    connect({ socket, servername, ciphers: 'TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256', ecdhCurve: 'P-256:X25519' }).on(
      'error',
      () => {},
    );
  });
}

t.test('a hello tells name, ciphers and groups', async (t) => {
  const bytes = await hello('Some.example.com');
  const read = readClientHello(bytes) as ClientHello;
  t.equal(read.serverName, 'Some.example.com');
  t.strictSame(read.ciphers.slice(0, 2), [0x1301, 0xc02f]);
  t.strictSame(read.groups, [23, 29]);
  t.strictSame(read.keyShares, [23]);
  t.strictSame(read.identities, []);
  t.equal(read.ticketKey, '');
  t.ok(read.signatureAlgorithms.includes(0x0804));
});

t.test('pieces of a hello', async (t) => {
  const bytes = await hello('example.com');
  for (let length = 0; length < bytes.length; length++) {
    t.equal(readClientHello(bytes.subarray(0, length)), 'more', `${length} bytes`);
  }
  const half = (bytes.length - 5) >> 1;
  const record = (part: Buffer): Buffer => Buffer.concat([Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part]);
  const split = Buffer.concat([record(bytes.subarray(5, 5 + half)), record(bytes.subarray(5 + half))]);
  t.equal((readClientHello(split) as ClientHello).serverName, 'example.com', 'two records');
});

t.test('malformed bytes are left to the handshake', async (t) => {
  t.equal(readClientHello(Buffer.from('GET / HTTP/1.1\r\n')), 'unknown');
  t.equal(readClientHello(Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])), 'unknown', 'not a hello');
  t.equal(readClientHello(Buffer.from([22, 3, 1, 0, 6, 1, 0, 0, 2, 3, 3])), 'unknown', 'a hello that ends early');
  const bytes = await hello('example.com');
  for (let at = 5; at < bytes.length; at++) {
    const broken = Buffer.from(bytes);
    broken[at]! ^= 0xff;
    t.doesNotThrow(() => readClientHello(broken), `byte ${at}`);
  }
});

t.test('a hello in records of one byte, which comes byte by byte', async (t) => {
  const message = (await hello('example.com')).subarray(5);
  const records = Buffer.concat([...message].map((byte) => Buffer.from([22, 3, 1, 0, 1, byte])));
  const progress = new HelloProgress();
  for (let length = 1; length < records.length; length++) {
    const came = Buffer.from(records.subarray(0, length));
    // What was looked at is not looked at again: otherwise the cost of a hello would grow as the square of its length.
    for (let at = 0; at < progress.at; at += 6) {
      came[at] = 0;
    }
    if (readClientHello(came, progress) !== 'more') {
      t.fail(`${length} bytes`);
    }
  }
  t.equal((readClientHello(records, progress) as ClientHello).serverName, 'example.com');
});
