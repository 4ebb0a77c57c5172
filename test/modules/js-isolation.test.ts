// The attacks on threads with grants are one table, which is long: each attack is a row of it.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { httpGet } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, startServer } from '../support/server.js';

// What code in a thread of `js_isolation ... allow=` may not do: each attack returns what it has got, or the exception is what it got.

/** One attack: the body of an async function of a module, and what it has to answer. */
interface Attack {
  readonly name: string;
  readonly code: string;
  readonly expected: RegExp | string;
}

const REFUSED = /does not allow|not allowed|is not defined|not a function|of undefined|read only|not extensible|not configurable/;
const NOTHING = /^(?:undefined|null|none)$/;

const refusedImport = (name: string): Attack => ({
  name: `import ${name}`,
  code: `return typeof (await import('${name}')).default;`,
  expected: REFUSED,
});

const attacks: readonly Attack[] = [
  // Node's modules, by every way to a module.
  ...[
    'fs',
    'node:fs/promises',
    'child_process',
    'node:net',
    'node:http',
    'https',
    'node:dgram',
    'node:dns',
    'node:tls',
    'node:worker_threads',
    'cluster',
    'node:vm',
    'node:v8',
    'module',
    'node:inspector',
    'node:os',
    'node:sqlite',
    'node:diagnostics_channel',
    'node:perf_hooks',
    'node:wasi',
    'node:trace_events',
    'repl',
    'node:test',
    'node:timers',
  ].map(refusedImport),
  { name: 'require', code: `return typeof require('fs');`, expected: REFUSED },
  {
    name: 'what the first script of a thread has',
    code: `return String([typeof text, typeof file, typeof globalThis.exports, typeof globalThis.__filename, typeof globalThis.__dirname]);`,
    expected: /^(?:undefined,?){5}$/,
  },
  { name: 'require of a package that requires', code: `return typeof require('greedy').fs;`, expected: REFUSED },
  { name: 'import in code made of text', code: `return typeof (await Function('return import("node:fs")')()).default;`, expected: REFUSED },
  { name: 'import in eval', code: `return typeof (await (0, eval)('import("child_process")')).default;`, expected: REFUSED },
  {
    name: 'import in a module of a data URL',
    code: `return typeof (await import('data:text/javascript,import f from "node:fs"; export default f')).default;`,
    expected: REFUSED,
  },
  { name: 'getBuiltinModule', code: `return String(process.getBuiltinModule('fs'));`, expected: NOTHING },
  { name: 'process.binding', code: `return String(process.binding);`, expected: NOTHING },
  {
    name: 'process of a function',
    code: `return String(Function('return process')().dlopen ?? Function('return this')().process.kill);`,
    expected: NOTHING,
  },
  {
    name: 'process by its constructor',
    code: `return String(process.constructor.constructor('return process.exit')());`,
    expected: NOTHING,
  },
  { name: 'process.mainModule', code: `return String(process.mainModule ?? globalThis.module ?? globalThis.require);`, expected: NOTHING },
  { name: 'the environment', code: `return JSON.stringify(process.env);`, expected: '{}' },
  { name: 'process of node:process', code: `return String((await import('node:process')).default.exit);`, expected: NOTHING },
  {
    name: 'module.constructor._load',
    code: `return String(module.constructor._load ?? require.main ?? require.cache);`,
    expected: NOTHING,
  },
  { name: 'import.meta', code: `return typeof require('./meta.mjs');`, expected: /./ },
  // Files by modules.
  { name: 'a file as a module', code: `return require('/etc/passwd');`, expected: /Cannot find module|does not allow/ },
  { name: 'a file by import', code: `return (await import('/etc/passwd')).default;`, expected: REFUSED },
  {
    name: 'JSON elsewhere',
    code: `return (await import('file://' + dir + '/secret.json', { with: { type: 'json' } })).default.secret;`,
    expected: REFUSED,
  },
  {
    name: 'JSON elsewhere by require',
    code: `return require(dir + '/secret.json').secret;`,
    expected: /Cannot find module|does not allow/,
  },
  { name: 'JSON behind a link', code: `return require('./link.json').secret;`, expected: /Cannot find module|does not allow/ },
  { name: 'an addon', code: `return require('./addon.node');`, expected: /Cannot find module|does not allow/ },
  { name: 'files by URL', code: `return await (await fetch('file:///etc/passwd')).text();`, expected: REFUSED },
  { name: 'crypto.setEngine', code: `return String((await import('node:crypto')).setEngine);`, expected: NOTHING },
  // The network.
  { name: 'fetch', code: `return String((await fetch('http://127.0.0.1:' + port)).status);`, expected: REFUSED },
  { name: 'ngx.fetch', code: `return String((await ngx.fetch('http://127.0.0.1:' + port)).status);`, expected: REFUSED },
  {
    name: 'fetch with another dispatcher',
    code: `return String((await fetch('http://127.0.0.1:' + port, { dispatcher: { dispatch() { throw Error('in'); } } })).status);`,
    expected: REFUSED,
  },
  {
    name: "undici's dispatcher",
    code: `globalThis[Symbol.for('undici.globalDispatcher.1')].dispatch({ origin: 'http://127.0.0.1:' + port, path: '/', method: 'GET' }, {}); return 'sent';`,
    expected: /by fetch alone/,
  },
  {
    name: "another one in the dispatcher's place",
    code: `'use strict'; globalThis[Symbol.for('undici.globalDispatcher.1')] = {}; return 'put';`,
    expected: REFUSED,
  },
  { name: 'WebSocket', code: `return String(globalThis.WebSocket ?? globalThis.EventSource);`, expected: NOTHING },
  // Threads and shared memory.
  { name: 'SharedArrayBuffer', code: `return String(globalThis.SharedArrayBuffer ?? globalThis.Atomics);`, expected: NOTHING },
  { name: 'shared memory of WebAssembly', code: `return String(globalThis.WebAssembly);`, expected: NOTHING },
  {
    name: 'channels',
    code: `return String(globalThis.BroadcastChannel ?? globalThis.MessageChannel ?? globalThis.MessagePort);`,
    expected: NOTHING,
  },
  { name: 'garbage collection', code: `return String(globalThis.gc);`, expected: NOTHING },
  // What the thread's own code calls.
  {
    name: 'Array.prototype',
    code: `'use strict'; Array.prototype.push = function () { globalThis.stolen = this; }; return 'put';`,
    expected: REFUSED,
  },
  { name: 'Map.prototype', code: `'use strict'; Map.prototype.set = function () {}; return 'put';`, expected: REFUSED },
  { name: 'Promise.prototype', code: `'use strict'; Promise.prototype.then = function () {}; return 'put';`, expected: REFUSED },
  {
    name: 'iterators',
    code: `'use strict'; Object.getPrototypeOf([][Symbol.iterator]()).next = function () {}; return 'put';`,
    expected: REFUSED,
  },
  { name: 'Function.prototype.call', code: `'use strict'; Function.prototype.call = function () {}; return 'put';`, expected: REFUSED },
  { name: 'Object.prototype', code: `'use strict'; Object.prototype.dispatcher = {}; return 'put';`, expected: REFUSED },
  {
    name: 'a setter of Object.prototype',
    code: `Object.defineProperty(Object.prototype, 'runs', { set(v) { globalThis.stolen = v; } }); return 'put';`,
    expected: REFUSED,
  },
  {
    name: '__proto__',
    code: `'use strict'; Object.prototype.__proto__ = { x: 1 }; return 'put';`,
    expected: /immutable|read only|Immutable|not extensible/,
  },
  {
    name: 'EventTarget',
    code: `'use strict'; for (const key of Object.getOwnPropertySymbols(EventTarget.prototype)) { EventTarget.prototype[key] = function () { globalThis.stolen = this; }; } return 'put';`,
    expected: REFUSED,
  },
  {
    name: 'EventEmitter',
    code: `'use strict'; const { default: E } = await import('node:events'); Object.defineProperty(E.prototype, 'emit', { value() { globalThis.stolen = this; } }); return 'put';`,
    expected: /Cannot redefine|not extensible|read only/,
  },
  { name: 'Response', code: `'use strict'; Response.prototype.text = function () {}; return 'put';`, expected: REFUSED },
  { name: 'globals', code: `'use strict'; globalThis.AbortController = class {}; return 'put';`, expected: REFUSED },
  { name: 'JSON', code: `'use strict'; JSON.parse = () => {}; return 'put';`, expected: REFUSED },
  { name: 'Buffer', code: `'use strict'; Buffer.from = () => {}; return 'put';`, expected: REFUSED },
  // Ways from what is given.
  {
    name: 'timers that lead to others',
    code: `const timer = setTimeout(() => {}, 1); return String(timer._idleNext ?? timer._idlePrev ?? timer._onTimeout);`,
    expected: NOTHING,
  },
  {
    name: 'timers by number',
    code: `for (let i = 0; i < 200; i++) { clearInterval(i); clearTimeout(i); } return 'none';`,
    expected: NOTHING,
  },
  {
    name: 'frames of the stack',
    code: `let seen; Error.prepareStackTrace = (_, sites) => { seen = sites.map((one) => one.getThis() ?? one.getFunction()); return ''; }; void new Error('x').stack; return String(seen?.find((one) => one !== undefined));`,
    expected: NOTHING,
  },
  {
    name: 'callers',
    code: `const outer = (function who() { return who.caller; })(); return String(outer?.constructor?.name ?? 'none');`,
    expected: /may not be accessed on strict/,
  },
  {
    name: 'util.inspect',
    code: `let found; const { inspect } = await import('node:util'); inspect({ [inspect.custom](depth, options, own) { found = own.constructor('return process.exit')(); return ''; } }); return String(found);`,
    expected: NOTHING,
  },
  {
    name: 'stack overflow',
    code: `let caught; const deep = () => { try { deep(); } catch (error) { caught ??= error; } }; deep(); return String(caught.constructor.constructor('return process.exit')());`,
    expected: NOTHING,
  },
  {
    name: 'the context',
    code: `return Object.keys(context).join() + String(context.constructor.constructor('return process.exit')());`,
    expected: NOTHING,
  },
  { name: 'the environment object', code: `return Object.keys(env).join();`, expected: 'remoteAddress' },
  {
    name: 'resources of async hooks',
    code: `const hooks = await import('node:async_hooks'); return String(hooks.executionAsyncResource ?? hooks.createHook);`,
    expected: NOTHING,
  },
  { name: 'the shared dictionaries', code: `return String(Object.keys(ngx.shared));`, expected: '' },
  { name: 'the inspector', code: `return String(globalThis.inspector ?? (await import('node:inspector')).url());`, expected: REFUSED },
  { name: 'measuring others', code: `return String(globalThis.PerformanceObserver ?? performance.timerify);`, expected: NOTHING },
  { name: 'another global process', code: `'use strict'; globalThis.process = {}; return 'put';`, expected: REFUSED },
  {
    name: 'process of events',
    code: `'use strict'; process.on('exit', () => {}); process.env.A = '1'; return JSON.stringify(process.env);`,
    expected: REFUSED,
  },
  { name: 'storage', code: `return String(globalThis.localStorage ?? globalThis.sessionStorage);`, expected: NOTHING },
  {
    name: 'a URL of an object',
    code: `return String((await import('node:buffer')).default.constructor.constructor('return process.exit')());`,
    expected: NOTHING,
  },
];

