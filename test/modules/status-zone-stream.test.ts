import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { DatagramPeer, startDatagramBackend } from '../support/datagrams.js';
import { killWorkers } from '../support/processes.js';
import { exchange, httpGet, RawClient } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import { type Server, startServer } from '../support/server.js';
import { echo, startTcpBackend } from '../support/tcp-backend.js';
import { settled, waitFor } from '../support/wait.js';

const skip = againstNginx && 'nginx sells it';

const conf = (stream: string, workers = 1): string => `worker_processes ${workers};
  events {}
  http { server { listen 127.0.0.1:%%PORT_0%%; access_log off; location = /status { sluice_status; } } }
  stream { ${stream} }`;

/** The metrics whose names begin with `sluice_stream_`, without that, but no histograms. */
async function metrics(s: Server): Promise<Record<string, number>> {
  const { text } = await httpGet(s, '/status?format=prometheus');
  return Object.fromEntries(
    [...text.matchAll(/^sluice_stream_(\w+(?<!_bucket|_sum)\{.*\}) (\S+)$/gm)].map(([, name, n]) => [name, Number(n)]),
  );
}

t.test('sessions are counted by server', { skip }, async (t) => {
  const backend = await startTcpBackend(t, echo);
  const s = await startServer(t, {
    conf: conf(`
      limit_conn_zone $remote_addr zone=clients:1m;
      server { listen 127.0.0.1:%%PORT_1%%; status_zone front; proxy_pass 127.0.0.1:${backend.port}; }
      server { listen 127.0.0.1:%%PORT_2%%; deny all; return x; }
      server { listen 127.0.0.1:%%PORT_3%%; server_name gone.example; proxy_pass 127.0.0.1:%%PORT_9%%; }
      server { listen 127.0.0.1:%%PORT_4%%; ssl_preread on; status_zone early; return x; }
      server { listen 127.0.0.1:%%PORT_5%%; status_zone off; return x; }
      server { listen 127.0.0.1:%%PORT_6%%; status_zone passing; pass 127.0.0.1:%%PORT_7%%; }
      server { listen 127.0.0.1:%%PORT_7%%; status_zone passed; limit_conn clients 5; return four; }
      server { listen 127.0.0.1:%%PORT_8%% proxy_protocol; status_zone header; return x; }`),
  });
  const open = await RawClient.connect(s.port(1));
  open.send('12345');
  t.equal(await open.take(5), '12345');
  let now = await metrics(s);
  t.match(
    now,
    {
      'sessions_processing{server="front"}': 1,
      'sessions_total{server="front",class="2xx"}': 0,
      'received_bytes_total{server="front"}': 5,
      'sent_bytes_total{server="front"}': 5,
    },
    'a session that goes on counts',
  );
  open.send('67');
  await open.take(2);
  open.end();
  await open.rest();
  for (const port of [2, 3, 5, 6]) {
    await exchange(s.port(port), '').catch(() => '');
  }
  await exchange(s.port(8), 'no header').catch(() => '');
  const left = await RawClient.connect(s.port(4));
  left.send('\x16').end();
  await left.rest();
  now = await metrics(s);
  t.match(now, {
    'sessions_processing{server="front"}': 0,
    'sessions_total{server="front",class="2xx"}': 1,
    'received_bytes_total{server="front"}': 7,
    'sent_bytes_total{server="front"}': 7,
    [`sessions_total{server="127.0.0.1:${s.port(2)}",class="4xx"}`]: 1,
    'sessions_total{server="gone.example",class="5xx"}': 1,
    'sessions_total{server="early",class="2xx"}': 0,
    'sessions_discarded_total{server="early"}': 1,
    'sessions_total{server="passing",class="2xx"}': 1,
    'sessions_total{server="passed",class="2xx"}': 1,
    'sent_bytes_total{server="passed"}': 4,
    'sessions_total{server="header",class="4xx"}': 1,
    'limit_conn_sessions_total{zone="clients",result="passed"}': 1,
  });
  t.notOk(
    Object.keys(now).some((name) => name.includes(`:${s.port(5)}"`)),
    'off',
  );
  t.strictSame(
    Object.entries(now).filter(([name, n]) => name.startsWith('sessions_processing') && n !== 0),
    [],
  );
});

