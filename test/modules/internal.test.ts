import t from 'tap';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

t.test('internal locations are reached by internal redirects only', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location /inside { internal; return 200 "inside"; }
      location /inside/index/ { internal; }
      location /by-error { error_page 404 =200 /inside; }
      location /by-try { try_files /no /inside; }
      location /by-index/ { index /inside; }
      location /nested/ { internal; location /nested/open { return 200 "open"; } }`),
    files: { 'html/by-index/f': '', 'html/inside': '' },
  });
  t.equal((await httpGet(s, '/inside')).status, 404);
  t.equal((await httpGet(s, '/insider')).status, 404);
  for (const path of ['/by-error', '/by-try', '/by-index/']) {
    t.equal((await httpGet(s, path)).text, 'inside', path);
  }
  t.equal((await httpGet(s, '/nested/x')).status, 404);
  t.equal((await httpGet(s, '/nested/open')).status, 404, 'inherited');
});

t.test('a slash that is missing does not tell of a location that nobody may reach', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location /inside/ { internal; proxy_pass http://127.0.0.1:1; }
      location /small/ { client_max_body_size 1; proxy_pass http://127.0.0.1:1; }`),
  });
  t.equal((await httpGet(s, '/inside')).status, 404);
  t.equal((await httpGet(s, '/small')).status, 301);
  t.equal((await http(s, requestText('POST', '/small', { 'Content-Length': '2' }, 'xy'))).status, 413);
});