// What an attack is about comes with the request: `port` of a backend, `dir` with a file that is not for it.
const module = `
const attacks = {
${attacks.map(({ name, code }) => `  ${JSON.stringify(name)}: async (port, dir, env, context) => { ${code} },`).join('\n')}
};
export default {
  async fetch(request, env, context) {
    const query = new URL(request.url).searchParams;
    try {
      return new Response(String(await attacks[query.get('name')](query.get('port'), query.get('dir'), env, context)));
    } catch (error) {
      return new Response(error.message + ' ' + (error.cause?.message ?? ''));
    }
  },
};
`;

t.test('code in a thread has what is granted, and nothing else', async (t) => {
  const backend = await origin(t, () => 'reached');
  const s = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%%; js_import app/a.js; js_isolation thread threads=1 allow=none; location / { js_content a; } }`,
    ),
    files: {
      'app/a.js': module,
      'app/meta.mjs': 'export default import.meta.require ?? 1;',
      'app/node_modules/greedy/index.js': 'exports.fs = require("node:fs");',
      'secret.json': '{"secret":"gold"}',
    },
  });
  symlinkSync(`${s.dir}/secret.json`, `${s.dir}/app/link.json`);
  symlinkSync(process.execPath, `${s.dir}/app/addon.node`);
  for (const { name, expected } of attacks) {
    const query = new URLSearchParams({ name, port: String(backend), dir: s.dir });
    const answer = await httpGet(s, `/?${query}`);
    t.equal(answer.status, 200, name);
    t.match(answer.text, typeof expected === 'string' ? new RegExp(`^${expected.replaceAll(/[{}]/g, '\\$&')}$`) : expected, name);
    t.notMatch(answer.text, /gold|reached|root:/, `${name} has nothing`);
  }
});

/** A backend; the port that it listens on. */
async function origin(t: Test, answer: () => string): Promise<number> {
  const server = createServer((_request, response) => response.end(answer())).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

const granted = `
const answer = async (what) => { try { return String(await what()); } catch (error) { return error.message + ' ' + (error.cause?.message ?? ''); } };
export default {
  async fetch(request) {
    const query = new URL(request.url).searchParams;
    const at = (name) => query.get(name);
    const fs = await import('node:fs').then((all) => all.default, () => undefined);
    const ways = {
      ask: async () => (await fetch(at('url'))).text(),
      asRequest: async () => (await fetch(new Request(at('url')))).text(),
      read: () => fs.readFileSync(at('path'), 'utf8'),
      later: () => fs.promises.readFile(at('path'), 'utf8'),
      put: () => { fs.writeFileSync(at('path'), 'put'); return 'put'; },
      move: () => { fs.renameSync(at('path'), at('to')); return 'moved'; },
      list: () => fs.readdirSync(at('path')).join(),
      turns: () => { let n = 0; return fs.readFileSync({ toString: () => (n++ === 0 ? at('path') : '/etc/passwd') }, 'utf8'); },
      left: () => String(Object.keys(fs).filter((name) => /watch|open|Stream|symlink|link\\b|chmod|chown|utimes|mkdtemp/i.test(name))),
      descriptor: () => fs.readFileSync(0, 'utf8'),
    };
    return new Response(await answer(ways[at('way')]));
  },
};
`;

t.test('fetch asks the hosts that are granted', async (t) => {
  const yes = await origin(t, () => 'reached');
  const no = await origin(t, () => 'gold');
  const s = await startServer(t, {
    conf: httpConf(`server { listen 127.0.0.1:%%PORT_0%%; js_import app/a.js;
      location /one { js_isolation thread threads=1 allow=fetch:127.0.0.1:${yes},fetch:127.0.0.1:%%PORT_1%%; js_content a; }
      location /all { js_isolation thread threads=1 allow=fetch; js_content a; } }
      server { listen 127.0.0.1:%%PORT_1%%; return 302 http://127.0.0.1:${no}/; }`),
    files: { 'app/a.js': granted },
  });
  const ask = async (path: string, way: string, url: string): Promise<string> =>
    (await httpGet(s, `/${path}?${new URLSearchParams({ way, url })}`)).text;
  t.match(await ask('one', 'ask', `http://127.0.0.1:${yes}/`), /^reached/);
  t.match(await ask('one', 'ask', `http://127.0.0.1:${no}/`), /does not allow to fetch from/);
  t.match(await ask('one', 'ask', `http://localhost:${yes}/`), /does not allow to fetch from/, 'a name is not its address');
  t.match(await ask('one', 'asRequest', `http://127.0.0.1:${no}/`), /does not allow to fetch from/);
  t.match(await ask('one', 'ask', `http://127.0.0.1:${s.port(1)}/`), /does not allow to fetch from/, 'a redirect is asked for, too');
  t.match(await ask('all', 'ask', `http://127.0.0.1:${no}/`), /^gold/);
});

