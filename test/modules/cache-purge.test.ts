import t from 'tap';
import { answer, bodyOf, files, purge, startCache, status } from '../support/cache.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf } from '../support/server.js';

t.test('METHOD from ADDRESS, as ngx_cache_purge has it', async (t) => {
  const origin = await startOrigin(t, answer);
  const s = await startCache(t, origin, {
    more: `location /local/ { PASS proxy_cache_purge PURGE from 127.0.0.1; }
      location /others/ { PASS proxy_cache_purge PURGE from 192.0.2.0/24 ::1; add_header X-Why $error_reason always; }
      location /all/ { PASS proxy_cache_purge DELETE from all; }
      location /on/ { PASS proxy_cache_purge on;
        location /on/off/ { PASS proxy_cache_purge off; } location /on/uncached/ { PASS proxy_cache off; } }`,
  });
  for (const path of ['/local/a', '/others/a', '/all/a', '/on/a', '/on/off/a']) {
    t.equal(await status(s, path), 'MISS', path);
    t.equal(await status(s, path), 'HIT', `${path}: a GET is no purge`);
  }
  const done = await http(s, requestText('PURGE', '/local/a', { Connection: 'close' }));
  t.equal(done.status, 200);
  t.equal(done.header('content-type'), 'text/html');
  t.match(done.text, /Successful purge[\s\S]*Key : \/local\/a\n<br>Path: \/.*cache\/.\/..\/[0-9a-f]{32}/);
  t.equal(await purge(s, '/local/a'), 404, 'there is no entry any more');
  t.equal(await status(s, '/local/a'), 'MISS');
  t.equal(await purge(s, '/local/*'), 404, 'a star stands for itself');
  t.equal(await status(s, '/local/a'), 'HIT');
  const refused = await http(s, requestText('PURGE', '/others/a', { Connection: 'close' }));
  t.equal(refused.status, 403);
  t.match(refused.header('x-why'), /^not purged by rule "proxy_cache_purge PURGE from 192\.0\.2\.0\/24 ::1" in .*:\d+$/);
  t.equal(await status(s, '/others/a'), 'HIT');
  t.equal((await http(s, requestText('DELETE', '/all/a', { Connection: 'close' }))).status, 200);
  t.equal(await purge(s, '/on/a'), 200);
  const asked = origin.requests.length;
  t.equal(await purge(s, '/on/uncached/a'), 404, 'without a cache nothing is there to purge');
  t.equal(origin.requests.length, asked, 'and the backend is not asked');
  t.not(await purge(s, '/on/off/a'), 404);
  t.equal(origin.requests.length, asked + 1, 'off passes the method on');
});

t.test('ZONE KEY: a location that only purges', async (t) => {
  const origin = await startOrigin(t, answer);
  const s = await startCache(t, origin, {
    more: `location ~ ^/purge(/.*) { allow 127.0.0.1; deny all; if ($arg_no) { return 405; } proxy_cache_purge Z $1$is_args$args; }
      location ~ ^/denied(/.*) { deny all; proxy_cache_purge Z $1; }`,
  });
  for (const path of ['/a?b=c', '/d']) {
    await httpGet(s, path);
  }
  t.equal(files(s).length, 2);
  t.equal((await httpGet(s, '/denied/d')).status, 403);
  t.equal((await httpGet(s, '/purge/d?no=1')).status, 405);
  t.match(await httpGet(s, '/purge/a?b=c'), { status: 200, text: /Key : \/a\?b=c\n/ });
  t.equal(files(s).length, 1);
  t.equal((await httpGet(s, '/purge/a?b=c')).status, 404);
  t.equal((await httpGet(s, '/d')).text, bodyOf('/d'));
  t.equal(await status(s, '/d'), 'HIT');
  t.match((await httpGet(s, '/purge/<b>')).status, 404);
});

t.test('the other protocols have both forms', async (t) => {
  const path = (family: string) => `${family}_cache_path %%DIR%%/${family} keys_zone=${family}:1m;`;
  const families = ['fastcgi', 'scgi', 'uwsgi'];
  const locations = families.map(
    (family) => `location /${family}/ { ${family}_pass 127.0.0.1:1; ${family}_cache ${family}; ${family}_cache_key $uri;
      ${family}_cache_purge PURGE from 10.0.0.0/8 127.0.0.1; }
      location ~ ^/purge/(${family}/.*) { ${family}_cache_purge ${family} /$1; }`,
  );
  const conf = httpConf(
    `${families.map(path).join('\n')}\nserver { listen 127.0.0.1:%%PORT_0%%; ${locations.join('\n')} }`,
    'pid %%DIR%%/x.pid;',
  );
  const { code, stderr } = await testConfig(t, conf);
  t.equal(code, 0, stderr);
  t.notMatch(stderr, 'warn');
});

t.test('what is wrong with the line is said', async (t) => {
  const said = async (location: string, server = ''): Promise<string> =>
    (
      await testConfig(
        t,
        httpConf(`proxy_cache_path %%DIR%%/c keys_zone=Z:1m; server { ${server} location / { ${location} } }`, 'pid %%DIR%%/x.pid;'),
      )
    ).stderr;
  const pass = 'proxy_pass http://127.0.0.1:1; proxy_cache Z;';
  t.match(await said(`${pass} proxy_cache_purge PURGE for 127.0.0.1;`), 'invalid parameter "for", expected "from" keyword in ');
  t.match(await said(`${pass} proxy_cache_purge PURGE from nobody;`), 'invalid parameter "nobody" in ');
  t.match(await said(`${pass} proxy_cache_purge PURGE from 127.0.0.1/8;`), 'low address bits of 127.0.0.1/8 are meaningless in ');
  t.match(await said(`${pass} proxy_cache_purge on; proxy_cache_purge off;`), '"proxy_cache_purge" directive is duplicate in ');
  t.match(await said('proxy_cache_purge none $uri;'), '"proxy_cache" zone "none" is unknown in ');
  t.match(await said(`${pass} proxy_cache_purge Z $uri;`), '"proxy_cache_purge" directive is incompatible with "proxy_pass" in ');
  t.match(await said('', 'proxy_cache_purge Z $uri;'), '"proxy_cache_purge" directive (separate location syntax) is not allowed here in ');
});
