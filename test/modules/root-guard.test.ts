import { existsSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { startFastcgi } from '../support/fastcgi-responder.js';
import { startOrigin } from '../support/origin.js';
import { httpGet, RawClient } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

const files = {
  'html/in.txt': 'inside',
  'html/d/index.html': 'index of d',
  'beside.txt': 'BESIDE',
  'beside.txt.gz': 'BESIDE',
  'beside/index.html': 'BESIDE',
  users: 'u:{PLAIN}p\n',
};

// Each leads beside the root with what the client sent; nginx serves the file.
const attacks: readonly (readonly [string, string])[] = [
  ['location /re/ { } rewrite ^/re(.*)$ /$1 last;', '/re../beside.txt'],
  ['location / { rewrite ^/re(.*)$ /$1 break; }', '/re../beside.txt'],
  ['location / { rewrite ^/re(.*)$ /d/../$1 break; }', '/re../beside.txt'],
  ['location / { rewrite ^/re(.*)$ /$1 break; gzip_static always; }', '/re../beside.txt'],
  ['location / { rewrite ^/re(.*)$ /$1 break; autoindex on; index no; }', '/re../beside/'],
  ['location / { rewrite ^/re(.*)$ /$1 break; }', '/re../beside/'],
  ['location ~ ^/t(.*)$ { try_files /$1 =404; }', '/t../beside.txt'],
  ['location ~ ^/t(.*)$ { try_files /no /$1; }', '/t../beside.txt'],
  ['location /t { set $f $arg_f; try_files /$f =404; }', '/t?f=../beside.txt'],
  ['location /t { try_files /$mapped =404; }', '/t?m=x../beside.txt'],
  ['location ~ ^/r(?<rest>[^/]*)/ { root %%DIR%%/html/$rest; rewrite ^/[^/]+(.*)$ $1 break; }', '/r../beside.txt'],
  ['location ~ ^/e(.*)$ { error_page 404 /$1; return 404; }', '/e../beside.txt'],
  ['location ~ ^/e(.*)$ { error_page 404 = /$1; return 404; }', '/e../beside.txt'],
  ['location /i/ { alias %%DIR%%/html/d/; index $arg_i; }', '/i/?i=../../beside.txt'],
  ['location /i/ { alias %%DIR%%/html/d/; index $arg_i; }', '/i/?i=/../beside.txt'],
  ['location /al { alias %%DIR%%/html/; }', '/al../beside.txt'],
  ['location /al { alias %%DIR%%/html/; try_files $uri =404; }', '/al../beside.txt'],
  ['location ~ ^/al(.*)$ { alias %%DIR%%/html/$1; }', '/al../beside.txt'],
  ['location ~ ^/al(.*)$ { alias %%DIR%%/html/; try_files $1 =404; }', '/al../beside.txt'],
];

// What the text of the configuration itself says is served, as nginx does.
const meant: readonly (readonly [string, string, string])[] = [
  ['root %%DIR%%/html/../html; location / { }', '/in.txt', 'inside'],
  ['root %%DIR%%/html; location /al/ { alias %%DIR%%/html/../; }', '/al/beside.txt', 'BESIDE'],
  ['root %%DIR%%/html; location /x { rewrite ^ /../beside.txt break; }', '/x', 'BESIDE'],
  ['root %%DIR%%/html; location /x { rewrite ^/x/(.*)$ /../$1 break; }', '/x/beside.txt', 'BESIDE'],
  ['root %%DIR%%/html; rewrite ^/re(.*)$ /d/$1 break;', '/re../in.txt', 'inside'],
  ['root %%DIR%%/html; location /x { try_files /../beside.txt =404; }', '/x', 'BESIDE'],
  ['root %%DIR%%/html; location /x { try_files /no /../beside.txt; }', '/x', 'BESIDE'],
  ['root %%DIR%%/html; error_page 404 =200 /../beside.txt; location / { try_files $uri =404; }', '/x', 'BESIDE'],
  ['root %%DIR%%/html; location /d/ { index ../../beside.txt; }', '/d/', 'BESIDE'],
  ['root %%DIR%%/html; location /d/ { index /../beside.txt; }', '/d/', 'BESIDE'],
  ['root %%DIR%%/$arg_r/../html; location / { }', '/in.txt?r=html', 'inside'],
  ['root %%DIR%%/html; location / { ssi on; ssi_types *; add_before_body /../beside.txt; addition_types *; }', '/in.txt', 'BESIDEinside'],
];

t.test('what clients send leads to no file beside the root', async (t) => {
  const servers = [...attacks.map(([conf]) => `root %%DIR%%/html; ${conf}`), ...meant.map(([conf]) => conf)].map(
    (conf, i) => `server { listen 127.0.0.1:%%PORT_0%%; server_name s${i}; ${conf} }`,
  );
  const s = await startServer(t, {
    conf: httpConf(`map $arg_m $mapped { "~^x(.*)$" $1; } ${servers.join('\n')}`),
    files,
  });
  const get = (i: number, path: string) => httpGet(s, path, { Host: `s${i}` });
  for (const [i, [conf, path]] of attacks.entries()) {
    const { status, text } = await get(i, path);
    if (againstNginx) {
      t.match(text, /BESIDE|Index of/, `${conf} ${path}`);
    } else {
      t.match(text.includes('BESIDE') ? text : status, /^40[34]$/, `${conf} ${path}`);
    }
  }
  for (const [i, [conf, path, shown]] of meant.entries()) {
    t.equal((await get(attacks.length + i, path)).text, shown, `${conf} ${path}`);
  }
});

t.test('nor does it to a file to write, or one of users', { skip: againstNginx }, async (t) => {
  const origin = await startOrigin(t, () => 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nEVIL!');
  const s = await startServer(t, {
    conf: serverConf(
      `dav_methods PUT DELETE MKCOL COPY MOVE;
      location /dav { rewrite ^/dav(.*)$ /$1 break; }
      location /al { alias %%DIR%%/html/; }
      location /store { rewrite ^/store(.*)$ /$1 break; proxy_store on; proxy_pass http://127.0.0.1:${origin.port}; }
      location /named { proxy_store %%DIR%%/html/$arg_f; proxy_pass http://127.0.0.1:${origin.port}; }
      location /log { access_log %%DIR%%/html/$arg_f combined; return 200 logged; }
      location /users { auth_basic x; auth_basic_user_file users.d/$arg_f; try_files /in.txt =404; }`,
    ),
    files: { ...files, 'users.d/none': '' },
    asRoot: true,
  });
  const ask = async (method: string, path: string, headers = '', body = '') => {
    const client = await RawClient.connect(s);
    const response = await client
      .send(
        `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`,
        method,
      )
      .response();
    client.destroy();
    return response.status;
  };
  t.equal(await ask('PUT', '/dav../made.txt', '', 'EVIL!'), 404);
  t.equal(await ask('DELETE', '/dav../beside.txt'), 404);
  t.equal(await ask('MKCOL', '/dav../made/'), 404);
  t.equal(await ask('COPY', '/dav../beside.txt', 'Destination: /got.txt\r\n'), 404);
  t.equal(await ask('COPY', '/al/in.txt', 'Destination: /al../made.txt\r\n'), 400);
  t.equal(await ask('MOVE', '/al/in.txt', 'Destination: /al../made.txt\r\n'), 400);
  t.equal(await ask('GET', '/store../made.txt'), 200);
  t.equal(await ask('GET', '/named?f=../made.txt'), 200);
  t.equal(await ask('GET', '/named?f=kept.txt'), 200);
  t.equal(await ask('GET', '/log?f=../made.txt'), 200);
  await s.logged('"/../made.txt" leads out of the root');
  await s.logged(/made.txt" leads out of ".*while logging request/);
  for (const made of ['made.txt', 'made']) {
    t.notOk(existsSync(`${s.dir}/${made}`), made);
  }
  t.ok(existsSync(`${s.dir}/html/kept.txt`));
  t.equal(s.read('beside.txt'), 'BESIDE');
  const credentials = `Authorization: Basic ${btoa('u:p')}\r\n`;
  t.equal(await ask('GET', '/users?f=../users', credentials), 403);
});

t.test('auth_basic_user_file that begins with a variable: from the folder of the configuration', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('location / { auth_basic x; auth_basic_user_file $arg_f; try_files /in.txt =404; }'),
    files: { ...files, mine: 'u:{PLAIN}p\n' },
  });
  const headers = { Authorization: `Basic ${btoa('u:p')}` };
  t.equal((await httpGet(s, '/?f=mine', headers)).status, 200);
  t.equal((await httpGet(s, `/?f=${s.dir}/mine`, headers)).status, 200);
  t.equal((await httpGet(s, '/?f=none', headers)).status, 403);
});

t.test('nor does the name that an application server is given', { skip: againstNginx }, async (t) => {
  const responder = await startFastcgi(t, ({ param }) => ({ stdout: `Content-Type: text/plain\r\n\r\n${param('SCRIPT_FILENAME')}` }));
  const s = await startServer(t, {
    conf: serverConf(`
      location / { rewrite ^/re(.*)$ /$1 break; fastcgi_pass 127.0.0.1:${responder.port}; fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name; }
      location /r/ { root %%DIR%%/html/$arg_r; fastcgi_pass 127.0.0.1:${responder.port}; fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name; }`),
    files,
  });
  t.equal((await httpGet(s, '/re/in.txt')).text, `${s.dir}/html//in.txt`);
  t.equal((await httpGet(s, '/re../beside.txt')).status, 404);
  t.equal((await httpGet(s, '/r/x?r=../beside')).status, 404);
});
