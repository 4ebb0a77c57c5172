import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { http, httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

t.test('userid', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      userid on;
      add_header X-Got $uid_got;
      add_header X-Set $uid_set;
      location / { return 204; }
      location /v1 { userid v1; userid_service 258; return 204; }
      location /off { userid off; return 204; }
      location /log { userid log; return 204; }
      location /full {
        userid_name id; userid_domain example.com; userid_path /p; userid_expires 1d; userid_p3p 'policyref="x"';
        userid_flags secure httponly samesite=lax; userid_service 16909060; return 204;
        location /full/plain { userid_domain none; userid_p3p none; userid_flags off; userid_expires max; return 204; }
      }
      location /mark { userid_mark m; return 204; }
      location /reset { set $uid_reset $arg_reset; return 204; }
    `,
    ),
  });
  const first = await httpGet(s, '/');
  t.match(first.header('Set-Cookie'), /^uid=[A-Za-z0-9+/]{22}==; path=\/$/);
  const set = first.header('X-Set')!;
  t.match(set, /^uid=0100007F[0-9A-F]{24}$/, 'begins with the address');
  t.equal(first.header('X-Got'), undefined);
  const cookie = first.header('Set-Cookie')!.split(';')[0]!;
  const bytes = Buffer.from(cookie.slice(4), 'base64');
  t.equal(`uid=${[0, 4, 8, 12].map((i) => bytes.readUInt32LE(i).toString(16).toUpperCase().padStart(8, '0')).join('')}`, set);
  t.ok(Math.abs(bytes.readUInt32BE(4) - Date.now() / 1000) < 60, 'the time');
  const again = await httpGet(s, '/', { Cookie: `a=b; UID=${cookie.slice(4)}; c=d` });
  t.strictSame([again.header('Set-Cookie'), again.header('X-Got'), again.header('X-Set')], [undefined, set, undefined]);
  t.not((await httpGet(s, '/')).header('X-Set'), set, 'each one is different');
  const v1 = await httpGet(s, '/v1');
  t.match(v1.header('X-Set'), /^uid=00000102/);
  t.equal((await httpGet(s, '/off')).header('Set-Cookie'), undefined);
  const log = await httpGet(s, '/log', { Cookie: cookie });
  t.strictSame([log.header('Set-Cookie'), log.header('X-Got')], [undefined, set]);
  const full = await httpGet(s, '/full');
  t.match(
    full.header('Set-Cookie'),
    /^id=\S{24}; expires=\w{3}, \d\d-\w{3}-\d\d \d\d:\d\d:\d\d GMT; domain=example.com; path=\/p; secure; httponly; samesite=lax$/,
  );
  t.equal(full.header('P3P'), 'policyref="x"');
  t.match(full.header('X-Set'), /^id=04030201/);
  const plain = await httpGet(s, '/full/plain');
  t.match(plain.header('Set-Cookie'), /^id=\S{24}; expires=Thu, 31-Dec-37 23:55:55 GMT; path=\/p$/);
  t.equal(plain.header('P3P'), undefined);
  t.match((await httpGet(s, '/mark')).header('Set-Cookie'), /^uid=\S{22}m=;/);
  const marked = await httpGet(s, '/mark', { Cookie: cookie });
  t.equal(marked.header('Set-Cookie'), `${cookie.slice(0, 26)}m=; path=/`, 'an unmarked one is marked');
  t.equal((await httpGet(s, '/mark', { Cookie: `${cookie.slice(0, 26)}m=` })).header('Set-Cookie'), undefined);
  const kept = await httpGet(s, '/reset?reset=0', { Cookie: cookie });
  t.equal(kept.header('Set-Cookie'), undefined);
  const reset = await httpGet(s, '/reset?reset=log', { Cookie: cookie });
  t.match(reset.header('Set-Cookie'), /^uid=/);
  t.notMatch(reset.header('Set-Cookie'), cookie);
  await s.logged(`userid cookie "${set}" was reset`);
  t.match((await httpGet(s, '/', { Cookie: 'uid=short' })).header('Set-Cookie'), /^uid=/);
  await s.logged('client sent too short userid cookie "uid=short"');
  await http(s, 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nCookie: x=1\r\nCookie: uid=brief; y=2\r\n\r\n');
  await s.logged('client sent too short userid cookie "uid=brief; y=2"');
  t.match((await httpGet(s, '/', { Cookie: 'uid=!!!!!!!!!!!!!!!!!!!!!!!!' })).header('Set-Cookie'), /^uid=/);
  await s.logged('client sent invalid userid cookie "uid=!!!');
});

t.test('configuration', async (t) => {
  t.match(
    await configMessage(t, serverConf('userid_mark xy;')),
    /"userid_mark" directive value must be "off" or a single letter, digit or "="/,
  );
  t.match(await configMessage(t, serverConf('userid maybe;')), /invalid value "maybe"/);
  t.match(await configMessage(t, serverConf('userid_expires soon;')), /"userid_expires" directive invalid value/);
});
