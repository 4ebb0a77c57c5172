import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { get as httpsGet } from 'node:https';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { makeRing } from '../../src/shared/net/engine/choose.js';
import { againstNginx, serverCommand } from '../support/binary.js';
import { certs, pem } from '../support/certs.js';
import { startOrigin } from '../support/origin.js';
import { makePrefix } from '../support/prefix.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('nginx does not run on Node');
}

/**
 * What may be otherwise in another Node: the text of a module that makes it so, and what the server then says of its engine, and of that
 * of TLS.
 */
const BROKEN: readonly (readonly [what: string, text: string, said: RegExp, ofTls?: string])[] = [
  ['nothing', '', /using the "uring" network engine\n/],
  [
    '_tickCallback is gone',
    'process._tickCallback = undefined;',
    /waits in libuv and not in the ring, .*: libuv cannot be called: its loop has/,
  ],
  [
    'addresses are not shown',
    `import util from 'node:util';
    const { inspect } = util;
    util.inspect = (value, ...more) => inspect(value, ...more).replace(/^\\[External: .*/, '[External]');`,
    /using the "uring"/,
    'OpenSSL cannot be asked: Node shows no address of a context',
  ],
  [
    'libuv is not exported',
    `import { createRequire } from 'node:module';
    const { resolve } = createRequire(process.argv[1]);
    const koffi = createRequire(resolve('koffi'))('@koromix/koffi-linux-' + process.arch);
    const { load } = koffi;
    koffi.load = (name) => {
      const library = load(name);
      return { func: (...args) => {
        if (/\\b(uv|SSL|BIO)_/.test(args[0])) throw new Error('not found: ' + args[0]);
        return library.func(...args);
      } };
    };`,
    /waits in libuv and not in the ring, .*: libuv cannot be called: not found: /,
    'OpenSSL cannot be called: not found: void SSL_CTX_set_client_hello_cb(intptr_t, void *, intptr_t)',
  ],
  [
    'the loop has another form',
    `import { createRequire } from 'node:module';
    const { resolve } = createRequire(process.argv[1]);
    const koffi = createRequire(resolve('koffi'))('@koromix/koffi-linux-' + process.arch);
    const { view } = koffi;
    koffi.view = (address, length) => view(length === 104 ? address + 8 : address, length);`,
    /waits in libuv and not in the ring, .*: libuv cannot be called: its loop has another form/,
  ],
];

const ring = makeRing();
t.test('a Node with another inside', { skip: typeof ring === 'string' && `no io_uring: ${ring}` }, async (t) => {
  const { dir } = await makePrefix(t);
  const { rsa } = certs();
  const origin = await startOrigin(t, () => ({ body: 'from the backend' }));
  for (const [i, [what, text, said, ofTls]] of BROKEN.entries()) {
    const module = `${dir}/${i}.mjs`;
    writeFileSync(module, text);
    const server = await startServer(t, {
      conf: httpConf(`server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% ssl; ssl_session_cache shared:s:1m; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
        location / { return 200 own; } location /p { proxy_pass http://127.0.0.1:${origin.port}; }
        location /t { proxy_pass https://127.0.0.1:%%PORT_1%%/; } }`),
      preload: pathToFileURL(module).href,
    });
    t.equal((await httpGet(server, '/')).text, 'own', what);
    t.equal((await httpGet(server, '/p')).text, 'from the backend', what);
    t.equal((await httpGet(server, '/t')).text, 'own', what);
    t.equal(await secure(server.port(1)), 'own', what);
    t.match(server.log(), said, what);
    const lines = server.log().match(/TLS uses the .*/g) ?? [];
    t.strictSame(lines, ofTls === undefined ? [] : [`TLS uses the "libuv" network engine: ${ofTls}`], what);
    await server.stop();
  }
});

