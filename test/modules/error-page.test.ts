import t from 'tap';
import { exchange, http, httpGet, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

t.test('error_page', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      error_page 404 /404.html;
      location / { }
      location /page { return 200 "page for $uri, $status, $request_uri"; }
      location /list { error_page 404 403 /page; return 403; }
      location /to-code { error_page 404 =203 /page; }
      location /to-any { error_page 404 = /page; }
      location /to-named { error_page 404 @named; }
      location /to-named-code { error_page 404 =202 @named; }
      location @named { return 200 "named $uri"; }
      location /to-url { error_page 404 http://example.com/x; }
      location /to-url-301 { error_page 404 =301 http://example.com/$uri; }
      location /to-missing { error_page 404 /nothing-here; }
      location /to-post { error_page 405 /page; alias %%DIR%%/html/404.html; }
      location /variable { error_page 404 /vars/$arg_page; }
      location /vars/ { return 200 "$uri"; }
      location /twice { error_page 404 /first; }
      location /first { error_page 403 /page; return 403; }
      location /twice-on { recursive_error_pages on; error_page 404 /first-on; }
      location /first-on { recursive_error_pages on; error_page 403 /page; return 403; }
      location /inner/ { location /inner/x { error_page 500 /page; } }
      location /own { error_page 404 /own.html; }
      location /body { return 404 "text"; }
      location /internal { internal; return 200 "internal for $request_uri"; }
      location /to-internal { error_page 404 =200 /internal; }
      location /limited { error_page 416 =200 /page; alias %%DIR%%/html/404.html; }`),
    files: { 'html/404.html': 'our 404', 'html/f': 'file' },
  });
  const rows: readonly [path: string, status: number, text: string | RegExp][] = [
    ['/missing', 404, 'our 404'],
    ['/list', 403, 'page for /page, 403, /list'],
    ['/to-code', 203, 'page for /page, 203, /to-code'],
    ['/to-any', 200, 'page for /page, 200, /to-any'],
    ['/to-named', 404, 'named /to-named'],
    ['/to-named-code', 202, 'named /to-named-code'],
    ['/to-url', 302, /302 Found/],
    ['/to-url-301', 301, /301 Moved Permanently/],
    ['/to-missing', 404, /<h1>404 Not Found<\/h1>/],
    ['/variable?page=a', 404, '/vars/a'],
    ['/twice', 403, /<h1>403 Forbidden<\/h1>/],
    ['/twice-on', 403, 'page for /page, 403, /twice-on'],
    ['/inner/x', 404, /<h1>404 Not Found<\/h1>/],
    ['/inner/y', 404, 'our 404'],
    ['/own', 404, /<h1>404 Not Found<\/h1>/],
    ['/body', 404, 'text'],
    ['/internal', 404, 'our 404'],
    ['/to-internal', 200, 'internal for /to-internal'],
  ];
  for (const [path, status, text] of rows) {
    const response = await httpGet(s, path);
    t.equal(response.status, status, path);
    t.match(response.text, text, path);
  }
  t.equal((await httpGet(s, '/to-url')).header('Location'), 'http://example.com/x');
  t.equal((await httpGet(s, '/to-url-301')).header('Location'), 'http://example.com//to-url-301');
  t.equal((await httpGet(s, '/missing')).header('Content-Type'), 'text/html');
  t.equal((await http(s, requestText('HEAD', '/missing'))).header('Content-Length'), '7');
  t.equal((await http(s, requestText('POST', '/to-post'))).text, 'page for /page, 405, /to-post');
  t.equal((await httpGet(s, '/limited', { Range: 'bytes=100-' })).status, 416, 'found too late for a page of its own');
  t.match(await exchange(s, 'GET /missing\r\n'), 'our 404');
});

t.test('built-in pages', async (t) => {
  const codes = [
    [301, 'Moved Permanently'],
    [302, 'Found', 'Moved Temporarily'],
    [303, 'See Other'],
    [307, 'Temporary Redirect'],
    [308, 'Permanent Redirect'],
    [400, 'Bad Request'],
    [401, 'Authorization Required', 'Unauthorized'],
    [402, 'Payment Required'],
    [403, 'Forbidden'],
    [404, 'Not Found'],
    [405, 'Not Allowed'],
    [406, 'Not Acceptable'],
    [409, 'Conflict'],
    [410, 'Gone'],
    [411, 'Length Required'],
    [412, 'Precondition Failed'],
    [413, 'Request Entity Too Large'],
    [414, 'Request-URI Too Large'],
    [415, 'Unsupported Media Type'],
    [416, 'Requested Range Not Satisfiable'],
    [421, 'Misdirected Request'],
    [429, 'Too Many Requests'],
    [500, 'Internal Server Error'],
    [501, 'Not Implemented'],
    [502, 'Bad Gateway'],
    [503, 'Service Temporarily Unavailable'],
    [504, 'Gateway Time-out'],
    [505, 'HTTP Version Not Supported'],
    [507, 'Insufficient Storage'],
  ] as const;
  const s = await startServer(t, {
    conf: httpConf(`server { listen 127.0.0.1:%%PORT_0%%; ${codes.map(([code]) => `location /${code} { return ${code}; }`).join('\n')}
      location /418 { return 418; } location /599 { return 599; } location /204 { return 204; } location /444 { return 444; }
      location /497 { return 497; } location /499 { return 499; } location /408 { return 408; } location /msie { msie_padding off; return 404; } location /refresh { msie_refresh on; return 302 http://x/; } }`),
  });
  for (const [code, title, reason = title] of codes) {
    const response = await httpGet(s, `/${code}`);
    t.strictSame([response.status, response.reason, response.header('Content-Type')], [code, reason, 'text/html'], String(code));
    t.match(
      response.text,
      `<html>\r\n<head><title>${code} ${title}</title></head>\r\n<body>\r\n<center><h1>${code} ${title}</h1></center>\r\n<hr><center>`,
    );
  }
  for (const code of [418, 599, 204]) {
    const response = await httpGet(s, `/${code}`);
    t.strictSame([response.status, response.text], [code, ''], String(code));
  }
  for (const code of [408, 444, 499]) {
    t.equal(await exchange(s, requestText('GET', `/${code}`)), '', `${code} closes without an answer`);
  }
  t.match((await httpGet(s, '/497')).head, /^HTTP\/1\.1 400 Bad Request\r\n/);
  t.match((await httpGet(s, '/404', { 'User-Agent': 'x MSIE 6.0' })).text, 'padding to disable MSIE and Chrome friendly error page');
  t.match((await httpGet(s, '/404', { 'User-Agent': 'x Chrome/100' })).text, 'padding to disable MSIE and Chrome friendly error page');
  t.notMatch((await httpGet(s, '/404')).text, 'padding');
  t.notMatch((await httpGet(s, '/msie', { 'User-Agent': 'x MSIE 6.0' })).text, 'padding');
  t.match(
    (await httpGet(s, '/refresh', { 'User-Agent': 'x MSIE 6.0' })).text,
    '<html><head><meta http-equiv="Refresh" content="0; URL=http://x/"></head><body></body></html>',
  );
});
