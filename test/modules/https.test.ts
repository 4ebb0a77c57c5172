import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { loadedConfiguration } from '../support/loaded.js';
import { startNameServer } from '../support/name-server.js';
import { startOrigin } from '../support/origin.js';
import { noPebble, startPebble } from '../support/pebble.js';
import { reservePort } from '../support/ports.js';
import { httpGet } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

/** A finished handshake with a server that `ca` vouches for; undefined for one that failed. */
function shake(port: number, servername: string, ca: string): Promise<TLSSocket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, servername, ca, ALPNProtocols: ['h2', 'http/1.1'] });
    socket.on('secureConnect', () => resolve(socket));
    socket.on('error', () => resolve(undefined));
  });
}

/** The status of its certificate that a server sends along; null for none. */
function staple(port: number, servername: string, ca: string): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, servername, ca, requestOCSP: true } as ConnectionOptions);
    socket.on('OCSPResponse', (response: Buffer | null) => {
      resolve(response);
      socket.destroy();
    });
    socket.on('error', () => resolve(null));
  });
}

const handshake = (server: Server, port: number, name: string, ca: () => string): Promise<TLSSocket> =>
  waitFor(() => shake(port, name, ca()).catch(() => undefined), { what: () => server.log().slice(-1500) }) as Promise<TLSSocket>;

t.test('https internal: a CA of our own, a redirect and HTTP/2', async (t) => {
  const server = await startServer(t, {
    conf: httpConf(
      `server {
        listen 127.0.0.1:%%PORT_0%%;
        listen 127.0.0.1:%%PORT_1%% ssl;
        server_name app.internal localhost;
        https internal;
        location / { return 200 "inside"; }
      }
      server {
        listen 127.0.0.1:%%PORT_0%%;
        listen 127.0.0.1:%%PORT_1%% ssl;
        server_name plain.internal;
        https internal redirect=off;
        http2 off;
        location / { return 200 "$scheme"; }
      }`,
      'worker_processes 2;',
    ),
  });
  await server.logged('certificate issued');
  const root = (): string => readFileSync(`${server.dir}/acme_internal/root.crt`, 'latin1');
  const socket = await handshake(server, server.port(1), 'app.internal', root);
  t.equal(socket.alpnProtocol, 'h2');
  t.match(socket.getCipher(), { version: 'TLSv1.3' });
  const certificate = socket.getPeerX509Certificate()!;
  t.equal(certificate.subjectAltName, 'DNS:app.internal, DNS:localhost');
  t.match(new X509Certificate(root()), { ca: true });
  socket.destroy();
  const plain = await handshake(server, server.port(1), 'plain.internal', root);
  t.equal(plain.alpnProtocol, 'http/1.1', 'http2 off counts');
  plain.destroy();
  const redirected = await httpGet(server.port(0), '/a%20b?c', { Host: 'app.internal' });
  t.equal(redirected.status, 301);
  t.equal(redirected.header('location'), `https://app.internal:${server.port(1)}/a%20b?c`);
  t.equal((await httpGet(server.port(0), '/', { Host: 'plain.internal' })).text, 'http');

  const cli = ['-p', `${server.dir}/`, '-c', 'sluice.conf'];
  const { stdout, stderr, code } = await runCli(['trust', '--print', ...cli]);
  t.equal(code, 0);
  t.equal(stdout, root());
  t.match(stderr, /^sluice: CN=sluice internal CA of .*, valid until .*, SHA-256 [0-9A-F:]+$/m);

  await server.reload();
  const again = await handshake(server, server.port(1), 'app.internal', root);
  t.equal(again.getPeerX509Certificate()!.serialNumber, certificate.serialNumber, 'a reload makes no new certificate');
  again.destroy();
});

t.test('https internal: what this machine cannot do is tried again soon, since that bothers nobody', async (t) => {
  const server = await startServer(t, {
    conf: httpConf('server { listen 127.0.0.1:%%PORT_0%% ssl; server_name app.internal; https internal redirect=off; return 200 inside; }'),
    files: { 'acme_internal/root.key/file': 'in the way' },
  });
  await server.logged(/ while updating certificate, next attempt at /);
  rmSync(`${server.dir}/acme_internal/root.key`, { recursive: true });
  const socket = await handshake(server, server.port(0), 'app.internal', () => server.read('acme_internal/root.crt'));
  t.equal(socket.getPeerX509Certificate()!.subjectAltName, 'DNS:app.internal');
  socket.destroy();
});

