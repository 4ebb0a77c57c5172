import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { reservePort } from '../support/ports.js';
import { makePrefix } from '../support/prefix.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const SBIN = '/usr/sbin';
const program = existsSync(SBIN) ? readdirSync(SBIN).find((name) => name.startsWith('php-fpm')) : undefined;
const root = new URL('../../', import.meta.url).pathname;
const MEGABYTE = 1024 * 1024;

const SCRIPTS = {
  'html/info.php': '<?php phpinfo();',
  'html/echo.php':
    '<?php echo $_SERVER["REQUEST_METHOD"], " ", $_SERVER["PATH_INFO"] ?? "", " ", strlen(file_get_contents("php://input"));',
  'html/names.php': '<?php header("Content-Type: application/json"); echo json_encode($_SERVER);',
  'html/big.php': `<?php for ($i = 0; $i < 50; $i++) echo str_repeat(chr(65 + $i % 26), ${MEGABYTE});`,
  'html/sleep.php': '<?php sleep(10);',
  'html/nap.php': '<?php usleep(50000); echo "rested";',
  'html/fatal.php': '<?php trigger_error("It went wrong", E_USER_ERROR);',
};

interface Pool {
  stop(): Promise<void>;
}

const target = (listen: string): NetConnectOpts =>
  listen.startsWith('/') ? { path: listen } : { host: '127.0.0.1', port: Number(listen.split(':')[1]) };

/** Starts php-fpm with one pool of two that listens on a path or a port, and stops it with the test. */
async function startPool(t: Test, listen: string, more = ''): Promise<Pool> {
  const { dir } = await makePrefix(t, {
    'fpm.conf':
      `[global]\nerror_log = /dev/null\ndaemonize = no\n[www]\nuser = nobody\ngroup = nogroup\nlisten = ${listen}\nlisten.mode = 0666\n` +
      'pm = static\npm.max_children = 2\nphp_admin_value[post_max_size] = 64M\nphp_admin_value[memory_limit] = 256M\nphp_admin_flag[display_errors] = off\nphp_admin_flag[log_errors] = on\n' +
      more,
  });
  const child = spawn(`${SBIN}/${program}`, ['-n', '-R', '-y', `${dir}/fpm.conf`], { stdio: 'ignore' });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  t.teardown(stop);
  await waitFor(
    () =>
      new Promise<boolean>((done) => {
        const socket = connect(target(listen), () => {
          socket.destroy();
          done(true);
        });
        socket.once('error', () => done(false));
      }),
    { what: () => 'php-fpm to listen' },
  );
  return { stop };
}

const frame = (pass: string): string =>
  serverConf(`
    client_max_body_size 64m;
    fastcgi_temp_path %%DIR%%/fastcgi_temp;
    include ${root}conf/fastcgi.conf;
    location = /sleep.php { fastcgi_read_timeout 100ms; fastcgi_pass ${pass}; }
    location ~ \\.php(/|$) {
      fastcgi_split_path_info ^(.+?\\.php)(/.*)$;
      include ${root}conf/fastcgi.conf;
      fastcgi_param PATH_INFO $fastcgi_path_info;
      fastcgi_pass ${pass};
    }`);

