import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { startForeground } from '../support/foreground.js';
import { makePrefix } from '../support/prefix.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('nginx is no package');
}

// What tap preloads is not for servers, whose workers become nobody.
delete process.env.NODE_OPTIONS;
const program = serverCommand().find((word) => word.endsWith('/sluice.js'))!;
const packaged = (file: string) => import(pathToFileURL(`${dirname(program)}/${file}`).href);
const api = (await packaged('index.js')) as typeof import('../../src/tools/package.js');
const { serve, testConfig, explain, parse, format, ServeError, ParseError } = api;
const { sluice } = (await packaged('vite.js')) as typeof import('../../src/tools/programs/vite.js');

async function application(t: Test, answer: RequestListener): Promise<number> {
  const app = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((done) => app.once('listening', done));
  t.teardown(() => app.close());
  return (app.address() as AddressInfo).port;
}

const body = async (url: string): Promise<string> => (await fetch(url)).text();
const quiet = { output: 'ignore' } as const;

t.test('a server in front of an application', async (t) => {
  const proxy = await application(t, ({ url, headers }, response) => response.end(`${url} ${headers['x-forwarded-for']}`));
  const server = await serve({ ...quiet, proxy, port: 0 });
  t.teardown(() => server.close());
  t.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
  t.strictSame(server.urls, [server.url]);
  t.equal(await body(`${server.url}x?y`), '/x?y 127.0.0.1');
  await server.reload();
  const other = await application(t, (_request, response) => response.end('other'));
  await server.reload({ proxy: other });
  t.equal(await body(server.url), 'other', 'on the same port');
  await t.rejects(server.reload({ directory: '/none' }), { name: 'ServeError', message: '"/none" is no folder' });
  t.equal(await body(server.url), 'other');
  await server.close();
  await server.closed;
  await t.rejects(fetch(server.url));
  t.throws(() => process.kill(server.pid, 0));
  await server.close();
});

t.test('folders, texts and files', async (t) => {
  const { dir } = await makePrefix(t, {
    'public/index.html': 'the page',
    'mime.types': 'types { text/html html; }',
    'site.conf': 'events {} http { access_log off; include mime.types; server { listen 127.0.0.1:8080; root public; } }',
  });
  const folder = await serve({ ...quiet, directory: `${dir}/public`, spa: true });
  t.equal(await body(`${folder.url}some/route`), 'the page');
  await folder.close();
  await using text = await serve({
    ...quiet,
    port: 0,
    config: 'events {} http { access_log off; server { listen 127.0.0.1:8080; return 200 é; } }',
  });
  t.equal(await body(text.url), 'é');
  await t.rejects(text.reload({ config: 'rubbish' }), {
    name: 'ServeError',
    message: /^the reload was refused: [\s\S]*unexpected end of file/,
  });
  t.equal(await body(text.url), 'é');
  await using file = await serve({ ...quiet, port: 0, configFile: `${dir}/site.conf` });
  t.equal(await body(file.url), 'the page', 'relative paths start at the file');
  writeFileSync(`${dir}/public/index.html`, 'another');
  await file.reload();
  t.equal(await body(file.url), 'another');
  await t.rejects(file.reload({ proxy: 3000 }), { name: 'ServeError', message: /is reloaded without options/ });
});

t.test('what makes no sense is told', async (t) => {
  const wrong: readonly [unknown, RegExp][] = [
    [undefined, /^serve takes an object of options$/],
    [{}, /^serve takes one of the options .*, and got 0$/],
    [{ proxy: 1, directory: '.' }, /, and got 2$/],
    [{ proxy: 3000, prot: 1 }, /^serve knows no option "prot"$/],
    [{ proxy: 3000, port: 70_000 }, /^the option "port" of serve is no port from 0 to 65535$/],
    [{ proxy: 3000, port: '80' }, /"port"/],
    [{ proxy: 'http://x/path' }, /is no application/],
    [{ proxy: {} }, /^the option "proxy" of serve is neither a number nor a text$/],
    [{ directory: '/none' }, /^"\/none" is no folder$/],
    [{ configFile: '/none' }, /^"\/none" is no file$/],
    [{ config: '', host: 'x' }, /^the option "host" of serve does not go with "config"$/],
    [{ proxy: 3000, spa: true }, /does not go with "proxy"/],
    [{ proxy: 3000, host: 'x y' }, /cannot be listened on/],
    [{ ...quiet, config: 'rubbish;' }, /^sluice does not start: .*unknown directive "rubbish"/],
  ];
  for (const [options, message] of wrong) {
    await t.rejects(serve(options as never), { name: 'ServeError', message }, JSON.stringify(options));
  }
  t.ok(new ServeError('x') instanceof Error);
  await t.rejects(serve({ proxy: 3000, signal: AbortSignal.abort() }), { name: 'AbortError' });
});

t.test('a signal ends it', async (t) => {
  const abort = new AbortController();
  const server = await serve({
    ...quiet,
    config: 'events {} http { access_log off; server { listen 127.0.0.1:8080; } }',
    port: 0,
    signal: abort.signal,
  });
  t.ok((await fetch(server.url)).status);
  abort.abort();
  await server.closed;
});

