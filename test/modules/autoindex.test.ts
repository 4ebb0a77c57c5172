import { mkdirSync, symlinkSync, utimesSync } from 'node:fs';
import t from 'tap';
import { http, httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

t.test('autoindex', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location / { autoindex on; }
      location /off/ { }
      location /sizes/ { autoindex on; autoindex_exact_size off; alias %%DIR%%/html/list/; }
      location /local/ { autoindex on; autoindex_localtime on; alias %%DIR%%/html/list/; }
      location /json/ { autoindex on; autoindex_format json; alias %%DIR%%/html/list/; }
      location /jsonp/ { autoindex on; autoindex_format jsonp; alias %%DIR%%/html/list/; }
      location /xml/ { autoindex on; autoindex_format xml; alias %%DIR%%/html/list/; }`),
    files: {
      'html/list/b.txt': 'x'.repeat(2000),
      'html/list/a<&">%?# é.txt': '',
      'html/list/.hidden': '',
      'html/list/million': Buffer.alloc(1_600_000),
      'html/off/f': '',
      'html/with/index.html': 'index',
    },
    env: { TZ: 'Asia/Kolkata' },
  });
  const long = `long-${'n'.repeat(60)}`;
  mkdirSync(`${s.dir}/html/list/dir`);
  await s.write(`html/list/${long}`, 'x');
  symlinkSync('nowhere', `${s.dir}/html/list/broken`);
  symlinkSync('dir', `${s.dir}/html/list/link`);
  const time = new Date('2024-02-03T04:05:06Z');
  for (const name of ['b.txt', 'a<&">%?# é.txt', 'million', 'dir', long]) {
    utimesSync(`${s.dir}/html/list/${name}`, time, time);
  }

  const html = await httpGet(s, '/list/');
  t.equal(html.header('Content-Type'), 'text/html');
  t.match(
    html.text,
    /^<html>\r\n<head><title>Index of \/list\/<\/title><\/head>\r\n<body>\r\n<h1>Index of \/list\/<\/h1><hr><pre><a href="\.\.\/">\.\.\/<\/a>\r\n/,
  );
  t.match(html.text, /<\/pre><hr><\/body>\r\n<\/html>\r\n$/);
  const lines = html.text.split('\r\n').slice(4, -3);
  const column = (text: string, width: number) => ' '.repeat(width - text.length);
  t.strictSame(
    lines.filter((line) => !/broken|link/.test(line)).map((line) => Buffer.from(line, 'latin1').toString()),
    [
      `<a href="dir/">dir/</a>${column('dir/', 51)}03-Feb-2024 04:05                   -`,
      `<a href="a%3C%26%22%3E%25%3F%23%20%C3%A9.txt">a&lt;&amp;&quot;&gt;%?# é.txt</a>${column('a<&">%?# é.txt', 50)}03-Feb-2024 04:05                   0`,
      `<a href="b.txt">b.txt</a>${column('b.txt', 51)}03-Feb-2024 04:05                2000`,
      `<a href="${long}">${long.slice(0, 47)}..&gt;</a> 03-Feb-2024 04:05                   1`,
      `<a href="million">million</a>${column('million', 51)}03-Feb-2024 04:05             1600000`,
    ],
  );
  t.notMatch(html.text, 'hidden');
  t.match(
    (await httpGet(s, '/sizes/')).text,
    /">b\.txt<\/a> +03-Feb-2024 04:05 +2000\r\n(?:.*\r\n)+.*million<\/a> +03-Feb-2024 04:05 {6}2M\r\n/,
  );

  t.match((await httpGet(s, '/local/')).text, />b\.txt<\/a> +03-Feb-2024 09:35 +2000\r\n/, 'in India');

  const json = await httpGet(s, '/json/');
  t.equal(json.header('Content-Type'), 'application/json');
  const entries: { name: string; type: string; mtime: string; size?: number }[] = JSON.parse(json.body.toString());
  t.strictSame(
    entries.filter(({ name }) => !/broken|link/.test(name)),
    [
      { name: 'dir', type: 'directory', mtime: 'Sat, 03 Feb 2024 04:05:06 GMT' },
      { name: 'a<&">%?# é.txt', type: 'file', mtime: 'Sat, 03 Feb 2024 04:05:06 GMT', size: 0 },
      { name: 'b.txt', type: 'file', mtime: 'Sat, 03 Feb 2024 04:05:06 GMT', size: 2000 },
      { name: long, type: 'file', mtime: 'Sat, 03 Feb 2024 04:05:06 GMT', size: 1 },
      { name: 'million', type: 'file', mtime: 'Sat, 03 Feb 2024 04:05:06 GMT', size: 1600000 },
    ],
  );
  t.match(json.text, /^\[\r\n\{ "name":"dir", "type":"directory", "mtime":"Sat, 03 Feb 2024 04:05:06 GMT" \},\r\n/);
  const jsonp = await httpGet(s, '/jsonp/?callback=show.it');
  t.equal(jsonp.header('Content-Type'), 'application/javascript');
  t.equal(jsonp.text, `/* callback */\r\nshow.it(${json.text});`);
  t.equal((await httpGet(s, '/jsonp/')).text, json.text);
  t.equal((await httpGet(s, '/jsonp/?callback=a()')).status, 400);

  const xml = await httpGet(s, '/xml/');
  t.match(xml.header('Content-Type'), 'text/xml');
  t.match(xml.text, /^<\?xml version="1\.0"\?>\r\n<list>\r\n<directory mtime="2024-02-03T04:05:06Z">dir<\/directory>\r\n/);
  t.match(xml.text, '<file mtime="2024-02-03T04:05:06Z" size="2000">b.txt</file>\r\n');
  t.match(xml.text, 'a&lt;&amp;&quot;&gt;%?# ');
  t.match(xml.text, /<\/list>\r\n$/);

  t.equal((await httpGet(s, '/with/')).text, 'index', 'an index file goes first');
  t.equal((await httpGet(s, '/off/')).status, 403);
  t.equal((await httpGet(s, '/missing/')).status, 404);
  t.equal((await httpGet(s, '/list')).status, 301);
  const head = await http(s, 'HEAD /list/ HTTP/1.0\r\n\r\n');
  t.strictSame([head.status, head.body.length], [200, 0]);
  t.equal((await http(s, 'POST /list/ HTTP/1.0\r\n\r\n')).status, 403);
});
