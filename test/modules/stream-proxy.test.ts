import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { RawClient } from '../support/raw-client.js';
import { startServer, streamConf } from '../support/server.js';
import { echo, startTcpBackend } from '../support/tcp-backend.js';
import { waitFor } from '../support/wait.js';

t.test('bytes both ways', async (t) => {
  const backend = await startTcpBackend(t, echo);
  const s = await startServer(t, {
    conf: streamConf(
      `
      upstream u { server 127.0.0.1:${backend.port}; }
      map $server_port $name { default u; }
      server { listen 127.0.0.1:%%PORT_0%%; proxy_pass 127.0.0.1:${backend.port}; }
      server { listen 127.0.0.1:%%PORT_1%%; proxy_pass $name; }`,
      ' $bytes_received/$bytes_sent $upstream_addr $upstream_bytes_sent/$upstream_bytes_received',
    ),
  });
  for (const port of [0, 1]) {
    const client = await RawClient.connect(s.port(port));
    await client.sendSlowly([...'bytes'], 1);
    t.equal(await client.take(5), 'bytes');
    client.end();
    t.equal(await client.rest(), '');
  }
  const line = `200 5/5 127.0.0.1:${backend.port} 5/5`;
  await waitFor(() => s.accessLog() === `${line}\n${line}\n`);
  await s.logged(/client disconnected, bytes from\/to client:5\/5, bytes from\/to upstream:5\/5$/);
  t.match(s.log(), /proxy 127\.0\.0\.1:\d+ connected to 127\.0\.0\.1:\d+$/m);
});

t.test('the time of the first byte of a backend that sends its end alone', async (t) => {
  const backend = await startTcpBackend(t, (socket) => socket.end());
  const s = await startServer(t, {
    conf: streamConf(`server { listen 127.0.0.1:%%PORT_0%%; proxy_pass 127.0.0.1:${backend.port}; }`, ' $upstream_first_byte_time'),
  });
  t.equal(await (await RawClient.connect(s)).rest(), '');
  await s.accessLogged(/^200 \d\.\d{3}$/m);
});

t.test('least_time: a session counts whose server has not said a word', async (t) => {
  const [slow, fast] = [await startTcpBackend(t, () => {}), await startTcpBackend(t, () => {})];
  const s = await startServer(t, {
    conf: streamConf(`upstream u { least_time last_byte; server 127.0.0.1:${slow.port}; server 127.0.0.1:${fast.port}; }
      server { listen 127.0.0.1:%%PORT_0%%; proxy_timeout 1s; proxy_pass u; }`),
  });
  await (await RawClient.connect(s)).rest();
  for (const sessions of [1, 2, 3]) {
    const client = await RawClient.connect(s);
    await waitFor(() => fast.sockets.length === sessions);
    client.end();
    await client.rest();
  }
  t.equal(slow.sockets.length, 1);
});

t.test('a side that does not read', async (t) => {
  const data = randomBytes(24 * 1024 * 1024);
  const backend = await startTcpBackend(t, (socket) => {
    socket.pause();
    socket.end(data);
  });
  const s = await startServer(t, {
    conf: streamConf(`server { listen 127.0.0.1:%%PORT_0%%; proxy_half_close on; proxy_pass 127.0.0.1:${backend.port}; }`),
  });
  const client = await RawClient.connect(s);
  client.pause().send(data);
  await waitFor(() => backend.sockets.length === 1);
  client.send(data.subarray(0, 1));
  backend.sockets[0]!.resume();
  client.resume().end();
  // A client that has everything closes its side, so that it must have sent everything before.
  await waitFor(() => backend.received[0]!.length === data.length + 1);
  t.equal(Buffer.compare(Buffer.from(await client.rest(), 'latin1'), data), 0, 'nothing is lost on the way to the client');
  t.equal(Buffer.compare(Buffer.from(backend.received[0]!, 'latin1').subarray(0, data.length), data), 0, 'nor to the backend');
});

t.test('a client that reads late gets all, wherever there was no more room for it', async (t) => {
  const piece = Buffer.alloc(9000, 'x');
  const backend = await startTcpBackend(t, (socket) => socket.setNoDelay(true));
  const s = await startServer(t, {
    conf: streamConf(`server { listen unix:%%DIR%%/s.sock; proxy_pass 127.0.0.1:${backend.port}; }`),
  });
  // One of them has its last piece where the kernel, which keeps some 200 KB of a Unix-domain socket, takes no more.
  const sessions = Array.from({ length: 40 }, (_, i) => i + 1);
  const clients = await Promise.all(sessions.map(async () => (await RawClient.connect(`${s.dir}/s.sock`)).pause()));
  await waitFor(() => backend.sockets.length === sessions.length);
  await Promise.all(
    sessions.map(async (pieces, i) => {
      const socket = backend.sockets[i]!;
      for (let sent = 0; sent < pieces; sent++) {
        socket.write(piece);
        await sleep(5);
      }
      await new Promise<void>((done) => socket.end(done));
    }),
  );
  await sleep(100);
  const lengths = await Promise.all(clients.map(async (client) => (await client.resume().rest()).length / piece.length));
  t.strictSame(
    lengths.sort((a, b) => a - b),
    sessions,
  );
});

