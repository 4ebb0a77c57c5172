import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { http, httpGet, RawClient } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { startTcpBackend } from '../support/tcp-backend.js';
import { waitFor } from '../support/wait.js';

// What operators point at the logs and the status page of nginx. Against a real nginx (SLUICE_TEST_BINARY) the numbers have to be the same.

const lacks = (command: string): string | false => spawnSync(command, ['--version']).error !== undefined && `no ${command}`;
/** What an exporter says, once it listens. */
const metricsAt = (socket: string): Promise<string> =>
  waitFor(async () => {
    const answer = await http(socket, 'GET /metrics HTTP/1.0\r\n\r\n').catch(() => undefined);
    return answer !== undefined && String(answer.body);
  });
const FILTERS = '/etc/fail2ban/filter.d';
const AWSTATS = '/usr/lib/cgi-bin/awstats.pl';

t.test('readers of logs and status', async (t) => {
  const server = await startServer(t, {
    conf: `events {} http { limit_req_zone $binary_remote_addr zone=z:1m rate=1r/m; access_log %%DIR%%/access.log; error_log %%DIR%%/errors.log info;
      server { listen 127.0.0.1:%%PORT_0%%; server_name localhost; root %%DIR%%/html;
        location /page { return 200 "hello"; }
        location /private { auth_basic closed; auth_basic_user_file %%DIR%%/users; }
        location /limited { limit_req zone=z; try_files /index.html =404; }
        location /denied { deny all; }
        location = /status { access_log off; stub_status; } } }`,
    files: { users: 'ann:{PLAIN}secret\n', 'html/index.html': 'x' },
  });
  const basic = (pair: string) => ({ Authorization: `Basic ${Buffer.from(pair).toString('base64')}` });
  for (let i = 0; i < 5; i++) {
    await httpGet(server, `/page/${i}`, { Referer: 'http://example.org/', 'User-Agent': 'Mozilla/5.0 (X11) Firefox/120.0' });
  }
  await httpGet(server, '/private', basic('bob:x'));
  await httpGet(server, '/private', basic('ann:wrong'));
  for (let i = 0; i < 3; i++) {
    await httpGet(server, '/limited');
  }
  await httpGet(server, '/denied');
  await httpGet(server, '/phpmyadmin/scripts/setup.php');
  await http(server, 'GET / HTTP/1.1\r\n\r\n');
  await http(server, '\x16\x03\x01\x02\x00\x01\r\n\r\n');
  await waitFor(() => server.read('access.log').split('\n').length > 14);

  t.test('fail2ban', { skip: lacks('fail2ban-regex') || (!existsSync(FILTERS) && 'no filters') }, async (t) => {
    const matched = (log: string, filter: string): string | undefined => {
      const run = spawnSync('fail2ban-regex', [`${server.dir}/${log}`, `${FILTERS}/${filter}.conf`], { encoding: 'utf8' });
      return /^Lines: .*matched/m.exec(run.stdout)?.[0].replace(/^Lines: \d+ lines, /, '');
    };
    t.match(matched('errors.log', 'nginx-http-auth'), /^0 ignored, 2 matched/);
    t.match(matched('errors.log', 'nginx-limit-req'), /^0 ignored, 2 matched/);
    t.match(matched('access.log', 'nginx-bad-request'), /^0 ignored, 2 matched/);
    t.match(matched('access.log', 'nginx-botsearch'), /^0 ignored, 1 matched/);
  });

  t.test('GoAccess', { skip: lacks('goaccess') }, async (t) => {
    const run = spawnSync('goaccess', [`${server.dir}/access.log`, '--log-format=COMBINED', '-o', 'json', '--no-global-config'], {
      encoding: 'utf8',
    });
    const { general } = JSON.parse(run.stdout);
    t.match(general, { total_requests: 14, failed_requests: general.failed_requests });
    t.ok(general.valid_requests >= 12, JSON.stringify(general));
  });

  t.test('AWStats', { skip: !existsSync(AWSTATS) && 'no awstats.pl' }, async (t) => {
    await server.write('awstats.x.conf', 'LogFile="%%DIR%%/access.log"\nLogFormat=1\nSiteDomain="x"\nDirData="%%DIR%%"\nDNSLookup=0\n');
    const run = spawnSync('perl', [AWSTATS, '-config=x', `-configdir=${server.dir}`, '-update'], {
      encoding: 'utf8',
      env: { ...process.env, AWSTATS_ENABLE_CONFIG_DIR: '1' },
    });
    t.match(run.stdout, /Found 0 dropped records/);
    t.match(run.stdout, /Found [01] corrupted records/, run.stdout + run.stderr);
  });

  t.test('prometheus-nginx-exporter', { skip: lacks('prometheus-nginx-exporter') }, async (t) => {
    const exporter = spawn(
      'prometheus-nginx-exporter',
      ['-web.listen-address', `unix:${server.dir}/exporter`, '-nginx.scrape-uri', `http://127.0.0.1:${server.port(0)}/status`],
      { stdio: 'ignore' },
    );
    t.teardown(() => exporter.kill());
    const text = await metricsAt(`${server.dir}/exporter`);
    t.match(text, /^nginx_up 1$/m);
    t.match(text, /^nginx_connections_accepted \d+$/m);
    t.match(text, /^nginx_http_requests_total (1[4-9]|2\d)$/m);
  });

  const noPlus = againstNginx ? 'nginx sells it' : lacks('prometheus-nginx-exporter');
  t.test('prometheus-nginx-exporter, as for NGINX Plus', { skip: noPlus }, async (t) => {
    const backend = await startTcpBackend(t, (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    const plus = await startServer(t, {
      conf: `${serverConf(
        'status_zone front; location /api { api; } location / { status_zone pages; proxy_pass http://app; }',
        `upstream app { zone app 64k; server 127.0.0.1:${backend.port}; }`,
      )}
      stream {
        upstream tcp { zone tcp 64k; server 127.0.0.1:${backend.port}; }
        server { listen 127.0.0.1:%%PORT_1%%; status_zone tcpfront; proxy_pass tcp; }
      }`,
    });
    t.equal((await httpGet(plus, '/')).text, 'ok');
    await RawClient.connect(plus.port(1)).then((client) => client.send('hello').rest());
    const uri = `http://127.0.0.1:${plus.port(0)}/api`;
    const exporter = spawn(
      'prometheus-nginx-exporter',
      ['-nginx.plus', '-web.listen-address', `unix:${plus.dir}/exporter`, '-nginx.scrape-uri', uri],
      { stdio: 'ignore' },
    );
    t.teardown(() => exporter.kill());
    const text = await metricsAt(`${plus.dir}/exporter`);
    for (const line of [
      'nginxplus_up 1',
      'nginxplus_location_zone_requests{location_zone="pages"} 1',
      `nginxplus_upstream_server_requests{server="127.0.0.1:${backend.port}",upstream="app"} 1`,
      `nginxplus_upstream_server_state{server="127.0.0.1:${backend.port}",upstream="app"} 1`,
      'nginxplus_stream_server_zone_connections{server_zone="tcpfront"} 1',
      'nginxplus_stream_server_zone_sessions{code="2xx",server_zone="tcpfront"} 1',
      `nginxplus_stream_upstream_server_connections{server="127.0.0.1:${backend.port}",upstream="tcp"} 1`,
    ]) {
      t.ok(text.includes(`\n${line}\n`), line);
    }
  });
});
