import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { http, httpGet, pipeline, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

const SHOW = 'return 200 "$remote_addr:$remote_port $realip_remote_addr";';

t.test('set_real_ip_from', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      location / { ${SHOW} }
      location /redirect { error_page 404 /; }
      server_name_in_redirect off;`,
      'set_real_ip_from 127.0.0.1/32; set_real_ip_from 10.0.0.0/8; real_ip_header X-Forwarded-For;',
    ),
  });
  const get = async (path: string, forwarded: string) => (await httpGet(s, path, { 'X-Forwarded-For': forwarded })).text;
  t.equal(await get('/', '192.0.2.1'), '192.0.2.1: 127.0.0.1');
  t.equal(await get('/', '192.0.2.1:8080'), '192.0.2.1:8080 127.0.0.1');
  t.equal(await get('/', '[2001:db8::0:1]:1'), '2001:db8::1:1 127.0.0.1');
  t.equal(await get('/', '192.0.2.1, 10.0.0.1'), '10.0.0.1: 127.0.0.1', 'one step only');
  t.match(await get('/', 'nonsense'), /^127\.0\.0\.1:\d+ 127\.0\.0\.1$/);
  t.equal(await get('/redirect', '192.0.2.1'), '192.0.2.1: 127.0.0.1', 'over an internal redirect');
  t.match(s.accessLog(), /^192\.0\.2\.1 - - /m, 'the access log has it');
  const several = `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 192.0.2.2\r\n\r\n`;
  t.equal((await http(s, several)).text, '192.0.2.2: 127.0.0.1', 'the last of several headers');

  const [first, second] = await pipeline(s, [
    requestText('GET', '/', { 'X-Forwarded-For': '192.0.2.7' }),
    requestText('GET', '/', { Connection: 'close' }),
  ]);
  t.equal(first!.text, '192.0.2.7: 127.0.0.1');
  t.match(second!.text, /^127\.0\.0\.1:\d+ 127\.0\.0\.1$/, 'the next request has its own address again');
});

t.test('headers, recursion and levels', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server {
        listen 127.0.0.1:%%PORT_0%%;
        set_real_ip_from 127.0.0.0/8; set_real_ip_from 10.0.0.0/8;
        real_ip_header X-Forwarded-For; real_ip_recursive on;
        location / { add_header X-Addr $remote_addr; return 200 $remote_addr; }
      }
      server {
        listen 127.0.0.1:%%PORT_1%%;
        set_real_ip_from localhost;
        location / { ${SHOW} }
        location /own { real_ip_header X-Client; try_files /none @show; }
        location @show { ${SHOW} }
      }
      server {
        listen 127.0.0.1:%%PORT_2%%;
        set_real_ip_from 192.0.2.0/24; set_real_ip_from unix:;
        location / { return 200 $remote_addr; }
      }
      server {
        listen unix:%%DIR%%/s.sock;
        set_real_ip_from unix:;
        location / { return 200 "$remote_addr $realip_remote_addr $realip_remote_port"; }
      }
      server {
        listen 127.0.0.1:%%PORT_3%% proxy_protocol;
        set_real_ip_from 127.0.0.1; real_ip_header proxy_protocol;
        location / { return 200 "$remote_addr:$remote_port $realip_remote_addr"; }
      }`),
  });
  const forwarded = (value: string) => ({ 'X-Forwarded-For': value });
  t.equal((await httpGet(s.port(0), '/', forwarded('192.0.2.1, 192.0.2.2, 10.0.0.1'))).text, '192.0.2.2');
  t.equal((await httpGet(s.port(0), '/', forwarded('10.0.0.3, 10.0.0.1'))).text, '10.0.0.3');
  t.equal((await httpGet(s.port(1), '/', { 'X-Real-IP': '192.0.2.1' })).text, '192.0.2.1: 127.0.0.1', 'X-Real-IP unless told');
  t.match((await httpGet(s.port(1), '/', forwarded('192.0.2.1'))).text, /^127/);
  t.match((await httpGet(s.port(1), '/own', { 'x-client': '192.0.2.5' })).text, /^192\.0\.2\.5:/, 'a location of its own');
  t.equal((await httpGet(s.port(2), '/', { 'X-Real-IP': '192.0.2.1' })).text, '127.0.0.1', 'not a trusted peer');
  t.equal((await httpGet(`${s.dir}/s.sock`, '/', { 'X-Real-IP': '192.0.2.1' })).text, '192.0.2.1 unix: ');
  t.equal((await httpGet(`${s.dir}/s.sock`, '/')).text, 'unix: unix: ');
  const client = await RawClient.connect(s.port(3));
  client.send(`PROXY TCP4 192.0.2.1 192.0.2.2 1234 5678\r\n${requestText('GET', '/')}`, 'GET');
  t.equal((await client.response()).text, '192.0.2.1:1234 127.0.0.1');
  client.destroy();
});

t.test('messages', async (t) => {
  for (const [lines, message] of [
    ['real_ip_header A; real_ip_header B;', '"real_ip_header" directive is duplicate in %%FILE%%:6'],
    ['set_real_ip_from host.invalid;', 'host not found in set_real_ip_from "host.invalid" in %%FILE%%:6'],
    ['real_ip_recursive yes;', 'invalid value "yes" in "real_ip_recursive" directive, it must be "on" or "off" in %%FILE%%:6'],
  ] as const) {
    t.equal(await configMessage(t, httpConf(lines)), message, lines);
  }
});