t.test('proxy_half_close', async (t) => {
  const late = await startTcpBackend(t, (socket) => socket.on('end', () => socket.end('late')));
  const s = await startServer(t, {
    conf: streamConf(`
      server { listen 127.0.0.1:%%PORT_0%%; proxy_pass 127.0.0.1:${late.port}; }
      server { listen 127.0.0.1:%%PORT_1%%; proxy_pass 127.0.0.1:${late.port}; proxy_half_close on; }`),
  });
  const cut = await RawClient.connect(s.port(0));
  cut.send('x').end();
  t.equal(await cut.rest(), '', 'off: the end of one side is that of the session');
  const kept = await RawClient.connect(s.port(1));
  kept.send('x').end();
  t.equal(await kept.rest(), 'late', 'on: the other side goes on');
  t.equal(late.received.at(-1), 'x');
});

t.test('backends that are not there', async (t) => {
  const backend = await startTcpBackend(t, (socket) => socket.end('here'));
  const s = await startServer(t, {
    conf: streamConf(
      `
      upstream u { server 127.0.0.1:%%PORT_8%%; server 127.0.0.1:${backend.port} backup; }
      upstream down { server 127.0.0.1:${backend.port} down; }
      server { listen 127.0.0.1:%%PORT_0%%; proxy_pass u; }
      server { listen 127.0.0.1:%%PORT_1%%; proxy_pass u; proxy_next_upstream off; }
      server { listen 127.0.0.1:%%PORT_2%%; proxy_pass down; }
      server { listen 127.0.0.1:%%PORT_3%%; set $b nowhere.invalid:1; proxy_pass $b; }
      server { listen 127.0.0.1:%%PORT_4%%; set $b 127.0.0.1; proxy_pass $b; }
      server { listen 127.0.0.1:%%PORT_5%%; proxy_bind 203.0.113.5; proxy_pass 127.0.0.1:${backend.port}; }`,
      ' $server_port $upstream_addr',
    ),
  });
  const rest = async (n: number): Promise<string> => (await RawClient.connect(s.port(n))).rest();
  t.equal(await rest(0), 'here', 'the next one is asked');
  const refused = `127.0.0.1:${s.port(8)}`;
  await s.accessLogged(`200 ${s.port(0)} ${refused}, 127.0.0.1:${backend.port}`);
  await s.logged(`connect() failed (111: Connection refused) while connecting to upstream, client: 127.0.0.1`);
  t.equal(await rest(5), '');
  await s.accessLogged(new RegExp(`500 ${s.port(5)} $`));
  t.equal(await rest(2), '');
  await s.accessLogged(`502 ${s.port(2)} down`);
  await s.logged('no live upstreams while connecting to upstream');
  t.equal(await rest(3), '');
  await s.logged('no resolver defined to resolve nowhere.invalid');
  await s.accessLogged(`500 ${s.port(3)}`);
  t.equal(await rest(4), '');
  await s.logged('no port in upstream "127.0.0.1"');
});

t.test('proxy_protocol', async (t) => {
  const backend = await startTcpBackend(t, (socket) => socket.on('end', () => socket.end('bye')));
  // The first server of the group is never reached: what goes to the second is counted for it alone.
  const s = await startServer(t, {
    conf: streamConf(
      `
      proxy_half_close on;
      proxy_protocol on;
      upstream two { server 127.0.0.1:1; server 127.0.0.1:${backend.port}; }
      server { listen 127.0.0.1:%%PORT_0%%; proxy_pass two; }
      server { listen 127.0.0.1:%%PORT_1%%; proxy_pass two2; proxy_ssl on; }
      upstream two2 { server 127.0.0.1:%%PORT_2%%; server 127.0.0.1:%%PORT_2%%; }
      server { listen 127.0.0.1:%%PORT_2%%; proxy_protocol off; proxy_pass 127.0.0.1:1; }`,
      ' $server_port $upstream_bytes_sent',
    ),
  });
  const client = await RawClient.connect(s);
  const { localPort } = client.socket;
  client.send('data').end();
  t.equal(await client.rest(), 'bye');
  const header = `PROXY TCP4 127.0.0.1 127.0.0.1 ${localPort} ${s.port(0)}\r\n`;
  t.equal(backend.received[0], `${header}data`);
  await s.accessLogged(`200 ${s.port(0)} 0, ${header.length + 4}`);
  await s.logged(`disconnected, bytes from/to client:4/3, bytes from/to upstream:3/${header.length + 4}`);

  // The header goes before the handshake, and is counted with each server that gets it.
  const secure = await RawClient.connect(s.port(1));
  const length = `PROXY TCP4 127.0.0.1 127.0.0.1 ${secure.socket.localPort} ${s.port(1)}\r\n`.length;
  await secure.closed();
  await s.accessLogged(`502 ${s.port(1)} ${length}, ${length}`);
});