t.test('files are those of the granted folders', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%%; js_import app/a.js; location / { js_isolation thread threads=1 allow=fs:%%DIR%%/data,fs-write:%%DIR%%/own; js_content a; } }`,
    ),
    files: { 'app/a.js': granted, 'data/a.txt': 'given', 'own/b.txt': 'own', 'database/c.txt': 'gold', 'secret.txt': 'gold' },
    asRoot: true,
  });
  symlinkSync(`${s.dir}/secret.txt`, `${s.dir}/data/link`);
  symlinkSync(`${s.dir}/new.txt`, `${s.dir}/own/dangling`);
  symlinkSync(s.dir, `${s.dir}/own/up`);
  const ask = async (way: string, path: string, to = ''): Promise<string> =>
    (await httpGet(s, `/?${new URLSearchParams({ way, path: `${s.dir}/${path}`, to: `${s.dir}/${to}` })}`)).text.trim();
  t.equal(await ask('read', 'data/a.txt'), 'given');
  t.equal(await ask('later', 'data/a.txt'), 'given');
  t.equal(await ask('list', 'data'), 'a.txt,link');
  t.equal(await ask('put', 'own/new'), 'put');
  t.equal(s.read('own/new'), 'put');
  for (const path of ['secret.txt', 'data/../secret.txt', 'database/c.txt', 'data/link', 'own/up/secret.txt', 'own/../secret.txt']) {
    t.match(await ask('read', path), /does not allow/, path);
    t.match(await ask('later', path), /does not allow/, path);
  }
  for (const path of ['data/a.txt', 'data/new', 'secret.txt', 'own/dangling', 'own/up/new.txt']) {
    t.match(await ask('put', path), /does not allow/, path);
  }
  t.match(await ask('move', 'secret.txt', 'own/stolen'), /does not allow/);
  t.match(await ask('move', 'own/b.txt', 'app/a.js'), /does not allow/);
  t.match(await ask('turns', 'data/a.txt'), /must be a string/);
  t.match(await ask('descriptor', ''), /must be a string/);
  t.equal(await ask('left', ''), '');
});

const greedy = `
const all = [];
export default {
  hello: () => new Response('hello'),
  loop() { for (;;) {} },
  heap() { for (;;) { all.push(new Array(10000).fill(Math.random())); } },
  text() { let text = 'x'; for (;;) { text += text; all.push(text); } },
  buffers() { for (;;) { all.push(Buffer.alloc(1 << 20, 1)); } },
  async blobs() { for (;;) { all.push(new Blob([new Uint8Array(4e6).fill(1)])); await new Promise((go) => setTimeout(go, 1)); } },
  regex: () => new Response(String(/^(a+)+$/.test('a'.repeat(60) + 'b'))),
  microtasks: () => new Promise(() => { const go = () => Promise.resolve().then(go); go(); }),
  ticks: () => new Promise(() => { const go = () => process.nextTick(go); go(); }),
};
`;

t.test('memory and time of a thread have their bounds', async (t) => {
  const names = ['loop', 'heap', 'text', 'buffers', 'blobs', 'regex', 'microtasks', 'ticks'];
  const s = await startServer(t, {
    conf: httpConf(`js_block_timeout 1500ms; server { listen 127.0.0.1:%%PORT_0%%; js_import app/a.js;
      ${['hello', ...names].map((name) => `location /${name} { js_isolation thread threads=1 memory=32m allow=none; js_content a.${name} fetch; }`).join('\n')} }`),
    files: { 'app/a.js': greedy },
  });
  for (const name of names) {
    t.equal((await httpGet(s, `/${name}`)).status, 500, name);
    t.match((await httpGet(s, '/hello')).text, /^hello/, `after ${name}`);
  }
  t.equal(s.workers().length, 1, 'the worker is there');
});

t.test('packages run in such a thread', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%%; js_import app/a.ts; location / { js_isolation thread allow=none; js_content a; } }`,
    ),
    files: {
      'app/a.ts': `import { Hono } from 'hono'; import { cors } from 'hono/cors'; import { createHmac } from 'node:crypto';
        const app = new Hono(); app.use('*', cors());
        app.get('/hello/:name', (c) => c.json({ name: c.req.param('name') }));
        app.get('/mac', (c) => c.text(createHmac('sha256', 'k').update('x').digest('hex').slice(0, 8)));
        export default app;`,
    },
  });
  // A thread reads packages as the workers' user, to whom the checkout may be closed.
  cpSync(new URL('../../node_modules/hono', import.meta.url).pathname, `${s.dir}/app/node_modules/hono`, { recursive: true });
  // The folders of packages are those that are there when a thread starts.
  await s.reload();
  t.equal((await httpGet(s, '/hello/ann')).text, '{"name":"ann"}');
  t.equal((await httpGet(s, '/mac')).text, createHmac('sha256', 'k').update('x').digest('hex').slice(0, 8));
});

