import t from 'tap';
import { http, httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

// Which server a request gets, and what that server calls itself.

t.test('selection by name', async (t) => {
  const named = (names: string, text: string) =>
    `server { listen 127.0.0.1:%%PORT_0%%; server_name ${names}; location / { return 200 "${text}|$server_name"; } }`;
  const s = await startServer(t, {
    conf: httpConf(
      [
        named('first', 'first'),
        'server { listen 127.0.0.1:%%PORT_0%% default_server; server_name default; location / { return 200 "default|$server_name"; } }',
        named('exact.example.com second.example.com', 'exact'),
        named('*.example.com', 'prefix'),
        named('*.sub.example.com', 'longer prefix'),
        named('www.example.*', 'suffix'),
        named('www.example.co.*', 'longer suffix'),
        named('.dot.net', 'dot'),
        named('~^(?<user>.+)\\.users\\.org$', 'regex $user'),
        named('~^never\\.users\\.org$', 'second regex'),
        named('""', 'empty'),
        named('UPPER.example.net', 'upper'),
        'server { listen 127.0.0.1:%%PORT_1%%; server_name other; location / { return 200 "other port"; } }',
      ].join('\n'),
    ),
  });
  const rows: readonly [host: string, text: string][] = [
    ['first', 'first|first'],
    ['FIRST:123', 'first|first'],
    ['first.', 'first|first'],
    ['unknown', 'default|default'],
    ['127.0.0.1', 'default|default'],
    ['exact.example.com', 'exact|exact.example.com'],
    ['second.example.com', 'exact|exact.example.com'],
    ['x.example.com', 'prefix|*.example.com'],
    ['a.b.example.com', 'prefix|*.example.com'],
    ['example.com', 'default|default'],
    ['x.sub.example.com', 'longer prefix|*.sub.example.com'],
    ['sub.example.com', 'prefix|*.example.com'],
    ['www.example.com', 'prefix|*.example.com'],
    ['www.example.org', 'suffix|www.example.*'],
    ['www.example.co.uk', 'longer suffix|www.example.co.*'],
    ['www.example', 'default|default'],
    ['dot.net', 'dot|dot.net'],
    ['a.dot.net', 'dot|dot.net'],
    ['xdot.net', 'default|default'],
    ['jane.users.org', 'regex jane|~^(?<user>.+)\\.users\\.org$'],
    ['never.users.org', 'regex never|~^(?<user>.+)\\.users\\.org$'],
    ['upper.EXAMPLE.net', 'upper|upper.example.net'],
  ];
  for (const [host, text] of rows) {
    t.equal((await httpGet(s, '/', { Host: host })).text, text, host);
  }
  t.equal((await http(s, 'GET / HTTP/1.0\r\n\r\n')).text, 'empty|', 'no Host');
  t.equal(
    (await http(s, 'GET http://first/ HTTP/1.1\r\nHost: dot.net\r\n\r\n')).text,
    'first|first',
    'the absolute URI counts before Host',
  );
  t.equal((await httpGet(s.port(1), '/', { Host: 'first' })).text, 'other port', 'names belong to their addresses');
});

t.test('the first server of an address is its default', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%%; server_name one; location / { return 200 one; } }
      server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%%; server_name two; location / { return 200 two; } }`),
  });
  t.equal((await httpGet(s, '/', { Host: 'x' })).text, 'one');
  t.equal((await httpGet(s.port(1), '/', { Host: 'one' })).text, 'two');
});

t.test('an address of its own goes before the wildcard', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen %%PORT_0%%; location / { return 200 "any $server_addr"; } }
      server { listen 127.0.0.2:%%PORT_0%%; location / { return 200 "own $server_addr"; } }`),
  });
  t.equal((await httpGet(s, '/')).text, 'any 127.0.0.1');
  t.equal((await httpGet(s, '/', {}, { host: '127.0.0.2' })).text, 'own 127.0.0.2');
});

t.test('a Unix socket and IPv6', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen unix:%%DIR%%/http.sock; location / { return 200 "$server_addr|$remote_addr|$server_port"; } }
      server { listen [::1]:%%PORT_0%%; location / { return 200 "$server_addr|$remote_addr"; } }`),
  });
  t.equal((await httpGet(`${s.dir}/http.sock`, '/')).text, `unix:${s.dir}/http.sock|unix:|`);
  t.equal((await httpGet(s, '/', {}, { host: '::1' })).text, '::1|::1');
});

t.test('redirects to a directory', async (t) => {
  const server = (name: string, more: string) =>
    `server { listen 127.0.0.1:%%PORT_0%%; server_name ${name} alias.${name}; root %%DIR%%/html; ${more} }`;
  const s = await startServer(t, {
    conf: httpConf(
      server('plain', '') +
        server('named', 'server_name_in_redirect on;') +
        server('portless', 'port_in_redirect off;') +
        server('relative', 'absolute_redirect off;'),
    ),
    files: { 'html/dir/f': '', 'html/a b?/f': '' },
  });
  const location = async (host: string, path: string) => {
    const response = await httpGet(s, path, { Host: host });
    t.equal(response.status, 301);
    return response.header('Location');
  };
  const port = s.port(0);
  t.equal(await location('alias.plain', '/dir'), `http://alias.plain:${port}/dir/`);
  t.equal(await location('alias.plain:1', '/dir?x=y'), `http://alias.plain:${port}/dir/?x=y`);
  t.equal(await location('alias.named', '/dir'), `http://named:${port}/dir/`);
  t.equal(await location('alias.portless', '/dir'), 'http://alias.portless/dir/');
  t.equal(await location('alias.relative', '/dir?x'), '/dir/?x');
  t.equal(await location('alias.relative', '/a%20b%3F'), '/a%20b%3F/');
  t.equal((await http(s, 'GET /dir HTTP/1.0\r\n\r\n')).header('Location'), `http://127.0.0.1:${port}/dir/`, 'without Host: the address');
});

t.test('server_tokens', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%%; server_name on; }
      server { listen 127.0.0.1:%%PORT_0%%; server_name off; server_tokens off; }`),
  });
  const on = await httpGet(s, '/missing', { Host: 'on' });
  t.match(on.header('Server'), /^(nginx|sluice)\/\d+\.\d+\.\d+$/);
  t.match(on.text, `<center>${on.header('Server')}</center>`);
  const off = await httpGet(s, '/missing', { Host: 'off' });
  t.match(off.header('Server'), /^(nginx|sluice)$/);
  t.match(off.text, `<center>${off.header('Server')}</center>`);
});
