import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

const large = 'y'.repeat(200_000);

t.test('addition', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      default_type text/html;
      location /both { add_before_body /before; add_after_body /after; }
      location /before-only { add_before_body /before; location /before-only/off { add_before_body ''; } }
      location /after-only { add_after_body /after; }
      location /large { add_before_body /large-part; add_after_body /large-part; }
      location /missing { add_before_body /nowhere; }
      location /plain { default_type text/plain; add_after_body /after; location /plain/any { addition_types text/plain; } }
      location /gone { add_after_body /after; }
      location /filtered { sub_filter x X; sub_filter_once off; ssi on; gzip on; gzip_min_length 1; add_before_body /before; add_after_body /after; }
      location /itself { add_after_body /itself; }
    `),
    files: {
      ...Object.fromEntries(
        ['both', 'before-only/f', 'before-only/off', 'after-only', 'plain/f', 'plain/any', 'missing', 'itself'].map((name) => [
          `html/${name}`,
          'xbody',
        ]),
      ),
      'html/filtered': 'x<!--#echo var="uri" -->x<!--#include virtual="/after" -->x',
      'html/before': 'xbefore<!--#echo var="uri" -->',
      'html/after': 'xafter',
      'html/empty-both': '',
      'html/large': large,
      'html/large-part': large,
    },
  });
  for (const [path, expected] of [
    ['/both', 'xbefore<!--#echo var="uri" -->xbodyxafter'],
    ['/before-only/f', 'xbefore<!--#echo var="uri" -->xbody'],
    ['/before-only/off', 'xbody'],
    ['/after-only', 'xbodyxafter'],
    ['/plain/f', 'xbody'],
    ['/plain/any', 'xbodyxafter'],
    ['/large', large.repeat(3)],
    ['/filtered', 'xbefore<!--#echo var="uri" -->X/filteredXxafterXxafter'],
    ['/itself', 'xbodyxbody'],
  ] as const) {
    t.ok((await httpGet(s, path)).text === expected, path);
  }
  t.match((await httpGet(s, '/missing')).text, /404 Not Found[\s\S]*<\/html>\r\nxbody$/);
  t.notMatch((await httpGet(s, '/gone')).text, /xafter/, 'only after a 200');
  const both = await httpGet(s, '/both');
  t.match([both.header('ETag'), both.header('Last-Modified')], [/^W\//, /GMT/]);
  for (const name of ['Content-Length', 'Accept-Ranges']) {
    t.equal(both.header(name), undefined, name);
  }
  const zipped = await httpGet(s, '/filtered', { 'Accept-Encoding': 'gzip' });
  t.equal(gunzipSync(zipped.body).toString(), 'xbefore<!--#echo var="uri" -->X/filteredXxafterXxafter', 'all of it is compressed');
});