t.test('nothing of it runs in the worker, or with -t', async (t) => {
  const files = { 'app/a.js': `require('fs').writeFileSync('out', 'x'); export default { fetch: () => new Response('x'), f() {} };` };
  const location = (more: string): string =>
    httpConf(`server { listen 127.0.0.1:8080; location / { js_import app/a.js; js_isolation thread allow=none; js_content a; ${more} } }`);
  t.equal((await testConfig(t, location(''), files)).code, 0, 'the module was not run');
  for (const name of ['js_access', 'js_rewrite', 'js_header_filter', 'js_body_filter', 'js_log', 'js_periodic']) {
    t.match(
      (await testConfig(t, location(`${name} a.f;`), files)).stderr,
      new RegExp(`"${name}" cannot be where "js_isolation" has "allow="`),
    );
  }
});

t.test('a thread that cannot start fails its requests', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%%; js_import app/a.js; location / { js_isolation thread allow=fs:/no/such/folder; js_content a.hello fetch; } }`,
    ),
    files: { 'app/a.js': greedy },
  });
  t.equal((await httpGet(s, '/')).status, 500);
  t.match(s.log(), /no such file or directory, realpath '\/no\/such\/folder'|ENOENT/);
});

t.test('what cannot be granted', async (t) => {
  for (const text of ['allow=all', 'allow=fs', 'allow=fs:data', 'allow=fetch:a/b', 'allow=', 'allow=none,fetch']) {
    t.match(
      (await testConfig(t, httpConf(`server { listen 127.0.0.1:8080; js_isolation thread ${text}; }`))).stderr,
      /invalid parameter/,
      text,
    );
  }
});
