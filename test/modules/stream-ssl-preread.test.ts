import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import t from 'tap';
import { certs } from '../support/certs.js';
import { RawClient } from '../support/raw-client.js';
import { startServer, streamConf } from '../support/server.js';
import { startTcpBackend } from '../support/tcp-backend.js';

/** The first bytes of a client of TLS. */
async function helloOf(servername: string, ALPNProtocols: string[]): Promise<Buffer> {
  const { createServer } = await import('node:net');
  return new Promise((done) => {
    const server = createServer((socket) =>
      socket.once('data', (bytes) => {
        socket.destroy();
        server.close();
        done(bytes);
      }),
    );
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      connect({ port, host: '127.0.0.1', servername, ALPNProtocols }).on('error', () => {});
    });
  });
}

/** A record with this piece of a handshake. */
const record = (piece: Buffer): Buffer => Buffer.concat([Buffer.from([22, 3, 1, piece.length >> 8, piece.length & 255]), piece]);

t.test('backends and servers by what a hello says', async (t) => {
  const { rsa } = certs();
  const tls = { cert: readFileSync(rsa.cert), key: readFileSync(rsa.key) };
  const first = await startTcpBackend(t, (socket) => socket.end('first'), tls);
  const s = await startServer(t, {
    conf: streamConf(
      `
      map $ssl_preread_server_name $backend { first.test 127.0.0.1:${first.port}; default 127.0.0.1:%%PORT_8%%; }
      ssl_preread on;
      server { listen 127.0.0.1:%%PORT_0%%; proxy_pass $backend; }
      server { listen 127.0.0.1:%%PORT_1%%; return "$ssl_preread_protocol $ssl_preread_server_name $ssl_preread_alpn_protocols"; }
      server { listen 127.0.0.1:%%PORT_1%%; server_name *.named.test; return "named $ssl_preread_server_name"; }
      server { listen 127.0.0.1:%%PORT_2%%; preread_buffer_size 64; return x; }
      server { listen 127.0.0.1:%%PORT_8%%; return "not TLS"; }`,
      ' $server_port [$ssl_preread_protocol]',
    ),
  });
  const secured = await RawClient.connect(s.port(0), { tls: { servername: 'first.test' } });
  t.equal(await secured.rest(), 'first', 'the handshake is that of the backend');
  const plain = await RawClient.connect(s.port(0));
  plain.send('hello');
  t.equal(await plain.rest(), 'not TLS');

  const hello = await helloOf('x.test', ['h2', 'http/1.1']);
  const slow = await RawClient.connect(s.port(1));
  await slow.sendSlowly(
    [...hello].map((byte) => Buffer.from([byte])),
    0,
  );
  t.equal(await slow.rest(), 'TLSv1.3 x.test h2,http/1.1', 'byte by byte');
  const cut = await RawClient.connect(s.port(1));
  cut.send(Buffer.concat([...hello.subarray(5)].map((byte) => record(Buffer.from([byte])))));
  t.equal(await cut.rest(), 'TLSv1.3 x.test h2,http/1.1', 'in records of a byte');
  const named = await RawClient.connect(s.port(1));
  named.send(await helloOf('a.named.test', []));
  t.equal(await named.rest(), 'named a.named.test');
  const leaving = await RawClient.connect(s.port(1));
  leaving.send(hello.subarray(0, 40)).end();
  t.equal(await leaving.rest(), '', 'a client that leaves within the hello');

  const large = await RawClient.connect(s.port(2));
  large.send(hello);
  await large.closed();
  await s.logged('preread buffer full while prereading client data');
  await s.accessLogged(`400 ${s.port(2)} []`);
});

/** An extension with this content. */
const extension = (kind: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0, kind, content.length >> 8, content.length & 255]), content]);

/** A hello, without its record, that has these extensions; `more`: its head says that it is longer. */
function message(extensions: readonly Buffer[], more = 0): Buffer {
  const all = Buffer.concat(extensions);
  const rest = [3, 3, ...Buffer.alloc(32), 0, 0, 2, 0x13, 1, 1, 0, all.length >> 8, all.length & 255, ...all];
  const length = rest.length + more;
  return Buffer.from([1, 0, length >> 8, length & 255, ...rest]);
}

t.test('a hello that breaks off', async (t) => {
  const s = await startServer(t, {
    conf: streamConf(
      `server { listen 127.0.0.1:%%PORT_0%%; ssl_preread on; preread_timeout 1s; return passed; }`,
      ' "$ssl_preread_protocol $ssl_preread_server_name $ssl_preread_alpn_protocols"',
    ),
  });
  const name = extension(0, Buffer.from('\x00\x09\x00\x00\x06x.test', 'latin1'));
  const protocols = extension(16, Buffer.from('\x00\x0c\x02h2\x08http/1.1', 'latin1'));
  const whole = message([name, protocols, extension(43, Buffer.from([2, 3, 4]))]);
  // The first record ends so many bytes before the name is whole, behind it, and within the protocols; what follows never comes.
  const nameEnd = whole.indexOf('x.test') + 6;
  for (const [first, seen] of [
    [nameEnd - 1, 'TLSv1.2  '],
    [nameEnd, 'TLSv1.2 x.test '],
    [whole.indexOf('h2') + 2, 'TLSv1.2 x.test h2,'],
    [whole.length - 1, 'TLSv1.3 x.test h2,http/1.1'],
  ] as const) {
    const client = await RawClient.connect(s);
    client.send(record(whole.subarray(0, first))).end();
    t.equal(await client.rest(), '');
    await s.accessLogged(`"${seen}"`);
  }
  const cut = await RawClient.connect(s);
  cut.send(Buffer.concat([record(whole.subarray(0, nameEnd)), record(whole.subarray(nameEnd))]));
  t.equal(await cut.rest(), 'passed', 'in two records');
  // What its head says leaves no room for another extension: nobody waits for the bytes that cannot be one.
  const odd = await RawClient.connect(s);
  odd.send(record(message([name], 3)));
  t.equal(await odd.rest(), 'passed', 'three bytes too long');
  await s.accessLogged('"- - -"');
});

t.test('what was looked at counts, though no backend is reached', async (t) => {
  const s = await startServer(t, {
    conf: streamConf(
      `
      server { listen 127.0.0.1:%%PORT_0%%; ssl_preread on; proxy_pass 127.0.0.1:1; }
      server { listen 127.0.0.1:%%PORT_1%%; ssl_preread on; proxy_buffer_size 16; proxy_pass 127.0.0.1:1; }
      server { listen 127.0.0.1:%%PORT_2%%; ssl_preread on; proxy_pass $ssl_preread_protocol; }`,
      ' $bytes_received of $server_port',
    ),
  });
  for (const [i, line] of ['502 27', '502 16', '500 0'].entries()) {
    const client = await RawClient.connect(s.port(i));
    client.send('no hello of a client of TLS');
    t.equal(await client.rest(), '');
    await s.accessLogged(`${line} of ${s.port(i)}`);
  }
});

t.test('random bytes', async (t) => {
  const s = await startServer(t, { conf: streamConf('server { listen 127.0.0.1:%%PORT_0%%; ssl_preread on; return end; }') });
  const hello = await helloOf('x.test', ['h2']);
  for (let i = 5; i < hello.length; i += 7) {
    const changed = Buffer.from(hello);
    changed[i]! ^= 0xff;
    const client = await RawClient.connect(s);
    client.send(changed).end();
    t.match(await client.rest(), /^(end)?$/);
  }
});
