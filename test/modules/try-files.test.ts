import { rmSync } from 'node:fs';
import t from 'tap';
import { httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

t.test('try_files', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location / { try_files $uri $uri/ /fallback; }
      location /fallback { return 200 "fallback $uri?$args"; }
      location /args/ { try_files $uri /fallback?$args&from=$uri; }
      location /code/ { try_files $uri =404; }
      location /teapot/ { try_files $uri =418; }
      location /named/ { try_files $uri @named; }
      location @named { return 200 "named $uri"; }
      location /order/ { try_files /order/no /order/two /order/three =404; }
      location /folder-only/ { try_files $uri/ =404; index /index.html; }
      location /alias/ { alias %%DIR%%/other/; try_files $uri /fallback; }
      location ~ ^/re/(?<rest>.*)$ { try_files /other/$rest /order/$rest =404; }
      location /loop/ { try_files /no /loop/again; }
      location /file/ { try_files /dir =404; }`),
    files: {
      'html/index.html': 'index',
      'html/f.txt': 'file',
      'html/dir/index.html': 'index of dir',
      'html/dir/f': 'in dir',
      'html/order/two': 'two',
      'html/order/three': 'three',
      'html/code/f': 'coded',
      'html/folder-only/dir/index.html': 'folder',
      'other/f': 'aliased',
    },
  });
  for (const [path, text] of [
    ['/f.txt', 'file'],
    ['/', 'index'],
    ['/dir/', 'index of dir'],
    ['/dir/f', 'in dir'],
    ['/missing', 'fallback /fallback?'],
    ['/missing?a=b', 'fallback /fallback?'],
    ['/args/x?a=b', 'fallback /fallback?a=b&from=/args/x'],
    ['/code/f', 'coded'],
    ['/named/x', 'named /named/x'],
    ['/order/x', 'two'],
    ['/folder-only/dir/', 'index'],
    ['/alias/f', 'aliased'],
    ['/alias/g', 'fallback /fallback?'],
    ['/re/three', 'three'],
  ] as const) {
    t.equal((await httpGet(s, path)).text, text, path);
  }
  t.equal((await httpGet(s, '/dir')).status, 301, 'a folder is redirected as without try_files');
  t.equal((await httpGet(s, '/folder-only/dir')).status, 301);
  t.equal((await httpGet(s, '/code/x')).status, 404);
  t.equal((await httpGet(s, '/teapot/x')).status, 418);
  t.equal((await httpGet(s, '/file/x')).status, 404, 'a folder is no file');
  t.equal((await httpGet(s, '/re/four')).status, 404);
  t.equal((await httpGet(s, '/loop/x')).status, 500, 'a fallback that does not exist');
  t.match(await s.logged('cycle'), /\[error\] .*rewrite or internal redirection cycle while internally redirecting to "\/loop\/again"/);
  await s.write('html/fallback-file', 'x');
  rmSync(`${s.dir}/html/f.txt`);
  t.equal((await httpGet(s, '/f.txt')).text, 'fallback /fallback?', 'a file that went away');
});
