import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ConnectionOptions, connect } from 'node:tls';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs, pem } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { httpConf, type Server, startServer } from '../support/server.js';

const c = certs();
const pair = `ssl_certificate ${c.rsa.cert}; ssl_certificate_key ${c.rsa.key};`;
const listen = (port: number): string => `listen 127.0.0.1:%%PORT_${port}%% ssl;`;

const nameIn = (cert: string): string => /^CN=(.*)$/m.exec(new X509Certificate(readFileSync(cert)).subject)![1]!;

interface Exchange {
  readonly text: string;
  readonly protocol: string | null;
  readonly certificate: string;
  /** How many sessions the server gave. */
  readonly sessions: number;
  readonly session: Buffer | undefined;
}

/** One request on a connection of its own. Rejects when the handshake fails. */
function get(server: Server, port: number, options: ConnectionOptions = {}): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: server.port(port), rejectUnauthorized: false, ...options });
    let text = '';
    let sessions = 0;
    let session: Buffer | undefined;
    let certificate = '';
    let protocol: string | null = null;
    socket.setEncoding('latin1');
    socket.on('session', (given: Buffer) => {
      sessions++;
      session = given;
    });
    socket.on('secureConnect', () => {
      certificate = String(socket.getPeerCertificate().subject?.CN);
      protocol = socket.getProtocol();
      socket.write('GET / HTTP/1.0\r\n\r\n');
    });
    socket.on('data', (data: string) => (text += data));
    socket.on('error', reject);
    socket.on('close', () => resolve({ text: text.slice(text.indexOf('\r\n\r\n') + 4), protocol, certificate, sessions, session }));
  });
}

const start = (t: Test, servers: readonly string[], http = '', files = {}): Promise<Server> =>
  startServer(t, {
    conf: httpConf(`${http}\n${servers.map((text, i) => `server { ${listen(i)} ${text} }`).join('\n')}`),
    files,
    asRoot: true,
  });

const onLibuv = !againstNginx && process.env.SLUICE_TEST_NET_ENGINE === 'libuv';

t.test('ssl_conf_command: what OpenSSL has no directive for', async (t) => {
  const server = await start(
    t,
    [
      `${pair} return 200 $ssl_protocol;`,
      `${pair} ssl_conf_command Protocol -TLSv1.3; return 200 $ssl_protocol;`,
      `${pair} ssl_protocols TLSv1.2; ssl_conf_command Protocol TLSv1.3; return 200 $ssl_protocol;`,
      `${pair} ssl_conf_command MaxProtocol TLSv1.2; return 200 $ssl_protocol;`,
      `${pair} ssl_conf_command NumTickets 1; return 200 $ssl_protocol;`,
      `${pair} ssl_conf_command Certificate second.crt; ssl_conf_command PrivateKey second.key; return 200 ok;`,
      `${pair} ssl_conf_command Groups P-384; return 200 $ssl_curve;`,
      `${pair} ssl_conf_command CipherString AES256-GCM-SHA384; ssl_conf_command protocol -TLSv1.3; return 200 $ssl_cipher;`,
    ],
    '',
    { 'second.crt': pem(c.second.cert), 'second.key': pem(c.second.key) },
  );
  const plain = await get(server, 0);
  t.strictSame([plain.text, plain.sessions], ['TLSv1.3', 2]);
  t.equal((await get(server, 1)).text, 'TLSv1.2');
  t.equal((await get(server, 2)).text, 'TLSv1.3', 'a version that ssl_protocols leaves out');
  t.equal((await get(server, 3)).text, 'TLSv1.2');
  const one = await get(server, 4);
  t.strictSame([one.text, one.sessions], ['TLSv1.3', 1]);
  t.equal((await get(server, 5)).certificate, nameIn(c.second.cert), 'a certificate in the place of one of its kind');
  if (!onLibuv) {
    t.equal((await get(server, 6)).text, 'secp384r1');
  }
  t.equal((await get(server, 7)).text, 'AES256-GCM-SHA384');
});

