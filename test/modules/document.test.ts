import { symlinkSync } from 'node:fs';
import t from 'tap';
import { httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

t.test('$document_root, $realpath_root and $request_filename', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%%; root %%DIR%%/html/;
        
        location / { return 200 "$document_root $realpath_root $request_filename"; }
        location /relative/ { root html; return 200 "$document_root $request_filename"; }
        location /top/ { root /; return 200 "$document_root|$request_filename"; }
        location /variable/ { root $arg_root/; return 200 "$document_root $request_filename"; }
        location /alias/ { alias %%DIR%%/html/; return 200 "$document_root $request_filename"; }
        location ~ ^/re/(.*) { alias %%DIR%%/x/$1; return 200 "$document_root $request_filename"; }
        location /link/ { root %%DIR%%/link; return 200 "$document_root $realpath_root"; }
        location /nowhere/ { root %%DIR%%/nowhere; return 200 "$document_root|$realpath_root"; } }`),
    files: { 'html/f': '' },
  });
  symlinkSync('html', `${s.dir}/link`);
  const { dir } = s;
  for (const [path, text] of [
    ['/a/b', `${dir}/html ${dir}/html ${dir}/html/a/b`],
    ['/relative/f', `${dir}/html ${dir}/html/relative/f`],
    ['/top/f', '|/top/f'],
    ['/variable/f?root=/data', '/data /data/variable/f'],
    ['/variable/f?root=data', `${dir}/data ${dir}/data/variable/f`],
    ['/alias/f', `${dir}/html/ ${dir}/html/f`],
    ['/re/f', `${dir}/x/f ${dir}/x/f`],
    ['/link/', `${dir}/link ${dir}/html`],
    ['/nowhere/', `${dir}/nowhere|`],
  ] as const) {
    t.equal((await httpGet(s, path)).text, text, path);
  }
  t.match(await s.logged('realpath'), /\[crit\] .*realpath\(\) "\S+\/nowhere" failed \(2: No such file or directory\)/);
});
