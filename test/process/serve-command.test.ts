import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import t from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { startForeground } from '../support/foreground.js';
import { startOrigin } from '../support/origin.js';
import { reservePort } from '../support/ports.js';
import { makePrefix } from '../support/prefix.js';
import { runCli } from '../support/run-cli.js';

if (againstNginx) {
  t.bailout('nginx has no such commands');
}

const [command, ...first] = serverCommand();

/** A folder with a page, and somewhere for temporary files. */
async function site(t: import('tap').Test): Promise<{ dir: string; env: Record<string, string> }> {
  const { dir } = await makePrefix(t, {
    'public/index.html': '<h1>home</h1>',
    'public/.env': 'SECRET=1',
    'public/files/a.txt': 'a',
    'public/a "b".mjs': 'x',
  });
  mkdirSync(`${dir}/tmp`);
  return { dir, env: { TMPDIR: `${dir}/tmp` } };
}

async function portOf(t: import('tap').Test): Promise<number> {
  const reserved = await reservePort();
  t.teardown(() => reserved.release());
  return reserved.port;
}

t.test('sluice DIRECTORY serves a folder, and leaves nothing behind', async (t) => {
  const { dir, env } = await site(t);
  const port = await portOf(t);
  const server = startForeground(t, command, [...first, './public', '--port', String(port), '--log'], { cwd: dir, env });
  const [, url] = await server.until(/^sluice: serving \.\/public on (http:\S+) \(Ctrl-C stops it\)\n/m);
  t.equal(url, `http://127.0.0.1:${port}/`);
  const get = (path: string) => fetch(new URL(path, url));
  const page = await get('/');
  t.equal(page.headers.get('content-type'), 'text/html');
  t.equal(await page.text(), '<h1>home</h1>');
  t.equal((await get('/.env')).status, 404);
  t.match(await (await get('/files/')).text(), 'a.txt');
  t.equal((await get('/a%20%22b%22.mjs')).headers.get('content-type'), 'application/javascript');
  t.equal((await get('/none')).status, 404);
  t.equal(await server.stop('SIGINT'), 0);
  t.same(readdirSync(`${dir}/tmp`), []);
});

t.test('options in any order; a busy usual port is not the end', async (t) => {
  const { dir, env } = await site(t);
  const port = await portOf(t);
  const server = startForeground(t, command, [...first, `--port=${port}`, '--spa', 'public'], { cwd: dir, env });
  const [, url] = await server.until(/on (http:\S+) /);
  t.equal(await (await fetch(new URL('/some/page', url))).text(), '<h1>home</h1>');
  t.equal(await server.stop('SIGTERM'), 0);

  // Somebody has 8080, this test or another program.
  const busy = createServer();
  const mine = await new Promise<boolean>((done) => busy.once('error', () => done(false)).listen(8080, '127.0.0.1', () => done(true)));
  t.teardown(() => busy.close());
  const next = startForeground(t, command, [...first, 'serve', 'public'], { cwd: dir, env });
  const [, other] = await next.until(/on http:\/\/127\.0\.0\.1:(\d+)\/ /);
  // Another program may have ended meanwhile.
  t.ok(Number(other) > (mine ? 8080 : 8079));
});

t.test('sluice proxy puts the server in front of an application', async (t) => {
  const { dir, env } = await site(t);
  const port = await portOf(t);
  const origin = await startOrigin(t, (request) => ({ body: `${request.header('host')} ${request.header('connection')}` }));
  const server = startForeground(t, command, [...first, 'proxy', String(origin.port), '--port', String(port)], { cwd: dir, env });
  const [, url] = await server.until(/^sluice: serving \d+ on (http:\S+) /m);
  t.equal(await (await fetch(new URL('/x', url))).text(), `127.0.0.1:${port} undefined`);
  await fetch(new URL('/y', url));
  t.equal(origin.requests.length, 2);
  t.match(origin.requests[0]!.header('x-forwarded-proto'), 'http');
});

