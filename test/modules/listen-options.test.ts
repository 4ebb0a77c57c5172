import t from 'tap';
import { certs } from '../support/certs.js';
import { Http2Client, request } from '../support/http2-client.js';
import { httpGet, RawClient } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, serverConf, startServer, streamConf } from '../support/server.js';
import { needsNative, socketOptions } from '../support/socket-options.js';
import { waitFor } from '../support/wait.js';

// Options of listening sockets, and what the kernel knows of connections.

/** What the kernel makes of a size of buffer. */
const doubled = (size: number): number => 2 * size;
const ALL = 'rcvbuf=16k sndbuf=24k fastopen=7 deferred so_keepalive=31:11:4';
const NAMES = ['SO_RCVBUF', 'SO_SNDBUF', 'TCP_FASTOPEN', 'TCP_KEEPIDLE', 'TCP_KEEPINTVL', 'TCP_KEEPCNT'] as const;

t.test('options of a listening socket, and their change', needsNative, async (t) => {
  const conf = (options: string): string =>
    httpConf(`
      server { listen 127.0.0.1:%%PORT_0%% ${options}; location / { return 200 ok; } }
      server { listen 127.0.0.1:%%PORT_1%%; location / { return 200 ok; } }`);
  const s = await startServer(t, { conf: conf(ALL) });
  const read = (port: number): number[] => socketOptions(s.pid, s.port(port), NAMES);
  const deferred = (): number => socketOptions(s.pid, s.port(0), ['TCP_DEFER_ACCEPT'])[0]!;
  t.strictSame(read(0), [doubled(16384), doubled(24576), 7, 31, 11, 4]);
  t.equal(deferred(), 1);
  const other = read(1);
  t.not(other[0], doubled(16384));
  t.equal((await httpGet(s.port(0), '/')).text, 'ok');

  await s.reload(conf('rcvbuf=32k so_keepalive=::5 fastopen=3 deferred'));
  t.strictSame(read(0), [doubled(32768), doubled(24576), 3, 31, 11, 5], 'what is named changes, the rest stays');
  t.equal(deferred(), 1);
  await s.reload(conf(''));
  t.strictSame(read(0), [doubled(32768), doubled(24576), 3, 31, 11, 5]);
  t.equal(deferred(), 0, 'a socket does not stay deferred');
  t.strictSame(read(1), other);
  await s.reload(conf('deferred'));
  t.equal(deferred(), 1);
  t.equal((await httpGet(s.port(0), '/')).text, 'ok');
});

t.test('connections inherit them', needsNative, async (t) => {
  const s = await startServer(t, { conf: serverConf('location / { return 200 ok; }').replace('%%PORT_0%%;', `%%PORT_0%% ${ALL};`) });
  const client = await RawClient.connect(s);
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  t.equal((await client.response()).text, 'ok');
  const names = ['SO_KEEPALIVE', 'TCP_KEEPIDLE', 'TCP_KEEPINTVL', 'TCP_KEEPCNT', 'SO_SNDBUF'] as const;
  const worker = s.workers()[0]!;
  t.strictSame(socketOptions(worker, s.port(0), names, 'connection'), [1, 31, 11, 4, doubled(24576)]);
  client.destroy();
});

t.test('stream: TCP and UDP', needsNative, async (t) => {
  const s = await startServer(t, {
    conf: streamConf(`
      server { listen 127.0.0.1:%%PORT_0%% ${ALL}; return ok; }
      server { listen 127.0.0.1:%%PORT_1%% udp rcvbuf=20k sndbuf=12k; return ok; }`),
  });
  t.strictSame(socketOptions(s.pid, s.port(0), NAMES), [doubled(16384), doubled(24576), 7, 31, 11, 4]);
  t.strictSame(socketOptions(s.pid, s.port(1), ['SO_RCVBUF', 'SO_SNDBUF'], 'datagrams'), [doubled(20480), doubled(12288)]);
});

t.test('what the system refuses is an alert', needsNative, async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%% so_keepalive=40000s; location / { return 200 ok; } }
      server { listen unix:%%DIR%%/s deferred; }`),
    expectAlerts: /setsockopt\(/,
  });
  t.match(s.log(), `setsockopt(TCP_KEEPIDLE, 40000) 127.0.0.1:${s.port(0)} failed, ignored (22: Invalid argument)`);
  t.match(s.log(), `setsockopt(TCP_DEFER_ACCEPT, 1) for unix:${s.dir}/s failed, ignored (95: `);
  t.equal((await httpGet(s, '/')).text, 'ok');
});

t.test('what the kernel knows of a connection', needsNative, async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      log_format info '$tcpinfo_rtt $tcpinfo_rttvar $tcpinfo_snd_cwnd $tcpinfo_rcv_space';
      access_log %%DIR%%/info.log info;
      ssl_certificate ${certs().rsa.cert};
      ssl_certificate_key ${certs().rsa.key};
      server {
        listen 127.0.0.1:%%PORT_0%%;
        listen 127.0.0.1:%%PORT_1%% ssl;
        listen 127.0.0.1:%%PORT_2%% proxy_protocol;
        listen unix:%%DIR%%/s;
        http2 on;
        location / { return 200 "$tcpinfo_rtt $tcpinfo_rttvar $tcpinfo_snd_cwnd $tcpinfo_rcv_space."; }
      }`),
  });
  const numbers = /^[1-9]\d* [1-9]\d* [1-9]\d* [1-9]\d*\.$/;
  t.match((await httpGet(s, '/')).text, numbers);
  t.match((await httpGet(s.port(1), '/', {}, { tls: {} })).text, numbers, 'TLS');
  const client = await RawClient.connect(s.port(2));
  client.send('PROXY TCP4 1.1.1.1 2.2.2.2 3 4\r\nGET / HTTP/1.0\r\n\r\n');
  t.match((await client.response()).text, numbers, 'behind a header of the PROXY protocol');
  client.destroy();
  const streams = await Http2Client.connect(t, s.port(1), { tls: true });
  t.match((await streams.request(1, request('GET', '/')).response(1)).body, numbers, 'HTTP/2');
  t.equal((await httpGet(`${s.dir}/s`, '/')).text, '   .', 'not of TCP');
  await waitFor(() => s.read('info.log').includes('- - - -'));
  t.match(s.read('info.log'), /^(\d+ \d+ \d+ \d+\n){4}- - - -\n$/);
});

t.test('multipath is checked, and says that nothing comes of it', async (t) => {
  const text = 'the "multipath" parameter has no effect: connections use one path, as TCP does in ';
  const http = await testConfig(t, serverConf('').replace('%%PORT_0%%', '%%PORT_0%% multipath'));
  t.match(http, { code: 0, stderr: `[warn] ${text}` });
  t.match(await testConfig(t, streamConf('server { listen %%PORT_0%% multipath; return x; }')), { code: 0, stderr: `[warn] ${text}` });
});
