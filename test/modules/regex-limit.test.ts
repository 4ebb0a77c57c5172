import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

t.test('a pattern that cannot be decided ends its request, not the worker', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location ~ ^/w/(a+)+\\1\\1b$ { return 200 matched; }
      location /rewrite { rewrite ^/rewrite/(a+)+\\1b$ /other; return 200 kept; }
      location /if { if ($arg_x ~ ^(a+)+\\1b$) { return 200 matched; } return 200 no; }
      location /not { if ($arg_x !~ ^(a+)+\\1b$) { return 200 no; } return 200 matched; }
      location / { return 200 other; }
      location ~ ^/fast/(a+)+$ { return 200 fast; }`),
    expectAlerts: /pcre2?_(match|exec)\(\) failed/,
  });
  const many = 'a'.repeat(40);
  t.equal((await httpGet(s, '/w/aaab')).text, 'matched');
  t.equal((await httpGet(s, `/if?x=aab`)).text, 'matched');
  for (const path of [`/w/${many}!b`, `/rewrite/${many}!b`, `/if?x=${many}!b`, `/not?x=${many}!b`]) {
    t.equal((await httpGet(s, path)).status, 500, path);
  }
  t.match(s.log(), `[alert]`);
  t.match(s.log(), `pcre2_match() failed: -47 on "/w/${many}!b" using "^/w/(a+)+\\1\\1b$"`);
  if (!againstNginx) {
    t.equal((await httpGet(s, `/fast/${'a'.repeat(3000)}!`)).text, 'other', 'an exponential pattern without references is decided');
  }
});

t.test('the matches of a request are limited together', async (t) => {
  const locations = Array.from({ length: 40 }, (_, i) => `location ~ ^/x/(a+)+\\1-${i}$ { return 200 ${i}; }`).join('\n');
  const s = await startServer(t, {
    conf: serverConf(`
      error_page 500 /sorry.html;
      ${locations}
      location / { return 200 other; }
      location = /sorry.html { return 200 sorry; }`),
    expectAlerts: /pcre2?_(match|exec)\(\) failed/,
  });
  t.equal((await httpGet(s, '/x/aa-39')).text, '39');
  const hostile = await httpGet(s, `/x/${'a'.repeat(60)}!-0123456789`);
  t.equal(hostile.status, 500);
  t.equal(hostile.text, 'sorry', 'its error page is found all the same');
  t.equal((await httpGet(s, '/x/aa-7')).text, '7', 'the next request starts afresh');
});

t.test('variables', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location ~ ^/named/(?<first>[a-z]+)(?:/(?<second>[0-9]+))?$ { return 200 "$first,$second,$1,$2"; }`),
  });
  t.equal((await httpGet(s, '/named/abc/12')).text, 'abc,12,abc,12');
  t.equal((await httpGet(s, '/named/abc')).text, 'abc,,abc,');
});
