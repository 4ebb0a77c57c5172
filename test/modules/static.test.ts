import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { certs } from '../support/certs.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

const { rsa } = certs();

t.test('a file', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('types { text/html html htm; text/plain txt; image/x-upper UP; } default_type application/x-default;'),
    files: {
      'html/a.html': '<p>',
      'html/b.TXT': 'text',
      'html/c': 'none',
      'html/d.up': 'up',
      'html/.txt': 'dot',
      'html/x.txt/y': 'in a folder',
      'html/empty.txt': '',
    },
  });
  const time = new Date('2024-02-29T12:34:56.789Z');
  utimesSync(`${s.dir}/html/a.html`, time, time);
  const response = await httpGet(s, '/a.html');
  t.strictSame(
    response.headers.map(([name, value]) => [name, /Server|Date/.test(name) ? '' : value]),
    [
      ['Server', ''],
      ['Date', ''],
      ['Content-Type', 'text/html'],
      ['Content-Length', '3'],
      ['Last-Modified', 'Thu, 29 Feb 2024 12:34:56 GMT'],
      ['Connection', 'close'],
      ['ETag', `"${Math.floor(time.getTime() / 1000).toString(16)}-3"`],
      ['Accept-Ranges', 'bytes'],
    ],
  );
  t.match(response.header('Date'), /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z][a-z] \d{4} \d\d:\d\d:\d\d GMT$/);
  t.equal(response.text, '<p>');

  const head = await http(s, requestText('HEAD', '/a.html'));
  t.equal(head.head.replace('keep-alive', 'close').replace(/Date.*/, ''), response.head.replace(/Date.*/, ''), 'HEAD has the same head');

  for (const [path, type, text] of [
    ['/b.TXT', 'text/plain', 'text'],
    ['/c', 'application/x-default', 'none'],
    ['/d.up', 'image/x-upper', 'up'],
    ['/.txt', 'application/x-default', 'dot'],
    ['/x.txt/y', 'application/x-default', 'in a folder'],
    ['/empty.txt', 'text/plain', ''],
  ] as const) {
    const other = await httpGet(s, path);
    t.strictSame([other.status, other.header('Content-Type'), other.text], [200, type, text], path);
  }
  t.equal((await httpGet(s, '/a.html?query')).text, '<p>');
});

t.test('what cannot be served', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('location / { } location /quiet/ { log_not_found off; }'),
    files: { 'html/f.txt': 'text', 'html/secret': 'x', 'html/dir/f': '' },
  });
  chmodSync(`${s.dir}/html/secret`, 0);
  symlinkSync('loop', `${s.dir}/html/loop`);
  const status = async (request: string) => (await http(s, `${request} HTTP/1.1\r\nHost: a\r\n\r\n`)).status;
  t.equal(await status('GET /missing'), 404);
  t.match(
    await s.logged('/missing'),
    /\[error\] \d+#\d+: \*\d+ open\(\) "\S+\/html\/missing" failed \(2: No such file or directory\), client: 127\.0\.0\.1, server: localhost, request: "GET \/missing HTTP\/1\.1", host: "a"$/,
  );
  t.equal(await status('GET /f.txt/x'), 404);
  t.match(await s.logged('/f.txt/x'), /\(20: Not a directory\)/);
  t.equal(await status(`GET /${'x'.repeat(300)}`), 404);
  t.match(await s.logged('xxxx'), /\(36: File name too long\)/);
  t.equal(await status('GET /secret'), 403);
  t.match(await s.logged('/secret'), /open\(\) "\S+\/html\/secret" failed \(13: Permission denied\)/);
  t.equal(await status('GET /f.txt/'), 404);
  t.equal(await status('GET /dir/'), 403, 'a directory without index');
  t.match(await s.logged('forbidden'), /\[error\] .*directory index of "\S+\/html\/dir\/" is forbidden/);
  t.equal(await status('GET /dir'), 301);
  t.equal(await status('POST /f.txt'), 405);
  t.equal(await status('PUT /f.txt'), 405);
  t.equal(await status('DELETE /f.txt'), 405);
  t.equal(await status('POST /dir/'), 403);
  t.equal(await status('POST /missing'), 404);
  t.equal(await status('GET /quiet/x'), 404);
  t.notMatch(s.log(), '/quiet/x');
  t.equal(await status('GET /loop'), 403);
  t.match(await s.logged('html/loop'), /\(40: Too many levels of symbolic links\)/);
});

