import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { transformSync } from 'esbuild';
import t from 'tap';
import { WebSocket } from 'ws';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('nginx has no such handlers');
}

const noTaskset = spawnSync('taskset', ['-c', '0', 'true']).status !== 0 && 'no taskset';

const script = `
export default {
  hello: () => new Response('hello', { headers: { 'set-cookie': 'a=1' } }),
  async echo(request, env) { return Response.json({ text: await request.text(), agent: request.headers.get('x-a'), method: request.method, path: new URL(request.url).pathname, address: env.remoteAddress }); },
  pieces: () => new Response(new ReadableStream({ pull(c) { this.n = (this.n ?? 0) + 1; if (this.n > 5) { c.close(); } else { c.enqueue(new Uint8Array(70000).fill(96 + this.n)); } } })),
  throws() { throw new Error('on purpose'); },
  loop() { for (;;) {} },
  never: () => new Promise(() => {}),
  grows() { const all = []; for (;;) { all.push(new Array(10000).fill(Math.random())); } },
  aborted(request) { request.signal.onabort = () => console.error('client left'); return new Promise(() => {}); },
  where: () => new Response(String(require('worker_threads').isMainThread)),
  spin(r) { for (;;) {} },
  async keeps() { const all = []; for (;;) { all.push(Buffer.alloc(1 << 20, 1)); await new Promise(setImmediate); } },
  async shares() { const all = []; for (let i = 0; i < 60; i++) { all.push(new Uint8Array(new SharedArrayBuffer(4e6)).fill(1)); await new Promise((done) => setTimeout(done, 20)); } return new Response(String(all.length)); },
  async blobs() { const all = []; for (let i = 0; i < 60; i++) { all.push(new Blob([new Uint8Array(4e6).fill(1)])); await new Promise((done) => setTimeout(done, 20)); } return new Response(String(all.length)); },
  heaps() { const all = []; for (;;) { all.push(Buffer.alloc(1 << 20, 1)); } },
  async litters() { for (let i = 0; i < 100; i++) { Buffer.alloc(1 << 20, 1); await new Promise((go) => setTimeout(go, 2)); } return new Response('litter'); },
  async busy() { console.error('busy in ' + thread); for (;;) { await new Promise(setImmediate); } },
  obeys: (request) => new Promise((_, no) => { request.signal.onabort = () => no(request.signal.reason); }),
  slow: () => new Response(new ReadableStream({ async pull(c) { await new Promise((go) => setTimeout(go, 50)); c.enqueue(new Uint8Array([115])); if ((this.n = (this.n ?? 0) + 1) === 50) { c.close(); } } })),
  thread: () => new Response(thread),
};
const thread = String(require('worker_threads').threadId);
`;
const files = { 'a.js': script };

t.test('handlers in threads of their own', async (t) => {
  const names = ['hello', 'echo', 'pieces', 'throws', 'loop', 'never', 'aborted', 'where'];
  const s = await startServer(t, {
    conf: httpConf(`
  js_block_timeout 1500ms; # a busy machine may hold the worker for 400
  server {
    listen 127.0.0.1:%%PORT_0%%; js_import a.js; js_isolation thread threads=2;
    ${names.map((name) => `location /${name} { js_content a.${name} fetch; }`).join('\n    ')}
    location /soon { js_timeout 20ms; js_content a.never fetch; }
    location /grows { js_isolation thread threads=1 memory=16m; js_content a.grows fetch; }
    location /missing { js_content a.no_such fetch; }
    location = /api { api; }
    location /api/ { api; js_isolation off; }
  }`),
    files,
    asRoot: true,
  });
  const hello = await httpGet(s, '/hello');
  t.equal(`${hello.text} ${hello.header('Set-Cookie')} ${hello.header('Content-Length')}`, 'hello a=1 5');
  t.equal((await httpGet(s, '/where')).text, 'false');
  const echo = await http(s, requestText('POST', '/echo?x', { 'Content-Length': '4', 'X-A': 'b' }, 'body'));
  t.strictSame(JSON.parse(echo.text), { text: 'body', agent: 'b', method: 'POST', path: '/echo', address: '127.0.0.1' });
  t.equal((await httpGet(s, '/pieces')).text, ['a', 'b', 'c', 'd', 'e'].map((c) => c.repeat(70000)).join(''));
  t.equal((await httpGet(s, '/throws')).status, 500);
  await s.logged(/js exception: Error: on purpose\\x0A {4}at .*a\.js:\d+/);
  t.equal((await httpGet(s, '/missing')).status, 500);
  await s.logged('js function "a.no_such" not found');
  t.equal((await httpGet(s, '/soon')).status, 500);
  const leaver = await RawClient.connect(s);
  leaver.send(requestText('GET', '/aborted'));
  await httpGet(s, '/hello');
  leaver.destroy();
  await s.logged('js: client left');
  const loop = httpGet(s, '/loop');
  t.equal((await httpGet(s, '/hello')).text, 'hello', 'others are served meanwhile');
  t.equal((await loop).status, 500);
  await s.logged('js handler "a.loop" has held its thread for more than 1500 ms, ending the thread');
  t.equal((await httpGet(s, '/grows')).status, 500);
  await s.logged('its thread has used more than 16m of memory');
  t.equal((await httpGet(s, '/hello')).text, 'hello');
  const counted = JSON.parse((await httpGet(s, '/api/9/js/handlers/')).text);
  t.match(counted['a.hello'], { runs: 4, errors: 0, timeouts: 0 });
  t.match(counted['a.throws'], { errors: 1 });
  t.match(counted['a.never'], { timeouts: 1 });
});