async function checkPages(t: Test, s: Server): Promise<void> {
  t.match((await httpGet(s, '/info.php')).text, /FPM\/FastCGI/);
  t.equal((await httpGet(s, '/echo.php/a/b?c')).text, 'GET /a/b 0');
  t.equal((await http(s, requestText('POST', '/echo.php', {}, 'body'))).text, 'POST  4');
  const upload = await http(s, requestText('POST', '/echo.php', { 'Content-Type': 'text/plain' }, 'x'.repeat(50 * MEGABYTE)));
  t.equal(upload.text, `POST  ${50 * MEGABYTE}`);
  const { body } = await httpGet(s, '/big.php');
  t.equal(body.length, 50 * MEGABYTE);
  t.equal(body[MEGABYTE * 49], 65 + (49 % 26));
  const crowd = await Promise.all(Array.from({ length: 6 }, () => httpGet(s, '/nap.php')));
  t.strictSame(
    new Set(crowd.map(({ status, text }) => `${status} ${text}`)),
    new Set(['200 rested']),
    'more requests than children wait their turn',
  );
  t.equal((await httpGet(s, '/fatal.php')).status, 500);
  await s.logged(/FastCGI sent in stderr: "PHP message: PHP Fatal error: +It went wrong in/);
  t.equal((await httpGet(s, '/sleep.php')).status, 504);
  await s.logged('upstream timed out (110: Connection timed out) while reading response header from upstream');
}

/** What PHP adds to the environment that it is given. */
const OWN = new Set(['USER', 'HOME', 'FCGI_ROLE', 'PHP_SELF', 'argc', 'argv', 'REQUEST_TIME', 'REQUEST_TIME_FLOAT']);

/** Every variable that nginx passes for the request of {@link checkEnvironment}, with its value. */
const environment = (s: Server): Readonly<Record<string, string | RegExp>> => ({
  SCRIPT_FILENAME: `${s.dir}/html/names.php`,
  QUERY_STRING: 'c=d%20e',
  REQUEST_METHOD: 'POST',
  CONTENT_TYPE: 'text/x',
  CONTENT_LENGTH: '4',
  SCRIPT_NAME: '/names.php',
  REQUEST_URI: '/names.php/a%20b?c=d%20e',
  DOCUMENT_URI: '/names.php/a b',
  DOCUMENT_ROOT: `${s.dir}/html`,
  SERVER_PROTOCOL: 'HTTP/1.1',
  REQUEST_SCHEME: 'http',
  GATEWAY_INTERFACE: 'CGI/1.1',
  SERVER_SOFTWARE: /^nginx\/\d/,
  REMOTE_ADDR: '127.0.0.1',
  REMOTE_PORT: /^\d+$/,
  SERVER_ADDR: '127.0.0.1',
  SERVER_PORT: String(s.port(0)),
  SERVER_NAME: 'localhost',
  REDIRECT_STATUS: '200',
  PATH_INFO: '/a b',
  HTTP_HOST: 'localhost',
  HTTP_CONNECTION: 'close',
  HTTP_CONTENT_TYPE: 'text/x',
  HTTP_CONTENT_LENGTH: '4',
  HTTP_X_OWN: '1, 2',
  HTTP_COOKIE: 'a=b; c=d',
});

async function checkEnvironment(t: Test, s: Server): Promise<void> {
  const { text } = await http(
    s,
    'POST /names.php/a%20b?c=d%20e HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: text/x\r\nContent-Length: 4\r\n' +
      'X-Own: 1\r\nCookie: a=b\r\nX-Own: 2\r\nX_Under: 1\r\nCookie: c=d\r\n\r\nbody',
  );
  const got = Object.fromEntries(Object.entries(JSON.parse(text)).filter(([name]) => !OWN.has(name)));
  const wanted = environment(s);
  t.strictSame(Object.keys(got).sort(), Object.keys(wanted).sort(), 'the names that nginx passes, and no other');
  t.match(got, wanted);
}

t.test('php-fpm', { skip: program === undefined ? 'php-fpm is not installed' : false }, async (t) => {
  t.test('over a unix socket', async (t) => {
    const { dir } = await makePrefix(t);
    await startPool(t, `${dir}/php.sock`);
    const s = await startServer(t, { conf: frame(`unix:${dir}/php.sock`), files: SCRIPTS });
    await checkPages(t, s);
    await checkEnvironment(t, s);
  });

  t.test('a pool whose children are busy and whose queue is full', async (t) => {
    const { dir } = await makePrefix(t);
    const path = `${dir}/php.sock`;
    const pool = await startPool(t, path, 'listen.backlog = 1\n');
    const s = await startServer(t, { conf: frame(`unix:${path}`), files: SCRIPTS });
    const waiting: Socket[] = [];
    t.teardown(() => {
      for (const socket of waiting) {
        socket.destroy();
      }
    });
    // Connections that ask for nothing take up the two children and the queue, which on Linux has room for one more than told.
    const occupy = (): Promise<boolean> =>
      new Promise((done) => {
        const socket = connect(path, () => done(waiting.push(socket) === 4));
        socket.once('error', () => done(false));
      });
    await waitFor(occupy, { what: () => 'the queue to be full' });
    t.equal((await httpGet(s, '/echo.php')).status, 502);
    await s.logged(`connect() to unix:${path} failed (11: Resource temporarily unavailable) while connecting to upstream`);
    for (const socket of waiting.splice(0)) {
      socket.destroy();
    }
    await waitFor(async () => (await httpGet(s, '/echo.php')).status === 200, { what: () => 'the pool to answer again' });
    await pool.stop();
    t.equal((await httpGet(s, '/echo.php')).status, 502);
    await s.logged(`connect() to unix:${path} failed (2: No such file or directory) while connecting to upstream`);
  });

  t.test('over TCP, until the pool stops', async (t) => {
    const reserved = await reservePort();
    t.teardown(() => reserved.release());
    const pool = await startPool(t, `127.0.0.1:${reserved.port}`);
    const s = await startServer(t, { conf: frame(`127.0.0.1:${reserved.port}`), files: SCRIPTS });
    await checkPages(t, s);
    await pool.stop();
    t.equal((await httpGet(s, '/echo.php')).status, 502);
    await s.logged('failed (111: Connection refused) while connecting to upstream');
  });
});