t.test('alias', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location /a/ { alias %%DIR%%/other/; }
      location /b { alias %%DIR%%/other; }
      location = /c { alias %%DIR%%/other/f; }
      location ~ ^/d/(.+)/(.+)$ { alias %%DIR%%/$1/$2; }
      location /v/ { alias %%DIR%%/$arg_folder/; }
      location /r/ { root %%DIR%%/$arg_folder; }`),
    files: { 'other/f': 'file', 'other/g/h': 'deep', 'x/r/f': 'rooted' },
  });
  for (const [path, text] of [
    ['/a/f', 'file'],
    ['/a/g/h', 'deep'],
    ['/b/f', 'file'],
    ['/c', 'file'],
    ['/d/other/f', 'file'],
    ['/v/f?folder=other', 'file'],
    ['/r/f?folder=x', 'rooted'],
  ] as const) {
    t.equal((await httpGet(s, path)).text, text, path);
  }
  t.equal((await httpGet(s, '/a')).status, 404);
  t.equal((await httpGet(s, '/a/g')).header('Location'), `http://localhost:${s.port(0)}/a/g/`);
});

t.test('a changed file is seen by the next request', async (t) => {
  const s = await startServer(t, { conf: serverConf(''), files: { 'html/f': 'first' } });
  const client = await RawClient.connect(s);
  const text = async () => (await client.send(requestText('GET', '/f')).response()).text;
  t.equal(await text(), 'first');
  t.equal(await text(), 'first');
  writeFileSync(`${s.dir}/html/f`, 'other');
  t.equal(await text(), 'other', 'of the same length, in place');
  writeFileSync(`${s.dir}/html/new`, 'moved');
  renameSync(`${s.dir}/html/new`, `${s.dir}/html/f`);
  t.equal(await text(), 'moved', 'renamed over it');
  writeFileSync(`${s.dir}/html/f`, 'longer than before');
  t.equal(await text(), 'longer than before');
  const time = new Date(0);
  utimesSync(`${s.dir}/html/f`, time, time);
  t.equal((await client.send(requestText('GET', '/f')).response()).header('Last-Modified'), 'Thu, 01 Jan 1970 00:00:00 GMT');
  renameSync(`${s.dir}/html/f`, `${s.dir}/html/g`);
  t.equal((await client.send(requestText('GET', '/f')).response()).status, 404);
  mkdirSync(`${s.dir}/html/f`);
  t.equal((await client.send(requestText('GET', '/f')).response()).status, 301);
  client.destroy();
});

t.test('large files', async (t) => {
  const content = Buffer.alloc(9_000_001, 'the quick brown fox jumps over the lazy dog; ');
  const s = await startServer(t, {
    conf: serverConf(
      'location / { } location /nosend/ { sendfile off; output_buffers 2 8k; alias %%DIR%%/html/; } location /direct/ { directio 1m; alias %%DIR%%/html/; } location /aio/ { aio threads; alias %%DIR%%/html/; }',
    ),
    files: { 'html/large': content },
  });
  for (const path of ['/large', '/nosend/large', '/direct/large', '/aio/large']) {
    t.ok((await httpGet(s, path)).body.equals(content), path);
    t.equal((await http(s, requestText('HEAD', path))).header('Content-Length'), '9000001');
  }
  const slow = await RawClient.connect(s);
  slow.pause().send(requestText('GET', '/large') + requestText('GET', '/large'), 'GET', 'GET');
  t.equal((await httpGet(s, '/large')).length > 9_000_000, true, 'others are served while one client does not read');
  slow.resume();
  t.ok((await slow.response()).body.equals(content));
  t.ok((await slow.response()).body.equals(content));
  slow.destroy();

  const gone = await RawClient.connect(s);
  await gone.send(requestText('GET', '/large')).take(1000);
  gone.destroy(true);
  const goneToo = await RawClient.connect(s);
  await goneToo.send(requestText('GET', '/aio/large')).take(1000);
  goneToo.destroy(true);
  t.equal((await httpGet(s, '/large')).complete, true, 'a client that vanishes harms nobody');
});

t.test('a file that shrinks while it is sent breaks the connection', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(''),
    files: { 'html/large': Buffer.alloc(30_000_000) },
    expectAlerts: /read only|truncated/,
  });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/large'));
  await client.take(1000);
  client.pause();
  truncateSync(`${s.dir}/html/large`, 100_000);
  client.resume();
  await client.closed();
  t.ok(client.received.length < 30_000_000);
  t.equal((await httpGet(s, '/large')).length > 100_000, true);
});

