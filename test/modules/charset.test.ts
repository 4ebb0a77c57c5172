import { gzipSync } from 'node:zlib';
import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

const types = 'types { text/html html; text/plain txt; image/png png; application/json json; }';
const map = 'charset_map koi8-r utf-8 { C1 D0B0; C2 D0B1; D7 D0B2; } charset_map koi8-r windows-1251 { C1 E0; C2 E1; D7 E2; }';
const koi8 = Buffer.from([0x61, 0xc1, 0xc2, 0xd7, 0x7a]);
const windows = Buffer.from([0x61, 0xe0, 0xe1, 0xe2, 0x7a]);
const utf8 = Buffer.from('aабвz');

t.test('the name of the charset', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      charset utf-8;
      location / { }
      location /off/ { charset off; alias %%DIR%%/html/; }
      location /types/ { charset_types application/json; alias %%DIR%%/html/; }
      location /all/ { charset_types *; alias %%DIR%%/html/; }
      location /variable/ { charset $arg_c; alias %%DIR%%/html/; }
      location /if { if ($arg_x) { charset windows-1251; } alias %%DIR%%/html/page.html; }
      location /moved { return 301 /; }
      location /text { default_type text/plain; return 200 text; }
      location /error { return 404; }`,
      types,
    ),
    files: { 'html/page.html': 'a', 'html/page.txt': 'a', 'html/page.png': 'a', 'html/page.json': '{}' },
  });
  for (const [path, type] of [
    ['/page.html', 'text/html; charset=utf-8'],
    ['/page.txt', 'text/plain; charset=utf-8'],
    ['/page.png', 'image/png'],
    ['/page.json', 'application/json'],
    ['/off/page.html', 'text/html'],
    ['/types/page.json', 'application/json; charset=utf-8'],
    ['/types/page.html', 'text/html; charset=utf-8'],
    ['/types/page.txt', 'text/plain'],
    ['/all/page.png', 'image/png; charset=utf-8'],
    ['/variable/page.html?c=koi8-r', 'text/html; charset=koi8-r'],
    ['/if?x=1', 'text/plain; charset=windows-1251'],
    ['/if', 'text/plain; charset=utf-8'],
    ['/moved', 'text/html'],
    ['/text', 'text/plain; charset=utf-8'],
    ['/error', 'text/html; charset=utf-8'],
  ] as const) {
    t.equal((await httpGet(s, path)).header('Content-Type'), type, path);
  }
});

t.test('translation', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      location /to-utf-8/ { source_charset koi8-r; charset utf-8; alias %%DIR%%/html/; }
      location /to-koi8-r/ { source_charset utf-8; charset koi8-r; alias %%DIR%%/html/; }
      location /to-windows/ { source_charset koi8-r; charset windows-1251; alias %%DIR%%/html/; }
      location /from-windows/ { source_charset windows-1251; charset koi8-r; alias %%DIR%%/html/; }
      location /same/ { source_charset UTF-8; charset utf-8; alias %%DIR%%/html/; }
      location /variable/ { source_charset $arg_from; charset utf-8; alias %%DIR%%/html/; }`,
      `${types} ${map}`,
    ),
    files: {
      'html/koi8.html': koi8,
      'html/utf8.html': utf8,
      'html/windows.html': windows,
      'html/other.html': Buffer.concat([Buffer.from([0xff]), Buffer.from('я€')]),
      'html/mixed.html': Buffer.from([0xff, 0xc1, 0xff]),
      'html/large.html': Buffer.concat(Array.from({ length: 30_000 }, () => utf8)),
    },
  });
  for (const [path, expected] of [
    ['/to-utf-8/koi8.html', utf8],
    ['/to-koi8-r/utf8.html', koi8],
    ['/to-windows/koi8.html', windows],
    ['/from-windows/windows.html', koi8],
    ['/same/utf8.html', utf8],
    ['/variable/koi8.html?from=koi8-r', utf8],
    ['/variable/koi8.html?from=unheard-of', koi8],
    ['/to-utf-8/other.html', Buffer.concat([Buffer.from([0xff]), Buffer.from('я€')])],
    ['/to-utf-8/mixed.html', Buffer.from('?а?')],
    ['/to-koi8-r/other.html', Buffer.from('?&#1103;&#8364;')],
    ['/to-koi8-r/large.html', Buffer.concat(Array.from({ length: 30_000 }, () => koi8))],
  ] as const) {
    const response = await httpGet(s, path);
    t.ok(response.body.equals(expected), `${path}: ${response.body.subarray(0, 40).toString('latin1')}`);
  }
  t.equal((await httpGet(s, '/to-utf-8/koi8.html')).header('Content-Length'), undefined, 'the length is not known beforehand');
  t.equal((await httpGet(s, '/to-windows/koi8.html')).header('Content-Length'), '5', 'byte by byte it stays');
  t.match(s.log(), 'no "charset_map" between the charsets "unheard-of" and "utf-8"');
});