t.test('TLS to the backend', async (t) => {
  const { rsa, ca } = certs();
  const tls = { cert: readFileSync(rsa.cert), key: readFileSync(rsa.key), ALPNProtocols: ['one', 'two'] };
  const names: (string | false | null)[] = [];
  const backend = await startTcpBackend(
    t,
    (socket) => {
      const secured = socket as import('node:tls').TLSSocket;
      names.push(secured.alpnProtocol, (secured as unknown as { servername: string }).servername);
      socket.end('secret');
    },
    tls,
  );
  const s = await startServer(t, {
    conf: streamConf(`
      proxy_ssl on;
      proxy_ssl_server_name on;
      proxy_ssl_verify on;
      proxy_ssl_trusted_certificate ${ca.cert};
      server { listen 127.0.0.1:%%PORT_0%%; proxy_ssl_name localhost; proxy_ssl_alpn two; proxy_pass 127.0.0.1:${backend.port}; }
      server { listen 127.0.0.1:%%PORT_1%%; proxy_ssl_name other.test; proxy_pass 127.0.0.1:${backend.port}; }`),
  });
  t.equal(await (await RawClient.connect(s.port(0))).rest(), 'secret');
  t.strictSame(names.slice(0, 2), ['two', 'localhost']);
  t.equal(await (await RawClient.connect(s.port(1))).rest(), '');
  await s.logged('upstream SSL certificate does not match "other.test"');
});

t.test('rates', async (t) => {
  const backend = await startTcpBackend(t, echo);
  const s = await startServer(t, {
    conf: streamConf(`
      server { listen 127.0.0.1:%%PORT_0%%; proxy_upload_rate 8k; proxy_download_rate 12k; proxy_pass 127.0.0.1:${backend.port}; }`),
  });
  const client = await RawClient.connect(s);
  const text = 'x'.repeat(20_000);
  client.send(text);
  t.equal(await client.take(text.length), text);
});

t.test('sessions in which nothing happens', async (t) => {
  const backend = await startTcpBackend(t, () => {});
  const s = await startServer(t, {
    conf: streamConf(`server { listen 127.0.0.1:%%PORT_0%%; proxy_timeout 200ms; proxy_pass 127.0.0.1:${backend.port}; }`),
  });
  await (await RawClient.connect(s)).closed();
  await s.logged('connection timed out (110: Connection timed out) while proxying connection, client: 127.0.0.1');
  await s.accessLogged(/^200$/m);
});

t.test('a reload leaves sessions alone', async (t) => {
  const backend = await startTcpBackend(t, echo);
  const conf = (text: string): string =>
    streamConf(`server { listen 127.0.0.1:%%PORT_0%%; proxy_pass 127.0.0.1:${backend.port}; }
      server { listen 127.0.0.1:%%PORT_1%%; return ${text}; }`);
  const s = await startServer(t, { conf: conf('old') });
  const client = await RawClient.connect(s);
  client.send('before');
  await client.take(6);
  await s.reload(conf('new'));
  t.equal(await (await RawClient.connect(s.port(1))).rest(), 'new');
  client.send('after');
  t.equal(await client.take(5), 'after');
});

t.test('what is refused', async (t) => {
  const inServer = (text: string): string => `events {}\nstream { server { listen 1234; ${text} } }\n`;
  t.match(await configMessage(t, inServer('proxy_pass localhost;')), /^no port in upstream "localhost" in /);
  t.match(await configMessage(t, inServer('proxy_pass u; proxy_pass u;')), /^"proxy_pass" directive is duplicate in /);
  t.match(await configMessage(t, inServer('proxy_protocol v3;')), /^invalid value "v3" in /);
  t.match(await configMessage(t, inServer('proxy_upload_rate x;')), /^"proxy_upload_rate" directive invalid value in /);
  const upstream = (line: string): string => `events {}\nstream { upstream u { ${line} } }\n`;
  t.match(await configMessage(t, upstream('server 127.0.0.1;')), /^no port in upstream "127\.0\.0\.1" in /);
  t.match(await configMessage(t, upstream('server 127.0.0.1:1 route=a;')), /^invalid parameter "route=a" in /);
  t.match(await configMessage(t, upstream('keepalive 1;')), /^"keepalive" directive is not allowed here in /);
});
