import { writeFileSync } from 'node:fs';
import { get as httpsGet } from 'node:https';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { makeRing } from '../../src/shared/net/engine/choose.js';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { startOrigin } from '../support/origin.js';
import { makePrefix } from '../support/prefix.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('nginx does not run on Node');
}

/** What may be otherwise in another Node: the text of a module that makes it so, and what the server then says of its engine. */
const BROKEN: readonly (readonly [what: string, text: string, said: RegExp])[] = [
  ['nothing', '', /using the "uring" network engine\n/],
  [
    '_tickCallback is gone',
    'process._tickCallback = undefined;',
    /waits in libuv and not in the ring, .*: libuv cannot be called: its loop has/,
  ],
  ['process.binding is gone', `process.binding = () => { throw new Error('gone'); };`, /using the "/],
  [
    'the methods of ciphers are others',
    `const binding = process.binding('tls_wrap');
    const { wrap } = binding;
    binding.wrap = (...args) => Object.assign(wrap(...args), { setOCSPResponse: undefined });`,
    /using the "uring"/,
  ],
  [
    'addresses are not shown',
    `import util from 'node:util';
    const { inspect } = util;
    util.inspect = (value, ...more) => inspect(value, ...more).replace(/^\\[External: .*/, '[External]');`,
    /using the "uring"/,
  ],
  [
    'libuv is not exported',
    `import { createRequire } from 'node:module';
    const koffi = createRequire(process.argv[1])('koffi');
    const { load } = koffi;
    koffi.load = (name) => {
      const library = load(name);
      return { func: (...args) => {
        if (/\\b(uv|SSL|BIO)_/.test(args[0])) throw new Error('not found: ' + args[0]);
        return library.func(...args);
      } };
    };`,
    /waits in libuv and not in the ring, .*: libuv cannot be called: not found: /,
  ],
  [
    'the loop has another form',
    `import { createRequire } from 'node:module';
    const koffi = createRequire(process.argv[1])('koffi');
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
  for (const [i, [what, text, said]] of BROKEN.entries()) {
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
    await server.stop();
  }
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
