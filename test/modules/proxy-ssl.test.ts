import { connect } from 'node:net';
import type { TLSSocket } from 'node:tls';
import t from 'tap';
import { hasTuples } from '../../src/worker/tls/names.js';
import { againstNginx } from '../support/binary.js';
import { certs, type KeyPair, pem } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { type OriginHandler, type OriginOptions, startOrigin } from '../support/origin.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { startTcpBackend, type TcpBackend } from '../support/tcp-backend.js';

const { ca, rsa, ecdsa, second, client, other, revoked, encryptedKey, crl, crlWithClient } = certs();

const tlsOf = ({ cert, key }: KeyPair): OriginOptions => ({ tls: { cert: pem(cert), key: pem(key) } });

/** Answers with a property of the connection that the target names. */
const tell: OriginHandler = ({ target }, reply) => {
  const socket = reply.socket as TLSSocket & { servername: string | false };
  const facts: Record<string, string> = {
    '/name': String(socket.servername || 'none'),
    '/protocol': socket.getProtocol() ?? 'none',
    '/cipher': socket.getCipher().name,
    '/reused': String(socket.isSessionReused()),
    '/client': (socket.getPeerCertificate().subject as { CN?: string } | undefined)?.CN ?? 'none',
  };
  return { body: facts[target.replace(/\?.*/, '').replace(/^.*\//, '/')] ?? target };
};

t.test('proxy_ssl_verify: whom the server trusts', async (t) => {
  const [good, wrongName, unknown, withdrawn] = await Promise.all(
    [rsa, second, other, revoked].map(async (pair) => startOrigin(t, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', tlsOf(pair))),
  );
  const s = await startServer(t, {
    conf: serverConf(`
      proxy_ssl_trusted_certificate ${ca.cert};
      proxy_ssl_verify on;
      proxy_ssl_name localhost;
      location /good { proxy_pass https://127.0.0.1:${good!.port}; }
      location /wildcard { proxy_ssl_name www.example.com:8443; proxy_pass https://127.0.0.1:${good!.port}; }
      location /address { proxy_ssl_name 127.0.0.1; proxy_pass https://127.0.0.1:${good!.port}; }
      location /variable { proxy_ssl_name $arg_name; proxy_pass https://127.0.0.1:${good!.port}; }
      location /depth { proxy_ssl_verify_depth 0; proxy_pass https://127.0.0.1:${good!.port}; }
      location /name { proxy_pass https://127.0.0.1:${wrongName!.port}; }
      location /unknown { proxy_pass https://127.0.0.1:${unknown!.port}; }
      location /unchecked { proxy_ssl_verify off; proxy_pass https://127.0.0.1:${unknown!.port}; }
      location /revoked { proxy_pass https://127.0.0.1:${withdrawn!.port}; }
      location /crl { proxy_ssl_session_reuse off; proxy_ssl_crl ${crlWithClient}; proxy_pass https://127.0.0.1:${withdrawn!.port}; }
      location /clean { proxy_ssl_crl ${crl}; proxy_pass https://127.0.0.1:${good!.port}; }`),
  });
  for (const path of ['/good', '/wildcard', '/variable?name=a.example.com', '/depth', '/unchecked', '/revoked', '/clean']) {
    t.equal((await httpGet(s, path)).text, 'ok', path);
  }
  const refusals: readonly (readonly [string, RegExp])[] = [
    ['/name', /\[error\].* upstream SSL certificate does not match "localhost" while SSL handshaking to upstream, client: /],
    ['/address', /upstream SSL certificate does not match "127.0.0.1" while SSL handshaking/],
    ['/variable?name=example.net', /upstream SSL certificate does not match "example.net" while SSL handshaking/],
    ['/unknown', /upstream SSL certificate verify error: \(18:self.signed certificate\) while SSL handshaking to upstream/],
    ['/crl', /upstream SSL certificate verify error: \(23:certificate revoked\) while SSL handshaking to upstream/],
  ];
  for (const [path, line] of refusals) {
    t.equal((await httpGet(s, path)).status, 502, path);
    t.ok(await s.logged(line), path);
  }
});

t.test('proxy_ssl_server_name, proxy_ssl_name: the name in the handshake', async (t) => {
  const origin = await startOrigin(t, tell, tlsOf(rsa));
  const s = await startServer(t, {
    conf: serverConf(
      `
      location /off { proxy_pass https://127.0.0.1:${origin.port}/name; }
      proxy_ssl_server_name on;
      location /address { proxy_pass https://127.0.0.1:${origin.port}/name; }
      location /group { proxy_pass https://group.example/name; }
      location /given { proxy_ssl_name given.example; proxy_pass https://127.0.0.1:${origin.port}/name; }
      location /variable { proxy_ssl_name $arg_n; proxy_pass https://127.0.0.1:${origin.port}/name; }
      location /host { proxy_ssl_name $http_host; proxy_pass https://127.0.0.1:${origin.port}/name; }
      location /dynamic { proxy_pass https://$arg_g/name; }`,
      `upstream group.example { server 127.0.0.1:${origin.port}; }`,
    ),
  });
  const name = async (path: string, headers = {}): Promise<string> => (await httpGet(s, path, headers)).text;
  t.equal(await name('/address'), 'none');
  t.equal(await name('/group'), 'group.example');
  t.equal(await name('/given'), 'given.example');
  t.equal(await name('/variable?n=v.example'), 'v.example');
  t.equal(await name('/variable?n=other.example'), 'other.example');
  t.equal(await name('/variable?n='), 'none');
  t.equal(await name('/host', { Host: 'asked.example:8080' }), 'asked.example');
  t.equal(await name('/dynamic?g=group.example'), 'group.example');
});

t.test('proxy_ssl_server_name is off by default', async (t) => {
  const origin = await startOrigin(t, tell, tlsOf(rsa));
  const s = await startServer(t, {
    conf: serverConf('location / { proxy_pass https://group.example; }', `upstream group.example { server 127.0.0.1:${origin.port}; }`),
  });
  t.equal((await httpGet(s, '/name')).text, 'none');
});

t.test('proxy_ssl_certificate: the server shows a certificate of its own', async (t) => {
  const origin = await startOrigin(t, tell, {
    tls: { cert: pem(rsa.cert), key: pem(rsa.key), ca: pem(ca.cert), requestCert: true, rejectUnauthorized: false },
  });
  const to = `https://127.0.0.1:${origin.port}/client`;
  const s = await startServer(t, {
    conf: serverConf(`
      proxy_ssl_session_reuse off;
      location /without { proxy_pass ${to}; }
      location /with { proxy_ssl_certificate ${client.cert}; proxy_ssl_certificate_key ${client.key}; proxy_pass ${to}; }
      location /encrypted {
        proxy_ssl_certificate ${rsa.cert}; proxy_ssl_certificate_key ${encryptedKey}; proxy_ssl_password_file passwords; proxy_pass ${to};
      }
      location /variable {
        proxy_ssl_certificate ${certs().dir}/$arg_who.crt; proxy_ssl_certificate_key ${certs().dir}/$arg_who.key;
        proxy_ssl_certificate_cache max=10;
        proxy_pass ${to};
      }`),
    files: { passwords: 'wrong\nsecret\n' },
    // The workers read the keys that variables name.
    asRoot: true,
  });
  const shown = async (path: string): Promise<string> => (await httpGet(s, path)).text;
  t.equal(await shown('/without'), 'none');
  t.equal(await shown('/with'), 'client');
  t.equal(await shown('/encrypted'), 'localhost');
  t.equal(await shown('/variable?who=client'), 'client');
  t.equal(await shown('/variable?who=ecdsa'), 'localhost');
  t.equal((await httpGet(s, '/variable?who=nobody')).status, 500);
  t.ok(await s.logged(/\[error\].* cannot load certificate ".*\/nobody.crt": .*No such file or directory/));
});

t.test('proxy_ssl_session_reuse: later handshakes resume the first one', async (t) => {
  const origin = await startOrigin(t, tell, tlsOf(rsa));
  const s = await startServer(t, {
    conf: serverConf(
      `
      location /on { proxy_pass https://127.0.0.1:${origin.port}/reused; }
      location /12 { proxy_ssl_protocols TLSv1.2; proxy_pass https://localhost.test/reused; }
      location /off { proxy_ssl_session_reuse off; proxy_pass https://127.0.0.1:${origin.port}/reused; }`,
      `
      upstream localhost.test { server 127.0.0.1:${origin.port}; }`,
    ),
  });
  for (const [path, then] of [
    ['/on', 'true'],
    // nginx begins anew here.
    ['/12', againstNginx ? 'false' : 'true'],
    ['/off', 'false'],
  ] as const) {
    t.equal((await httpGet(s, path)).text, 'false', path);
    t.equal((await httpGet(s, path)).text, then, path);
  }
});

/** OpenSSL offers keys that quantum computers do not find out. */
const offersMany = hasTuples(process.versions.openssl) && !againstNginx;

t.test('a session is resumed with a key of the kind that the backend had taken', { skip: !offersMany }, async (t) => {
  const relay = async (ecdhCurve: string) => {
    const { tls } = tlsOf(rsa);
    const origin = await startOrigin(t, tell, { tls: { ...tls, ecdhCurve } });
    return startTcpBackend(t, (socket) => {
      const there = connect(origin.port, '127.0.0.1');
      there.on('error', () => socket.destroy());
      socket.pipe(there).pipe(socket);
    });
  };
  const [classic, quantum] = await Promise.all([relay('X25519'), relay('X25519MLKEM768')]);
  const s = await startServer(t, {
    conf: serverConf(`
      location /classic { proxy_pass https://127.0.0.1:${classic.port}/reused; }
      location /again { proxy_pass https://127.0.0.1:${classic.port}/reused; }
      location /12 { proxy_ssl_protocols TLSv1.2; proxy_pass https://127.0.0.1:${classic.port}/reused; }
      location /quantum { proxy_pass https://127.0.0.1:${quantum.port}/reused; }`),
  });
  /** The length of a connection's first record, which is the hello. */
  const hello = (backend: TcpBackend): number => Buffer.from(backend.received.at(-1)!, 'latin1').readUInt16BE(3);
  for (const [path, backend, reused, long] of [
    ['/classic', classic, 'false', true],
    ['/classic', classic, 'true', false],
    // The same group and settings.
    ['/again', classic, 'true', false],
    ['/12', classic, 'false', false],
    ['/12', classic, 'true', false],
    ['/quantum', quantum, 'false', true],
    ['/quantum', quantum, 'true', true],
    ['/classic', classic, 'true', false],
  ] as const) {
    t.equal((await httpGet(s, path)).text, reused, path);
    t.equal(hello(backend) > 1184, long, `${path}: a key of X25519MLKEM768 has 1184 bytes`);
  }
});

for (const [version, bind] of [
  ['TLSv1.2', ''],
  ['TLSv1.3', ''],
  ['TLSv1.3', 'proxy_bind 127.0.0.1;'],
] as const) {
  t.test(`${version} ${bind} connections are kept while many requests come`, async (t) => {
    const origin = await startOrigin(t, { body: 'answer' }, tlsOf(ecdsa));
    const s = await startServer(t, {
      conf: serverConf(
        `location / { proxy_ssl_protocols ${version}; ${bind} proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass https://kept; }`,
        `upstream kept { server 127.0.0.1:${origin.port}; keepalive 20; }`,
      ),
    });
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => httpGet(s, '/')));
      t.ok(answers.every(({ text }) => text === 'answer'));
    }
    t.ok(origin.connections() <= 10, `${origin.connections()} connections`);
  });
}

t.test('a response whose records are changed on their way', async (t) => {
  const origin = await startOrigin(t, { body: 'x'.repeat(100_000) }, tlsOf(ecdsa));
  // Behind the handshake, and behind the head of the response.
  let left = 60_000;
  const between = await startTcpBackend(t, (socket) => {
    const onwards = connect(origin.port, '127.0.0.1');
    onwards.on('error', () => socket.destroy());
    socket.on('error', () => onwards.destroy());
    socket.pipe(onwards);
    onwards.on('data', (bytes) => {
      if (left >= 0 && left < bytes.length) {
        bytes[left]! ^= 1;
      }
      left -= bytes.length;
      socket.write(bytes);
    });
    onwards.on('end', () => socket.end());
  });
  const s = await startServer(t, { conf: serverConf(`location / { proxy_pass https://127.0.0.1:${between.port}; }`) });
  const client = (await RawClient.connect(s)).send(requestText('GET', '/'), 'GET');
  const came = await client.rest();
  const body = came.slice(came.indexOf('\r\n\r\n') + 4);
  t.ok(body.length < 100_000, 'the response ends early');
  t.match(body, /^x*$/);
  await s.logged(/\[error\].*error:0A000119:.*decryption failed or bad record mac.* while reading upstream/);
  t.equal((await httpGet(s, '/')).text.length, 100_000);
});

t.test('proxy_ssl_protocols, proxy_ssl_ciphers, proxy_ssl_conf_command', async (t) => {
  const both = await startOrigin(t, tell, tlsOf(rsa));
  const only13 = await startOrigin(t, tell, { tls: { ...tlsOf(ecdsa).tls, minVersion: 'TLSv1.3' } });
  const s = await startServer(t, {
    conf: serverConf(`
      proxy_ssl_session_reuse off;
      location /any/ { proxy_pass https://127.0.0.1:${both.port}; }
      location /12/ { proxy_ssl_protocols TLSv1.2; proxy_ssl_ciphers ECDHE-RSA-AES256-GCM-SHA384; proxy_pass https://127.0.0.1:${both.port}; }
      location /command/ { proxy_ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256; proxy_pass https://127.0.0.1:${both.port}; }
      location /old/ { proxy_ssl_protocols TLSv1.2; proxy_pass https://127.0.0.1:${only13.port}; }`),
  });
  const told = async (path: string): Promise<string> => (await httpGet(s, path)).text;
  t.equal(await told('/any/protocol'), 'TLSv1.3');
  t.equal(await told('/12/protocol'), 'TLSv1.2');
  t.equal(await told('/12/cipher'), 'ECDHE-RSA-AES256-GCM-SHA384');
  t.equal(await told('/command/cipher'), 'TLS_AES_128_GCM_SHA256');
  t.equal((await httpGet(s, '/old/protocol')).status, 502);
  t.ok(
    await s.logged(
      /SSL_do_handshake\(\) failed \(SSL: error:0A00042E:.*protocol version:SSL alert number 70\) while SSL handshaking to upstream/,
    ),
  );
});

t.test('a backend that asks for a certificate in vain', async (t) => {
  const strict = await startOrigin(t, tell, {
    tls: { ...tlsOf(rsa).tls, minVersion: 'TLSv1.3', requestCert: true, rejectUnauthorized: true, ca: pem(ca.cert) },
  });
  const s = await startServer(t, { conf: serverConf(`location / { proxy_pass https://127.0.0.1:${strict.port}; }`) });
  t.equal((await httpGet(s, '/')).status, 502);
  await s.logged(
    / SSL_read\(\) failed \(SSL: error:0A00045C:SSL routines::tlsv13 alert certificate required:SSL alert number 116\) while /,
  );
});

t.test('a name that is too long to be sent', async (t) => {
  const origin = await startOrigin(t, tell, tlsOf(rsa));
  const s = await startServer(t, {
    conf: serverConf(`
      proxy_ssl_server_name on; proxy_ssl_name $arg_name;
      location / { proxy_pass https://127.0.0.1:${origin.port}; add_header X-Up "$upstream_addr $upstream_status" always; }`),
  });
  t.equal((await httpGet(s, `/name?name=${'a'.repeat(255)}`)).text, 'a'.repeat(255));
  const refused = await httpGet(s, `/name?name=${'a'.repeat(256)}`);
  t.equal(refused.status, 500);
  t.equal(refused.header('x-up'), `127.0.0.1:${origin.port} -`);
  await s.logged(/SSL_set_tlsext_host_name\("a{256}"\) failed \(SSL: error:.*invalid servername\) while connecting to upstream/);
});

t.test('a backend that speaks no TLS, or breaks off', async (t) => {
  const plain = await startOrigin(t, { body: 'plain' }, { onConnection: (socket) => socket.write('HTTP/1.1 400 Bad\r\n\r\n') });
  const closing = await startOrigin(t, '', { onConnection: (socket) => socket.end() });
  const s = await startServer(t, {
    conf: serverConf(`
      location /plain { proxy_pass https://127.0.0.1:${plain.port}; }
      location /closing { proxy_pass https://127.0.0.1:${closing.port}; }
      location /silent { proxy_connect_timeout 200ms; proxy_pass https://127.0.0.1:%%PORT_1%%; }`),
  });
  t.equal((await httpGet(s, '/plain')).status, 502);
  t.ok(await s.logged(/SSL_do_handshake\(\) failed \(SSL: error:0A00010B:.*wrong version number.*\) while SSL handshaking to upstream/));
  t.equal((await httpGet(s, '/closing')).status, 502);
  t.ok(await s.logged(/peer closed connection in SSL handshake.* while SSL handshaking to upstream/));
  await startOrigin(t, '', { port: s.port(1) });
  t.equal((await httpGet(s, '/silent')).status, 504);
  t.ok(await s.logged(/upstream timed out \(110: Connection timed out\) while SSL handshaking to upstream/));
});

t.test('what -t refuses', async (t) => {
  const said = async (lines: string): Promise<string> =>
    (await configMessage(t, serverConf(`location / { proxy_pass https://127.0.0.1; ${lines} }`))) ?? '';
  t.match(await said('proxy_ssl_verify on;'), /no proxy_ssl_trusted_certificate for proxy_ssl_verify/);
  t.match(await said(`proxy_ssl_certificate ${client.cert};`), /no "proxy_ssl_certificate_key" is defined for certificate/);
  t.match(
    await said(`proxy_ssl_verify on; proxy_ssl_trusted_certificate none.crt;`),
    /(SSL_CTX_load_verify_locations\(".*none.crt"\) failed|cannot load certificate ".*none.crt")/,
  );
  t.match(await said(`proxy_ssl_protocols TLSv9;`), /invalid value "TLSv9"/);
  t.match(await said(`proxy_ssl_ciphers NOTHING;`), /SSL_CTX_set_cipher_list\("NOTHING"\) failed/);
});
