import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import t from 'tap';
import { certs } from '../support/certs.js';
import { makePrefix } from '../support/prefix.js';
import { runCli } from '../support/run-cli.js';
import { root } from './source-files.js';

const folder = `${root}docs/guides/`;
const guides = readdirSync(folder).filter((name) => name.endsWith('.md'));

/** The configurations of a guide, without the indentation of a list that they stand in. */
function blocksOf(guide: string): string[] {
  const blocks = [...readFileSync(folder + guide, 'utf8').matchAll(/^( *)```nginx\n([\s\S]*?)^ *```$/gm)];
  return blocks.map(([, indent = '', block = '']) => block.replaceAll(`\n${indent}`, '\n'));
}

/** The text with ports, certificates and the system's folders replaced by what a test may use. */
function moved(text: string, dir: string): string {
  const { rsa } = certs();
  return text
    .replace(/^( *listen +)([^ ;]+)/gm, (_, listen, address) => `${listen}unix:${dir}/${address.replace(/\W/g, '_')}`)
    .replaceAll(/\/etc\/ssl\/[\w./-]+\.pem/g, rsa.cert)
    .replaceAll(/\/etc\/ssl\/[\w./-]+\.key/g, rsa.key)
    .replaceAll(/\/(var\/log|var\/cache|run)\/sluice/g, `${dir}/var`)
    .replace(/^user .*\n/m, '');
}

for (const guide of guides.filter((name) => name !== 'README.md')) {
  t.test(guide, async (t) => {
    const { dir, write } = await makePrefix(t);
    mkdirSync(`${dir}/var`);
    const copied = spawnSync('sh', [
      '-c',
      `cp -R ${root}conf/mime.types ${root}conf/snippets ${root}conf/*_params ${root}conf/fastcgi.conf ${dir}`,
    ]);
    t.equal(copied.status, 0);
    const blocks = blocksOf(guide);
    t.ok(blocks.length > 0, 'it has a configuration');
    for (const block of blocks) {
      const whole = /^http \{/m.test(block) ? block : `events {}\nhttp {\ninclude mime.types;\naccess_log off;\n${block}\n}\n`;
      await write('sluice.conf', moved(whole, dir));
      const { code, stderr } = await runCli(['-t', '-p', `${dir}/`, '-c', 'sluice.conf', '-e', 'stderr']);
      t.equal(code, 0, stderr);
      t.notMatch(stderr.replaceAll(/.*does not cover the server name.*\n/g, ''), /\[warn\]/, 'without a warning');
    }
  });
}

t.test('every guide is listed, and links lead somewhere', async (t) => {
  const index = readFileSync(`${folder}README.md`, 'utf8');
  for (const guide of guides) if (guide !== 'README.md') t.match(index, `(${guide})`);
  for (const guide of guides) {
    for (const [, link = ''] of readFileSync(folder + guide, 'utf8').matchAll(/\]\(([^):#]+)(?:#[^)]*)?\)/g)) {
      t.doesNotThrow(() => readFileSync(folder + link), `${guide}: ${link}`);
    }
  }
});

/** The regular expressions of a guide's locations. */
const patternsOf = (guide: string): RegExp[] =>
  [...readFileSync(folder + guide, 'utf8').matchAll(/location ~ ("?)(.*?)\1 \{/g)].map(([, , pattern = '']) => new RegExp(pattern));

t.test('static-site.md: names with a hash, and none without', async (t) => {
  const [hashed] = patternsOf('static-site.md');
  for (const name of ['/assets/index-DiwrgTda.js', '/assets/index-B1x_-9Qk.css', '/main.3f2a1b9c.js', '/app.0123456789abcdef0123.woff2']) {
    t.match(name, hashed!);
  }
  for (const name of ['/index.js', '/jquery.min.js', '/my-component-library.js', '/date-functions.js', '/a-settings.css']) {
    t.notMatch(name, hashed!);
  }
});

t.test('php.md: PATH_INFO, and the challenges of certificates', async (t) => {
  const [php, hidden] = patternsOf('php.md');
  t.match('/index.php/path/info', php!);
  t.match('/index.php', php!);
  t.match('/.env', hidden!);
  t.match('/a/.git/config', hidden!);
  t.notMatch('/.well-known/acme-challenge/token', hidden!);
});

t.test('logs.md: every log is one that the shipped file for logrotate takes', async (t) => {
  const [glob = ''] = readFileSync(`${root}conf/logrotate/sluice`, 'utf8').split(' ');
  const taken = new RegExp(`^${glob.replaceAll('.', '\\.').replace('*', '[^/]*')}$`);
  const logs = [...readFileSync(`${folder}logs.md`, 'utf8').matchAll(/^ *(?:access|error)_log +(\/\S+)/gm)].map(([, path]) => path);
  t.ok(logs.length > 2);
  for (const log of logs) t.match(log, taken);
});

t.test('from-nginx.md: the copy for a trial has ports and a pid file of its own', async (t) => {
  const { dir } = await makePrefix(t, {
    'nginx/nginx.conf': `pid %%DIR%%/nginx.pid;\nevents {}\nhttp {\n  access_log off;\n  include %%DIR%%/nginx/sites/*.conf;\n}\n`,
    'site.conf': 'server {\n  listen 80 default_server;\n  listen [::]:80;\n  listen 127.0.0.1:443;\n}\n',
  });
  mkdirSync(`${dir}/nginx/sites`);
  symlinkSync(`${dir}/site.conf`, `${dir}/nginx/sites/a.conf`);
  const [, script = ''] = /```sh\n( *cp -RL [\s\S]*?)```/.exec(readFileSync(`${folder}from-nginx.md`, 'utf8')) ?? [];
  const copying = script
    .replace(/^ *sluice .*\n/gm, '')
    .replaceAll('/etc/nginx', `${dir}/nginx`)
    .replaceAll('/tmp/trial', `${dir}/trial`);
  const copied = spawnSync('sh', ['-ec', copying], { encoding: 'utf8' });
  t.equal(copied.status, 0, copied.stderr);
  t.equal(
    readFileSync(`${dir}/trial/sites/a.conf`, 'utf8'),
    'server {\n  listen 808 default_server;\n  listen [::]:808;\n  listen 127.0.0.1:4438;\n}\n',
  );
  t.match(readFileSync(`${dir}/trial/nginx.conf`, 'utf8'), `pid ${dir}/trial/sluice.pid;\n`);
  t.match(readFileSync(`${dir}/trial/nginx.conf`, 'utf8'), `include ${dir}/trial/sites/*.conf;\n`);
  t.match(readFileSync(`${dir}/site.conf`, 'utf8'), 'listen 80 default_server;', 'the original stays');
});
