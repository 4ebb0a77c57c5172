import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
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
  'html/names.php': '<?php foreach (array_keys($_SERVER) as $name) echo $name, "\\n";',
  'html/big.php': `<?php for ($i = 0; $i < 50; $i++) echo str_repeat(chr(65 + $i % 26), ${MEGABYTE});`,
  'html/sleep.php': '<?php sleep(10);',
  'html/fatal.php': '<?php missing_function();',
};

interface Pool {
  stop(): Promise<void>;
}

/** Starts php-fpm with one pool that listens on a path or a port, and stops it with the test. */
async function startPool(t: Test, listen: string): Promise<Pool> {
  const { dir } = await makePrefix(t, {
    'fpm.conf':
      `[global]\nerror_log = /dev/null\ndaemonize = no\n[www]\nuser = nobody\ngroup = nogroup\nlisten = ${listen}\nlisten.mode = 0666\n` +
      'pm = static\npm.max_children = 2\nphp_admin_value[post_max_size] = 64M\nphp_admin_value[memory_limit] = 256M\nphp_admin_flag[display_errors] = off\n',
  });
  const child = spawn(`${SBIN}/${program}`, ['-n', '-R', '-y', `${dir}/fpm.conf`], { stdio: 'ignore' });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  t.teardown(stop);
  const target = listen.startsWith('/') ? { path: listen } : { host: '127.0.0.1', port: Number(listen.split(':')[1]) };
  await waitFor(
    () =>
      new Promise<boolean>((done) => {
        const socket = connect(target, () => {
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
    fastcgi_read_timeout 1s;
    fastcgi_temp_path %%DIR%%/fastcgi_temp;
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
  t.equal((await httpGet(s, '/fatal.php')).status, 500);
  t.equal((await httpGet(s, '/sleep.php')).status, 504);
}

const NAMES = [
  'SCRIPT_FILENAME QUERY_STRING REQUEST_METHOD CONTENT_TYPE CONTENT_LENGTH SCRIPT_NAME REQUEST_URI DOCUMENT_URI DOCUMENT_ROOT',
  'SERVER_PROTOCOL REQUEST_SCHEME GATEWAY_INTERFACE SERVER_SOFTWARE REMOTE_ADDR REMOTE_PORT SERVER_ADDR SERVER_PORT SERVER_NAME',
  'REDIRECT_STATUS PATH_INFO HTTP_HOST HTTP_X_OWN HTTP_COOKIE',
]
  .join(' ')
  .split(' ');

t.test('php-fpm', { skip: program === undefined ? 'php-fpm is not installed' : false }, async (t) => {
  t.test('over a unix socket', async (t) => {
    const { dir } = await makePrefix(t);
    await startPool(t, `${dir}/php.sock`);
    const s = await startServer(t, { conf: frame(`unix:${dir}/php.sock`), files: SCRIPTS });
    await checkPages(t, s);
    const { text } = await http(s, requestText('GET', '/names.php', { 'X-Own': '1', Cookie: 'a=b' }));
    const names = new Set(text.split('\n'));
    t.strictSame(
      NAMES.filter((name) => !names.has(name)),
      [],
      'every name that nginx passes',
    );
  });

  t.test('over TCP, until the pool stops', async (t) => {
    const reserved = await reservePort();
    t.teardown(() => reserved.release());
    const pool = await startPool(t, `127.0.0.1:${reserved.port}`);
    const s = await startServer(t, { conf: frame(`127.0.0.1:${reserved.port}`), files: SCRIPTS });
    await checkPages(t, s);
    await pool.stop();
    t.equal((await httpGet(s, '/echo.php')).status, 502);
  });
});
