import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

t.test('values of variables let in', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      auth_require $arg_a;
      location / { empty_gif; }
      location /own { auth_require $arg_b $arg_c error=404; auth_require $arg_d error=503; empty_gif; }
      location /text { auth_require "$arg_a$arg_b"; empty_gif; }
      location /any { satisfy any; allow 127.0.0.2; deny all; auth_require $arg_a; empty_gif; }
      location /asked { auth_request /verdict; auth_request_set $verdict $sent_http_x_verdict; auth_require $verdict; empty_gif; }
      location = /verdict { internal; add_header X-Verdict $arg_v; return 204; }
      location /except { auth_require $empty_one; limit_except POST { auth_require $arg_m error=405; } empty_gif; }
      location /page { error_page 403 = /forbidden; empty_gif; }
      location = /forbidden { return 200 "no entry"; }
      set $empty_one "";`),
  });
  const status = async (path: string): Promise<number> => (await httpGet(s, path)).status;
  for (const [path, expected] of [
    ['/?a=1', 200],
    ['/?a=no', 200],
    ['/?a=00', 200],
    ['/?a=0', 403],
    ['/?a=', 403],
    ['/', 403],
    ['/own?b=1&c=1&d=1', 200],
    ['/own?b=1&d=1', 404],
    ['/own?b=1&c=0&d=1', 404],
    ['/own?b=1&c=1', 503],
    ['/own?d=0', 404],
    ['/text?b=0', 403],
    ['/text?a=0&b=0', 200],
    ['/any?a=1', 200],
    ['/any', 403],
    ['/except?m=1', 200],
    ['/except', 405],
  ] as const) {
    t.equal(await status(path), expected, path);
  }
  t.equal((await httpGet(s, '/page')).text, 'no entry');
  t.equal(await status('/asked'), 403, 'the values of auth_request are looked at behind it');
  t.match(s.log(), 'access forbidden: the rule "auth_require $arg_a" is not met');
});

t.test('configurations', async (t) => {
  const message = (text: string) => configMessage(t, serverConf(text));
  t.equal(await message('auth_require host;'), 'invalid value "host" in %%FILE%%:11');
  t.equal(await message('auth_require $host error=200;'), 'invalid parameter "error=200" in %%FILE%%:11');
  t.equal(await message('auth_require $host error=4;'), 'invalid parameter "error=4" in %%FILE%%:11');
  t.equal(await message('auth_require $host error=403 error=404;'), 'invalid parameter "error=404" in %%FILE%%:11');
  t.equal(await message('auth_require error=403;'), '"auth_require" directive must have a value in %%FILE%%:11');
});
