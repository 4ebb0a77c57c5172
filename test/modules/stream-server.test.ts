import { readFileSync } from 'node:fs';
import t from 'tap';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { RawClient } from '../support/raw-client.js';
import { startServer, streamConf } from '../support/server.js';

const HEADER = 'PROXY TCP4 192.0.2.1 192.0.2.2 123 456\r\n';

t.test('listens of several kinds, and what is known of a session', async (t) => {
  const s = await startServer(t, {
    conf: streamConf(
      `
      server { listen 127.0.0.1:%%PORT_0%%; listen unix:%%DIR%%/s.sock; server_name first second; return "$remote_addr $server_port $server_name $protocol"; }
      server { listen *:%%PORT_1%%; return any; }
      server { listen 127.0.0.2:%%PORT_1%%; return $server_addr; }`,
      ' $bytes_sent $bytes_received $session_time',
    ),
  });
  const rest = async (target: number | string, host?: string): Promise<string> =>
    (await RawClient.connect(target, host === undefined ? {} : { host })).rest();
  t.equal(await rest(s.port(0)), `127.0.0.1 ${s.port(0)} first TCP`);
  t.equal(await rest(`${s.dir}/s.sock`), 'unix:  first TCP');
  t.equal(await rest(s.port(1)), 'any');
  t.equal(await rest(s.port(1), '127.0.0.2'), '127.0.0.2', 'one of several addresses on a port');
  t.match(await s.accessLogged(/^200 3 0 0\.\d{3}$/m), /^200 \d+ 0 /);
  t.match(s.log(), /\*\d+ client 127\.0\.0\.1:\d+ connected to 127\.0\.0\.1:\d+$/m);
});

t.test('the header of the PROXY protocol', async (t) => {
  const s = await startServer(t, {
    conf: streamConf(
      `
      proxy_protocol_timeout 1s;
      server { listen 127.0.0.1:%%PORT_0%% proxy_protocol; return "$proxy_protocol_addr $proxy_protocol_server_port"; }
      server { listen 127.0.0.1:%%PORT_1%% proxy_protocol; error_log %%DIR%%/reset.log info; return ''; }`,
      ' $server_port',
    ),
  });
  const slow = await RawClient.connect(s);
  await slow.sendSlowly([...HEADER], 1);
  t.equal(await slow.rest(), '192.0.2.1 456', 'byte by byte');

  const wrong = await RawClient.connect(s);
  wrong.send('GET / HTTP/1.1\r\n');
  await wrong.closed();
  await s.logged('broken header: "GET / HTTP/1.1" while reading PROXY protocol, client: 127.0.0.1, server: 127.0.0.1');
  await s.accessLogged(`400 ${s.port(0)}`);

  const broken = await RawClient.connect(s.port(1));
  broken.destroy(true);
  await s.accessLogged(`200 ${s.port(1)}`);
  t.notMatch(readFileSync(`${s.dir}/reset.log`, 'utf8'), 'broken header', 'a connection that breaks is no bad header');

  const leaving = await RawClient.connect(s);
  leaving.send(HEADER.slice(0, 20)).end();
  t.equal(await leaving.rest(), '', 'a client that leaves within the header');

  const silent = await RawClient.connect(s);
  await silent.closed();
  await s.logged('client timed out (110: Connection timed out) while reading PROXY protocol');
});

t.test('servers by the name in a TLS hello', async (t) => {
  const { rsa } = certs();
  const s = await startServer(t, {
    conf: streamConf(`
      ssl_certificate ${rsa.cert};
      ssl_certificate_key ${rsa.key};
      server { listen 127.0.0.1:%%PORT_0%% ssl default_server; server_name default; return "default $ssl_server_name"; }
      server { listen 127.0.0.1:%%PORT_0%% ssl; server_name a.example.com .example.org; return "a $ssl_server_name"; }
      server { listen 127.0.0.1:%%PORT_0%% ssl; server_name "~^(?<part>.+)\\.re$"; return "re $part"; }
      server { listen 127.0.0.1:%%PORT_1%% ssl; ssl_reject_handshake on; }`),
  });
  const ask = async (servername: string): Promise<string> => (await RawClient.connect(s, { tls: { servername } })).rest();
  t.equal(await ask('a.example.com'), 'a a.example.com');
  t.equal(await ask('x.example.org'), 'a x.example.org');
  t.equal(await ask('one.two.re'), 're one.two');
  t.equal(await ask('other'), 'default other');

  await t.rejects(RawClient.connect(s.port(1), { tls: { servername: 'other' } }), { code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME' });
  await s.logged(`handshake rejected while SSL handshaking, client: 127.0.0.1, server: 127.0.0.1:${s.port(1)}`);
  const broken = await RawClient.connect(s.port(1));
  broken.destroy(true);
  await s.logged(/\[info\] .*peer closed connection in SSL handshake \(104: Connection reset by peer\) while SSL handshaking, client: /);
  t.notMatch(s.log(), 'recv() failed', 'one line tells of it');
});

t.test('what is refused', async (t) => {
  const inStream = (text: string): string => `events {}\nstream {\n${text}\n}\n`;
  const cases: readonly (readonly [string, RegExp])[] = [
    ['server { return x; }', /^no "listen" is defined for server in .*:3$/],
    ['server { listen 1234; listen 1234; return x; }', /^a duplicate listen .*1234 in .*:3$/],
    ['server { listen 1234 default; return x; }', /^invalid parameter "default" in /],
    ['server { listen 1234 http2; return x; }', /^invalid parameter "http2" in /],
    ['server { listen 1234 udp ssl; return x; }', /^"listen" directive "ssl" parameter is incompatible with "udp" in /],
    ['server { listen 1234 udp proxy_protocol; }', /^"listen" directive "proxy_protocol" parameter is incompatible with "udp" in /],
    ['server { listen 1234 ssl; return x; }', /^no "ssl_certificate" is defined for the "listen \.\.\. ssl" directive in .*:3$/],
    ['location / { }', /^"location" directive is not allowed here in /],
    ['server { listen 1234; preread_buffer_size x; }', /^"preread_buffer_size" directive invalid value in /],
  ];
  for (const [text, message] of cases) {
    t.match(await configMessage(t, inStream(text)), message, text);
  }
  t.match(await configMessage(t, 'events {}\nstream { }\nstream { }\n'), /^"stream" directive is duplicate in /);
  t.equal(await configMessage(t, inStream('server { listen 127.0.0.1:1234; listen 127.0.0.1:1234 udp; return x; }')), undefined);
});

t.test('a server that does nothing', async (t) => {
  const s = await startServer(t, { conf: streamConf('server { listen 127.0.0.1:%%PORT_0%%; }') });
  await (await RawClient.connect(s)).closed();
  await s.accessLogged(/^500$/m);
});
