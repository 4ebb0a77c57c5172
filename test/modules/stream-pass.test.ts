import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as secure } from 'node:tls';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { httpGet, RawClient } from '../support/raw-client.js';
import { startServer } from '../support/server.js';

t.test('pass', async (t) => {
  const { rsa } = certs();
  const s = await startServer(t, {
    conf: `events {}
    stream {
      ssl_certificate ${rsa.cert};
      ssl_certificate_key ${rsa.key};
      server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% ssl; pass 127.0.0.1:%%PORT_8%%; }
      server { listen 127.0.0.1:%%PORT_2%%; ssl_preread on; pass 127.0.0.1:%%PORT_9%%; }
      server { listen 127.0.0.1:%%PORT_3%% proxy_protocol; set_real_ip_from 127.0.0.0/8; pass 127.0.0.1:%%PORT_7%%; }
      server { listen 127.0.0.1:%%PORT_6%% proxy_protocol; set_real_ip_from 127.0.0.0/8; pass 127.0.0.1:%%PORT_9%%; }
      server { listen 127.0.0.1:%%PORT_7%%; return "$remote_addr $server_port$ssl_protocol"; }
      server { listen 127.0.0.1:%%PORT_4%%; pass 127.0.0.1:%%PORT_4%%; }
      server { listen 127.0.0.1:%%PORT_5%%; set $t 127.0.0.1:1; pass $t; }
    }
    http {
      access_log off;
      ssl_certificate ${rsa.cert};
      ssl_certificate_key ${rsa.key};
      server { listen 127.0.0.1:%%PORT_8%%; location / { return 200 "$scheme $https $ssl_protocol $ssl_server_name $remote_addr $server_port"; } }
      server {
        listen *:%%PORT_9%% ssl;
        location / { return 200 "$scheme $ssl_protocol"; }
        location /ends { return 200 "$scheme $remote_addr $remote_port $proxy_protocol_addr"; }
      }
    }`,
  });
  t.equal((await httpGet(s.port(0), '/')).text, `http    127.0.0.1 ${s.port(8)}`, 'to a listener of http');
  const secured = await RawClient.connect(s.port(1), { tls: {} });
  secured.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  t.equal((await secured.response()).text, `https on TLSv1.3  127.0.0.1 ${s.port(8)}`, 'and what is known of the TLS that was taken off');
  secured.destroy();
  const through = await RawClient.connect(s.port(2), { tls: {} });
  through.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  t.equal((await through.response()).text, 'https TLSv1.3', 'what was looked at is handed over');
  through.destroy();
  const real = await RawClient.connect(s.port(3));
  real.send('PROXY TCP4 192.0.2.1 192.0.2.2 123 456\r\n');
  t.equal(await real.rest(), `192.0.2.1 ${s.port(7)}`, 'to a listener of stream');
  const behind = connect(s.port(6), '127.0.0.1');
  behind.write('PROXY TCP4 192.0.2.1 192.0.2.2 123 456\r\n');
  const both = secure({ socket: behind, rejectUnauthorized: false });
  both.write('GET /ends HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  t.match(
    await text(both),
    /\r\n\r\nhttps 192\.0\.2\.1 123 192\.0\.2\.1$/,
    'with its addresses and its PROXY header to a listener with ssl',
  );
  await (await RawClient.connect(s.port(4))).closed();
  await s.logged('stream pass cycle while passing connection to port');
  await (await RawClient.connect(s.port(5))).closed();
  await s.logged('port not found for "127.0.0.1:1"');
});

t.test('a connection that its target does not take is counted no longer', { skip: againstNginx && 'it takes it' }, async (t) => {
  const { rsa } = certs();
  const s = await startServer(t, {
    conf: `events {}
    stream {
      ssl_certificate ${rsa.cert};
      ssl_certificate_key ${rsa.key};
      server { listen 127.0.0.1:%%PORT_0%% ssl; pass 127.0.0.1:%%PORT_8%%; }
    }
    http {
      access_log off;
      ssl_certificate ${rsa.cert};
      ssl_certificate_key ${rsa.key};
      server { listen 127.0.0.1:%%PORT_8%% ssl; }
      server { listen 127.0.0.1:%%PORT_9%%; location / { stub_status; } }
    }`,
  });
  for (let i = 0; i < 3; i++) {
    await (await RawClient.connect(s.port(0), { tls: {} })).closed();
  }
  await s.logged('cannot pass such a connection to a listener with ssl or proxy_protocol');
  t.match((await httpGet(s.port(9), '/')).text, /^Active connections: 1 \n/);
});

t.test('a limit of connections in the server that passes', { skip: againstNginx && 'it counts requests of http, too' }, async (t) => {
  const s = await startServer(t, {
    conf: `worker_processes 1; events {}
    stream {
      limit_conn_zone $server_port zone=one:64k;
      server { listen 127.0.0.1:%%PORT_0%%; limit_conn one 1; pass 127.0.0.1:%%PORT_2%%; }
      server { listen 127.0.0.1:%%PORT_1%%; limit_conn one 1; pass 127.0.0.1:%%PORT_3%%; }
      server { listen 127.0.0.1:%%PORT_2%%; ssl_preread on; return x; }
    }
    http { access_log off; server { listen 127.0.0.1:%%PORT_3%%; location / { return 200 ok; } } }`,
  });
  for (let round = 0; round < 2; round++) {
    const kept = await RawClient.connect(s.port(0));
    await s.logged(/client .* connected to /);
    await (await RawClient.connect(s.port(0))).closed();
    kept.send('not TLS');
    t.equal(await kept.rest(), 'x', `round ${round}: it counts until the end of the session`);
    t.equal((await httpGet(s.port(1), '/')).text, 'ok', 'in http, until it is there');
  }
  t.equal(s.log().match(/limiting connections by zone "one"/g)?.length, 2);
});

t.test('what is refused', async (t) => {
  const inServer = (text: string): string => `events {}\nstream { server { listen 1234; ${text} } }\n`;
  t.match(await configMessage(t, inServer('pass example.com:80;')), /^"pass" directive has no addresses in /);
  t.match(await configMessage(t, inServer('pass 127.0.0.1;')), /^"pass" directive has no port in /);
  t.match(await configMessage(t, inServer('pass 127.0.0.1:99999;')), /^invalid port in "127\.0\.0\.1:99999" of the "pass" directive in /);
});
