import { hostname } from 'node:os';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { type FieldText, Http2Client } from '../support/http2-client.js';
import { http, requestText } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';

const skip = againstNginx && 'ours';

const FORM = 'application/x-www-form-urlencoded';
const SERVERS = '/api/9/http/upstreams/app/servers';
const ADD = JSON.stringify({ server: '127.0.0.9:9' });

type Headers = Readonly<Record<string, string>>;

const send = (s: Server, method: string, path: string, headers: Headers, body = '') =>
  http(s, requestText(method, path, { Connection: 'close', ...headers }, body));

const conf = httpConf(`
  upstream app { zone app 64k; server 127.0.0.1:1; }
  proxy_cache_path %%DIR%%/cache keys_zone=pages:1m;
  keyval_zone zone=flags:32k; keyval $arg_flag $flag zone=flags;
  status_history off;
  http2 on;
  server {
    listen 127.0.0.1:%%PORT_0%%;
    listen localhost:%%PORT_1%%;
    listen unix:%%DIR%%/s;
    server_name localhost;
    location /api { api write=on; }
    location /dashboard/ { dashboard write=on; }
    location /purge/ { proxy_cache_purge pages $uri; }
    location /via { rewrite ^ /api/9/http/requests; }
  }
  server {
    listen 127.0.0.1:%%PORT_0%%;
    server_name console.example *.wild.example .both.example mail.* $hostname ~^re\\d+\\.example$;
    location /api { api write=on; }
    location /dashboard/ { dashboard write=on; }
  }
  server {
    listen 127.0.0.1:%%PORT_2%%;
    server_name alone.example;
    location /api { api write=on; }
  }`);

t.test('a page of another site changes nothing', { skip }, async (t) => {
  const s = await startServer(t, { conf });
  const self = `127.0.0.1:${s.port(0)}`;
  const own = { Host: self };
  const refused: [string, Headers][] = [
    ['a form', { ...own, Origin: 'http://evil.example', 'Sec-Fetch-Site': 'cross-site', 'Content-Type': FORM }],
    ['a browser that sends no Sec-Fetch-Site to plain HTTP', { ...own, Origin: 'http://evil.example', 'Content-Type': 'text/plain' }],
    ['fetch without cors', { ...own, 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }],
    ['a sandboxed frame', { ...own, Origin: 'null' }],
    ['another port of the host', { ...own, Origin: 'http://127.0.0.1:3000', 'Sec-Fetch-Site': 'same-site' }],
    ['the usual port', { ...own, Origin: 'http://127.0.0.1' }],
    ['another name of the server', { ...own, Origin: `http://localhost:${s.port(0)}` }],
    ['an address that means the same', { ...own, Origin: `http://0.0.0.0:${s.port(0)}` }],
    ['a host that begins so', { ...own, Origin: `http://${self}.evil.example` }],
    ['a user', { ...own, Origin: `http://${self}@evil.example` }],
    ['no origin', { ...own, Origin: '' }],
    ['a word that is none', { ...own, 'Sec-Fetch-Site': 'same-origin, none' }],
    ['another site that says it is none', { ...own, 'Sec-Fetch-Site': 'none', Origin: 'http://evil.example' }],
  ];
  for (const [what, headers] of refused) {
    const answer = await send(s, 'POST', SERVERS, headers, ADD);
    t.match([answer.status, JSON.parse(answer.text)], [403, { error: { status: 403, code: 'CrossSiteRequest' } }], what);
    t.equal(answer.header('Access-Control-Allow-Origin'), undefined);
    for (const [method, path, body] of [
      ['PATCH', `${SERVERS}/0`, '{"down":true}'],
      ['DELETE', `${SERVERS}/0`, ''],
      ['DELETE', '/api/9/http/requests', ''],
      ['DELETE', '/via', ''],
      ['POST', '/api/9/http/keyvals/flags', '{"a":"b"}'],
      ['POST', '/dashboard/change', '{"action":"disable","upstream":"app","id":0}'],
      ['GET', '/purge/a', ''],
    ] as const) {
      const { status } = await send(s, method, path, { 'X-Sluice-Dashboard': '1', ...headers }, body);
      t.equal(status, 403, `${what}: ${method} ${path}`);
    }
    t.equal((await send(s, 'GET', '/api/9/nginx', headers)).status, 200, `${what}: reads, which a browser does not show`);
  }
  const servers = await send(s, 'GET', SERVERS, own);
  t.match(JSON.parse(servers.text), [{ id: 0, down: false }], 'nothing was changed');
  t.equal(JSON.parse(servers.text).length, 1);
  t.equal(
    (await send(s, 'OPTIONS', SERVERS, { ...own, Origin: 'http://evil.example', 'Access-Control-Request-Method': 'PATCH' })).status,
    405,
  );
  const log = s.log();
  t.match(log, /\[error\] .*the API refuses a change: a page of another site sent it \(Sec-Fetch-Site: cross-site\), client: 127\.0\.0\.1/);
  t.match(log, /the dashboard refuses a change: a page of another origin sent it \(Origin: null\)/);
});