t.test('Buffers count, and a handler whose time is over ends with its thread', async (t) => {
  const names = ['hello', 'keeps', 'heaps', 'shares', 'blobs', 'litters', 'busy', 'obeys', 'slow', 'thread'];
  const s = await startServer(t, {
    conf: httpConf(`
  js_block_timeout 60s;
  server {
    listen 127.0.0.1:%%PORT_0%%; js_import a.js; js_isolation thread threads=1 memory=32m; js_timeout 20s;
    ${names.map((name) => `location /${name} { js_content a.${name} fetch; }`).join('\n    ')}
  }
  server {
    listen 127.0.0.1:%%PORT_1%%; js_import a.js; js_isolation thread threads=1; js_timeout 1500ms;
    location /busy { js_content a.busy fetch; }
    location /obeys { js_content a.obeys fetch; }
    location /slow { js_content a.slow fetch; }
    location /thread { js_content a.thread fetch; }
  }`),
    files,
  });
  for (const path of ['/keeps', '/heaps', '/shares', '/blobs']) {
    t.equal((await httpGet(s, path)).status, 500, path);
    await s.logged(new RegExp(`its thread has used more than 32m of memory.*"GET ${path} `));
    t.equal((await httpGet(s, '/hello')).text, 'hello');
  }
  t.equal((await httpGet(s, '/litters')).text, 'litter', 'what is garbage does not count');
  const port = s.port(1);
  const first = (await httpGet(port, '/thread')).text;
  t.equal((await httpGet(port, '/obeys')).status, 500);
  const busy = httpGet(port, '/busy');
  await s.logged(`busy in ${first}`);
  t.equal((await busy).status, 500, 'its time is over');
  const slow = httpGet(port, '/slow');
  await s.logged('js handler "a.busy" goes on after its time, ending the thread');
  t.not((await httpGet(port, '/thread')).text, first, 'requests go to another thread');
  t.equal((await slow).text, 's'.repeat(50), 'what the thread has begun comes to its end');
  t.notMatch(s.log(), /"a.obeys" goes on/);
  t.notMatch(s.stderr(), /Warning/, 'a held thread is asked for its memory once at a time');
});

t.test('a worker that JavaScript holds is replaced', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
  js_block_timeout 1s;
  server {
    listen 127.0.0.1:%%PORT_0%%; js_import a.js;
    location /hello { js_content a.hello fetch; }
    location /loop { js_content a.loop fetch; }
    location /spin { js_content a.spin; }
  }`),
    files,
    expectAlerts: /has held the worker|exited on signal 9/,
  });
  for (const path of ['/loop', '/spin']) {
    const [pid] = s.workers();
    const client = await RawClient.connect(s);
    client.send(requestText('GET', path));
    await client.closed();
    const line = await s.logged(new RegExp(`js handler "a\\.${path.slice(1)}" has held the worker for more than 1000 ms`));
    t.match(line, new RegExp(` at ${path.slice(1)} \\(.*a\\.js:\\d+\\), ending the worker`));
    await s.logged(`worker process ${pid} exited on signal 9`);
    t.equal((await httpGet(s, '/hello')).text, 'hello');
  }
});

t.test('a handler that waits for a processor does not hold its worker', { skip: noTaskset }, async (t) => {
  const script = `export default {
  works() {
    const { user, system } = process.cpuUsage();
    for (let used = 0; used < 40_000; ) {
      const now = process.cpuUsage();
      used = now.user + now.system - user - system;
    }
    return new Response('done');
  },
};`;
  const s = await startServer(t, {
    conf: httpConf(`
  js_block_timeout 250ms;
  server { listen 127.0.0.1:%%PORT_0%%; js_import w.js; location / { js_content w.works fetch; }
    location /thread { js_isolation thread threads=1; js_content w.works fetch; } location /pid { return 200 $pid; } }`),
    files: { 'w.js': script },
    within: ['taskset', '-c', '0'],
  });
  const { text: pid } = await httpGet(s, '/pid');
  t.equal((await httpGet(s, '/thread')).text, 'done');
  // Each in a session of its own, since the system may share processors out by session.
  const others = Array.from({ length: 10 }, () =>
    spawn('taskset', ['-c', '0', 'sh', '-c', 'echo; while :; do :; done'], { detached: true }),
  );
  const end = (): void => others.forEach((other) => void other.kill('SIGKILL'));
  t.teardown(end);
  await Promise.all(others.map((other) => once(other.stdout, 'data')));
  t.strictSame(await Promise.all(['/', '/thread'].map(async (path) => (await httpGet(s, path)).text)), ['done', 'done']);
  end();
  t.equal((await httpGet(s, '/pid')).text, pid);
});

t.test('a start may take longer than JavaScript may hold the worker', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
  js_block_timeout 500ms;
  server { listen 127.0.0.1:%%PORT_0%%; js_import slow.js; location / { js_content slow.hello fetch; } }`),
    files: { 'slow.js': `for (const until = Date.now() + 1000; Date.now() < until; ) {}\n${script}` },
  });
  t.equal((await httpGet(s, '/')).text, 'hello');
});

