import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { certs } from '../support/certs.js';
import { DatagramPeer } from '../support/datagrams.js';
import { httpGet, RawClient } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';
import { needsNative, socketOptions } from '../support/socket-options.js';

// From where backends are asked: *_bind, and the sizes of the buffers of their sockets.

const root = process.getuid?.() === 0;
const needsRoot = { skip: needsNative.skip || (!root && 'not root') };

/** A backend that says where each connection came from. */
async function backend(t: Test): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.on('data', () => {
      const text = socket.remoteAddress!;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.close();
    for (const socket of open) {
      socket.destroy();
    }
  });
  return (server.address() as { port: number }).port;
}

t.test('a local address, with and without a port', async (t) => {
  const port = await backend(t);
  const s = await startServer(t, {
    conf: serverConf(`
      location /bound { proxy_bind 127.0.0.2; proxy_pass http://127.0.0.1:${port}; }
      location /variable { proxy_bind $arg_from; proxy_pass http://127.0.0.1:${port}; }
      location /port { proxy_bind 127.0.0.3:%%PORT_1%%; proxy_pass http://127.0.0.1:${port}; }
      location /wrong { proxy_bind 203.0.113.5; add_header X-Up "<$upstream_addr> $upstream_status" always; proxy_pass http://127.0.0.1:${port}; }
      location /family { proxy_bind ::1; proxy_pass http://127.0.0.1:${port}; }`),
  });
  t.equal((await httpGet(s.port(0), '/bound')).text, '127.0.0.2');
  t.equal((await httpGet(s.port(0), '/variable?from=127.0.0.4')).text, '127.0.0.4');
  t.equal((await httpGet(s.port(0), '/variable')).text, '127.0.0.1');
  t.equal((await httpGet(s.port(0), '/port')).text, '127.0.0.3');
  const wrong = await httpGet(s.port(0), '/wrong');
  t.equal(wrong.status, 500);
  t.equal(wrong.header('x-up'), '<> -');
  await s.logged(/\[crit\].* bind\(203\.0\.113\.5\) failed \(99: /);
  t.equal((await httpGet(s.port(0), '/family')).status, 500);
  await s.logged(/\[crit\].* bind\(::1\) failed \(/);
  t.equal((await httpGet(s.port(0), '/variable?from=nobody')).text, '127.0.0.1');
  await s.logged('invalid local address "nobody"');
});

// The addresses are this test's alone: on 127.0.0.1 somebody's connection may have the port.
t.test('sizes of buffers', needsNative, async (t) => {
  const port = await backend(t);
  const s = await startServer(t, {
    conf: `${serverConf(
      `
      listen 127.0.0.1:%%PORT_2%% ssl; ssl_certificate ${certs().rsa.cert}; ssl_certificate_key ${certs().rsa.key};
      location = / { return 200 $remote_addr; }
      location /kept {
        proxy_http_version 1.1; proxy_set_header Connection ''; proxy_pass http://kept;
        proxy_bind 127.0.0.7:%%PORT_1%%; proxy_socket_rcvbuf 24k; proxy_socket_sndbuf 20k;
      }
      location /tls { proxy_bind 127.0.0.5; proxy_socket_rcvbuf 24k; proxy_pass https://127.0.0.1:%%PORT_2%%/; }
      location /tls-wrong { proxy_bind 203.0.113.5; proxy_pass https://127.0.0.1:%%PORT_2%%/; }`,
      `upstream kept { server 127.0.0.1:${port}; keepalive 1; }`,
    )}
      stream {
        proxy_bind 127.0.0.6:%%PORT_3%%; proxy_socket_rcvbuf 12k; proxy_socket_sndbuf 16k;
        server { listen 127.0.0.1:%%PORT_4%%; proxy_pass 127.0.0.1:${port}; }
      }`,
  });
  t.equal((await httpGet(s.port(0), '/kept')).text, '127.0.0.7');
  const worker = s.workers()[0]!;
  t.strictSame(socketOptions(worker, s.port(1), ['SO_RCVBUF', 'SO_SNDBUF'], 'connection'), [49152, 40960]);
  t.equal((await httpGet(s.port(0), '/tls')).text, '127.0.0.5', 'with TLS');
  t.equal((await httpGet(s.port(0), '/tls-wrong')).status, 500);
  await s.logged(/\[crit\].* bind\(203\.0\.113\.5\) failed \(99: /);
  const client = await RawClient.connect(s.port(4));
  t.match((await client.send('x').response()).text, '127.0.0.6');
  t.strictSame(socketOptions(worker, s.port(3), ['SO_RCVBUF', 'SO_SNDBUF'], 'connection'), [24576, 32768]);
  client.destroy();
});

t.test('transparent: workers of another user keep the right to it', needsRoot, async (t) => {
  const port = await backend(t);
  const s = await startServer(t, {
    conf: `${httpConf(`
      server {
        listen 127.0.0.1:%%PORT_0%%;
        location /here { proxy_bind 127.0.0.2 transparent; proxy_pass http://127.0.0.1:${port}; }
        location /client { proxy_bind $remote_addr transparent; proxy_pass http://127.0.0.1:${port}; }
        location /away { proxy_bind 203.0.113.5 transparent; proxy_connect_timeout 100ms; proxy_pass http://127.0.0.1:${port}; }
      }`)}
      stream {
        server { listen 127.0.0.1:%%PORT_1%% udp; proxy_bind 127.0.0.6 transparent; proxy_responses 1; proxy_pass 127.0.0.1:%%PORT_2%%; }
        server { listen 127.0.0.1:%%PORT_2%% udp; return $remote_addr; }
      }`,
  });
  t.equal((await httpGet(s.port(0), '/here')).text, '127.0.0.2');
  t.equal((await httpGet(s.port(0), '/client')).text, '127.0.0.1');
  t.equal((await httpGet(s.port(0), '/away')).status, 504, 'nothing is on the way back');
  t.notMatch(s.log(), /bind\(.*failed/);
  const client = await DatagramPeer.connect(t, s.port(1));
  t.equal(await client.send('x').next(), '127.0.0.6');
});

t.test('transparent without the right to it', needsRoot, async (t) => {
  const port = await backend(t);
  const s = await startServer(t, {
    within: ['setpriv', '--bounding-set=-net_raw,-net_admin'],
    asRoot: true,
    expectAlerts: /setsockopt/,
    conf: serverConf(`location / { proxy_bind 127.0.0.2 transparent; proxy_pass http://127.0.0.1:${port}; }`),
  });
  t.equal((await httpGet(s.port(0), '/')).status, 500);
  await s.logged(/\[alert\].* setsockopt\(IP_TRANSPARENT\) failed \(1: Operation not permitted\) while connecting to upstream/);
});
