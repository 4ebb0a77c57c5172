import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { whyNoQuic } from '../../src/worker/net/openssl/quic-library.js';
import { certs } from '../support/certs.js';
import { APPLICATION, frame, INITIAL, QuicClient, type QuicClientOptions } from '../support/quic-client.js';
import { httpConf, startServer } from '../support/server.js';

const skip = whyNoQuic() !== '' && `no QUIC: ${whyNoQuic()}`;
const { rsa } = certs();

const conf = httpConf(`
    ssl_certificate ${rsa.cert};
    ssl_certificate_key ${rsa.key};
    http3_hq on; quic_active_connection_id_limit 8;
    server {
      listen 127.0.0.1:%%PORT_0%% quic;
      location / { return 200 "served by $pid"; }
    }`);

const newId = (sequence: number, retire: number): Buffer =>
  frame(0x18, sequence, retire, Buffer.from([4, 9, 9, 9, sequence]), Buffer.alloc(16, sequence));

/** A socket at another address of the loopback network. */
async function socketAt(t: Test, address: string): Promise<Socket> {
  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  socket.bind(0, address);
  await once(socket, 'listening');
  return socket;
}

t.test('clients that mean harm', { skip }, async (t) => {
  const server = await startServer(t, { conf });
  const port = server.port(0);
  const open = async (t: Test, options?: QuicClientOptions): Promise<QuicClient> => {
    const client = await QuicClient.connect(port, options);
    t.teardown(() => client.close());
    return client;
  };
  const text = async (client: QuicClient, stream: number): Promise<string> => {
    await client.until(() => client.streams.get(stream)?.end === true || client.closed !== undefined);
    return client.streams.get(stream)?.text ?? '';
  };
  /** The process that serves new clients. */
  const served = async (t: Test): Promise<string> => {
    const client = await open(t);
    client.get(0, '/');
    return text(client, 0);
  };
  const first = await served(t);

  t.test('identifiers out of order while the client moves', async (t) => {
    const client = await open(t);
    const [second, third] = [await socketAt(t, '127.0.0.2'), await socketAt(t, '127.0.0.3')];
    // What it acknowledged by itself would come from its first address, and so take it back there.
    client.acknowledges = false;
    client.send(APPLICATION, newId(5, 0));
    client.sendRaw(client.packet(APPLICATION, frame(1)), second);
    client.sendRaw(client.packet(APPLICATION, newId(2, 0)), second);
    client.sendRaw(client.packet(APPLICATION, frame(1)), third);
    const answered = once(third, 'message');
    client.sendRaw(client.packet(APPLICATION, newId(4, 3)), third);
    await answered;
    t.equal(await served(t), first, 'the process lives');
  });

  t.test('identifiers that the client cannot know are given back', async (t) => {
    const client = await open(t);
    await client.until(() => client.newIds.length > 0);
    const most = client.newIds.at(-1)!.sequence;
    client.send(APPLICATION, ...Array.from({ length: 100 }, (_, i) => frame(0x19, most + i)));
    await client.until(() => client.closed !== undefined);
    t.equal(client.closed!.code, 0x0a);
  });

  t.test('keys that change before the last change was answered', async (t) => {
    const client = await open(t);
    const level = client.levels[APPLICATION]!;
    const next = level.write!.next();
    client.flipPhase();
    const one = client.packet(APPLICATION, frame(1), { keys: next });
    client.flipPhase();
    const other = client.packet(APPLICATION, frame(1), { keys: next.next() });
    client.updateKeys();
    client.sendRaw(one);
    client.sendRaw(other);
    await client.until(() => client.closed !== undefined);
    t.equal(client.closed!.code, 0x0e);
  });

  t.test('challenges by who acknowledges nothing', async (t) => {
    const client = await open(t);
    await client.until(() => client.newIds.length > 0);
    client.acknowledges = false;
    for (let i = 0; i < 2000; i++) {
      client.send(APPLICATION, frame(0x1a, Buffer.alloc(8, i)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Who is answered afterwards came after all of that.
    await served(t);
    t.ok(client.responses.length < 60, `${client.responses.length} answers`);
  });

  t.test('datagrams of others do not take the places of the ways that a client tries', async (t) => {
    const client = await open(t);
    await client.until(() => client.newIds.length > 0);
    for (let i = 0; i < 6; i++) {
      const socket = await socketAt(t, '127.0.0.4');
      client.sendRaw(Buffer.concat([Buffer.from([0x43]), client.peer, Buffer.alloc(60, i)]), socket);
    }
    const moved = await socketAt(t, '127.0.0.5');
    const answered = once(moved, 'message');
    client.sendRaw(client.packet(APPLICATION, frame(0x1a, Buffer.alloc(8))), moved);
    await answered;
    t.pass('the client may try another way');
  });

  t.test('a hello that comes byte by byte, backwards within a packet', async (t) => {
    let hello = Buffer.alloc(0);
    const take = (level: number, bytes: Buffer): Buffer => {
      if (level !== INITIAL) {
        return bytes;
      }
      hello = Buffer.concat([hello, bytes]);
      return Buffer.alloc(0);
    };
    const client = await QuicClient.open(port, { messages: take });
    t.teardown(() => client.close());
    for (let from = 0; from < hello.length; from += 100) {
      const bytes = [...hello.subarray(from, from + 100)];
      const frames = bytes.map((byte, i) => frame(6, from + i, 1, Buffer.from([byte])));
      client.send(INITIAL, ...frames.reverse());
    }
    await client.until(() => client.confirmed || client.closed !== undefined);
    client.get(0, '/');
    t.equal(await text(client, 0), first);
  });

  t.test('a hello that has no end', async (t) => {
    const client = await QuicClient.open(port, { messages: () => Buffer.alloc(0) });
    t.teardown(() => client.close());
    client.send(INITIAL, frame(6, 0, 1004, Buffer.from([1, 0xff, 0xff, 0xff]), Buffer.alloc(1000)));
    for (let at = 1004; at < 66_000; at += 1000) {
      client.send(INITIAL, frame(6, at, 1000, Buffer.alloc(1000)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await client.until(() => client.closed !== undefined);
    t.equal(client.closed!.code, 0x0d);
  });
});