t.test("a script in a file that is called as the server's own keeps its frames, and its faults cost one request", async (t) => {
  const program = `export default {
  fails() { throw new Error('from a bundle'); },
  later(r) { setTimeout(() => { throw new Error('from its timer'); }, 1); },
};`;
  const s = await startServer(t, {
    conf: httpConf(`js_import b from dist/program.js;
  server { listen 127.0.0.1:%%PORT_0%%; location / { js_content b.fails; } location /later { js_content b.later; } location /pid { return 200 $pid; } }`),
    files: { 'dist/program.js': program },
  });
  const { text: pid } = await httpGet(s, '/pid');
  t.equal((await httpGet(s, '/')).status, 500);
  await s.logged(/js exception: Error: from a bundle\\x0A {4}at .*fails.*dist\/program\.js:2:/);
  t.equal((await httpGet(s, '/later')).status, 500);
  await s.logged(/js exception: Error: from its timer\\x0A {4}at .*dist\/program\.js:3:/);
  t.equal((await httpGet(s, '/pid')).text, pid);
});

t.test('a debugger stops in a handler, and source maps lead to what was written', async (t) => {
  const { code, map } = transformSync("// written\n\nexport default {\n  fails: (): Response => { throw new Error('mapped'); },\n};\n", {
    loader: 'ts',
    sourcemap: true,
    sourcefile: 'written.ts',
  });
  const s = await startServer(t, {
    conf: httpConf(`
  js_inspect %%PORT_1%%; js_import a.js; js_import packed.mjs;
  server { listen 127.0.0.1:%%PORT_0%%; location / { js_content a.hello fetch; } location /mapped { js_content packed.fails fetch; } }`),
    files: { ...files, 'packed.mjs': `${code}//# sourceMappingURL=packed.mjs.map\n`, 'packed.mjs.map': map },
    asRoot: true,
  });
  t.equal((await httpGet(s, '/mapped')).status, 500);
  await s.logged(/js exception: Error: mapped.x0A {4}at .*\/written\.ts:4:\d+/);
  await s.logged('a debugger can connect to ws://127.0.0.1:');
  const [target] = (await (await fetch(`http://127.0.0.1:${s.port(1)}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target!.webSocketDebuggerUrl);
  t.teardown(() => socket.terminate());
  await new Promise((done) => socket.once('open', done));
  let id = 0;
  const ask = (method: string, params = {}) => {
    const own = ++id;
    socket.send(JSON.stringify({ id: own, method, params }));
    return heard((message) => message.id === own);
  };
  // biome-ignore lint/suspicious/noExplicitAny: messages of the debugger's protocol
  const heard = (wanted: (message: any) => boolean): Promise<any> =>
    new Promise((done) => {
      const listen = (text: Buffer): void => {
        const message = JSON.parse(String(text));
        if (wanted(message)) {
          socket.off('message', listen);
          done(message);
        }
      };
      socket.on('message', listen);
    });
  await ask('Debugger.enable');
  const line = script.split('\n').findIndex((text) => text.includes('hello:'));
  await ask('Debugger.setBreakpointByUrl', {
    lineNumber: line,
    columnNumber: script.split('\n')[line]!.indexOf('new'),
    urlRegex: '.*/a\\.js',
  });
  const paused = heard(({ method }) => method === 'Debugger.paused');
  const answer = httpGet(s, '/');
  t.equal((await paused).params.callFrames[0].functionName, 'hello');
  await ask('Debugger.resume');
  t.equal((await answer).text, 'hello');
});

t.test('what -t says', async (t) => {
  const message = (text: string): Promise<string | undefined> => configMessage(t, serverConf(text));
  t.match(await message('js_isolation process;'), 'invalid value "process"');
  t.match(await message('js_isolation thread memory=1k;'), 'invalid parameter "memory=1k"');
  t.match(await configMessage(t, serverConf('', 'js_inspect 0.0.0.0:9229;')), 'debuggers connect to 127.0.0.1 alone');
  t.match(await message('js_isolation thread threads=0;'), 'invalid parameter "threads=0"');
  t.match(await message('js_isolation thread; js_isolation off;'), '"js_isolation" directive is duplicate');
  t.match(await message('js_isolation thread; location / { node_handler a.b; }'), '"node_handler" cannot run with "js_isolation thread"');
});