t.test('https auto in the http block, with the issuer that is configured', { skip: noPebble }, async (t) => {
  const [http, tls] = [await reservePort(), await reservePort()];
  t.teardown(() => {
    http.release();
    tls.release();
  });
  const names = ['one.example.com', 'two.example.com', 'localhost'];
  const dns = await startNameServer(t, Object.fromEntries(names.map((name) => [name, [{ type: 'A', value: '127.0.0.1' }]])));
  const files = t.testdir({});
  // Tells the status of whatever it is asked about, as the CA would.
  let answer = (_request: Buffer): Buffer => Buffer.alloc(0);
  const responder = await startOrigin(t, ({ target }) => ({
    headers: { 'Content-Type': 'application/ocsp-response' },
    body: answer(Buffer.from(decodeURIComponent(target.slice(1)), 'base64')),
  }));
  const url = `http://127.0.0.1:${responder.port}`;
  const ca = await startPebble(t, files, { dnsPort: dns.port, httpPort: http.port, tlsPort: tls.port, responder: url });
  const { cert, key } = await ca.intermediate();
  writeFileSync(`${files}/ca.crt`, cert);
  writeFileSync(`${files}/ca.key`, key);
  answer = (request) => {
    writeFileSync(`${files}/request.der`, request);
    const text = execFileSync('openssl', ['ocsp', '-reqin', 'request.der', '-text', '-noverify'], { cwd: files, encoding: 'utf8' });
    writeFileSync(`${files}/index.txt`, `V\t21000101000000Z\t\t${/Serial Number: (\w+)/.exec(text)![1]}\tunknown\t/CN=any\n`);
    const signer = ['-index', 'index.txt', '-rsigner', 'ca.crt', '-rkey', 'ca.key', '-CA', 'ca.crt', '-ndays', '1'];
    execFileSync('openssl', ['ocsp', ...signer, '-reqin', 'request.der', '-respout', 'response.der'], { cwd: files, stdio: 'ignore' });
    return readFileSync(`${files}/response.der`);
  };
  const listen = `listen 127.0.0.1:${http.port}; listen 127.0.0.1:${tls.port} ssl;`;
  const server = await startServer(t, {
    conf: httpConf(`resolver 127.0.0.1:${dns.port} ipv6=off;
      https auto;
      acme_issuer ca { uri ${ca.directory}; ssl_trusted_certificate ${ca.trusted}; accept_terms_of_service; }
      server { ${listen} server_name one.example.com; root %%DIR%%/html; }
      server { ${listen} server_name two.example.com; root %%DIR%%/html; }
      server { listen 127.0.0.1:%%PORT_0%%; server_name three.example.com; location / { return 200 "left alone"; } }
      server { ${listen} server_name off.example.com; https off; ssl_reject_handshake on; }`),
  });
  const root = await ca.root();
  for (const name of names.slice(0, 2)) {
    const socket = await handshake(server, tls.port, name, () => root);
    t.equal(socket.alpnProtocol, 'h2', name);
    t.equal(socket.getPeerX509Certificate()!.subjectAltName, `DNS:${name}`);
    socket.destroy();
  }
  const stapled = await waitFor(() => staple(tls.port, 'one.example.com', root), { what: () => server.log().slice(-1500) });
  t.ok(stapled, 'the response about the certificate goes with it');
  t.same(ca.orders.map(({ identifiers }) => identifiers[0]!.value).sort(), names.slice(0, 2), 'nobody else wants a certificate');
  t.equal((await httpGet(server.port(0), '/', { Host: 'three.example.com' })).text, 'left alone');
  t.equal((await httpGet(http.port, '/x', { Host: 'two.example.com' })).header('location'), `https://two.example.com:${tls.port}/x`);
});

t.test('where servers listen', async (t) => {
  const root = process.getuid?.() === 0;
  const [plain, secure] = root ? [80, 443] : [8000, 8443];
  const listens = async (text: string): Promise<string[]> =>
    (await loadedConfiguration(t, httpConf(text))).listens.filter(({ family }) => family === 'ipv4').map(({ key }) => key);
  t.strictSame(await listens('server { server_name a.example; https internal; }'), [`0.0.0.0:${plain}`, `0.0.0.0:${secure}`]);
  t.strictSame(await listens('https internal; server { server_name a.example; listen 80; }'), ['0.0.0.0:80', `0.0.0.0:${secure}`]);
  t.strictSame(await listens('https internal; server { server_name a.example; listen 8080; }'), ['0.0.0.0:8080']);
  t.strictSame(await listens('https internal; server { }'), [`0.0.0.0:${plain}`]);
  t.strictSame(await listens('server { server_name a.example; listen 8080; https internal; }'), ['0.0.0.0:8080', `0.0.0.0:${secure}`]);
});

t.test('what the configuration may say', async (t) => {
  const message = (text: string): Promise<string | undefined> => configMessage(t, httpConf(text));
  t.match(await message('https maybe;'), /invalid value "maybe" in "https" directive, it must be "auto", "internal" or "off"/);
  t.match(await message('https internal issuer=x;'), /invalid parameter "issuer=x"/);
  t.match(await message('server { server_name a.example; https auto issuer=x; }'), /issuer "x" is missing/);
  t.match(await message('server { https auto; }'), /"https" needs a "server_name" without regular expressions/);
  t.match(await message('server { https auto; https auto; }'), /"https" directive is duplicate/);
  t.equal(await message('server { server_name a.example; https auto; }'), undefined);
});