/** What Node's ciphers, which TLS needs, may be otherwise in: the text of a module that makes it so, and what the server then says. */
const WITHOUT_CIPHERS: readonly (readonly [what: string, text: string, said: RegExp])[] = [
  [
    'process.binding is gone',
    `process.binding = () => { throw new Error('gone'); };`,
    /\[emerg\] .*: this Node does not let its ciphers be used: gone\n/,
  ],
  [
    'the methods of ciphers are others',
    `const binding = process.binding('tls_wrap');
    const { wrap } = binding;
    binding.wrap = (...args) => Object.assign(wrap(...args), { setOCSPResponse: undefined });`,
    /\[emerg\] .*: the ciphers of this Node have another form\n/,
  ],
];

t.test('a Node whose ciphers cannot be used', { skip: typeof ring === 'string' && `no io_uring: ${ring}` }, async (t) => {
  const { rsa } = certs();
  const origin = await startOrigin(t, () => ({ body: 'from the backend' }));
  for (const [what, text, said] of WITHOUT_CIPHERS) {
    const { dir } = await makePrefix(t, {
      'inside.mjs': text,
      'sluice.conf': httpConf(`server { listen unix:%%DIR%%/s ssl; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; }`),
    });
    const preload = pathToFileURL(`${dir}/inside.mjs`).href;
    const [command, ...first] = serverCommand(preload);
    const started = spawnSync(command, [...first, '-p', `${dir}/`, '-c', 'sluice.conf', '-e', 'stderr', '-g', 'daemon off;'], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    t.equal(started.status, 1, `${what}: a server with TLS does not start`);
    t.match(started.stderr, said, what);
    const server = await startServer(t, {
      conf: httpConf(
        `server { listen 127.0.0.1:%%PORT_0%%; location / { return 200 own; } location /p { proxy_pass http://127.0.0.1:${origin.port}; } }`,
      ),
      preload,
    });
    t.equal((await httpGet(server, '/')).text, 'own', `${what}: one without TLS serves`);
    t.equal((await httpGet(server, '/p')).text, 'from the backend', what);
    await server.stop();
  }
});

/** Answers of OpenSSL that the server asks for before it serves: one for a server's connection and one for a client's. */
const OF_TRIAL = 2;

t.test('OpenSSL does not tell where a connection is', { skip: typeof ring === 'string' && `no io_uring: ${ring}` }, async (t) => {
  const { dir } = await makePrefix(t);
  const { rsa } = certs();
  const origin = await startOrigin(t, { body: 'secret' }, { tls: { cert: pem(rsa.cert), key: pem(rsa.key) } });
  const module = `${dir}/lost.mjs`;
  writeFileSync(
    module,
    `import { createRequire } from 'node:module';
    const { resolve } = createRequire(process.argv[1]);
    const koffi = createRequire(resolve('koffi'))('@koromix/koffi-linux-' + process.arch);
    const { load } = koffi;
    let asked = 0;
    koffi.load = (name) => {
      const library = load(name);
      return { func: (text, ...args) => {
        const found = library.func(text, ...args);
        return text.includes('SSL_get_SSL_CTX') ? (ssl) => (++asked > ${OF_TRIAL} ? 0 : found(ssl)) : found;
      } };
    };`,
  );
  const server = await startServer(t, {
    conf: httpConf(`server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% ssl; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
      location / { return 200 own; } location /t { proxy_pass https://127.0.0.1:${origin.port}; } }`),
    preload: pathToFileURL(module).href,
  });
  const why = 'SSL_do_handshake() failed (SSL: OpenSSL has not told where the connection is)';
  await t.rejects(secure(server.port(1)), 'the connection is closed');
  await server.logged(why);
  t.match(server.log(), '[crit]');
  t.equal((await httpGet(server, '/t')).status, 502);
  await server.logged(/OpenSSL has not told where the connection is.* while SSL handshaking to upstream/);
  t.equal((await httpGet(server, '/')).text, 'own');
});

function secure(port: number): Promise<string> {
  return new Promise((done, failed) => {
    httpsGet({ port, host: '127.0.0.1', path: '/', rejectUnauthorized: false, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more) => (text += more));
      response.on('end', () => done(text));
    }).on('error', failed);
  });
}