t.test('names with odd bytes', async (t) => {
  const s = await startServer(t, { conf: serverConf('') });
  mkdirSync(`${s.dir}/html`);
  for (const [name, path] of [
    ['ä ö', '/%c3%a4%20%c3%b6'],
    ['ü', '/\xc3\xbc'],
    ['a?b', '/a%3fb'],
    ['a%41', '/a%2541'],
    ['new\nline', '/new%0aline'],
  ] as const) {
    writeFileSync(`${s.dir}/html/${name}`, name);
    t.equal((await httpGet(s, path)).body.toString(), name, path);
  }
  writeFileSync(Buffer.concat([Buffer.from(`${s.dir}/html/`), Buffer.of(0xff, 0xfe)]), 'not UTF-8');
  t.equal((await httpGet(s, '/%ff%fe')).text, 'not UTF-8');
});

t.test('disable_symlinks', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location / { }
      location /on/ { disable_symlinks on; }
      location /owner/ { disable_symlinks if_not_owner; }
      location /from/ { disable_symlinks on from=$document_root/from/link; }`),
    files: { 'html/on/real': 'x', 'html/owner/real': 'x', 'other/f': 'outside', 'html/from/real': 'x' },
  });
  symlinkSync(`${s.dir}/other`, `${s.dir}/html/link`);
  for (const where of ['on', 'owner', 'from']) {
    symlinkSync(`${s.dir}/other`, `${s.dir}/html/${where}/link`);
  }
  t.equal((await httpGet(s, '/link/f')).text, 'outside');
  t.equal((await httpGet(s, '/on/real')).status, 200);
  t.equal((await httpGet(s, '/on/link/f')).status, 404);
  symlinkSync('real', `${s.dir}/html/on/also`);
  t.equal((await httpGet(s, '/on/also')).status, 403);
  t.match(await s.logged('/on/also'), /openat\(\) "\S+\/html\/on\/also" failed \(40: Too many levels of symbolic links\)/);
  t.equal((await httpGet(s, '/owner/link/f')).status, 200);
  t.equal((await httpGet(s, '/from/link/f')).status, 200, 'links before the given part are allowed');
  t.match(await s.logged('/on/link/f'), /openat\(\) "\S+\/html\/on\/link\/f" failed \(20: Not a directory\)/);
});

t.test('open_file_cache', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(
      'open_file_cache max=10 inactive=10s; open_file_cache_valid 10s; open_file_cache_errors on; server { listen 127.0.0.1:%%PORT_0%%; root %%DIR%%/html; }',
    ),
    files: { 'html/f': 'first' },
  });
  t.equal((await httpGet(s, '/f')).text, 'first');
  t.equal((await httpGet(s, '/missing')).status, 404);
  writeFileSync(`${s.dir}/html/new`, 'second one');
  renameSync(`${s.dir}/html/new`, `${s.dir}/html/f`);
  t.equal((await httpGet(s, '/f')).text, 'first', 'for as long as the entry is valid');
  writeFileSync(`${s.dir}/html/missing`, 'now there');
  t.equal((await httpGet(s, '/missing')).status, 404);
});

t.test('large files at a limited rate, with trailers, over and over', async (t) => {
  const content = Buffer.alloc(700_000, 'the quick brown fox jumps over the lazy dog; ');
  const s = await startServer(t, {
    conf: serverConf(`
      location / { }
      location /rate/ { limit_rate 2m; limit_rate_after 300k; alias %%DIR%%/html/; }
      location /small/ { sendfile on; sendfile_max_chunk 5k; limit_rate 3m; alias %%DIR%%/html/; }
      location /trailer/ { add_trailer X-End end; alias %%DIR%%/html/; }`),
    files: { 'html/f': content },
  });
  const paths = ['/f', '/rate/f', '/small/f', '/trailer/f', '/f', '/rate/f'];
  const bodies = await Promise.all(paths.map(async (path) => (await httpGet(s, path)).body));
  for (const [i, path] of paths.entries()) {
    t.ok(bodies[i]!.equals(content), path);
  }
});

t.test('readers of a large file that stand still for a while keep nobody waiting, and get all of it', async (t) => {
  const content = Buffer.alloc(4_000_000, 'the quick brown fox jumps over the lazy dog; ');
  const s = await startServer(t, {
    conf: serverConf(`listen 127.0.0.1:%%PORT_1%% ssl; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};`),
    files: { 'html/f': content, 'html/small': 'small' },
  });
  const readers = await Promise.all(Array.from({ length: 20 }, (_, i) => RawClient.connect(s.port(i % 2), i % 2 === 0 ? {} : { tls: {} })));
  for (const reader of readers) {
    reader.pause().send(requestText('GET', '/f'));
  }
  t.equal((await httpGet(s, '/small')).text, 'small');
  // Some leave while the server waits for them.
  for (const reader of readers.splice(0, 4)) {
    reader.destroy();
  }
  t.equal((await httpGet(s, '/small')).text, 'small');
  for (const reader of readers) {
    t.ok((await reader.resume().response()).body.equals(content));
  }
  for (const reader of readers) {
    reader.destroy();
  }
});

t.test('what is no file', async (t) => {
  const s = await startServer(t, { conf: serverConf(''), files: { 'html/f': 'x' } });
  execFileSync('mkfifo', [`${s.dir}/html/fifo`]);
  t.equal((await httpGet(s, '/fifo')).status, 404);
  t.match(await s.logged('fifo'), /\[crit\] .*"\S+\/html\/fifo" is not a regular file/);
});

t.test('open_file_cache_min_uses and open_file_cache_valid', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      open_file_cache max=10;
      location / { open_file_cache_min_uses 2; }
      location /never { open_file_cache_valid 0; }
      location /off { open_file_cache off; }`),
    files: { 'html/f': '1', 'html/never': '1', 'html/off': '1' },
  });
  const replace = (name: string, text: string) => {
    writeFileSync(`${s.dir}/html/new`, text);
    renameSync(`${s.dir}/html/new`, `${s.dir}/html/${name}`);
  };
  const texts = async (name: string) => {
    const seen = [];
    for (const text of ['2', '3', '4']) {
      seen.push((await httpGet(s, `/${name}`)).text);
      replace(name, text);
    }
    return [...seen, (await httpGet(s, `/${name}`)).text];
  };
  t.strictSame(await texts('f'), ['1', '2', '2', '2']);
  t.strictSame(await texts('never'), ['1', '2', '3', '4']);
  t.strictSame(await texts('off'), ['1', '2', '3', '4']);
});

