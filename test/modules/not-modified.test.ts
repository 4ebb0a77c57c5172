import { utimesSync } from 'node:fs';
import t from 'tap';
import { http, httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

t.test('conditional requests', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%%; root %%DIR%%/html;
        location / { }
        location /before { if_modified_since before; alias %%DIR%%/html/f; }
        location /off { if_modified_since off; alias %%DIR%%/html/f; }
        location /noetag { etag off; alias %%DIR%%/html/f; }
        location /r { return 200 ok; } }`),
    files: { 'html/f': 'content' },
  });
  const time = new Date('2024-05-06T07:08:09Z');
  utimesSync(`${s.dir}/html/f`, time, time);
  const same = time.toUTCString();
  const earlier = new Date(time.getTime() - 60_000).toUTCString();
  const later = new Date(time.getTime() + 60_000).toUTCString();
  const etag = (await httpGet(s, '/f')).header('ETag')!;
  t.match(etag, /^"[0-9a-f]+-7"$/);
  const status = async (path: string, ...lines: string[]) =>
    (await http(s, `GET ${path} HTTP/1.1\r\nHost: a\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`)).status;

  const rows: readonly [lines: readonly string[], exact: number, before: number, off: number, withoutEtag: number][] = [
    [[`If-Modified-Since: ${same}`], 304, 304, 200, 304],
    [[`If-Modified-Since: ${later}`], 200, 304, 200, 200],
    [[`If-Modified-Since: ${earlier}`], 200, 200, 200, 200],
    [['If-Modified-Since: rubbish'], 200, 200, 200, 200],
    [['If-Modified-Since: Monday, 06-May-24 07:08:09 GMT'], 304, 304, 200, 304],
    [['If-Modified-Since: Mon May  6 07:08:09 2024'], 304, 304, 200, 304],
    [[`If-Unmodified-Since: ${same}`], 200, 200, 200, 200],
    [[`If-Unmodified-Since: ${later}`], 200, 200, 200, 200],
    [[`If-Unmodified-Since: ${earlier}`], 412, 412, 412, 412],
    [[`If-None-Match: ${etag}`], 304, 304, 304, 200],
    [[`If-None-Match: W/${etag}`], 304, 304, 304, 200],
    [[`If-None-Match: "a", "b",${etag}`], 304, 304, 304, 200],
    [['If-None-Match: *'], 304, 304, 304, 304],
    [['If-None-Match: "other"'], 200, 200, 200, 200],
    [[`If-None-Match: ${etag.slice(0, -1)}`], 200, 200, 200, 200],
    [['If-None-Match: "other"', `If-Modified-Since: ${same}`], 200, 200, 200, 200],
    [[`If-None-Match: ${etag}`, `If-Modified-Since: ${earlier}`], 200, 200, 200, 200],
    [[`If-Match: ${etag}`], 200, 200, 200, 412],
    [['If-Match: *'], 200, 200, 200, 200],
    [['If-Match: "other"'], 412, 412, 412, 412],
    [[`If-Match: W/${etag}`], 412, 412, 412, 412],
    [[`If-Match: "other", ${etag}`], 200, 200, 200, 412],
    [[`If-Match: ${etag}`, `If-Unmodified-Since: ${earlier}`], 412, 412, 412, 412],
  ];
  for (const [lines, ...wanted] of rows) {
    const found = [];
    for (const path of ['/f', '/before', '/off', '/noetag']) {
      found.push(await status(path, ...lines));
    }
    t.strictSame(found, wanted, lines.join('; '));
  }
  t.equal(await status('/r', 'If-None-Match: *', `If-Modified-Since: ${same}`), 200, 'only what has a date or tag');

  const { headers, body, length, head } = await httpGet(s, '/f', { 'If-None-Match': etag });
  t.strictSame(
    headers.map(([name]) => name),
    ['Server', 'Date', 'Last-Modified', 'Connection', 'ETag'],
    'what a 304 says',
  );
  t.strictSame([body.length, length], [0, head.length]);
  t.equal((await httpGet(s, '/noetag')).header('ETag'), undefined);
  t.match((await httpGet(s, '/f', { 'If-Match': '"x"' })).text, '<h1>412 Precondition Failed</h1>');
});
