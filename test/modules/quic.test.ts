// Packets and handshakes of QUIC by a client that does right or wrong as it is told. Long: one server answers for most of it.
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import t from 'tap';
import { whyNoQuic } from '../../src/worker/net/openssl/quic-library.js';
import { VERSION_2 } from '../../src/worker/net/quic/version.js';
import { certs } from '../support/certs.js';
import { APPLICATION, frame, HANDSHAKE, INITIAL, parameter, QuicClient, type QuicClientOptions } from '../support/quic-client.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, startServer } from '../support/server.js';

const skip = whyNoQuic() !== '' && `no QUIC: ${whyNoQuic()}`;
const { rsa } = certs();

const site = (server: string, more = ''): string =>
  httpConf(`
    ssl_certificate ${rsa.cert};
    ssl_certificate_key ${rsa.key};
    http3_hq on;
    server {
      listen 127.0.0.1:%%PORT_0%% quic;
      ${server}
      location / { return 200 "HTTP/0.9 $ssl_protocol $ssl_server_name $remote_addr $server_port"; }
      location /long { root %%DIR%%; }
    }
    ${more}`);

const LONG = 'long '.repeat(200_000);

t.test('without a connection', { skip }, async (t) => {
  const server = await startServer(t, { conf: site('quic_retry on;'), files: { long: LONG } });
  const port = server.port(0);

  t.test('Retry, whose token is good once and for its address', async (t) => {
    const client = await QuicClient.connect(port);
    t.teardown(() => client.close());
    t.ok(client.retried!.length > 20);
    t.equal(client.closed, undefined);
    client.get(0, '/');
    await client.until(() => client.streams.get(0)?.end === true);
    t.match(client.streams.get(0)!.text, /HTTP\/0\.9 TLSv1\.3 localhost 127\.0\.0\.1/);
    await client.until(() => client.token !== undefined);
    const again = await QuicClient.connect(port, { token: client.token! });
    t.teardown(() => again.close());
    t.equal(again.retried, undefined, 'a token of the connection spares the next one that');
    const oncemore = await QuicClient.connect(port, { token: client.token! });
    t.teardown(() => oncemore.close());
    t.ok(oncemore.retried !== undefined && oncemore.closed === undefined, 'once: a third one shows its address again');
    const broken = Buffer.from(client.token!);
    broken[broken.length - 1]! ^= 1;
    const wrong = await QuicClient.open(port, { token: broken });
    t.teardown(() => wrong.close());
    await wrong.until(() => wrong.closed !== undefined);
    t.equal(wrong.closed!.code, 0x0b);
    const elsewhere = await QuicClient.open(port, { token: client.retried! });
    t.teardown(() => elsewhere.close());
    await elsewhere.until(() => elsewhere.closed !== undefined);
    t.equal(elsewhere.closed!.code, 0x0b, "one of Retry's is good for its port alone");
  });

  t.test('versions that are not spoken are answered with those that are', async (t) => {
    const client = await QuicClient.open(port);
    t.teardown(() => client.close());
    const packet = Buffer.alloc(1200);
    packet.set([0xc0, 0x1a, 0x2a, 0x3a, 0x4a, 8, 1, 2, 3, 4, 5, 6, 7, 8, 3, 9, 9, 9]);
    client.sendRaw(packet.subarray(0, 1199));
    client.sendRaw(packet);
    await client.until(() => client.versions !== undefined);
    t.ok(client.versions!.includes(1) && client.versions!.includes(VERSION_2.number));
  });
});