t.test('the page itself and programs do, and the log says who did what', { skip }, async (t) => {
  const s = await startServer(t, { conf });
  const self = `127.0.0.1:${s.port(0)}`;
  const user = { Authorization: `Basic ${Buffer.from('ann\n\x1b[31m:x').toString('base64')}` };
  const allowed: [string, Headers][] = [
    ['curl', { Host: self, 'Content-Type': FORM }],
    ['a program without Host header of a browser', { Host: self, ...user }],
    ['a page of the server', { Host: self, Origin: `http://${self}`, 'Sec-Fetch-Site': 'same-origin' }],
    ['one behind something that ends TLS', { Host: 'console.example', Origin: 'https://console.example', 'Sec-Fetch-Site': 'same-origin' }],
    ['its port is the usual one', { Host: 'console.example:443', Origin: 'https://CONSOLE.example' }],
    ['somebody who typed it', { Host: self, 'Sec-Fetch-Site': 'none' }],
    ['an address of IPv6', { Host: `[::1]:${s.port(0)}`, Origin: `http://[::1]:${s.port(0)}` }],
  ];
  for (const [what, headers] of allowed) {
    const added = await send(s, 'POST', SERVERS, headers, ADD);
    t.equal(added.status, 201, what);
    const { id } = JSON.parse(added.text);
    t.equal((await send(s, 'PATCH', `${SERVERS}/${id}`, headers, '{"weight":7}')).status, 200);
    t.equal((await send(s, 'DELETE', `${SERVERS}/${id}`, headers)).status, 200);
    t.equal((await send(s, 'DELETE', '/api/9/http/server_zones/localhost', headers)).status, 204);
    const change = await send(
      s,
      'POST',
      '/dashboard/change',
      { 'X-Sluice-Dashboard': '1', ...headers },
      '{"action":"enable","upstream":"app","id":0}',
    );
    t.match(JSON.parse(change.text), { done: true });
  }
  const pair = (value: unknown) => JSON.stringify({ key1: value });
  t.equal((await send(s, 'POST', '/api/9/http/keyvals/flags', {}, pair('secret'))).status, 201);
  t.equal((await send(s, 'PATCH', '/api/9/http/keyvals/flags', {}, pair('secret2'))).status, 204);
  t.equal((await send(s, 'PATCH', '/api/9/http/keyvals/flags', {}, pair(null))).status, 204);
  t.equal((await send(s, 'DELETE', '/api/9/http/keyvals/flags', {})).status, 204);
  const log = s.log();
  for (const line of [
    /\[notice\] .*the API adds server 127\.0\.0\.9:9 of upstream "app", client: 127\.0\.0\.1, server: localhost, request: "POST /,
    /the API changes server 127\.0\.0\.9:9 of upstream "app": \{"weight":7\}, client/,
    /the API removes server 127\.0\.0\.9:9 of upstream "app", by user "ann[^\n]*, client/,
    /the API counts http\/server_zones\/localhost anew, client/,
    /the dashboard enables 127\.0\.0\.1:1 of upstream "app", client/,
    /the API adds "key1" in keyval zone "flags", client/,
    /the API changes "key1" in keyval zone "flags", client/,
    /the API removes "key1" in keyval zone "flags", client/,
    /the API removes all pairs of keyval zone "flags", client/,
  ]) {
    t.match(log, line);
  }
  t.notMatch(log, /secret|\x1b/);
});