t.test('peers, over workers, reloads and killed workers', { skip }, async (t) => {
  const backend = await startTcpBackend(t, echo);
  const text = conf(
    `upstream back { zone z 64k; server 127.0.0.1:${backend.port}; server 127.0.0.1:%%PORT_9%% max_fails=0; }
    server { listen 127.0.0.1:%%PORT_1%%; status_zone all; proxy_pass back; }`,
    2,
  );
  const s = await startServer(t, { conf: text, expectAlerts: /exited on signal 9/ });
  const ask = async (n: number): Promise<void> => {
    await Promise.all(
      Array.from({ length: n }, async () => {
        const client = await RawClient.connect(s.port(1));
        client.send('abc');
        await client.take(3);
        client.end();
        await client.rest();
      }),
    );
  };
  const good = `{upstream="back",peer="127.0.0.1:${backend.port}"}`;
  const bad = `{upstream="back",peer="127.0.0.1:${s.port(9)}"}`;
  await ask(20);
  const done = (n: number) => (now: Record<string, number>) => now['sessions_total{server="all",class="2xx"}'] === n;
  const first = await settled(() => metrics(s), done(20));
  t.match(first, {
    'sessions_total{server="all",class="2xx"}': 20,
    [`upstream_peer_connections_total${good}`]: 20,
    [`upstream_peer_connects_total${good}`]: 20,
    [`upstream_peer_first_bytes_total${good}`]: 20,
    [`upstream_peer_sent_bytes_total${good}`]: 60,
    [`upstream_peer_received_bytes_total${good}`]: 60,
    [`upstream_peer_active${good}`]: 0,
    [`upstream_peer_failures_total${good}`]: 0,
    [`upstream_peer_connects_total${bad}`]: 0,
    [`upstream_peer_sent_bytes_total${bad}`]: 0,
  });
  t.ok(first[`upstream_peer_failures_total${bad}`]! > 0);
  t.equal(first[`upstream_peer_failures_total${bad}`], first[`upstream_peer_connections_total${bad}`]);
  await s.reload();
  const kept = await RawClient.connect(s.port(1));
  kept.send('x');
  await kept.take(1);
  await waitFor(() => s.workers().length === 2, { what: 'the end of the old workers' });
  await killWorkers([s.workers()[0]!]);
  await waitFor(() => s.workers().length === 2);
  await ask(10);
  const last = await settled(() => metrics(s), done(30));
  t.equal(last['sessions_total{server="all",class="2xx"}'], 30);
  t.equal(last[`upstream_peer_active${good}`], last['sessions_processing{server="all"}'], 'what a killed worker had open is over');
  kept.destroy();
  const { stdout } = await runCli(['status', '-p', `${s.dir}/`, '-c', 'sluice.conf', '-g', `pid ${s.dir}/server.pid;`]);
  t.match(stdout, /^stream server +sess\/s +sessions .*\nall +- +3\d +3\d /m);
  t.match(stdout, /^stream peer .*\nback 127\.0\.0\.1:\d+ +- +\d+ +\d+ B/m);
});

t.test('datagrams and TLS', { skip }, async (t) => {
  const { rsa } = certs();
  const backend = await startDatagramBackend(t, (_bytes, answer) => answer('four'));
  const s = await startServer(t, {
    conf: conf(`
      server { listen 127.0.0.1:%%PORT_1%% udp; proxy_pass 127.0.0.1:${backend.port}; proxy_responses 1; }
      server { listen 127.0.0.1:%%PORT_2%% ssl; status_zone tls; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; return x; }`),
  });
  const client = await DatagramPeer.connect(t, s.port(1));
  t.equal(await client.ask('x'), 'four');
  t.equal(await exchange(s.port(2), '', { tls: { rejectUnauthorized: false } }), 'x');
  const udp = `{server="127.0.0.1:${s.port(1)} udp"`;
  t.match(await metrics(s), {
    [`received_bytes_total${udp}}`]: 1,
    [`sent_bytes_total${udp}}`]: 4,
    'sessions_total{server="tls",class="2xx"}': 1,
  });
  t.match((await httpGet(s, '/status?format=prometheus')).text, /^sluice_tls_handshakes_total\{result="ok"\} 1$/m);
});

t.test('status_zones off', { skip }, async (t) => {
  const s = await startServer(t, {
    conf: conf(`status_zones off;
      server { listen 127.0.0.1:%%PORT_1%%; return x; }
      server { listen 127.0.0.1:%%PORT_2%%; status_zone one; return x; }`),
  });
  for (const port of [1, 2]) {
    t.equal(await exchange(s.port(port), ''), 'x');
  }
  const now = await metrics(s);
  t.equal(now['sessions_total{server="one",class="2xx"}'], 1);
  t.strictSame(
    Object.keys(now).filter((name) => !name.includes('"one"')),
    [],
  );
  const message = await configMessage(t, 'events {} stream { server { listen 1; status_zone a; status_zone b; return x; } }');
  t.match(message, /"status_zone" directive is duplicate/);
});