t.test('charsets of backends', async (t) => {
  const origin = await startOrigin(t, ({ target }) => {
    const type = target.startsWith('/koi8') ? 'text/html; charset=koi8-r' : 'text/html';
    if (target === '/koi8-zipped') {
      return { headers: { 'Content-Type': type, 'Content-Encoding': 'gzip' }, body: gzipSync(koi8) };
    }
    if (target === '/accel') {
      return { headers: { 'Content-Type': type, 'X-Accel-Charset': 'koi8-r' }, body: koi8 };
    }
    return { headers: { 'Content-Type': type }, body: koi8 };
  });
  const s = await startServer(t, {
    conf: serverConf(
      `
      charset utf-8;
      proxy_pass_header X-Accel-Charset;
      location / { proxy_pass http://127.0.0.1:${origin.port}; }
      location /override/ { override_charset on; proxy_pass http://127.0.0.1:${origin.port}/; }`,
      `${types} ${map}`,
    ),
  });
  const told = await httpGet(s, '/koi8');
  t.equal(told.header('Content-Type'), 'text/html; charset=koi8-r', 'what the backend says stays');
  t.ok(told.body.equals(koi8));
  const untold = await httpGet(s, '/plain');
  t.equal(untold.header('Content-Type'), 'text/html; charset=utf-8');
  t.ok(untold.body.equals(koi8));
  const overridden = await httpGet(s, '/override/koi8');
  t.equal(overridden.header('Content-Type'), 'text/html; charset=utf-8');
  t.ok(overridden.body.equals(utf8));
  const zipped = await httpGet(s, '/override/koi8-zipped');
  t.equal(zipped.header('Content-Type'), 'text/html; charset=koi8-r', 'a compressed body is left alone');
  const accel = await httpGet(s, '/accel');
  t.equal(accel.header('Content-Type'), 'text/html; charset=koi8-r');
});

t.test('messages', async (t) => {
  for (const [outer, inner, expected] of [
    [map, 'charset utf-8; source_charset koi8-r;', undefined],
    ['', 'charset utf-8; source_charset koi8-r;', 'no "charset_map" between the charsets "koi8-r" and "utf-8"'],
    ['', 'charset a; charset b;', '"charset" directive is duplicate in %%FILE%%:11'],
    ['charset_map a A { }', '', '"charset_map" between the same charsets "a" and "A" in %%FILE%%:6'],
    ['charset_map utf-8 a { }', '', '"charset_map" with "utf-8" charset should be given in the second column in %%FILE%%:6'],
    ['charset_map a b { } charset_map b a { }', '', 'duplicate "charset_map" between "b" and "a" in %%FILE%%:6'],
    ['charset_map a b { 80 90 91; }', '', 'invalid parameters number in %%FILE%%:6'],
    ['charset_map a b { 100 90; }', '', 'invalid value "100" in %%FILE%%:6'],
    ['charset_map a b { 80 9z; }', '', 'invalid value "9z" in %%FILE%%:6'],
    ...['D0B', '46', 'C041', 'D0', 'C0B0', 'E08080', 'E2', 'F09F', 'F09F9880', 'FF', 'D18E4142'].map(
      (value) => [`charset_map a utf-8 { 80 ${value}; }`, '', `invalid value "${value}" in %%FILE%%:6`] as const,
    ),
    ['charset_map a utf-8 { 80 D18E; 81 E282AC; 82 D18E41; 46 D090; }', '', undefined],
  ] as const) {
    t.equal(await configMessage(t, serverConf(inner, outer)), expected, outer || inner);
  }
});

t.test('bytes that are no UTF-8', async (t) => {
  const cases: readonly (readonly [bytes: string, shown: string])[] = [
    ['\xed\xa0\x80x', '&#55296;x'],
    ['\xe0\x80\x80x', '?x'],
    ['\xf0\x8f\xbf\xbfx', '?x'],
    ['\xf4\x8f\xbf\xbfx', '&#1114111;x'],
    ['\xf4\x90\x80\x80x', '?x'],
    ['\xf5\x80\x80\x80x', '?x'],
    ['\xf0\x9f\x98\x80x', '&#128512;x'],
    ['\xc0\x80x', '??x'],
    ['\xff\xfex', '??x'],
  ];
  const files = Object.fromEntries(cases.map(([bytes], i) => [`html/${i}.html`, Buffer.from(bytes, 'latin1')]));
  const s = await startServer(t, {
    conf: serverConf('types { text/html html; } charset koi8-r; source_charset utf-8;', 'charset_map koi8-r utf-8 { C1 D0B0; }'),
    files,
  });
  for (const [i, [bytes, shown]] of cases.entries()) {
    t.equal((await httpGet(s, `/${i}.html`)).text, shown, JSON.stringify(bytes));
  }
});
