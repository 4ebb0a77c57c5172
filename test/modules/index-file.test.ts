import { chmodSync } from 'node:fs';
import t from 'tap';
import { http, httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

t.test('index', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location / { }
      location /list/ { index no.html second.html third.html; }
      location /absolute/ { index no.html /fallback.html; }
      location /variable/ { index $arg_name.html index.html; }
      location /other/ { index page.x; }
      location ~ \\.x$ { return 200 "location of $uri"; }
      location /subdir/ { index inner/page.html; }
      location /alias/ { alias %%DIR%%/html/list/; index second.html; }`),
    files: {
      'html/index.html': 'top',
      'html/list/second.html': 'second',
      'html/list/third.html': 'third',
      'html/absolute/f': '',
      'html/fallback.html': 'fallback',
      'html/variable/a.html': 'a',
      'html/variable/index.html': 'index',
      'html/other/page.x': 'not sent as it is',
      'html/subdir/inner/page.html': 'inner',
      'html/folder/index.html/f': 'a folder named like an index',
      'html/closed/f': '',
      'html/unreadable/index.html': 'x',
    },
  });
  for (const [path, text] of [
    ['/', 'top'],
    ['/?query', 'top'],
    ['/list/', 'second'],
    ['/absolute/', 'fallback'],
    ['/variable/?name=a', 'a'],
    ['/variable/?name=b', 'index'],
    ['/other/', 'location of /other/page.x'],
    ['/subdir/', 'inner'],
    ['/alias/', 'second'],
  ] as const) {
    t.equal((await httpGet(s, path)).text, text, path);
  }
  chmodSync(`${s.dir}/html/unreadable/index.html`, 0);
  t.equal((await httpGet(s, '/unreadable/')).status, 403);
  t.equal((await httpGet(s, '/closed/')).status, 403);
  t.equal((await httpGet(s, '/missing/')).status, 404);
  t.match(await s.logged('/missing/'), /\[error\] .*"\S+\/html\/missing\/index\.html" is not found \(2: No such file or directory\)/);
  t.equal((await http(s, 'POST / HTTP/1.0\r\n\r\n')).status, 405);
});