t.test('names that lead here without being known get nothing', { skip }, async (t) => {
  const s = await startServer(t, { conf });
  const statuses = async (place: number, Host: string): Promise<number[]> => {
    const all = [];
    for (const path of ['/api/', '/dashboard/', '/dashboard/state', '/dashboard/history']) {
      all.push((await http(s.port(place), requestText('GET', path, { Connection: 'close', Host }))).status);
    }
    return all;
  };
  const fine = [200, 200, 200, 200];
  const refused = [403, 403, 403, 403];
  for (const host of ['127.0.0.1', '127.0.0.1:99', '[::1]', 'localhost', 'LOCALHOST:8081', 'localhost.']) {
    t.strictSame(await statuses(0, host), fine, host);
  }
  for (const host of ['console.example', 'a.wild.example', 'both.example', 'mail.org', 're7.example', hostname()]) {
    t.strictSame(await statuses(0, host), fine, host);
  }
  for (const host of ['rebound.example', 'wild.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'notlocalhost']) {
    t.strictSame(await statuses(0, host), refused, host);
  }
  t.equal((await statuses(2, 'alone.example'))[0], 200, 'a server that is alone at its address');
  t.equal((await statuses(2, 'rebound.example'))[0], 403);
  for (const [Host, wanted] of [
    ['unix', 200],
    ['rebound.example', 403],
  ] as const) {
    const { status } = await http(`${s.dir}/s`, requestText('GET', '/api/', { Connection: 'close', Host }));
    t.equal(status, wanted, `${Host} over a unix socket`);
  }
  const changed = await send(s, 'DELETE', `${SERVERS}/0`, { Host: 'rebound.example', Origin: 'http://rebound.example' });
  t.match([changed.status, JSON.parse(changed.text)], [403, { error: { code: 'UnknownHost' } }]);
  t.equal((await http(s, 'GET /api/ HTTP/1.0\r\n\r\n')).status, 200, 'no browser sends no host');
  t.match(s.log(), /the API does not answer for the host "rebound\.example", which no "server_name" has, client: 127\.0\.0\.1/);
});

t.test('the same over HTTP/2', { skip }, async (t) => {
  const s = await startServer(t, { conf });
  const client = await Http2Client.connect(t, s.port(0));
  let id = -1;
  const status = async (authority: string, method: string, path: string, ...fields: FieldText[]): Promise<string> => {
    id += 2;
    const all: FieldText[] = [[':method', method], [':scheme', 'http'], [':authority', authority], [':path', path], ...fields];
    return (await client.request(id, all).response(id)).status;
  };
  t.equal(await status('console.example', 'GET', '/api/'), '200');
  t.equal(await status('rebound.example', 'GET', '/api/'), '403');
  t.equal(await status('console.example', 'DELETE', '/api/9/http/requests', ['origin', 'http://evil.example']), '403');
  t.equal(await status('console.example', 'DELETE', '/api/9/http/requests', ['sec-fetch-site', 'cross-site']), '403');
  t.equal(await status('console.example', 'DELETE', '/api/9/http/requests', ['origin', 'http://console.example']), '204');
});

t.test('answers are not shown inside pages of others', { skip }, async (t) => {
  const s = await startServer(t, { conf });
  for (const path of ['/api/', '/api/9/none', '/dashboard/', '/dashboard/state']) {
    const answer = await send(s, 'GET', path, {});
    t.equal(answer.header('X-Frame-Options'), 'DENY', path);
    t.equal(answer.header('X-Content-Type-Options'), 'nosniff', path);
    t.equal(answer.header('Cross-Origin-Resource-Policy'), 'same-origin', path);
    t.match(answer.header('Content-Security-Policy') ?? '', /frame-ancestors 'none'/, path);
  }
  const answer = await send(s, 'GET', '/api/9/nginx?callback=steal&jsonp=steal', {});
  t.match([answer.header('Content-Type'), answer.text[0]], ['application/json', '{'], 'there is no JSONP');
});
