import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { RawClient } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

/** A header of version 2; its length is that of `body`, unless one is given. */
function v2(commandAndVersion: number, familyAndTransport: number, body: Buffer, length = body.length): Buffer {
  return Buffer.concat([SIGNATURE, Buffer.from([commandAndVersion, familyAndTransport, length >> 8, length & 255]), body]);
}

const tlv = (type: number, value: Buffer | string, length = value.length): Buffer =>
  Buffer.concat([Buffer.from([type, length >> 8, length & 255]), Buffer.from(value)]);

const ipv4 = Buffer.from([192, 0, 2, 7, 192, 0, 2, 8, 0x1f, 0x90, 0, 80]);
const ipv6 = Buffer.concat([Buffer.from('20010db8000000000000000000000007', 'hex'), Buffer.alloc(16, 1), Buffer.from([0x1f, 0x90, 0, 80])]);
const ssl = tlv(0x20, Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), tlv(0x21, 'TLSv1.3'), tlv(0x22, 'cn')]));
/** So long that the whole header has a number of bytes. */
const padded = (size: number): Buffer => Buffer.concat([ipv4, tlv(4, Buffer.alloc(size - 16 - ipv4.length - 3))]);

/** What a listener makes of a header: what its variables say, or the words of its log. */
const cases: readonly (readonly [what: string, header: Buffer | string, shown: string | RegExp])[] = [
  ['version 1', 'PROXY TCP4 192.0.2.7 192.0.2.8 8080 80\r\n', '192.0.2.7:8080||'],
  ['version 1, nobody', 'PROXY UNKNOWN whatever\r\n', ':||'],
  ['version 1, a family that there is not', 'PROXY TCP5 192.0.2.7 192.0.2.8 8080 80\r\n', /broken header: "PROXY TCP5 192/],
  ['version 2', v2(0x21, 0x11, ipv4), '192.0.2.7:8080||'],
  ['version 2, IPv6', v2(0x21, 0x21, ipv6), '2001:db8::7:8080||'],
  ['extensions', v2(0x21, 0x11, Buffer.concat([ipv4, tlv(2, 'name'), ssl])), '192.0.2.7:8080|name|TLSv1.3'],
  ['LOCAL, with addresses', v2(0x20, 0x11, ipv4), ':||'],
  ['LOCAL, with nothing', v2(0x20, 0, Buffer.alloc(0)), ':||'],
  ['no family', v2(0x21, 0, Buffer.alloc(0)), ':||'],
  ['Unix-domain sockets', v2(0x21, 0x31, Buffer.alloc(216, 'x')), ':||'],
  ['datagrams', v2(0x21, 0x12, ipv4), ':||'],
  ['a command that there is not', v2(0x2f, 0x11, ipv4), ':||'],
  ['addresses cut short', v2(0x21, 0x11, ipv4.subarray(0, 11)), /broken header|header is too/],
  ['addresses of IPv4 called IPv6', v2(0x21, 0x21, ipv4), /broken header|header is too/],
  ['an extension longer than the header', v2(0x21, 0x11, Buffer.concat([ipv4, tlv(2, 'name', 40)])), '192.0.2.7:8080||'],
  ['an extension cut short', v2(0x21, 0x11, Buffer.concat([ipv4, Buffer.from([2, 0])])), '192.0.2.7:8080||'],
  ['an ssl extension cut short', v2(0x21, 0x11, Buffer.concat([ipv4, tlv(0x20, 'abc')])), '192.0.2.7:8080||'],
  ['the longest', v2(0x21, 0x11, padded(4096)), '192.0.2.7:8080||'],
  ['one byte longer', v2(0x21, 0x11, padded(4097)), /header is too large/],
  ['a length that nothing follows', v2(0x21, 0x11, ipv4, 65535), /header is too large/],
  ['version 3', v2(0x31, 0x11, ipv4), /unknown PROXY protocol version: 3/],
  ['version 1 in the form of version 2', v2(0x11, 0x11, ipv4), /unknown PROXY protocol version: 1/],
  ['no header', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', /broken header: "GET \/ HTTP\/1.1/],
];

const listeners = (stream: boolean): string => {
  const shown = '"$proxy_protocol_addr:$proxy_protocol_port|$proxy_protocol_tlv_authority|$proxy_protocol_tlv_ssl_version"';
  return stream
    ? `stream { server { listen 127.0.0.1:%%PORT_1%% proxy_protocol; return ${shown}; } }`
    : `listen 127.0.0.1:%%PORT_2%% proxy_protocol; return 200 ${shown};`;
};

const tls = `ssl_certificate ${certs().rsa.cert}; ssl_certificate_key ${certs().rsa.key};`;
const overTls = `${listeners(false).replace('PORT_2%% ', 'PORT_3%% ssl ')} ${tls}`;
const conf = `${serverConf(listeners(false), `server { ${overTls} }`)} ${listeners(true)}`;
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

/** Serves all whose connections have ended when they have: its log says what was made of each. */
const s = await startServer(t, { conf });

for (const [protocol, port] of [
  ['stream', 1],
  ['http', 2],
] as const) {
  /** What is answered, without the head of a response of HTTP. */
  const answer = async (client: RawClient): Promise<string> => (await client.rest().catch(() => '')).replace(/^[\s\S]*\r\n\r\n/, '');
  const request = protocol === 'http' ? REQUEST : '';

  t.test(`headers of the PROXY protocol, ${protocol}`, async (t) => {
    for (const [what, header, shown] of cases) {
      // nginx's http looks at fewer bytes than its stream.
      if (againstNginx && what === 'the longest') {
        continue;
      }
      const before = s.log().length;
      const whole = await RawClient.connect(s.port(port));
      whole.send(Buffer.concat([Buffer.from(header), Buffer.from(request)]));
      const text = await answer(whole);
      if (typeof shown === 'string') {
        t.equal(text, shown, what);
      } else {
        t.equal(text, '', what);
        // nginx says so at the level of debug lines alone.
        if (!againstNginx) {
          await waitFor(() => shown.test(s.log().slice(before)), { what: () => `${what}: ${shown}\n${s.log().slice(before)}` });
        }
      }
    }
  });

  // nginx looks once at what has come, and takes a part of a header for a broken one.
  t.test(`one byte at a time, ${protocol}`, { skip: againstNginx && 'nginx does not wait for the rest' }, async (t) => {
    const chosen = ['version 1', 'version 2', 'extensions', 'LOCAL, with nothing', 'addresses cut short', 'version 3'];
    await Promise.all(
      cases
        .filter(([what]) => chosen.includes(what))
        .map(async ([what, header, shown]) => {
          const client = await RawClient.connect(s.port(port));
          const bytes = [...Buffer.from(header)].map((byte) => Buffer.from([byte]));
          await client.sendSlowly(bytes, 1).catch(() => undefined);
          client.send(request);
          t.equal(await answer(client), typeof shown === 'string' ? shown : '', what);
        }),
    );
  });

  t.test(`senders that leave, ${protocol}`, async (t) => {
    const s = await startServer(t, { conf });
    const header = v2(0x21, 0x11, Buffer.concat([ipv4, tlv(2, 'name')]));
    for (const size of [0, 1, 11, 12, 13, 15, 16, 17, 27, 28, header.length - 1]) {
      const ending = await RawClient.connect(s.port(port));
      ending.send(header.subarray(0, size)).end();
      t.equal(await answer(ending), '', `after ${size} bytes`);
      const broken = await RawClient.connect(s.port(port));
      broken.send(header.subarray(0, size)).destroy(true);
    }
    const client = await RawClient.connect(s.port(port));
    client.send(Buffer.concat([header, Buffer.from(request)]));
    t.equal(await answer(client), '192.0.2.7:8080|name|', 'others are served');
  });
}

/** Sends a header and a request over TLS, the hello in the header's segment or all one byte at a time; '' for a connection that broke. */
async function securely(port: number, header: Buffer | string, byByte = false): Promise<string> {
  const below = connectTcp({ port, host: '127.0.0.1' });
  await once(below, 'connect');
  below.setNoDelay(true);
  let before = Buffer.from(header);
  const above = new Duplex({
    read() {},
    write(bytes: Buffer, _encoding, done) {
      const all = Buffer.concat([before, bytes]);
      const pieces = byByte && before.length > 0 ? Array.from(all, (byte) => Buffer.of(byte)) : [all];
      before = Buffer.alloc(0);
      const next = (): void => {
        const piece = pieces.shift();
        if (piece === undefined || below.destroyed) {
          done();
        } else {
          below.write(piece, () => setImmediate(next));
        }
      };
      next();
    },
  });
  below.on('data', (bytes) => above.push(bytes));
  below.on('error', () => {});
  below.on('close', () => above.push(null));
  const client = connectTls({ socket: above, rejectUnauthorized: false });
  let text = '';
  client.on('data', (bytes) => (text += bytes));
  client.write(REQUEST);
  await new Promise<void>((done) => {
    client.on('end', done);
    client.on('error', () => done());
  });
  below.destroy();
  return text.replace(/^[\s\S]*\r\n\r\n/, '');
}

t.test('TLS behind headers of the PROXY protocol', async (t) => {
  for (const [what, header, shown] of cases) {
    if (againstNginx && what === 'the longest') {
      continue;
    }
    const before = s.log().length;
    const text = await securely(s.port(3), header);
    if (typeof shown === 'string') {
      t.equal(text, shown, what);
    } else {
      t.equal(text, '', what);
      await waitFor(() => againstNginx || shown.test(s.log().slice(before)), { what: () => `${what}: ${shown}` });
    }
  }
});

t.test('TLS behind them, one byte at a time', { skip: againstNginx && 'nginx does not wait for the rest' }, async (t) => {
  const chosen = ['version 1', 'version 2', 'extensions', 'LOCAL, with nothing', 'version 3'];
  for (const [what, header, shown] of cases.filter(([what]) => chosen.includes(what))) {
    t.equal(await securely(s.port(3), header, true), typeof shown === 'string' ? shown : '', what);
  }
});

t.test('other things behind them, where TLS is expected', async (t) => {
  const s = await startServer(t, { conf: conf.replaceAll(' ssl proxy_protocol;', ' ssl proxy_protocol; client_header_timeout 1s;') });
  const [, header] = cases[0]!;
  for (const pieces of [[`${header}${REQUEST}`], [header, REQUEST]]) {
    const plain = await RawClient.connect(s.port(3));
    await plain.sendSlowly(pieces, 20);
    t.match((await plain.response()).text, 'The plain HTTP request was sent to HTTPS port', `${pieces.length} segments`);
    plain.destroy();
  }
  const silent = await RawClient.connect(s.port(3));
  await silent.send(header).closed();
  await s.logged(/client timed out.* while SSL handshaking, client: 127\.0\.0\.1/);
  t.equal(await securely(s.port(3), header), '192.0.2.7:8080||', 'others are served');
});
