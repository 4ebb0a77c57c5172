// What `-t` says, line by line; the lines that sluice adds below nginx's, which begin with a blank, are left out.
import t, { type Test } from 'tap';
import { product } from '../support/binary.js';
import { testConfig } from '../support/run-cli.js';

const conf = (http: string, events = ''): string => `pid %%DIR%%/pid; events { ${events} } http { ${http} }\n`;

/** The messages for a configuration of one line, without the program's name, the file's path and the last line. */
async function messages(t: Test, text: string): Promise<string[]> {
  const { stderr, file } = await testConfig(t, text);
  return stderr
    .split('\n')
    .filter((line) => line.startsWith(`${product}: `))
    .map((line) => line.slice(product.length + 2).replace(file, 'FILE'))
    .slice(0, -1);
}

const OK = 'the configuration file FILE syntax is ok';
const server = (text: string): string => `server { listen 127.0.0.1:%%PORT_0%%; ${text} }`;

t.test('refused, in nginx words', async (t) => {
  for (const [text, ...expected] of [
    [conf(server('location / { internal; internal; }')), '[emerg] "internal" directive is duplicate in FILE:1'],
    [conf(server(''), 'worker_connections 0;'), OK, '[emerg] 0 worker_connections are not enough for 1 listening sockets'],
    [conf(server(''), 'worker_connections 1;'), OK, '[emerg] 1 worker_connections are not enough for 1 listening sockets'],
    [conf(server(''), 'worker_connections 2;'), OK],
    ['pid %%DIR%%/pid; http { }', OK, '[emerg] no "events" section in configuration'],
    [conf(server('limit_req zone=b;')), OK, '[emerg] zero size shared memory zone "b"'],
    [
      conf(server('large_client_header_buffers 4 256;')),
      '[emerg] the "large_client_header_buffers" size must be equal to or greater than "connection_pool_size" in FILE:1',
    ],
    [conf(server('connection_pool_size 256; large_client_header_buffers 4 256;')), OK],
    [conf(server('connection_pool_size 96;')), '[emerg] the pool size must be no less than 112 in FILE:1'],
    [conf(server('request_pool_size 120;')), '[emerg] the pool size must be a multiple of 16 in FILE:1'],
  ] as const) {
    t.strictSame(await messages(t, text), expected, text);
  }
});

t.test('the first error in the text comes first', async (t) => {
  for (const [text, first] of [
    ['server { listen bad..host:80; bogus; }', 'host not found in "bad..host:80" of the "listen" directive in FILE:1'],
    ['upstream u { server bad..host; } bogus;', 'host not found in upstream "bad..host" in FILE:1'],
    ['bogus; server { listen bad..host:80; }', 'unknown directive "bogus" in FILE:1'],
    ['server { listen 127.0.0.1:8081; listen 127.0.0.1:8081; bogus; }', 'a duplicate listen 127.0.0.1:8081 in FILE:1'],
    [
      'server { listen 127.0.0.1:8081 default_server; } server { listen 127.0.0.1:8081 default_server; bogus; }',
      'a duplicate default server for 127.0.0.1:8081 in FILE:1',
    ],
    [
      'server { listen 127.0.0.1:8081 backlog=3; } server { listen 127.0.0.1:8081 backlog=4; bogus; }',
      'duplicate listen options for 127.0.0.1:8081 in FILE:1',
    ],
    // An address is shown as it is, not as it was written.
    ['server { listen 8081; listen *:8081; bogus; }', 'a duplicate listen 0.0.0.0:8081 in FILE:1'],
    ['server { listen 10.0.0.0/8; bogus; }', 'invalid host in "10.0.0.0/8" of the "listen" directive in FILE:1'],
    ['server { listen bad:host:80; bogus; }', 'invalid port in "bad:host:80" of the "listen" directive in FILE:1'],
    ['server { listen 99999999999999999999; }', 'host not found in "99999999999999999999" of the "listen" directive in FILE:1'],
  ] as const) {
    t.equal((await messages(t, conf(text)))[0], `[emerg] ${first}`, text);
  }
});

t.test('numbers of processes and connections that are none', async (t) => {
  t.equal((await messages(t, 'events { worker_connections many; }'))[0], '[emerg] invalid number "many" in FILE:1');
  t.equal((await messages(t, 'worker_processes many; events {}'))[0], '[emerg] "worker_processes" directive invalid value in FILE:1');
});

t.test('names of a server that is alone are in nobody else way', async (t) => {
  t.strictSame(await messages(t, conf(server('server_name *.x .x x *.x;'))), [OK]);
  const [first] = await messages(t, conf(server('server_name *.x *.x;') + server('server_name y;')));
  t.match(first, /^\[warn\] conflicting server name "\*\.x" on 127\.0\.0\.1:\d+, ignored/);
});

t.test('so_keepalive', async (t) => {
  for (const value of ['::', '0:0:0', '1:x', '1:2:3:4']) {
    const [first] = await messages(t, conf(server('').replace(';', ` so_keepalive=${value};`)));
    t.equal(first, `[emerg] invalid so_keepalive value: "${value}" in FILE:1`);
  }
  for (const value of ['off', '30m::10', '0:0:1']) {
    t.strictSame(await messages(t, conf(server('').replace(';', ` so_keepalive=${value};`))), [OK], value);
  }
});