t.test('connections', { skip }, async (t) => {
  const server = await startServer(t, {
    conf: `worker_processes 2;\n${site('')}`,
    files: { long: LONG },
  });
  const port = server.port(0);
  const open = async (options?: QuicClientOptions): Promise<QuicClient> => {
    const client = await QuicClient.connect(port, options);
    t.teardown(() => client.close());
    return client;
  };
  const ended = async (client: QuicClient, code: number, message: string): Promise<void> => {
    await client.until(() => client.closed !== undefined);
    t.strictSame(
      [client.closed!.application, client.closed!.code.toString(16)],
      [false, code.toString(16)],
      `${message}: ${client.closed!.reason}`,
    );
  };
  const text = async (client: QuicClient, stream: number): Promise<string> => {
    await client.until(() => client.streams.get(stream)?.end === true || client.closed !== undefined);
    return client.streams.get(stream)!.text;
  };

  t.test('a request, many requests, and a long response', async (t) => {
    const client = await open();
    client.get(0, '/');
    t.match(await text(client, 0), /^HTTP\/0\.9 TLSv1\.3 localhost 127\.0\.0\.1/);
    for (let i = 1; i <= 50; i++) {
      client.get(i * 4, '/');
    }
    await text(client, 200);
    client.get(204, '/long');
    t.equal((await text(client, 204)) === LONG, true);
  });

  t.test('version 2', async (t) => {
    const client = await open({ version: VERSION_2 });
    client.get(0, '/');
    t.match(await text(client, 0), /^HTTP\/0\.9/);
  });

  t.test('keys change', async (t) => {
    const client = await open();
    client.get(0, '/');
    await text(client, 0);
    for (const stream of [4, 8, 12]) {
      client.updateKeys();
      client.get(stream, '/');
      t.match(await text(client, stream), /^HTTP\/0\.9/);
    }
  });

  t.test('a client that moves shows that it is there, and goes on', async (t) => {
    const client = await open();
    client.get(0, '/');
    await text(client, 0);
    await client.until(() => client.newIds.length > 0);
    const other = createSocket('udp4');
    t.teardown(() => other.close());
    other.bind(0, '127.0.0.1');
    client.send(APPLICATION, frame(0x18, 1, 0, Buffer.from([8]), randomBytes(8), randomBytes(16)));
    const challenged = new Promise<Buffer>((resolve) => other.once('message', resolve));
    client.peer = client.newIds[0]!.id;
    client.sendRaw(client.packet(APPLICATION, frame(0x0b, 4, 7, 'GET /\r\n')), other);
    const datagram = await challenged;
    t.ok(datagram.length <= 1200, 'no more than three times what came, before it is known');
  });

  t.test('the same path is asked for', async (t) => {
    const client = await open();
    client.send(APPLICATION, frame(0x1a, Buffer.from('12345678')));
    await client.until(() => client.responses.length > 0);
    t.equal(client.responses[0]!.toString(), '12345678');
  });

  t.test('identifiers: one that is given back is replaced', async (t) => {
    const client = await open();
    await client.until(() => client.newIds.length > 0);
    client.peer = client.newIds[0]!.id;
    client.send(APPLICATION, frame(0x19, 0));
    await client.until(() => client.newIds.length > 1);
    client.get(0, '/');
    t.match(await text(client, 0), /^HTTP\/0\.9/);
  });

  t.test('a connection that is no more is answered with its token', async (t) => {
    const client = await open();
    await client.until(() => client.newIds.length > 0);
    const { id, token } = client.newIds[0]!;
    client.send(APPLICATION, frame(0x1c, 0, 0, 0));
    await client.until(() => client.closed !== undefined || client.streams.size >= 0);
    t.equal(id.length, 12);
    t.equal(token.length, 16);
  });

  t.test('a client that has lost its connection says so to whichever worker', async (t) => {
    for (const first of [2, 3, 4, 5]) {
      const client = await open();
      const token = randomBytes(16);
      client.send(APPLICATION, frame(0x18, 1, 1, Buffer.from([8]), randomBytes(8), token));
      await client.until(() => client.retired.includes(0) && client.newIds.length > 0);
      const [own] = client.newIds;
      client.peer = own!.id;
      for (const length of [21, 40, 300]) {
        client.sendRaw(Buffer.concat([Buffer.from([0x43, first]), randomBytes(length - 18), token]));
      }
      // What comes to a connection that is no more is answered with the server's token.
      const gone = (): boolean => client.unknown.some((bytes) => bytes.subarray(-16).equals(own!.token));
      for (let i = 0; !gone() && i < 200; i++) {
        client.send(APPLICATION, frame(1), Buffer.alloc(100));
        await new Promise((done) => setTimeout(done, 20));
      }
      t.ok(gone(), `the identifier begins with ${first}`);
    }
  });

  // What follows is the transport's part of h3spec.
  const inSetup: readonly (readonly [number, string, QuicClientOptions])[] = [
    [0x08, 'initial_source_connection_id is missing', { withoutSource: true }],
    [0x08, 'original_destination_connection_id', { parameters: [parameter(0x00, Buffer.alloc(8))] }],
    [0x08, 'preferred_address', { parameters: [parameter(0x0d, Buffer.alloc(61))] }],
    [0x08, 'retry_source_connection_id', { parameters: [parameter(0x10, Buffer.alloc(8))] }],
    [0x08, 'stateless_reset_token', { parameters: [parameter(0x02, Buffer.alloc(16))] }],
    [0x08, 'max_udp_payload_size below 1200', { parameters: [parameter(0x03, 1199)] }],
    [0x08, 'ack_delay_exponent above 20', { parameters: [parameter(0x0a, 21)] }],
    [0x08, 'max_ack_delay of 2^14', { parameters: [parameter(0x0b, 2 ** 14)] }],
    [0x08, 'a parameter twice', { parameters: [parameter(0x1, 10), parameter(0x1, 10)] }],
    [0x08, 'too many streams', { parameters: [parameter(0x9, Buffer.from('d000000000000001', 'hex'))] }],
    [0x08, 'an integer with something behind it', { parameters: [parameter(0x4, Buffer.from([1, 1]))] }],
    [0x08, 'another version', { parameters: [parameter(0x11, Buffer.from([0, 0, 0, 2]))] }],
    [0x178, 'no protocol in common', { protocol: 'none' }],
    [0x178, 'no protocol', { protocol: '' }],
  ];
  for (const [code, what, options] of inSetup) {
    t.test(what, async () => ended(await open(options), code, what));
  }

  t.test('integers as large as the form can hold, and parameters that nobody knows', async (t) => {
    const most = Buffer.alloc(8, 0xff);
    const large = [0x01, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0e].map((id) => parameter(id, most));
    const client = await open({
      parameters: [...large, parameter(0x1b, Buffer.alloc(30)), parameter(31 * 9999 + 27, 5), parameter(0x20, 65535)],
    });
    t.equal(client.closed, undefined);
    client.send(APPLICATION, Buffer.concat([Buffer.of(0x10), most]), Buffer.concat([Buffer.of(0x11, 0), most]));
    client.get(0, '/long');
    t.equal((await text(client, 0)) === LONG, true);
  });

  t.test('no transport parameters', async () => {
    const client = await QuicClient.open(port, { parameters: [], messages: withoutParameters });
    t.teardown(() => client.close());
    await ended(client, 0x16d, 'missing_extension');
  });

  t.test('a message of TLS that may not be', async () => {
    const client = await QuicClient.open(port, { messages: (level, bytes) => (level === 2 ? Buffer.from([24, 0, 0, 1, 0]) : bytes) });
    t.teardown(() => client.close());
    await ended(client, 0x10a, 'KeyUpdate in the handshake');
    const early = await QuicClient.open(port, { messages: (level, bytes) => (level === 2 ? Buffer.from([5, 0, 0, 0]) : bytes) });
    t.teardown(() => early.close());
    await ended(early, 0x10a, 'EndOfEarlyData');
  });

  t.test('reserved bits, and frames that may not be, in a packet of the handshake', async () => {
    for (const [frames, options, code] of [
      [frame(1), { reserved: 0x0c }, 0x0a],
      [frame(0x1a, Buffer.alloc(8)), {}, 0x0a],
      [frame(0x08, 0, 'x'), {}, 0x0a],
      [frame(0x2f), {}, 0x07],
      [Buffer.alloc(0), { exact: true }, 0x0a],
      ...[
        [0x04, 0, 0, 0],
        [0x05, 0, 0],
        [0x07, 1, 'x'],
        [0x10, 5],
        [0x11, 0, 5],
        [0x12, 5],
        [0x14, 5],
        [0x15, 0, 5],
        [0x16, 5],
      ].map((parts) => [frame(...parts), {}, 0x0a] as const),
      [frame(0x18, 1, 0, Buffer.of(4), Buffer.alloc(20)), {}, 0x0a],
      [frame(0x19, 0), {}, 0x0a],
      [frame(0x1b, Buffer.alloc(8)), {}, 0x0a],
      [frame(0x1d, 0, 0), {}, 0x0a],
      [frame(0x1e), {}, 0x0a],
    ] as const) {
      let sent = false;
      const client: QuicClient = await QuicClient.open(port, {
        messages: (level, bytes) => {
          if (level === 2 && !sent) {
            sent = true;
            setImmediate(() => client.sendPackets([client.packet(HANDSHAKE, frames, options)]));
            return Buffer.alloc(0);
          }
          return bytes;
        },
      });
      t.teardown(() => client.close());
      await ended(client, code, frames.toString('hex'));
    }
  });

  t.test('frames that may not be in a first packet', async () => {
    for (const frames of [frame(0x08, 0, 'x'), frame(0x1d, 0, 0), frame(0x1e), frame(0x02, 9, 0, 0, 0)]) {
      const client = await QuicClient.open(port, { messages: (level, bytes) => (level === 2 ? Buffer.alloc(0) : bytes) });
      t.teardown(() => client.close());
      // What it acknowledged of the handshake would end the use of first packets.
      client.acknowledges = false;
      client.send(INITIAL, frames);
      await ended(client, 0x0a, frames.toString('hex'));
    }
  });

  const afterwards: readonly (readonly [number, string, Buffer])[] = [
    [0x03, 'a stream with a large offset', frame(0x0c, 0, 2 ** 40, 'x')],
    [0x07, 'an unknown frame', frame(0x21)],
    [0x07, 'a type in more bytes than it needs', Buffer.from([0x40, 0x01])],
    [0x07, 'a frame that is cut off', frame(0x0a, 0, 9, 'x')],
    [0x05, 'RESET_STREAM of what we alone send', frame(0x04, 3, 0, 0)],
    [0x05, 'STOP_SENDING of a stream that is not there', frame(0x05, 1, 0)],
    [0x0a, 'NEW_TOKEN', frame(0x07, 1, 'x')],
    [0x05, 'a stream of ours that is not there', frame(0x08, 1, 'x')],
    [0x05, 'data on what we alone send', frame(0x08, 3, 'x')],
    [0x05, 'MAX_STREAM_DATA of a stream that is not there', frame(0x11, 401, 5)],
    [0x05, 'MAX_STREAM_DATA of what the client alone sends', frame(0x11, 2, 5)],
    [0x07, 'MAX_STREAMS above 2^60', Buffer.from('13d000000000000001', 'hex')],
    [0x07, 'STREAMS_BLOCKED above 2^60', Buffer.from('16d000000000000001', 'hex')],
    [0x07, 'NEW_CONNECTION_ID that gives back more than itself', frame(0x18, 1, 2, Buffer.from([4]), Buffer.alloc(20))],
    [0x07, 'NEW_CONNECTION_ID without an identifier', frame(0x18, 1, 0, Buffer.from([0]), Buffer.alloc(16))],
    [0x07, 'NEW_CONNECTION_ID of 21 bytes', frame(0x18, 1, 0, Buffer.from([21]), Buffer.alloc(37))],
    [0x0a, 'HANDSHAKE_DONE', frame(0x1e)],
    [0x10a, 'KeyUpdate of TLS', frame(0x06, 0, 5, Buffer.from([24, 0, 0, 1, 0]))],
    [0x0d, 'CRYPTO far ahead', frame(0x06, 2 ** 20, 1, 'x')],
    [0x04, 'too many streams', frame(0x08, 4 * 128, 'x')],
    [0x04, 'a stream above 2^53', Buffer.from('08ffffffffffffffff78', 'hex').fill(0xfc, 8, 9)],
    [0x06, 'data behind the end', Buffer.concat([frame(0x0b, 0, 1, 'x'), frame(0x0e, 0, 1, 1, 'x')])],
    [0x06, 'an end before what came', Buffer.concat([frame(0x0e, 0, 0, 3, 'abc'), frame(0x0b, 0, 1, 'a')])],
    [0x06, 'two ends', Buffer.concat([frame(0x0f, 0, 0, 2, 'ab'), frame(0x04, 0, 0, 6)])],
    [0x0a, 'an acknowledgement of what was not sent', frame(0x02, 100000, 0, 0, 0)],
    [0x07, 'an acknowledgement of numbers below 0', frame(0x02, 0, 0, 0, 5)],
    [0x07, '... in its second range', frame(0x02, 0, 0, 1, 0, 0, 0)],
    [0x07, 'an acknowledgement of more ranges than it has', frame(0x02, 0, 0, 2 ** 40, 0)],
    [0x07, 'counts of marks that are cut off', frame(0x03, 0, 0, 0, 0, 1)],
    [0x03, 'RESET_STREAM with a large size', frame(0x04, 0, 0, 2 ** 40)],
    [0x06, 'RESET_STREAM with less than came', Buffer.concat([frame(0x0e, 0, 0, 3, 'abc'), frame(0x04, 0, 0, 2)])],
    [0x06, 'RESET_STREAM twice, with two sizes', Buffer.concat([frame(0x0e, 0, 0, 1, 'a'), frame(0x04, 0, 0, 2), frame(0x04, 0, 0, 3)])],
    [0x05, 'STOP_SENDING of what the client alone sends', frame(0x05, 2, 0)],
    [0x05, 'STREAM_DATA_BLOCKED on what we alone send', frame(0x15, 3, 0)],
    [0x04, 'STOP_SENDING of a stream beyond the limit', frame(0x05, 4 * 128, 0)],
    [0x04, 'MAX_STREAM_DATA of a stream beyond the limit', frame(0x11, 4 * 128, 9)],
    [0x04, 'too many streams in one direction', frame(0x08, 2 + 4 * 3, 'x')],
    [
      0x0a,
      'an identifier under two numbers',
      Buffer.concat([1, 2].map((n) => frame(0x18, n, 0, Buffer.from([4, 1, 2, 3, 4]), Buffer.alloc(16)))),
    ],
    [
      0x0a,
      'one identifier with two tokens',
      Buffer.concat([0, 1].map((n) => frame(0x18, 1, 0, Buffer.from([4, 1, 2, 3, 4]), Buffer.alloc(16, n)))),
    ],
    [0x0a, 'the identifier in use is given back', frame(0x19, 0)],
    [0x0a, 'an identifier that was not told yet is given back', frame(0x19, 2)],
    [0x07, 'PATH_CHALLENGE that is cut off', frame(0x1a, Buffer.alloc(7))],
    [0x07, 'CONNECTION_CLOSE whose reason is cut off', frame(0x1c, 0, 0, 5, 'x')],
    [0x07, 'NEW_CONNECTION_ID whose token is cut off', frame(0x18, 1, 0, Buffer.from([4]), Buffer.alloc(19))],
    [0x10a, 'a hello behind the handshake', frame(0x06, 0, 5, Buffer.from([1, 0, 0, 1, 0]))],
    [0x09, 'too many identifiers', Buffer.concat([1, 2, 3].map((n) => frame(0x18, n, 0, Buffer.from([4, n, n, n, n]), Buffer.alloc(16))))],
    [0x0a, 'an identifier twice', Buffer.concat([1, 1].map((n, i) => frame(0x18, n, 0, Buffer.from([4, n, n, n, i]), Buffer.alloc(16))))],
    [0x0a, 'an identifier that was not given is given back', frame(0x19, 50)],
    [0x03, 'more than the connection takes', Buffer.concat(Array.from({ length: 17 }, (_, i) => frame(0x0e, i * 4, 65535, 1, 'x')))],
  ];
  for (const [code, what, frames] of afterwards) {
    t.test(what, async () => {
      const client = await open();
      client.send(APPLICATION, frames);
      await ended(client, code, what);
    });
  }

  t.test('a packet without frames, and reserved bits', async () => {
    const client = await open();
    client.sendPackets([client.packet(APPLICATION, frame(1), { reserved: 0x18 })]);
    await ended(client, 0x0a, 'reserved bits');
    const other = await open();
    other.sendPackets([other.packet(APPLICATION, Buffer.alloc(0), { exact: true })]);
    await ended(other, 0x0a, 'no frames');
  });

  t.test('identifiers: from who has none of its own, and one that is given back twice', async (t) => {
    const none = await open({ source: Buffer.alloc(0) });
    none.send(APPLICATION, frame(0x18, 1, 0, Buffer.from([4]), Buffer.alloc(20)));
    await ended(none, 0x0a, 'an identifier from who uses none');
    const client = await open();
    await client.until(() => client.newIds.length > 0);
    client.peer = client.newIds[0]!.id;
    client.send(APPLICATION, frame(0x19, 0), frame(0x19, 0));
    client.send(APPLICATION, frame(0x19, 0));
    client.get(0, '/');
    t.match(await text(client, 0), /^HTTP/);
    t.equal(new Set(client.newIds.map(({ sequence }) => sequence)).size, 2, 'it is replaced once');
  });

  t.test('numbers of streams may be left out', async (t) => {
    const client = await open();
    client.get(40, '/');
    t.match(await text(client, 40), /^HTTP/);
    client.get(4, '/');
    t.match(await text(client, 4), /^HTTP/);
  });

  t.test('data in any order, twice, and in small parts', async (t) => {
    const client = await open();
    const request = 'GET /\r\n';
    for (const at of [5, 2, 6, 0, 2, 3, 1, 4]) {
      client.send(APPLICATION, frame(0x0e | (at === 6 ? 1 : 0), 0, at, 1, request[at]!));
    }
    t.match(await text(client, 0), /^HTTP/);
  });

  t.test('a client that refuses a response, and breaks off a request', async (t) => {
    const client = await open({ parameters: [parameter(0x05, 1000)] });
    client.get(0, '/long');
    await client.until(() => (client.streams.get(0)?.text.length ?? 0) >= 1000);
    client.send(APPLICATION, frame(0x05, 0, 77));
    await client.until(() => client.streams.get(0)!.reset >= 0);
    t.equal(client.streams.get(0)!.reset, 77);
    client.send(APPLICATION, frame(0x0a, 4, 3, 'GET'), frame(0x04, 4, 5, 3));
    client.get(8, '/');
    t.match(await text(client, 8), /^HTTP/);
  });

  t.test('a client that lets nothing come gets nothing, and then the rest', async (t) => {
    const client = await open({ parameters: [parameter(0x04, 500)] });
    client.get(0, '/long');
    await client.until(() => (client.streams.get(0)?.text.length ?? 0) >= 500);
    t.equal(client.streams.get(0)!.text.length, 500);
    client.send(APPLICATION, frame(0x10, 2 ** 24));
    t.equal((await text(client, 0)).length, LONG.length);
  });

  t.test('what was lost goes again, though the client lets nothing more come', async (t) => {
    const client = await open({ parameters: [parameter(0x04, 500)] });
    client.acknowledges = false;
    client.get(0, '/long');
    const data = (): number => client.frames.filter(({ type }) => type >= 8 && type <= 15).length;
    await client.until(() => (client.streams.get(0)?.text.length ?? 0) >= 500);
    const before = data();
    await client.until(() => data() > before);
    t.pass('data, not only a question');
  });

  t.test('three times what came, before the address is known', async (t) => {
    const client = await QuicClient.open(port, { messages: (level, bytes) => (level === 2 ? Buffer.alloc(0) : bytes) });
    client.acknowledges = false;
    t.teardown(() => client.close());
    await client.until(() => client.datagrams >= 1);
    await new Promise((resolve) => setImmediate(resolve));
    t.ok(client.bytes <= 3600, `${client.bytes}`);
  });

  t.test('packets that nobody can read change nothing', async (t) => {
    const client = await open();
    for (const first of [0x40, 0x43, 0xc0, 0xe0, 0xd0, 0xf0, 0x00, 0x80]) {
      client.sendRaw(Buffer.concat([Buffer.from([first]), client.peer, Buffer.alloc(40, 5)]));
      client.sendRaw(Buffer.from([first]));
    }
    const packet = client.packet(APPLICATION, frame(0x0b, 0, 7, 'GET /\r\n'));
    const broken = Buffer.from(packet);
    broken[broken.length - 1]! ^= 1;
    client.sendRaw(broken);
    client.sendRaw(packet);
    client.sendRaw(packet);
    t.match(await text(client, 0), /^HTTP/);
    t.equal(client.closed, undefined);
  });
});

