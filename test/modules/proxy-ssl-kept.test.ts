import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs, pem } from '../support/certs.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('nginx gives a kept connection to whoever asks the group');
}

const { ca, rsa, client } = certs();

/** Answers with the name in the hello, the client's certificate, and the connection's number. */
async function startPeer(t: Test): Promise<number> {
  /** The numbers of connections, by the ports that they come from: HTTP/2 wraps sockets. */
  const numbers = new Map<number, number>();
  const server = createSecureServer(
    { cert: pem(rsa.cert), key: pem(rsa.key), requestCert: true, rejectUnauthorized: false, allowHTTP1: true },
    (request, response) => {
      const socket = (request.stream?.session?.socket ?? request.socket) as TLSSocket & { servername?: string | false };
      const { subject } = socket.getPeerCertificate();
      response.end(`${socket.servername || 'none'} ${subject?.CN ?? 'nobody'} ${numbers.get(socket.remotePort!)}`);
    },
  );
  const sockets = new Set<Socket>();
  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    numbers.set(socket.remotePort!, numbers.size + 1);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.close();
    for (const socket of sockets) {
      socket.destroy();
    }
  });
  return (server.address() as AddressInfo).port;
}

for (const version of ['1.1', '2']) {
  t.test(`a kept connection of HTTP/${version} is for whoever would open the same`, async (t) => {
    const port = await startPeer(t);
    const s = await startServer(t, {
      conf: httpConf(`
        upstream kept { server 127.0.0.1:${port}; keepalive 8; }
        proxy_http_version ${version}; proxy_set_header Connection ''; proxy_ssl_session_reuse off;
        server {
          listen 127.0.0.1:%%PORT_0%%;
          location /plain { proxy_pass https://kept; }
          location /alike { proxy_pass https://kept; }
          location /name { proxy_ssl_server_name on; proxy_ssl_name $arg_x; proxy_pass https://kept; }
          location /checked {
            proxy_ssl_verify on; proxy_ssl_trusted_certificate ${ca.cert}; proxy_ssl_name $arg_x; proxy_pass https://kept;
          }
          location /shown { proxy_ssl_certificate $arg_c; proxy_ssl_certificate_key $arg_k; proxy_pass https://kept; }
          location /bound { proxy_bind $arg_x; proxy_pass https://kept; }
          location /fixed { proxy_ssl_certificate ${client.cert}; proxy_ssl_certificate_key ${client.key}; proxy_pass https://kept; }
        }`),
      asRoot: true,
    });
    const said = async (path: string): Promise<string> => {
      const { status, text } = await httpGet(s, path);
      return status === 200 ? text : String(status);
    };
    t.equal(await said('/plain'), 'none nobody 1');
    t.equal(await said('/alike'), 'none nobody 1', 'another location with the same settings');
    t.equal(await said('/name?x=a.test'), 'a.test nobody 2');
    t.equal(await said('/name?x=b.test'), 'b.test nobody 3');
    t.equal(await said('/name?x=a.test'), 'a.test nobody 2');
    t.equal(await said('/checked?x=localhost'), 'none nobody 4', 'nobody has looked at the backend of the others');
    t.equal(await said('/checked?x=other.test'), '502');
    t.equal(await said('/checked?x=localhost'), 'none nobody 4');
    t.equal(await said(`/shown?c=${client.cert}&k=${client.key}`), 'none client 6');
    t.equal(await said('/shown'), 'none nobody 1', 'without a certificate');
    t.equal(await said(`/shown?c=${client.cert}&k=${client.key}`), 'none client 6');
    t.equal(await said('/fixed'), 'none client 7');
    t.equal(await said('/plain'), 'none nobody 1');
    t.equal(await said('/fixed'), 'none client 7');
    t.equal(await said('/bound?x=127.0.0.2'), 'none nobody 8');
    t.equal(await said('/bound?x=127.0.0.3'), 'none nobody 9', 'from another address');
    t.equal(await said('/bound?x=127.0.0.2'), 'none nobody 8');
    t.equal(await said('/bound'), 'none nobody 1');
  });
}