t.test('a server ends with the program that has started it, however that ends', async (t) => {
  const { dir } = await makePrefix(t, {
    'start.mjs': `import { serve } from ${JSON.stringify(pathToFileURL(`${dirname(program)}/index.js`).href)};
      const { url, pid } = await serve({ directory: '.' }); console.log('at ' + url + ' ' + pid + ' .');`,
  });
  const starter = startForeground(t, process.execPath, [`${dir}/start.mjs`], { cwd: dir });
  const [, url, pid] = await starter.until(/at (\S+) (\d+) \./);
  t.equal((await fetch(url!)).status, 200);
  await starter.stop('SIGKILL');
  await waitFor(() => !existsSync(`/proc/${pid}`));
});

t.test('configurations are tested, explained, read and laid out', async (t) => {
  const config = 'events {} http { server { listen 8080; location /old { return 301 /new; } } }';
  t.strictSame(await testConfig({ config }), { ok: true, findings: [] });
  t.strictSame(await testConfig({ config: 'events {}\nhttp { rubbish; }' }), {
    ok: false,
    findings: [{ level: 'emerg', message: 'unknown directive "rubbish"', line: 2 }],
  });
  const { dir } = await makePrefix(t, { 'a.conf': 'events {} include b.conf;', 'b.conf': '\n\nhttp { x; }' });
  t.match(await testConfig({ configFile: `${dir}/a.conf` }), { ok: false, findings: [{ file: `${dir}/b.conf`, line: 3 }] });
  await t.rejects(testConfig({ config, port: 1 } as never), { name: 'ServeError', message: 'testConfig knows no option "port"' });
  const story = await explain({ url: '/old?x', headers: { Host: 'example.com' } }, { config });
  t.match(story.response, {
    status: 301,
    headers: [{ name: 'Server' }, {}, {}, {}, { name: 'Location', value: 'http://example.com:8080/new' }],
  });
  t.ok(story.steps.length > 0);
  await t.rejects(explain('nothing', { config }), { name: 'ServeError', message: /^explain takes a URL/ });
  await t.rejects(explain('/', { config: 'rubbish;' }), { name: 'ServeError', message: /unknown directive "rubbish"/ });
  t.strictSame(parse('a "b c" é { d; }'), [
    { name: 'a', args: ['b c', 'é'], line: 1, column: 1, block: [{ name: 'd', args: [], line: 1, column: 13 }] },
  ]);
  t.match(
    parse('é é; é;\né x; "é" { y; }').map(({ line, column }) => [line, column]),
    [
      [1, 1],
      [1, 6],
      [2, 1],
      [2, 6],
    ],
  );
  t.throws(() => parse('a;\nb {'), { name: 'ParseError', line: 2, message: /unexpected end of file/ });
  t.throws(() => format('}'), ParseError);
  t.equal(format('http{server{listen   80; # é\n}}'), 'http {\n    server {\n        listen 80; # é\n    }\n}\n');
});

t.test('the plugin for Vite', async (t) => {
  const proxy = createServer((_request, response) => response.end('vite'));
  const said: string[] = [];
  const { dir } = await makePrefix(t, { 'dist/index.html': 'built' });
  const vite = {
    httpServer: proxy,
    config: {
      root: dir,
      build: { outDir: 'dist' },
      logger: { info: (text: string) => void said.push(text), error: (text: string) => void said.push(text) },
    },
  };
  sluice().configureServer(vite);
  sluice({ port: 0, config: 'events {} http { access_log off; server { listen 127.0.0.1:8080; return 200 %TARGET%; } }' }).configureServer(
    vite,
  );
  sluice({ config: 'events {}' }).configureServer(vite);
  sluice().configurePreviewServer(vite);
  proxy.listen(0, '127.0.0.1');
  await waitFor(() => said.length === 4);
  const urls = said.flatMap((line) => /http:\S+/.exec(line)?.[0] ?? []);
  const { port } = proxy.address() as AddressInfo;
  t.strictSame((await Promise.all(urls.map(body))).sort(), ['vite', 'built', `127.0.0.1:${port}`].sort());
  t.match(
    said.find((line) => !line.includes('http:')),
    /has no %TARGET%/,
  );
  proxy.close();
  const refused = (url: string): Promise<boolean> =>
    new Promise((done) =>
      connect(Number(new URL(url).port), '127.0.0.1')
        .once('error', () => done(true))
        .once('connect', function (this: { destroy(): void }) {
          this.destroy();
          done(false);
        }),
    );
  for (const url of urls) {
    await waitFor(() => refused(url));
  }
});

t.test('the examples for Express, Fastify and Hono', async (t) => {
  for (const name of ['express', 'fastify', 'hono']) {
    const file = new URL(`../../conf/examples/programs/${name}.mjs`, import.meta.url).pathname;
    const example = startForeground(t, process.execPath, [file], { env: { PORT: '0' } });
    const [, url] = await example.until(/listening on (\S+)/);
    t.match((await body(url!)).toLowerCase(), `hello 127.0.0.1 from ${name}`);
    t.equal(await example.stop('SIGTERM'), 0);
  }
});
