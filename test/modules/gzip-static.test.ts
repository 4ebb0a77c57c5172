import { brotliCompressSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { http } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

// Files that were compressed beforehand.

const PAGE = 'a page that is worth compressing\n'.repeat(20);

t.test('gzip_static and brotli_static', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server {
        listen 127.0.0.1:%%PORT_0%%;
        root %%DIR%%/html;
        location / { gzip_static on; gzip_vary on; }
        location /always/ { gzip_static always; }
        location /br/ { brotli_static on; gzip_static on; }
        location /off/ { }
      }`),
    files: {
      'html/a.html': PAGE,
      'html/a.html.gz': gzipSync(PAGE),
      'html/plain.html': PAGE,
      'html/always/b.html.gz': gzipSync(PAGE),
      'html/br/c.html': PAGE,
      'html/br/c.html.gz': gzipSync(PAGE),
      'html/br/c.html.br': brotliCompressSync(PAGE),
      'html/off/d.html': PAGE,
      'html/off/d.html.gz': gzipSync(PAGE),
    },
  });
  const get = async (path: string, accept: string) => {
    const response = await http(s, `GET ${path} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: ${accept}\r\nConnection: close\r\n\r\n`);
    return [response.status, response.header('Content-Encoding'), response.header('Vary')];
  };
  t.same(await get('/a.html', 'gzip'), [200, 'gzip', 'Accept-Encoding']);
  t.same(await get('/a.html', 'identity'), [200, undefined, 'Accept-Encoding'], 'caches hear of the other form');
  t.same(await get('/plain.html', 'gzip'), [200, undefined, undefined], 'no file beside it');
  t.same(await get('/always/b.html', 'identity'), [200, 'gzip', undefined], 'always');
  t.same(await get('/off/d.html', 'gzip'), [200, undefined, undefined]);
  if (process.env['SLUICE_TEST_BINARY'] === undefined) {
    t.same(await get('/br/c.html', 'gzip, br'), [200, 'br', undefined]);
    t.same(await get('/br/c.html', 'gzip'), [200, 'gzip', undefined]);
  }
});
