import { readFileSync, utimesSync } from 'node:fs';
import t from 'tap';
import { http, httpGet, type Response, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

t.test('add_header', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      add_header X-Http http;
      server { listen 127.0.0.1:%%PORT_0%%; root %%DIR%%/html;
        location / { }
        location /own/ { add_header X-Own "$uri and more"; add_header X-Always yes always; add_header X-Empty ""; return 200; }
        location /own/503 { add_header X-Own own; add_header X-Always yes always; return 503; }
        location /statuses/ { add_header X-Own own;
          location /statuses/201 { return 201; } location /statuses/204 { return 204; } location /statuses/303 { return 303 /; }
          location /statuses/304 { return 304; } location /statuses/308 { return 308 /; } location /statuses/202 { return 202; }
          location /statuses/401 { return 401; } }
        location /merge/ { add_header_inherit merge; add_header X-Own own;
          location /merge/inner/ { add_header X-Inner inner; return 200; } return 200; }
        location /off/ { add_header_inherit off; return 200; }
        location /off/own { add_header_inherit off; add_header X-Own own; return 200; }
        location /if/ { add_header X-Own own; if ($arg_a) { add_header X-If yes; } if ($arg_b) { set $x 1; } return 200; }
        location /cache/ { add_header Cache-Control one; add_header cache-control two; add_header Link a; add_header Link b; return 200; }
        location /f.txt { add_header ETag '"mine"'; add_header Last-Modified "Thu, 01 Jan 1970 00:00:10 GMT"; }
        location /g.txt { add_header ETag ""; add_header Last-Modified ""; }
        location /h.txt { add_header X-First 1; add_header etag '"low"'; add_header last-modified "Thu, 01 Jan 1970 00:00:10 GMT"; } }`),
    files: { 'html/index.html': 'index', 'html/f.txt': 'file', 'html/g.txt': 'file', 'html/h.txt': 'file' },
  });
  const own = (response: Response) =>
    response.headers.filter(([name]) => /^X-|^Cache|^Link/i.test(name)).map(([name, value]) => `${name}: ${value}`);
  for (const [path, ...lines] of [
    ['/', 'X-Http: http'],
    ['/missing'],
    ['/own/x', 'X-Own: /own/x and more', 'X-Always: yes'],
    ['/own/503', 'X-Always: yes'],
    ['/statuses/201', 'X-Own: own'],
    ['/statuses/204', 'X-Own: own'],
    ['/statuses/303', 'X-Own: own'],
    ['/statuses/304', 'X-Own: own'],
    ['/statuses/308', 'X-Own: own'],
    ['/statuses/202'],
    ['/statuses/401'],
    ['/merge/', 'X-Own: own', 'X-Http: http'],
    ['/merge/inner/', 'X-Inner: inner', 'X-Own: own', 'X-Http: http'],
    ['/off/'],
    ['/off/own', 'X-Own: own'],
    ['/if/', 'X-Own: own'],
    ['/if/?a=1', 'X-If: yes'],
    ['/if/?b=1', 'X-Own: own'],
    ['/cache/', 'Cache-Control: one', 'cache-control: two', 'Link: a', 'Link: b'],
  ] as const) {
    t.strictSame(own(await httpGet(s, path)), lines, path);
  }
  const replaced = await httpGet(s, '/f.txt');
  t.strictSame([replaced.all('ETag'), replaced.all('Last-Modified')], [['"mine"'], ['Thu, 01 Jan 1970 00:00:10 GMT']]);
  const removed = await httpGet(s, '/g.txt');
  t.strictSame([removed.all('ETag'), removed.all('Last-Modified')], [[], []]);
  t.match(
    (await httpGet(s, '/h.txt')).head,
    /Connection: close\r\netag: "low"\r\nX-First: 1\r\nlast-modified: Thu, 01 Jan 1970 00:00:10 GMT\r\n/,
    'the names are those of the directive, and one stands where it stood before',
  );
  t.equal((await httpGet(s, '/f.txt', { 'If-None-Match': '"mine"' })).status, 200, 'conditions were met before');
});

t.test('$sent_http_last_modified of what is no date', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      log_format modified "$status $sent_http_last_modified";
      access_log %%DIR%%/modified.log modified;
      server {
        listen 127.0.0.1:%%PORT_0%%;
        ${[200, 204, 301, 304, 404].map((status) => `location = /${status} { add_header Last-Modified $arg_date always; return ${status} /x; }`).join('\n')}
      }`),
  });
  for (const status of [200, 204, 301, 304, 404]) {
    t.equal((await httpGet(s, `/${status}?date=none`)).header('Last-Modified'), 'none', `${status}`);
  }
  const lines = (): string[] => readFileSync(`${s.dir}/modified.log`, 'utf8').trimEnd().split('\n');
  await waitFor(() => lines().length === 5, { what: () => `five lines; there are ${lines().length}` });
  t.strictSame(lines(), ['200 none', '204 -', '301 none', '304 none', '404 none']);
});