t.test('ssl_conf_command: what is wrong with it is said in the words of OpenSSL', async (t) => {
  const message = (command: string): Promise<string | undefined> =>
    configMessage(t, httpConf(`server { listen 127.0.0.1:19443 ssl; ${pair} ssl_conf_command ${command}; }`));
  t.match(
    await message('Unknown value'),
    /^SSL_CONF_cmd\("Unknown", "value"\) failed \(SSL: error:0A000182:SSL routines::unknown cmd name:cmd=Unknown\)/,
  );
  t.match(
    await message('Options Nonsense'),
    /^SSL_CONF_cmd\("Options", "Nonsense"\) failed \(SSL: error:0A000180:SSL routines::bad value:cmd=Options, value=Nonsense\)/,
  );
  t.match(
    await message('CipherString nonsense'),
    /^SSL_CONF_cmd\("CipherString", "nonsense"\) failed \(SSL: error:0A0000B9:SSL routines::no cipher match error:0A000180:SSL routines::bad value:cmd=CipherString, value=nonsense\)/,
  );
  t.match(
    await message('Certificate /missing.crt'),
    /^SSL_CONF_cmd\("Certificate", "\/missing.crt"\) failed \(SSL: error:80000002:system library::No such file or directory:calling fopen\(\/missing.crt, r\)/,
  );
  t.match(
    await message(`PrivateKey ${c.rsa.cert}`),
    new RegExp(`^SSL_CONF_cmd\\("PrivateKey", "${c.rsa.cert}"\\) failed \\(SSL: .*:cmd=PrivateKey, value=${c.rsa.cert}\\)`),
  );
});

t.test('keys that stand in a store of files', async (t) => {
  const der = createPrivateKey(readFileSync(c.rsa.key)).export({ format: 'der', type: 'pkcs8' });
  const key = (name: string): string => `ssl_certificate ${c.rsa.cert}; ssl_certificate_key ${name}; return 200 ok;`;
  const server = await start(
    t,
    [
      key(`store:file:${c.rsa.key}`),
      key(`store:${c.rsa.key}`),
      key('store:file:%%DIR%%/key.der'),
      `ssl_password_file %%DIR%%/passwords; ${key(`store:file:${c.encryptedKey}`)}`,
      key('$stored'),
      key('store:$folder/rsa.key'),
    ],
    `map $ssl_protocol $stored { default store:file:${c.rsa.key}; } map $ssl_protocol $folder { default ${c.dir}; }`,
    { 'key.der': der, passwords: 'secret\n' },
  );
  for (const port of [0, 1, 2, 3, 4, 5]) {
    t.equal((await get(server, port)).text, 'ok', `port ${port}`);
  }
  const message = (name: string): Promise<string | undefined> =>
    configMessage(t, httpConf(`server { listen 127.0.0.1:19443 ssl; ssl_certificate ${c.rsa.cert}; ssl_certificate_key ${name}; }`));
  t.match(
    await message('store:file:/missing.key'),
    'cannot load certificate key "store:file:/missing.key": OSSL_STORE_open() failed (SSL: ',
  );
  t.match(await message(`store:file:${c.rsa.cert}`), `cannot load certificate key "store:file:${c.rsa.cert}": OSSL_STORE_load() failed`);
  if (!againstNginx) {
    t.match(
      await message('engine:some:key'),
      'cannot load certificate key "engine:some:key": loading "engine:..." certificate keys is not supported',
    );
  }
});

t.test('ssl_session_cache: where sessions are kept, and whether there are any', async (t) => {
  const says = 'return 200 "$ssl_session_reused $ssl_session_id";';
  const server = await start(
    t,
    ['', 'ssl_session_cache off;', 'ssl_session_cache none;', 'ssl_session_cache builtin;', 'ssl_session_cache shared:b:64k none;'].map(
      (cache) => `${pair} ${cache} ${says}`,
    ),
    'ssl_session_tickets off; ssl_session_cache shared:a:64k;',
  );
  const twice = async (port: number): Promise<readonly string[]> => {
    const first = await get(server, port, { maxVersion: 'TLSv1.2' });
    return [first.text, (await get(server, port, { maxVersion: 'TLSv1.2', ...(first.session && { session: first.session }) })).text];
  };
  const [fresh, known] = [/^\. [0-9a-f]{64}$/, /^r [0-9a-f]{64}$/];
  t.match(await twice(0), [fresh, known]);
  t.strictSame(await twice(1), ['. ', '. '], 'off: clients are told that there is nothing to resume');
  t.match(await twice(2), [fresh, fresh]);
  t.match(await twice(3), [fresh, known], 'builtin, beside the zone of the block around it');
  t.match(await twice(4), [fresh, fresh]);
});

t.test('a key that does not belong to a certificate named by a variable', async (t) => {
  const server = await start(
    t,
    [`ssl_certificate $certificate; ssl_certificate_key ${c.second.key}; return 200 ok;`],
    `map $ssl_protocol $certificate { default ${c.ecdsa.cert}; }`,
  );
  await t.rejects(get(server, 0));
  await server.logged(`SSL_use_PrivateKey("${c.second.key}") failed (SSL: error:05800074:x509 certificate routines::key values mismatch)`);
});

t.test('a server without certificates of its own decides whether a handshake is refused', async (t) => {
  const server = await startServer(t, {
    conf: httpConf(`server { ${listen(0)} ${pair} ssl_reject_handshake on; return 200 default; }
      server { ${listen(0)} server_name good; return 200 good; }`),
  });
  t.equal((await get(server, 0, { servername: 'good' })).certificate, nameIn(c.rsa.cert), 'with the certificate of the default server');
  await t.rejects(get(server, 0, { servername: 'bad' }), /unrecognized name/);
  await server.logged(/\[info\] .*handshake rejected while SSL handshaking, client: 127\.0\.0\.1/);
});

const hasSignatures = !againstNginx && Number.parseFloat(process.versions.openssl) >= 3.5 && !onLibuv;

t.test('the algorithms that have signed a handshake', { skip: !hasSignatures }, async (t) => {
  const says = 'return 200 "$ssl_sigalg/$ssl_client_sigalg";';
  const server = await start(t, [
    `${pair} ${says}`,
    `ssl_certificate ${c.ecdsa.cert}; ssl_certificate_key ${c.ecdsa.key}; ${says}`,
    `${pair} ssl_verify_client optional_no_ca; ${says}`,
  ]);
  t.equal((await get(server, 0)).text, 'rsa_pss_rsae_sha256/');
  t.equal((await get(server, 0, { maxVersion: 'TLSv1.2' })).text, 'rsa_pss_rsae_sha256/');
  t.equal((await get(server, 1)).text, 'ecdsa_secp256r1_sha256/');
  const client = { cert: pem(c.client.cert), key: pem(c.client.key) };
  t.match((await get(server, 2, client)).text, /^rsa_pss_rsae_sha256\/(?:rsa_pss_rsae_sha256|ecdsa_secp256r1_sha256)$/);
});
