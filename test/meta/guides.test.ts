import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import t from 'tap';
import { certs } from '../support/certs.js';
import { makePrefix } from '../support/prefix.js';
import { blocksOf, shippedPrefix, tested } from './doc-pages.js';
import { root } from './source-files.js';

const folder = `${root}docs/guides/`;
const guides = readdirSync(folder).filter((name) => name.endsWith('.md'));

/** What test/slow/js-libraries.test.ts looks at, since it has to be installed. */
const WITH_PACKAGES = 'packages.md';

for (const guide of guides.filter((name) => name !== 'README.md' && name !== WITH_PACKAGES)) {
  t.test(guide, async (t) => {
    const prefix = await shippedPrefix(t);
    const blocks = blocksOf(`docs/guides/${guide}`, 'nginx');
    t.ok(blocks.length > 0, 'it has a configuration');
    for (const block of blocks) {
      const whole = /^(http|events) \{/m.test(block)
        ? block
        : /^stream \{/m.test(block)
          ? `events {}\n${block}`
          : `events {}\nhttp {\ninclude mime.types;\naccess_log off;\n${block}\n}\n`;
      const { code, stderr } = await tested(prefix, whole);
      t.equal(code, 0, stderr);
      t.notMatch(stderr.replaceAll(/.*does not cover the server name.*\n/g, ''), /\[warn\]/, 'without a warning');
    }
  });
}

t.test('every guide is listed, and links lead somewhere', async (t) => {
  const index = readFileSync(`${folder}README.md`, 'utf8');
  for (const guide of guides) {
    if (guide !== 'README.md') {
      t.match(index, `(${guide})`);
    }
  }
  for (const guide of guides) {
    for (const [, link = ''] of readFileSync(folder + guide, 'utf8').matchAll(/\]\(([^):#]+)(?:#[^)]*)?\)/g)) {
      t.doesNotThrow(() => statSync(folder + link), `${guide}: ${link}`);
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
  for (const log of logs) {
    t.match(log, taken);
  }
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

for (const guide of ['from-apache.md', 'from-caddy.md']) {
  t.test(`${guide}: what stands in the last column of its table`, async (t) => {
    const prefix = await shippedPrefix(t);
    const cells = [...readFileSync(folder + guide, 'utf8').matchAll(/^\|.* \| `([^`]+)` \|$/gm)].map(([, cell = '']) =>
      cell.replaceAll('\\|', '|'),
    );
    t.ok(cells.length > 20);
    const { rsa } = certs();
    const text = (cell: string): string =>
      /^ssl_verify_client/.test(cell) ? cell.replace('/etc/ssl/ca.pem', rsa.cert) : cell.replace('app.example.com', '127.0.0.1');
    const servers = cells.map((cell, n) => `server { listen unix:${prefix.dir}/cell${n};\n${text(cell)} }`);
    const { code, stderr } = await tested(prefix, `events {}\nhttp {\ninclude mime.types;\naccess_log off;\n${servers.join('\n')}\n}\n`);
    t.equal(code, 0, stderr);
  });
}