t.test('expires', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%%; root %%DIR%%/html;
        location / { }
        location /epoch { expires epoch; alias %%DIR%%/html/f; }
        location /max { expires max; alias %%DIR%%/html/f; }
        location /zero { expires 0; alias %%DIR%%/html/f; }
        location /hour { expires 1h; alias %%DIR%%/html/f; }
        location /plus { expires +1h30m; alias %%DIR%%/html/f; }
        location /past { expires -1; alias %%DIR%%/html/f; }
        location /modified { expires modified 1d; alias %%DIR%%/html/f; }
        location /new { expires modified +1d; alias %%DIR%%/html/new; }
        location /daily { expires @15h30m; alias %%DIR%%/html/f; }
        location /variable { expires $arg_e; alias %%DIR%%/html/f; }
        location /error { expires 1h; return 404; }
        location /two { expires 1h; add_header Cache-Control private; alias %%DIR%%/html/f; }
        location /outer/ { expires 1h; location /outer/off { expires off; return 200; } return 200; } }`),
    files: { 'html/f': 'file', 'html/new': 'file' },
    env: { TZ: 'Asia/Kolkata' },
  });
  const modified = Date.UTC(2024, 1, 3, 4, 5, 6);
  utimesSync(`${s.dir}/html/f`, modified / 1000, modified / 1000);
  const tomorrow = Math.floor(Date.now() / 1000) + 86_400;
  utimesSync(`${s.dir}/html/new`, tomorrow, tomorrow);
  const get = async (path: string) => {
    const response = await httpGet(s, path);
    const expires = response.header('Expires');
    const date = response.header('Date')!;
    const ahead = expires === undefined ? undefined : (Date.parse(expires) - Date.parse(date)) / 1000;
    return { expires, ahead, control: response.all('Cache-Control').join(', ') };
  };
  t.match(await get('/'), { expires: undefined, control: '' });
  t.match(await get('/epoch'), { expires: 'Thu, 01 Jan 1970 00:00:01 GMT', control: 'no-cache' });
  t.match(await get('/max'), { expires: 'Thu, 31 Dec 2037 23:55:55 GMT', control: 'max-age=315360000' });
  t.match(await get('/zero'), { ahead: 0, control: 'max-age=0' });
  t.match(await get('/hour'), { ahead: 3600, control: 'max-age=3600' });
  t.match(await get('/plus'), { ahead: 5400, control: 'max-age=5400' });
  t.match(await get('/past'), { ahead: -1, control: 'no-cache' });
  t.match(await get('/modified'), { expires: new Date(modified + 86_400_000).toUTCString(), control: 'no-cache' });
  const young = await get('/new');
  t.equal(young.expires, new Date((tomorrow + 86_400) * 1000).toUTCString());
  t.match(young.control, /^max-age=1728\d\d$|^max-age=1727\d\d$/);
  const daily = await get('/daily');
  t.match(daily.expires, / 10:00:00 GMT$/, 'half past three in India');
  t.equal(daily.control, `max-age=${daily.ahead}`);
  t.ok(daily.ahead! > 0 && daily.ahead! <= 86_400);
  t.match(await get('/variable?e=10m'), { ahead: 600, control: 'max-age=600' });
  t.match(await get('/variable?e=epoch'), { control: 'no-cache' });
  t.match(await get('/variable?e=off'), { expires: undefined, control: '' });
  t.match(await get('/variable?e=rubbish'), { expires: undefined, control: '' });
  t.match(await get('/variable?e=-1h'), { ahead: -3600, control: 'no-cache' });
  t.match(await get('/error'), { expires: undefined, control: '' });
  t.match(await get('/two'), { control: 'max-age=3600, private' });
  t.match(await get('/outer/'), { ahead: 3600 });
  t.match(await get('/outer/off'), { expires: undefined });
});

t.test('add_trailer', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      add_trailer X-Uri $uri; add_trailer X-Always yes always; add_trailer X-Empty $arg_none; add_header X-Header yes;
      location / { }
      location /off/ { add_trailer_inherit off; alias %%DIR%%/html/; }
      location /merge/ { add_trailer_inherit merge; add_trailer X-More more; alias %%DIR%%/html/; }
      location /length/ { chunked_transfer_encoding off; alias %%DIR%%/html/; }`),
    files: { 'html/f': 'text' },
  });
  const file = await httpGet(s, '/f');
  t.strictSame(file.trailers, [
    ['X-Uri', '/f'],
    ['X-Always', 'yes'],
  ]);
  t.equal(file.header('Content-Length'), undefined);
  t.equal(file.text, 'text');
  t.equal(file.header('X-Uri'), undefined);
  t.strictSame((await httpGet(s, '/missing')).trailers, [['X-Always', 'yes']]);
  t.strictSame((await httpGet(s, '/off/f')).trailers, []);
  t.equal((await httpGet(s, '/off/f')).header('Content-Length'), '4');
  t.strictSame(
    (await httpGet(s, '/merge/f')).trailers.map(([name]) => name),
    ['X-More', 'X-Uri', 'X-Always'],
  );
  t.strictSame((await httpGet(s, '/length/f')).trailers, []);
  t.equal((await httpGet(s, '/length/f')).header('Content-Length'), '4');
  t.equal((await http(s, 'GET /f HTTP/1.0\r\n\r\n')).text, 'text');
  t.equal((await http(s, requestText('HEAD', '/f'))).header('Transfer-Encoding'), undefined);
  t.strictSame((await httpGet(s, '/f', { Range: 'bytes=1-2' })).trailers.length, 2);
});
