// Longer than most: the module has more directives than any other, and their tests share these clients and certificates.
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs, pem } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { noQuicClient, quicGet } from '../support/gtlsclient.js';
import { type Origin, startOrigin } from '../support/origin.js';
import { makePrefix } from '../support/prefix.js';
import { httpGet } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const c = certs();
const pair = (name: 'rsa' | 'ecdsa' | 'second' | 'other') => `ssl_certificate ${c[name].cert};\nssl_certificate_key ${c[name].key};\n`;
const client = (name: 'client' | 'other' | 'ca') => ({ cert: pem(c[name].cert), key: pem(c[name].key) });

interface Exchange {
  readonly text: string;
  /** The server said that this is the end. */
  readonly ended: boolean;
  readonly session: Buffer | undefined;
  readonly certificate: string;
  readonly protocol: string | null;
}

interface Way extends ConnectionOptions {
  port?: number;
  host?: string;
  /** The connection begins with a PROXY protocol header. */
  proxied?: boolean;
}

function dial(server: Server, { port = 0, proxied = false, host: _, ...tls }: Way = {}): TLSSocket {
  const to = { host: '127.0.0.1', port: server.port(port) };
  if (!proxied) {
    return connect({ ...to, rejectUnauthorized: false, ...tls });
  }
  const socket = connectTcp(to);
  socket.write('PROXY TCP4 192.0.2.1 127.0.0.1 1 2\r\n');
  return connect({ socket, rejectUnauthorized: false, ...tls });
}

/** One request on a TLS connection of its own. Rejects when the handshake fails. */
function get(server: Server, path: string, options: Way = {}): Promise<Exchange> {
  const { host = options.servername || 'localhost' } = options;
  return new Promise((resolve, reject) => {
    const socket = dial(server, options);
    let text = '';
    let ended = false;
    let session: Buffer | undefined;
    let certificate = '';
    let protocol: string | null = null;
    socket.setEncoding('latin1');
    socket.on('session', (data: Buffer) => (session = data));
    socket.on('secureConnect', () => {
      certificate = String(socket.getPeerCertificate().subject?.CN);
      protocol = socket.getProtocol();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    });
    socket.on('data', (data: string) => (text += data));
    socket.on('error', reject);
    socket.on('end', () => (ended = true));
    socket.on('close', () => resolve({ text, ended, session, certificate, protocol }));
  });
}