t.test('a reload: connections go on in the workers that have them', { skip }, async (t) => {
  const server = await startServer(t, { conf: `worker_processes 2;\n${site('')}`, files: { long: LONG } });
  const clients = await Promise.all([1, 2, 3, 4].map(() => QuicClient.connect(server.port(0), { parameters: [parameter(0x04, 500)] })));
  for (const client of clients) {
    t.teardown(() => client.close());
    client.get(0, '/long');
    await client.until(() => (client.streams.get(0)?.text.length ?? 0) >= 500);
  }
  await server.reload();
  for (const client of clients) {
    client.send(APPLICATION, frame(0x10, 2 ** 24));
    await client.until(() => client.streams.get(0)!.end || client.closed !== undefined);
    t.equal(client.streams.get(0)!.text === LONG, true);
  }
  const fresh = await QuicClient.connect(server.port(0));
  t.teardown(() => fresh.close());
  fresh.get(0, '/');
  await fresh.until(() => fresh.streams.get(0)?.end === true);
  t.match(fresh.streams.get(0)!.text, /^HTTP/);
});

/** The hello without the extension of transport parameters. */
function withoutParameters(level: number, hello: Buffer): Buffer {
  if (level !== 0) {
    return hello;
  }
  let at = 38;
  at += 1 + hello[at]!;
  at += 2 + hello.readUInt16BE(at);
  at += 1 + hello[at]!;
  const extensionsAt = at;
  const kept: Buffer[] = [];
  for (at += 2; at < hello.length; ) {
    const end = at + 4 + hello.readUInt16BE(at + 2);
    if (hello.readUInt16BE(at) !== 0x39) {
      kept.push(hello.subarray(at, end));
    }
    at = end;
  }
  const extensions = Buffer.concat(kept);
  const head = Buffer.from(hello.subarray(0, extensionsAt + 2));
  head.writeUInt16BE(extensions.length, extensionsAt);
  const whole = Buffer.concat([head, extensions]);
  whole.writeUIntBE(whole.length - 4, 1, 3);
  return whole;
}

t.test('what cannot be said of an address', { skip }, async (t) => {
  const test = async (listen: string, more = ''): Promise<string> =>
    (
      await testConfig(
        t,
        httpConf(`server { listen 127.0.0.1:8443 ${listen}; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; ${more} }`),
      )
    ).stderr;
  for (const name of ['fastopen=1', 'backlog=5', 'deferred', 'multipath', 'ssl', 'http2', 'so_keepalive=on', 'proxy_protocol']) {
    t.match(await test(`quic ${name}`), `"${name.split('=', 1)[0]}" parameter is incompatible with "quic"`);
  }
  t.match(await test('quic', 'ssl_protocols TLSv1.2;'), '"ssl_protocols" must enable TLSv1.3 for the "listen ... quic" directive in');
  t.match(await test('quic', 'quic_host_key /no/such/file;'), 'open() "/no/such/file" failed (2: No such file or directory)');
  t.match(await test('quic', 'quic_active_connection_id_limit 1;'), '"quic_active_connection_id_limit" must be 2 or more');
  t.match(await test('quic reuseport', 'quic_retry on; quic_gso on;'), 'test is successful');
});
