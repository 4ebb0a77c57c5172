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

t.test('variables', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location ~ ^/named/(?<first>[a-z]+)(?:/(?<second>[0-9]+))?$ { return 200 "$first,$second,$1,$2"; }`),
  });
  t.equal((await httpGet(s, '/named/abc/12')).text, 'abc,12,abc,12');
  t.equal((await httpGet(s, '/named/abc')).text, 'abc,,abc,');
});