/** What a server says to some requests until it closes the connection. */
function talk(server: Server, requests: string, way: Way = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = dial(server, way);
    let text = '';
    socket.setEncoding('latin1');
    socket.on('secureConnect', () => socket.write(requests));
    socket.on('data', (data: string) => (text += data));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

const body = ({ text }: Pick<Exchange, 'text'>): string => text.slice(text.indexOf('\r\n\r\n') + 4);
const conf = (servers: string): string => httpConf(servers);
const start = (t: Test, servers: string, more: object = {}): Promise<Server> => startServer(t, { conf: conf(servers), ...more });

t.test('one address, several names, each with its certificate', async (t) => {
  const server = await start(
    t,
    `server { listen 127.0.0.1:%%PORT_0%% ssl; server_name localhost; ${pair('rsa')} return 200 "first $ssl_server_name $https $scheme"; }
     server { listen 127.0.0.1:%%PORT_0%% ssl; server_name example.org *.example.org; ${pair('second')} return 200 "second $ssl_server_name"; }
     server { listen 127.0.0.1:%%PORT_0%% ssl; server_name bare; return 200 "bare $ssl_server_name"; }`,
  );
  const first = await get(server, '/', { servername: 'localhost' });
  t.equal(body(first), 'first localhost on https');
  t.equal(first.certificate, 'localhost');
  const second = await get(server, '/', { servername: 'www.Example.org', host: 'www.example.org' });
  t.equal(body(second), 'second www.Example.org');
  t.equal(second.certificate, 'example.org');
  const bare = await get(server, '/', { servername: 'bare' });
  t.equal(body(bare), 'bare bare', 'a server without certificates answers on those of the default server');
  t.equal(bare.certificate, 'localhost');
  t.equal(body(await get(server, '/', { servername: 'unknown' })), 'first unknown on https');
});

t.test('protocol versions go by the name too', async (t) => {
  const server = await start(
    t,
    `server { listen 127.0.0.1:%%PORT_0%% ssl; server_name one; ${pair('rsa')} ssl_protocols TLSv1.2; return 200 $ssl_protocol; }
     server { listen 127.0.0.1:%%PORT_0%% ssl; server_name two; ${pair('rsa')} ssl_protocols TLSv1.3; return 200 $ssl_protocol; }`,
  );
  t.equal(body(await get(server, '/', { servername: 'one' })), 'TLSv1.2');
  t.equal(body(await get(server, '/', { servername: 'two' })), 'TLSv1.3');
  await t.rejects(get(server, '/', { servername: 'two', maxVersion: 'TLSv1.2' }));
  await server.logged(
    /\[info\].*SSL_do_handshake\(\) failed \(SSL: error:0A0[0-9A-F]+:SSL routines::.*\) while SSL handshaking, client: 127\.0\.0\.1/,
  );
});

t.test('two kinds of certificates', async (t) => {
  const server = await start(t, `server { listen 127.0.0.1:%%PORT_0%% ssl; ${pair('rsa')}${pair('ecdsa')} return 200 $ssl_cipher; }`);
  const max = { maxVersion: 'TLSv1.2' } as const;
  t.match(body(await get(server, '/', { ...max, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' })), /^ECDHE-RSA-/);
  t.match(body(await get(server, '/', { ...max, ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' })), /^ECDHE-ECDSA-/);
});

/** Since OpenSSL 3.5 there are groups that a quantum computer does not break, and groups come in rows. */
const hasRows = Number.parseFloat(process.versions.openssl) >= 3.5;

t.test('the group of the key exchange is the one that the client knows of', async (t) => {
  const settings = ['auto', 'X25519:P-256', 'P-384:P-256', ...(hasRows ? ['X25519MLKEM768:X25519', 'P-384 / P-256:X25519'] : [])];
  const server = await start(
    t,
    settings
      .map(
        (setting, i) => `server { listen 127.0.0.1:%%PORT_${i}%% ssl; ${pair('rsa')} ssl_ecdh_curve "${setting}";
          location / { return 200 "$ssl_curve $ssl_curves\n"; } }`,
      )
      .join('\n'),
  );
  const clients = ['auto', 'P-256:X25519', 'X25519:P-256', 'P-384:P-256', 'P-256:P-384:X25519', 'X448:P-256', 'P-521:P-384'];
  const quantum = ['X25519:X25519MLKEM768', 'SecP256r1MLKEM768:P-256', 'MLKEM768:P-256', 'X25519MLKEM768:P-384'];
  let agreed = 0;
  for (const port of settings.keys()) {
    for (const ecdhCurve of [...clients, ...(hasRows ? quantum : [])]) {
      for (const maxVersion of ['TLSv1.3', 'TLSv1.2'] as const) {
        const told = await groupOf(server, { port, ecdhCurve, maxVersion });
        if (told !== undefined) {
          agreed++;
          // Node 22 tells its clients nothing of a group that is half of another kind.
          const untold = told.client === '' && maxVersion === 'TLSv1.3' && told.server.includes('MLKEM');
          t.equal(told.server, untold ? told.server : told.client, `${settings[port]} and ${ecdhCurve} over ${maxVersion}`);
        }
      }
    }
  }
  t.ok(agreed > 30, `${agreed} handshakes`);
  if (hasRows) {
    t.match(
      body(await get(server, '/', { ecdhCurve: 'X25519MLKEM768:SecP384r1MLKEM1024' })),
      /^X25519MLKEM768 X25519MLKEM768:SecP384r1MLKEM1024/,
    );
  }
});

/** The group of a handshake as the server and the client tell it; undefined when they do not agree on one. */
function groupOf(server: Server, way: Way): Promise<{ readonly server: string; readonly client: string } | undefined> {
  return new Promise((done) => {
    const socket = dial(server, way);
    let text = '';
    let name = '';
    socket.on('secureConnect', () => {
      // There is none when RSA exchanges the keys.
      name = (socket.getEphemeralKeyInfo() as { name?: string }).name ?? '';
      socket.write('GET / HTTP/1.0\r\n\r\n');
    });
    socket.on('data', (data) => (text += data.toString('latin1')));
    socket.on('error', () => done(undefined));
    socket.on('close', () => done({ server: body({ text }).split(' ')[0]!, client: name }));
  });
}

t.test('certificates of clients', async (t) => {
  const variables = '$ssl_client_verify $ssl_client_s_dn $ssl_client_s_dn_legacy $ssl_client_serial';
  const verify = (mode: string, name: string, more = ''): string =>
    `server { listen 127.0.0.1:%%PORT_0%% ssl; server_name ${name}; ${pair('rsa')} ssl_verify_client ${mode}; ssl_client_certificate ${c.ca.cert}; ${more}
     location / { return 200 "${variables}"; } }`;
  const server = await start(
    t,
    verify('on', 'on') +
      verify('optional', 'optional') +
      verify('optional_no_ca', 'no-ca') +
      verify('on', 'crl', `ssl_crl ${c.crlWithClient};`),
  );
  const good = await get(server, '/', { servername: 'on', ...client('client') });
  t.match(body(good), /^SUCCESS O=Tests,CN=client \/CN=client\/O=Tests [0-9A-F]+$/);
  t.match((await get(server, '/', { servername: 'on' })).text, /400 Bad Request[\s\S]*No required SSL certificate was sent/);
  await server.logged('client sent no required SSL certificate');
  t.match((await get(server, '/', { servername: 'on', ...client('other') })).text, /400 Bad Request[\s\S]*The SSL certificate error/);
  await server.logged('client SSL certificate verify error: (18:');
  t.match(body(await get(server, '/', { servername: 'optional' })), /^NONE/);
  t.match(body(await get(server, '/', { servername: 'no-ca', ...client('other') })), /^FAILED:self-signed certificate CN=other/);
  t.match((await get(server, '/', { servername: 'crl', ...client('client') })).text, /The SSL certificate error/);
  await server.logged('client SSL certificate verify error: (23:certificate revoked)');
  for (const host of ['on', 'ON', 'on.']) {
    t.match(body(await get(server, '/', { servername: 'On.', host, ...client('client') })), /^SUCCESS/, `a dot in the hello, ${host}`);
  }
  t.match((await get(server, '/', { servername: 'on', host: 'optional', ...client('client') })).text, /^HTTP\/1\.1 421 /);
  await server.logged('client attempted to request the server name different from the one that was negotiated');
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    // A session that began without a certificate, or with one that another server takes, opens nothing here.
    const before = await get(server, '/', { servername: 'optional', maxVersion });
    const taken = await get(server, '/', { servername: 'no-ca', maxVersion, ...client('other') });
    for (const { session } of [before, taken]) {
      t.ok(session);
      const text = await get(server, '/', { servername: 'on', maxVersion, session: session! }).then(
        (found) => found.text,
        (error: Error) => `refused: ${error.message}`,
      );
      t.match(text, /^HTTP\/1\.1 400 |^refused: /, `${maxVersion} resumed at another server`);
    }
  }
});

t.test('certificates of clients that others have signed', async (t) => {
  const verify = (name: string, more: string): string =>
    `server { listen 127.0.0.1:%%PORT_0%% ssl; server_name ${name}; ${pair('rsa')} ${more} location / { return 200 "$ssl_client_verify"; } }`;
  const server = await start(
    t,
    verify('list', `ssl_verify_client optional_no_ca; ssl_client_certificate ${c.other.cert}; ssl_crl ${c.crlWithClient};`) +
      verify('forged', `ssl_verify_client optional; ssl_client_certificate ${c.ca.cert};`) +
      // What else OpenSSL is asked for in this process.
      verify('early', 'ssl_early_data on; ssl_certificate_compression on;'),
  );
  const { cert, key } = client('client');
  const der = new X509Certificate(cert).raw;
  der[der.length - 1]! ^= 1;
  const forged = `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    for (let i = 0; i < 3; i++) {
      // OpenSSL keeps what went wrong in the check, which is not to be taken for an end of the connection.
      const found = await get(server, '/', { servername: 'list', cert, key, maxVersion });
      t.equal(body(found), 'FAILED:unable to verify the first certificate', maxVersion);
      const refused = await get(server, '/', { servername: 'forged', cert: forged, key, maxVersion });
      t.match(refused.text, /400 Bad Request[\s\S]*The SSL certificate error/, maxVersion);
    }
  }
  await server.logged('client SSL certificate verify error: (7:certificate signature failure)');
});

t.test('the name of a client whose session goes on', async (t) => {
  const more = (port: number, lines: string): string =>
    `server { listen 127.0.0.1:%%PORT_${port}%% ssl; ${pair('rsa')} ${lines} return 200 "$ssl_session_reused $ssl_server_name"; }`;
  const server = await start(t, more(0, 'ssl_session_tickets on;') + more(1, 'ssl_session_tickets off; ssl_session_cache shared:S:1m;'));
  for (const port of [0, 1]) {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const first = await get(server, '/', { port, maxVersion, servername: 'one.example' });
      t.equal(body(first), '. one.example');
      const { session } = first;
      t.equal(body(await get(server, '/', { port, maxVersion, session: session!, servername: 'one.example' })), 'r one.example');
      // A session belongs to the name that it was made for.
      t.equal(body(await get(server, '/', { port, maxVersion, session: session! })), '. ', `${maxVersion} on port ${port}`);
      t.equal(body(await get(server, '/', { port, maxVersion, session: session!, servername: 'two.example' })), '. two.example');
    }
  }
});

t.test('sessions go on in other workers and after a reload', async (t) => {
  const sessions = (port: number, more: string): string =>
    `server { listen 127.0.0.1:%%PORT_${port}%% ssl; ${pair('rsa')} ${more} return 200 $ssl_session_reused; }`;
  const servers =
    sessions(0, 'ssl_session_tickets on;') +
    sessions(1, 'ssl_session_tickets off; ssl_session_cache shared:S:1m;') +
    sessions(2, 'ssl_session_tickets off;') +
    sessions(3, 'ssl_session_tickets on; ssl_session_timeout 1;');
  const server = await startServer(t, { conf: `worker_processes 2;\n${conf(servers)}` });
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    for (const [port, expected] of [
      [0, 'r'],
      [1, 'r'],
      [2, '.'],
    ] as const) {
      const first = await get(server, '/', { port, maxVersion });
      t.equal(body(first), '.');
      const reused: string[] = [];
      for (let i = 0; i < 6; i++) {
        reused.push(body(await get(server, '/', { port, maxVersion, session: first.session })));
      }
      t.strictSame([...new Set(reused)], [expected], `${maxVersion} on port ${port}`);
      if (expected !== 'r') {
        continue;
      }
      await server.reload();
      t.equal(body(await get(server, '/', { port, maxVersion, session: first.session })), 'r', 'after a reload');
    }
  }
});

t.test('a handshake that is refused', async (t) => {
  const server = await start(
    t,
    `server { listen 127.0.0.1:%%PORT_0%% ssl default_server; ssl_reject_handshake on; }
     server { listen 127.0.0.1:%%PORT_0%% ssl; server_name good; ${pair('rsa')} return 200 good; }`,
  );
  t.equal(body(await get(server, '/', { servername: 'good' })), 'good');
  await t.rejects(get(server, '/', { servername: 'bad' }), /unrecognized name/);
});

t.test('the end of a connection, and plain HTTP', async (t) => {
  const server = await start(t, `server { listen 127.0.0.1:%%PORT_0%% ssl; ${pair('rsa')} return 200 ok; }`);
  const exchange = await get(server, '/');
  t.equal(exchange.ended, true);
  const session = (await get(server, '/', { session: (await get(server, '/')).session })).session;
  t.ok(session, 'a resumed connection gives a session too');
  const plain = await httpGet(server, '/');
  t.equal(plain.status, 400);
  t.match(plain.body.toString(), /The plain HTTP request was sent to HTTPS port/);
});

t.test('many requests at once, and bodies both ways', async (t) => {
  const big = 'b'.repeat(200_000);
  const server = await start(
    t,
    `server { listen 127.0.0.1:%%PORT_0%% ssl; ${pair('rsa')} client_max_body_size 1m;
       location /small { return 200 "small\n"; }
       location /echo { proxy_pass http://127.0.0.1:%%PORT_1%%; }
       location / { root %%DIR%%; } }
     server { listen 127.0.0.1:%%PORT_1%%; return 200 "got $content_length\n"; }`,
    { files: { 'big.txt': big } },
  );
  const upload = 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n' + 'u'.repeat(100_000);
  const one = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const requests = one('/small').repeat(40) + upload + one('/big.txt').repeat(2) + one('/small') + 'GET /small HTTP/1.0\r\n\r\n';
  const text = await talk(server, requests);
  t.equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, 45);
  t.equal(text.match(/small\n/g)?.length, 42);
  t.match(text, 'got 100000\n');
  t.equal(text.split(big).length, 3);
});

t.test('a client that sends no more, and one that comes over a UNIX-domain socket', async (t) => {
  const origin = await startOrigin(t, ({ target }) => ({ body: target }));
  const server = await start(
    t,
    `server { listen 127.0.0.1:%%PORT_0%% ssl; listen unix:%%DIR%%/socket ssl; ${pair('rsa')} location / { return 200 "$remote_addr $ssl_protocol"; }
       location /slow { proxy_ignore_client_abort on; proxy_pass http://127.0.0.1:${origin.port}; } }`,
  );
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect({
      host: '127.0.0.1',
      port: server.port(0),
      rejectUnauthorized: false,
      allowHalfOpen: true,
    } as ConnectionOptions);
    let all = '';
    socket.setEncoding('latin1');
    socket.end('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    socket.on('data', (data: string) => (all += data));
    socket.on('error', reject);
    socket.on('end', () => resolve(all));
  });
  t.match(text, /^HTTP\/1\.1 200 [\s\S]*\/slow$/);
  t.equal(body(await get(server, '/', { path: join(server.dir, 'socket') })), 'unix: TLSv1.3');
});

t.test('an interim response, and the tunnel behind it', async (t) => {
  const origin = await startOrigin(t, ({ target }, { socket }) => {
    if (target === '/hints') {
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    } else {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\nfirst ');
      socket.once('data', (data: Buffer) => socket.end(`then ${data}`));
    }
    return undefined;
  });
  const server = await start(
    t,
    `server { listen 127.0.0.1:%%PORT_0%% ssl; ${pair('rsa')} early_hints 1;
       location / { proxy_pass http://127.0.0.1:${origin.port}; proxy_http_version 1.1; proxy_set_header Upgrade raw; proxy_set_header Connection Upgrade; } }`,
  );
  const hints = await talk(server, 'GET /hints HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  t.match(hints, /^HTTP\/1\.1 103 Early Hints[\s\S]*HTTP\/1\.1 200 OK[\s\S]*ok$/);
  const tunnel = await talk(server, 'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\nearly');
  t.match(tunnel, /^HTTP\/1\.1 101 [\s\S]*first then early$/);
});

t.test('a connection that is reset', async (t) => {
  const server = await start(t, `server { listen 127.0.0.1:%%PORT_0%% ssl; ${pair('rsa')} reset_timedout_connection on; return 444; }`);
  await t.rejects(get(server, '/'), { code: 'ECONNRESET' });
  await t.rejects(get(server, '/'), { code: 'ECONNRESET' }, 'and the worker lives');
});

/** What the certificates' authority says of one of them now, as a responder would send it. */
function ocspResponse(name: 'rsa' | 'ecdsa' | 'client'): Buffer {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-ocsp-'));
  const signer = ['-index', 'index.txt', '-CA', 'ca.crt', '-rsigner', 'ca.crt', '-rkey', 'ca.key', '-ndays', '1'];
  const about = ['-issuer', 'ca.crt', '-cert', `${name}.crt`, '-noverify', '-respout', `${dir}/der`];
  execFileSync('openssl', ['ocsp', ...signer, ...about], { cwd: c.dir, stdio: 'ignore' });
  const response = readFileSync(`${dir}/der`);
  rmSync(dir, { recursive: true });
  return response;
}

/** A responder whose first path segment says which response it gives. */
function startResponder(t: Test): Promise<Origin> {
  const known = { rsa: ocspResponse('rsa'), ecdsa: ocspResponse('ecdsa'), client: ocspResponse('client') };
  return startOrigin(t, ({ target }) => {
    const body = known[target.split('/')[1] as keyof typeof known];
    return body === undefined ? { status: 500 } : { headers: { 'Content-Type': 'application/ocsp-response' }, body };
  });
}

/** The response that is stapled to a handshake. */
function staple(server: Server, port: number, way: Way = {}): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const socket = dial(server, { ...way, port, requestOCSP: true } as Way);
    socket.on('OCSPResponse', (response: Buffer | null) => {
      socket.destroy();
      resolve(response?.length ? response : null);
    });
    socket.on('error', reject);
  });
}

t.test('responses of OCSP go with handshakes', async (t) => {
  const responder = await startResponder(t);
  const url = `http://127.0.0.1:${responder.port}`;
  const stapling = (port: number, path: string, more = ''): string =>
    `server { listen 127.0.0.1:%%PORT_${port}%% ssl; ${pair('rsa')} ssl_stapling on; ${more} ssl_trusted_certificate ${c.ca.cert};
       ssl_stapling_responder ${url}/${path}/; return 200 ok; }`;
  const other = ocspResponse('ecdsa');
  const server = await start(
    t,
    stapling(0, 'rsa', 'ssl_stapling_verify on;') +
      stapling(1, 'client') +
      `server { listen 127.0.0.1:%%PORT_2%% ssl; ${pair('rsa')} ssl_stapling on; ssl_stapling_file file.der; return 200 ok; }`,
    { files: { 'file.der': other } },
  );
  t.equal(await staple(server, 0), null, 'the first handshake does not wait');
  t.ok(await waitFor(() => staple(server, 0)));
  t.equal(await staple(server, 1), null);
  await server.logged('certificate status not found in the OCSP response while requesting certificate status, responder: 127.0.0.1');
  t.equal(await staple(server, 1), null, 'a response about another certificate is not passed on');
  t.strictSame(await staple(server, 2), other, 'a file is sent as it is');
});

t.test('behind the PROXY protocol', async (t) => {
  const proxied = true;
  const big = 'b'.repeat(200_000);
  const origin = await startOrigin(t, (_request, { socket }) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\nfirst ');
    socket.once('data', (data: Buffer) => socket.end(`then ${data}`));
    return undefined;
  });
  const listen = (port: number): string => `listen 127.0.0.1:%%PORT_${port}%% ssl proxy_protocol; ${pair('rsa')}`;
  const server = await start(
    t,
    `server { ${listen(0)} ssl_verify_client optional; ssl_client_certificate ${c.ca.cert}; ssl_stapling on; ssl_stapling_file file.der;
       location /who { return 200 "$proxy_protocol_addr $ssl_client_verify $ssl_server_name $ssl_protocol"; }
       location /up { proxy_pass http://127.0.0.1:${origin.port}; proxy_http_version 1.1; proxy_set_header Upgrade raw; proxy_set_header Connection Upgrade; }
       location /gone { reset_timedout_connection on; return 444; }
       location / { root %%DIR%%; } }
     server { ${listen(1)} ssl_session_tickets off; ssl_session_cache shared:S:1m; return 200 $ssl_session_reused; }
     server { ${listen(2)} ssl_reject_handshake on; }`,
    { files: { 'big.txt': big, 'file.der': ocspResponse('rsa') } },
  );
  const who = await get(server, '/who', { proxied, servername: 'here', ...client('client') });
  t.equal(body(who), '192.0.2.1 SUCCESS here TLSv1.3');
  t.equal(who.ended, true);
  const one = 'GET /big.txt HTTP/1.1\r\nHost: a\r\n\r\n';
  t.equal((await talk(server, one.repeat(3) + 'GET /big.txt HTTP/1.0\r\n\r\n', { proxied })).split(big).length, 5);
  const tunnel = await talk(server, 'GET /up HTTP/1.1\r\nHost: a\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\nearly', { proxied });
  t.match(tunnel, /^HTTP\/1\.1 101 [\s\S]*first then early$/);
  t.ok(await staple(server, 0, { proxied }));
  await t.rejects(get(server, '/gone', { proxied }), { code: 'ECONNRESET' });
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const { session } = await get(server, '/', { proxied, port: 1, maxVersion });
    t.equal(body(await get(server, '/', { proxied, port: 1, maxVersion, session })), 'r', maxVersion);
  }
  await t.rejects(get(server, '/', { proxied, port: 2 }), { code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME' });
});

t.test("the status of clients' certificates", async (t) => {
  const responder = await startResponder(t);
  const url = `http://127.0.0.1:${responder.port}`;
  const checked = (port: number, path: string, more = ''): string =>
    `server { listen 127.0.0.1:%%PORT_${port}%% ssl; ${noQuicClient ? '' : `listen 127.0.0.1:%%PORT_${port}%% quic;`}
       ${pair('rsa')} ssl_verify_client optional; ssl_client_certificate ${c.ca.cert};
       ssl_ocsp on; ssl_ocsp_responder ${url}/${path}; ${more} add_header X-Verify $ssl_client_verify always; return 200 ok; }`;
  const server = await start(
    t,
    checked(0, 'ecdsa', 'ssl_ocsp_cache shared:status:1m;') + checked(1, 'client') + checked(2, 'broken') + checked(3, 'ecdsa'),
  );
  const ecdsa = { cert: pem(c.ecdsa.cert), key: pem(c.ecdsa.key) };
  t.match((await get(server, '/', { port: 0, ...ecdsa })).text, /200 OK[\s\S]*X-Verify: SUCCESS/);
  t.match((await get(server, '/', { port: 0, ...ecdsa })).text, /200 OK[\s\S]*X-Verify: SUCCESS/);
  t.equal(responder.requests.length, 1, 'the second time it is known');
  t.match((await get(server, '/', { port: 0 })).text, /200 OK[\s\S]*X-Verify: NONE/);
  const revoked = await get(server, '/', { port: 1, ...client('client') });
  t.match(revoked.text, /400 Bad Request[\s\S]*X-Verify: FAILED:certificate revoked[\s\S]*The SSL certificate error/);
  await server.logged('client SSL certificate verify error: certificate revoked');
  const failed = /400 Bad Request[\s\S]*X-Verify: FAILED:certificate status request failed/;
  t.match((await get(server, '/', { port: 2, ...ecdsa })).text, failed);
  t.match((await get(server, '/', { port: 3, ...client('client') })).text, failed, 'a response about another certificate');
  if (noQuicClient) {
    return;
  }
  const overQuic = async (port: number, options: readonly string[]): Promise<(string | undefined)[]> => {
    const { heads } = await quicGet(server.port(port), ['/x'], options);
    return [heads[0]?.[':status'], heads[0]?.['x-verify']];
  };
  t.strictSame(await overQuic(0, []), ['200', 'NONE']);
  t.strictSame(await overQuic(0, [`--cert=${c.ecdsa.cert}`, `--key=${c.ecdsa.key}`]), ['200', 'SUCCESS']);
  t.strictSame(await overQuic(1, [`--cert=${c.client.cert}`, `--key=${c.client.key}`]), ['400', 'FAILED:certificate revoked']);
  t.strictSame(await overQuic(2, [`--cert=${c.ecdsa.cert}`, `--key=${c.ecdsa.key}`]), ['400', 'FAILED:certificate status request failed']);
});

t.test('warnings about certificates name the directive', async (t) => {
  const { dir } = await makePrefix(t, {});
  const make = (days: string): void => {
    const subject = ['-subj', '/CN=a', '-days', days, '-keyout', `${dir}/soon.key`, '-out', `${dir}/soon.crt`];
    execFileSync('openssl', ['req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', ...subject], {
      stdio: 'ignore',
    });
  };
  const text = `events {}\nhttp {\n  server {\n    listen 127.0.0.1:19443 ssl;\n    ssl_certificate ${dir}/soon.crt;\n    ssl_certificate_key ${dir}/soon.key;\n  }\n}\n`;
  make('2');
  const { stderr, file } = await testConfig(t, text);
  t.match(stderr, new RegExp(`\\[warn\\] certificate "${dir}/soon.crt" expires on .*, in 1 day in ${file}:5\\n`));
  const names = `events {}\nhttp {\n  server {\n    listen 127.0.0.1:19443 ssl;\n${pair('second')}    server_name example.org\n      www.example.net;\n  }\n}\n`;
  const uncovered = await testConfig(t, names);
  t.match(uncovered.stderr, `[warn] the certificate does not cover the server name "www.example.net" in ${uncovered.file}:8\n`);
  t.match(uncovered.stderr, '8 |       www.example.net;\n      |       ^');
});

t.test('certificates with variables', async (t) => {
  const server = await start(
    t,
    `server { listen 127.0.0.1:%%PORT_0%% ssl; server_name ~^(?<which>rsa|second|none)\\.test$;
       ssl_certificate ${c.dir}/$which.crt; ssl_certificate_key ${c.dir}/$which.key; ssl_certificate_cache max=4; return 200 $which; }`,
    { asRoot: true },
  );
  const rsa = await get(server, '/', { servername: 'rsa.test' });
  t.strictSame([rsa.certificate, body(rsa)], ['localhost', 'rsa']);
  t.equal((await get(server, '/', { servername: 'second.test' })).certificate, 'example.org');
  await t.rejects(get(server, '/', { servername: 'none.test' }));
  await server.logged(`[error]`);
  t.match(
    server.log(),
    `cannot load certificate "${c.dir}/none.crt": BIO_new_file() failed (SSL: error:80000002:system library::No such file`,
  );
});

t.test(
  'a name from the client does not lead out of the folder of certificates',
  { skip: againstNginx && 'nginx follows it' },
  async (t) => {
    const up = c.dir.slice(c.dir.lastIndexOf('/') + 1);
    const server = await start(
      t,
      `server { listen 127.0.0.1:%%PORT_0%% ssl;
       ssl_certificate ${c.dir}/$ssl_server_name.crt; ssl_certificate_key ${c.dir}/$ssl_server_name.key; return 200 there; }
     server { listen 127.0.0.1:%%PORT_1%% ssl; ${pair('rsa')}
       location / { proxy_pass https://127.0.0.1:%%PORT_1%%/in; proxy_ssl_certificate ${c.dir}/$arg_name.crt; proxy_ssl_certificate_key ${c.dir}/$arg_name.key; }
       location /in { return 200 inside; } }`,
      { asRoot: true },
    );
    t.equal((await get(server, '/', { servername: 'rsa' })).certificate, 'localhost');
    await t.rejects(get(server, '/', { servername: `../${up}/rsa` }));
    await server.logged(`cannot load certificate "${c.dir}/../${up}/rsa.crt": it leads out of "${c.dir}/$ssl_server_name.crt"`);
    const proxied = async (name: string): Promise<string> => (await get(server, `/?name=${name}`, { port: 1 })).text.slice(0, 12);
    t.equal(await proxied('rsa'), 'HTTP/1.1 200');
    t.equal(await proxied(`../${up}/rsa`), 'HTTP/1.1 500');
    await server.logged(`cannot load certificate "${c.dir}/../${up}/rsa.crt": it leads out of "${c.dir}/$arg_name.crt"`);
  },
);

t.test('workers have what the master has read, until a reload', async (t) => {
  const files = { 'a.crt': pem(c.rsa.cert), 'a.key': pem(c.rsa.key) };
  const text = conf('server { listen 127.0.0.1:%%PORT_0%% ssl; ssl_certificate a.crt; ssl_certificate_key a.key; return 200 ok; }');
  const server = await startServer(t, { conf: text, files, expectAlerts: /exited on signal 9/ });
  await server.write('a.crt', pem(c.second.cert));
  await server.write('a.key', pem(c.second.key));
  const [worker] = server.workers();
  process.kill(worker!, 'SIGKILL');
  await server.logged(`worker process ${worker} exited on signal 9`);
  t.equal((await get(server, '/')).certificate, 'localhost', 'also one that takes the place of another');
  for (const name of ['a.crt', 'a.key']) {
    utimesSync(`${server.dir}/${name}`, new Date(), new Date(Date.now() + 5000));
  }
  await server.reload();
  t.equal((await get(server, '/')).certificate, 'example.org');
  const { stdout } = await testConfig(t, text, files, ['-T']);
  t.match(stdout, 'ssl_certificate_key a.key');
  t.notMatch(stdout, 'PRIVATE KEY');
});

t.test('keys of tickets from files', async (t) => {
  const keys = (port: number, names: string): string =>
    `server { listen 127.0.0.1:%%PORT_${port}%% ssl; ${pair('rsa')} ${names} return 200 $ssl_session_reused; }`;
  const server = await start(
    t,
    keys(0, 'ssl_session_ticket_key one.key;') +
      keys(1, 'ssl_session_ticket_key two.key; ssl_session_ticket_key one.key;') +
      keys(2, 'ssl_session_ticket_key two.key;'),
    { files: { 'one.key': '1'.repeat(48), 'two.key': '2'.repeat(80) } },
  );
  const { session } = await get(server, '/');
  t.equal(body(await get(server, '/', { port: 1, session })), 'r', 'an earlier key still opens tickets');
  t.equal(body(await get(server, '/', { port: 2, session })), '.');
});

t.test('names of certificates with variables are looked at for servers that have them', async (t) => {
  const message = async (http: string): Promise<string> => {
    const text = conf(http).replaceAll(/^.*(access_log|temp_path).*$/gm, '');
    return (await configMessage(t, text)) ?? 'no error';
  };
  const listen = 'listen 127.0.0.1:19443;';
  const [nothing, unclosed] = ['$nothing', '${nothing'].map((name) => `ssl_certificate ${name}; ssl_certificate_key key;`);
  t.equal(await message(nothing!), 'no error', 'nobody has it');
  t.equal(await message(`ssl_certificate $nothing; server { ${listen} ${pair('rsa')} }`), 'no error', 'a server has others');
  t.equal(
    await message(`server { ${listen} ssl_certificate $nothing; }`),
    'no "ssl_certificate_key" is defined for certificate "$nothing"',
  );
  t.equal(await message(`${nothing} server { ${listen} }`), 'unknown "nothing" variable');
  t.equal(await message(`server { ${listen} ${nothing} return 200 $also; }`), 'unknown "also" variable', 'it is named once all is read');
  t.match(await message(`${unclosed!.replace('$', '"$').replace(';', '";')}`), 'no error');
  t.match(
    await message(`server { ${listen} ssl_certificate $; ssl_certificate_key key; ssl_ciphers nonsense; }`),
    /SSL_CTX_set_cipher_list\("nonsense"\) failed/,
  );
  t.match(await message(`server { ${listen} ssl_certificate $; ssl_certificate_key key; }`), /^invalid variable name in %%FILE%%:\d+$/);
  const wrong = `ssl_certificate $nothing; ssl_certificate_key $nothing; server { ${listen} ssl_certificate no.crt; ssl_certificate_key no.key; }`;
  t.match(await message(wrong), /^cannot load certificate "[^"]*\/no.crt": /, 'those of the server are read');
});

t.test("what is wrong with certificates is said in nginx's words", async (t) => {
  const message = async (text: string): Promise<string> => {
    const http = conf(`server { listen 127.0.0.1:19443 ssl; ${text} }`).replaceAll(/^.*(access_log|temp_path).*$/gm, '');
    return (await configMessage(t, http)) ?? 'no error';
  };
  t.match(await message(''), /no "ssl_certificate" is defined for the "listen ... ssl" directive in %%FILE%%:\d+/);
  t.match(await message(`ssl_certificate ${c.rsa.cert};`), `no "ssl_certificate_key" is defined for certificate "${c.rsa.cert}"`);
  t.match(
    await message(`ssl_certificate ${c.rsa.cert}; ssl_certificate_key ${c.second.key};`),
    `SSL_CTX_use_PrivateKey("${c.second.key}") failed (SSL: error:05800074:x509 certificate routines::key values mismatch)`,
  );
  t.match(
    await message(`${pair('rsa')} ssl_ciphers FOO;`),
    'SSL_CTX_set_cipher_list("FOO") failed (SSL: error:0A0000B9:SSL routines::no cipher match)',
  );
  t.match(
    await message(`${pair('rsa')} ssl_ocsp on; ssl_verify_client optional_no_ca;`),
    '"ssl_ocsp" is incompatible with "ssl_verify_client optional_no_ca"',
  );
  t.match(
    await message(`${pair('rsa')} ssl_ocsp leaf; ssl_ocsp_responder ftp://a/;`),
    'invalid URL prefix in OCSP responder "ftp://a/" in "ssl_ocsp_responder"',
  );
  t.match(
    await message(`${pair('rsa')} ssl_ocsp leaf; ssl_ocsp_responder "http://a/ HTTP/1.0\\r\\nX: y";`),
    'invalid host or URI in OCSP responder "a/ HTTP/1.0',
  );
  const keyFile = 'ssl_session_ticket_key missing.key;';
  t.match(
    await message(`${pair('rsa')}\n${keyFile}`),
    /^open\(\) ".*missing.key" failed \(2: No such file or directory\) in %%FILE%%:\d+$/,
  );
  t.equal(await configMessage(t, httpConf(`server { ${keyFile} }`)), undefined, 'a server without certificates needs no keys');
  t.match(await message(`${pair('rsa')} ssl_ocsp_cache shared:a;`), 'invalid OCSP cache "shared:a"');
  t.match(await message(`${pair('rsa')} ssl_ocsp_cache shared:a:1k;`), 'OCSP cache "shared:a:1k" is too small');
});

t.test('settings for other platforms and versions', async (t) => {
  const server = await start(
    t,
    `server { listen 127.0.0.1:%%PORT_0%%; ssl on; ${pair('rsa')} ssl_ech_file x; ssl_stapling on; server_name example.net; return 200 $ssl_alpn_protocol; }`,
  );
  t.equal(body(await get(server, '/', { ALPNProtocols: ['h2', 'http/1.1'] })), 'http/1.1');
  const said = server.stderr();
  t.match(said, 'the "ssl" directive is deprecated, use the "listen ... ssl" directive instead');
  t.match(said, '"ssl_ech_file" is not supported on this platform, ignored');
  t.match(said, '"ssl_stapling" ignored, issuer certificate not found for certificate');
  t.match(said, 'the certificate does not cover the server name "example.net"');
});
