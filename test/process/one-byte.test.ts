// Input that comes one byte at a time, or ends in the middle: the worker goes on for everybody else. scripts/faults/drills/one-byte.mjs
// has all protocols.
import { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { http, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';

const FROM = Buffer.from([192, 0, 2, 1, 192, 0, 2, 2, 4, 210, 22, 46]);
const headers = {
  'version 1': Buffer.from('PROXY TCP4 192.0.2.1 192.0.2.2 1234 5678\r\n'),
  'version 2': Buffer.concat([Buffer.from('0d0a0d0a000d0a515549540a21110010', 'hex'), FROM, Buffer.from([4, 0, 1, 7])]),
};
const REQUEST = requestText('GET', '/');

const start = (t: Test): Promise<Server> =>
  startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%%; return 200 other; }
      server { listen 127.0.0.1:%%PORT_1%% proxy_protocol; return 200 "$proxy_protocol_addr $proxy_protocol_port"; }
      server {
        listen 127.0.0.1:%%PORT_2%% proxy_protocol ssl; ssl_certificate ${certs().rsa.cert}; ssl_certificate_key ${certs().rsa.key};
        return 200 $proxy_protocol_addr;
      }`),
  });

/** Sends bytes, and resolves when the worker has seen them: what came later on another connection was answered. */
async function seen(other: RawClient, client: RawClient, bytes: Uint8Array): Promise<void> {
  client.send(bytes);
  for (let i = 0; i < 2; i++) {
    await other.send(REQUEST).response();
  }
}

/** What a client of TLS says first; without the key of ML-KEM, which has 1,200 bytes. */
const hello = (): Promise<Buffer> =>
  new Promise((done) => {
    const below = new Duplex({ read() {}, write: (bytes: Buffer) => done(bytes) });
    connectTls({ socket: below, rejectUnauthorized: false, ecdhCurve: 'X25519' }).on('error', () => {});
  });

// nginx closes a connection whose first segment does not have the whole header.
t.test('a PROXY protocol header one byte at a time', { skip: againstNginx }, async (t) => {
  const server = await start(t);
  const other = await RawClient.connect(server);
  for (const [name, header] of Object.entries(headers)) {
    const client = await RawClient.connect(server.port(1));
    for (const byte of header) {
      await seen(other, client, Buffer.of(byte));
    }
    t.equal((await client.send(REQUEST, 'GET').response()).text, '192.0.2.1 1234', name);
    client.destroy();
  }
  other.destroy();
});

t.test('a client that leaves in the middle of one', { skip: againstNginx }, async (t) => {
  const server = await start(t);
  for (const port of [1, 2]) {
    for (const [name, header] of Object.entries(headers)) {
      const clients = await Promise.all(Array.from(header, () => RawClient.connect(server.port(port))));
      clients.forEach((client, i) => void client.send(header.subarray(0, i)).end());
      await Promise.all(clients.map((client) => client.closed()));
      t.pass(`${name}, port ${port}`);
    }
  }
  t.equal((await http(server, REQUEST)).text, 'other');
});

t.test('a handshake behind one, and a client that leaves in the middle', async (t) => {
  const server = await start(t);
  const first = Buffer.concat([headers['version 1'], await hello()]);
  if (!againstNginx) {
    const other = await RawClient.connect(server);
    const slow = await RawClient.connect(server.port(2));
    for (const byte of first) {
      await seen(other, slow, Buffer.of(byte));
    }
    t.equal((await slow.take(1)).charCodeAt(0), 0x16, 'the handshake goes on');
    slow.destroy();
    other.destroy();
  }
  const header = headers['version 1'].length;
  for (const size of [header, header + 1, header + 5, first.length - 1, first.length]) {
    const client = await RawClient.connect(server.port(2));
    await client.send(first.subarray(0, size)).end().closed();
    t.pass(`${size} bytes`);
  }
});