t.test('directives', async (t) => {
  const conf = (text: string) =>
    `daemon off; pid %%DIR%%/pid; error_log %%DIR%%/error.log; events {} http { access_log off; server { listen 127.0.0.1:%%PORT_0%%; location / { ${text} } } }`;
  const good = await testConfig(
    t,
    conf(`aio off; aio_write on; tcp_nopush on; read_ahead 1k; directio_alignment 4k; directio off; output_buffers 2 64k;
      open_file_cache_events on; open_file_cache_errors off; subrequest_output_buffer_size 8k; sendfile on; sendfile_max_chunk 0;
      disable_symlinks if_not_owner from=$document_root; open_file_cache max=5 inactive=1m;`),
  );
  t.equal(good.code, 0, good.stderr);
  for (const [text, message] of [
    ['disable_symlinks maybe;', 'invalid parameter "maybe"'],
    ['disable_symlinks from=/x;', '"disable_symlinks" must have "off", "on" or "if_not_owner" parameter'],
    ['disable_symlinks off from=/x;', '"from=" cannot be used with "off" parameter'],
    ['disable_symlinks on off;', 'duplicate parameters "on off"'],
    ['open_file_cache inactive=1s;', '"open_file_cache" must have the "max" parameter'],
    ['open_file_cache max=0;', 'invalid "open_file_cache" parameter "max=0"'],
    ['directio sometimes;', '"directio" directive invalid value'],
    ['aio perhaps;', '"aio" directive invalid value'],
    ['sendfile on; sendfile off;', '"sendfile" directive is duplicate'],
    ['tcp_nopush on; tcp_nopush on;', '"tcp_nopush" directive is duplicate'],
    ['output_buffers 0 1k;', '"output_buffers" directive invalid value'],
    ['max_ranges many;', '"max_ranges" directive invalid number'],
  ] as const) {
    const bad = await testConfig(t, conf(text));
    t.match(bad.stderr, `[emerg] ${message} in ${bad.file}:1\n`, text);
    t.equal(bad.code, 1);
  }
});