t.test('sluice proxy passes events on as they come', async (t) => {
  const { dir, env } = await site(t);
  const port = await portOf(t);
  let end = (): void => undefined;
  const application = createHttpServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: 1\n\n');
    end = () => response.end();
  });
  await new Promise<void>((ready) => application.listen(0, '127.0.0.1', ready));
  t.teardown(() => application.close());
  const target = String((application.address() as { port: number }).port);
  const server = startForeground(t, command, [...first, 'proxy', target, '--port', String(port)], { cwd: dir, env });
  const [, url] = await server.until(/^sluice: serving \d+ on (http:\S+) /m);
  const { body } = await fetch(url!);
  // The response has not ended, and does not until the event was seen.
  const { value } = await body!.getReader().read();
  t.equal(Buffer.from(value!).toString(), 'data: 1\n\n');
  end();
});

t.test('sluice proxy finds an application that listens on ::1 alone, and one that comes later', async (t) => {
  const { dir, env } = await site(t);
  const six = createServer();
  const listens = await new Promise<boolean>((done) => six.once('error', () => done(false)).listen(0, '::1', () => done(true)));
  t.teardown(() => six.close());
  if (listens) {
    const { port } = six.address() as { port: number };
    const printed = await runCli(['proxy', String(port), '--print-config'], { cwd: dir, env });
    t.match(printed.stdout, `    upstream application {\n        server [::1]:${port};\n    }\n`);
  }
  const [port, application] = [await portOf(t), await portOf(t)];
  const server = startForeground(t, command, [...first, 'proxy', String(application), '--port', String(port)], { cwd: dir, env });
  const [, url = ''] = await server.until(/ on (http:\S+) /);
  t.equal((await fetch(url)).status, 502);
  const late = createHttpServer((_request, response) => response.end('late'));
  await new Promise<void>((done) => late.listen(application, '127.0.0.1', done));
  t.teardown(() => {
    late.close();
    late.closeAllConnections();
  });
  t.equal(await (await fetch(url)).text(), 'late', 'at once');
});

t.test('--print-config prints what -t accepts', async (t) => {
  const { dir, env } = await site(t);
  for (const args of [
    ['public', '--print-config'],
    ['serve', '--print-config', '--port', '1234', '--host', '::1', '--spa'],
    ['proxy', '3000', '--print-config'],
    ['proxy', 'https://127.0.0.1:8443/', '--print-config', '--host', '0.0.0.0', '--log'],
  ]) {
    const { code, stdout, stderr } = await runCli(args, { cwd: dir, env });
    t.same([code, stderr], [0, '']);
    t.match(stdout, /^nginx_compatibility on;$/m);
    // The ports of the text may be in use or not allowed.
    writeFileSync(
      `${dir}/printed.conf`,
      stdout.replace(/^( *listen +)\S+;/m, `$1unix:${dir}/s;`).replace('/dev/stdout', 'logs/a.log'),
      'latin1',
    );
    const tested = await runCli(['-t', '-p', dir, '-c', 'printed.conf', '-e', 'error.log']);
    t.equal(tested.code, 0, tested.stderr);
    t.notMatch(tested.stderr, 'warn');
  }
});

t.test('what cannot be served is said in one line', async (t) => {
  const { dir, env } = await site(t);
  mkdirSync(`${dir}/a$b`);
  for (const [args, said] of [
    [['./none'], /^sluice: "\.\/none" cannot be served \(2: No such file or directory\)\n$/],
    [['./public/index.html'], /^sluice: ".\/public\/index.html" is no folder\n$/],
    [['public', '--port', '99999'], /^sluice: "99999" is no port: .*\n$/],
    [['./a$b'], /^sluice: ".*\/a\$b" cannot be written in a configuration: .*\n$/],
    [['proxy'], /^sluice: proxy: the target is missing: .*\n$/],
    [['proxy', 'http://127.0.0.1:3000/path'], /^sluice: ".*" is no application: .*\n$/],
    [['serve', 'public', 'more'], /^sluice: serve: Unknown argument: more\n$/],
  ] as const) {
    const { code, stdout, stderr } = await runCli(args, { cwd: dir, env });
    t.same([code, stdout], [2, ''], args.join(' '));
    t.match(stderr, said);
  }
});

t.test("nginx's own options stay what they are", async (t) => {
  const { dir } = await site(t);
  mkdirSync(`${dir}/-t`);
  t.match((await runCli(['-t', '-c', `${dir}/none.conf`, '-e', 'stderr'], { cwd: dir })).code, 1);
  t.match((await runCli(['-v'], { cwd: dir })).stderr, 'nginx version');
  t.match((await runCli(['-z'], { cwd: dir })).stderr, /^sluice: invalid option: "z"\n$/);
});
