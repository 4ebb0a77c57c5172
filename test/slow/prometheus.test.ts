import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { reservePort } from '../support/ports.js';
import { makePrefix } from '../support/prefix.js';
import { httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const folder = new URL('../../packaging/monitoring/', import.meta.url).pathname;
const missing = spawnSync('prometheus', ['--version']).error !== undefined && 'there is no prometheus (Debian: prometheus)';

t.test(
  'a Prometheus scrapes sluice, and takes the rules and queries that are shipped',
  { skip: (againstNginx && 'ours') || missing },
  async (t) => {
    const s = await startServer(t, {
      conf: `${serverConf(
        'location = /status { sluice_status; } location / { proxy_pass http://app; }',
        'upstream app { zone app 64k; server 127.0.0.1:%%PORT_1%%; } keyval_zone zone=one:32k;',
      )}
      stream { upstream tcp { server 127.0.0.1:%%PORT_1%%; } server { listen 127.0.0.1:%%PORT_2%%; proxy_pass tcp; } }`,
    });
    await httpGet(s, '/');
    const { dir, write } = await makePrefix(t, { 'sluice-alerts.yml': readFileSync(`${folder}sluice-alerts.yml`) });
    await write(
      'prometheus.yml',
      readFileSync(`${folder}prometheus.yml`, 'utf8')
        .replaceAll('8081', String(s.port(0)))
        .replace('15s', '1s'),
    );
    const { port, release } = await reservePort();
    t.teardown(release);
    const child = spawn(
      'prometheus',
      [
        `--config.file=${dir}/prometheus.yml`,
        `--storage.tsdb.path=${dir}/data`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=warn',
      ],
      { stdio: 'ignore' },
    );
    t.teardown(() => child.kill('SIGKILL'));
    // biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes
    const ask = async (path: string): Promise<any> => JSON.parse((await httpGet(port!, `/api/v1/${path}`)).text).data;
    const query = async (text: string): Promise<string | undefined> =>
      (await ask(`query?query=${encodeURIComponent(text)}`)).result[0]?.value[1];
    await waitFor(async () => (await query('up{job="sluice"}').catch(() => undefined)) === '1');
    t.equal(await query('sluice_upstream_peer_failures_total{upstream="app"}'), '1');
    t.equal(await query('sluice_http_responses_total{server="localhost",code="502"}'), '1');
    t.ok(Number(await query('histogram_quantile(0.5, sluice_http_request_duration_seconds_bucket)')) > 0);
    const { groups } = await ask('rules');
    t.ok(groups[0].rules.length >= 9, 'the rules are loaded');
    const { panels } = JSON.parse(readFileSync(`${folder}sluice-grafana.json`, 'utf8'));
    const queries: string[] = panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr));
    t.ok(queries.length > 20);
    const metrics = (await httpGet(s, '/status?format=prometheus')).text;
    for (const text of queries) {
      const filled = text.replaceAll('$__rate_interval', '1m').replaceAll(/\$(instance|server)/g, '.*');
      const { resultType } = (await ask(`query?query=${encodeURIComponent(filled)}`)) ?? {};
      t.equal(resultType, 'vector', filled);
      for (const [name] of filled.matchAll(/sluice_\w+/g)) {
        // What this configuration lacks has no series here.
        if (!/cache|limit|tls|certificate|zone_size|zone_used/.test(name)) {
          t.match(metrics, name);
        }
      }
    }
  },
);
