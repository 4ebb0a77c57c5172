import { spawnSync } from 'node:child_process';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { settled, waitFor } from '../support/wait.js';

/** Checks text in the format of Prometheus as strictly as its own parser; returns the values by name and labels. */
function parseMetrics(text: string): Map<string, number> {
  const values = new Map<string, number>();
  const types = new Map<string, string>();
  let help: string | undefined;
  if (!text.endsWith('\n')) {
    throw new Error('the last line does not end');
  }
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (comment !== null) {
      const [, kind, name, rest] = comment as unknown as [string, string, string, string];
      if (kind === 'HELP') {
        help = name;
      } else if (name !== help || types.has(name) || !['counter', 'gauge', 'histogram'].includes(rest)) {
        throw new Error(`out of place: ${line}`);
      } else {
        types.set(name, rest);
      }
      if (kind === 'TYPE' && (rest === 'counter') !== name.endsWith('_total')) {
        throw new Error(`a counter's name ends in _total: ${line}`);
      }
      continue;
    }
    const sample =
      /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*\})? (\d+(?:\.\d+)?(?:e-\d+)?)$/.exec(line);
    if (sample === null) {
      throw new Error(`not a sample: ${line}`);
    }
    const key = `${sample[1]}${sample[2] ?? ''}`;
    const family = types.get(help!) === 'histogram' ? sample[1]!.replace(/_(bucket|sum|count)$/, '') : sample[1]!;
    if (family !== help || !types.has(family) || values.has(key)) {
      throw new Error(`out of place: ${line}`);
    }
    values.set(key, Number(sample[3]));
  }
  return values;
}

t.test('sluice_status', { skip: againstNginx && 'ours' }, async (t) => {
  const s = await startServer(t, {
    conf: `worker_processes 2;\n${serverConf(
      `location = /status { sluice_status; }
      location = /limited { limit_req zone=one; stub_status; }
      location = /missing { return 404; }
      location = /moved { return 301 /x; }`,
      `limit_req_zone $arg_key zone=one:1m rate=1r/m;
      limit_conn_zone $arg_key "zone=a \\"b\\" \\\\c:32k";`,
    )}`,
  });
  for (const path of ['/limited?key=a', '/limited?key=a', '/limited?key=b', '/missing', '/moved']) {
    await httpGet(s, path);
  }
  // The worker that answers knows of the other's numbers once that has published them.
  let asked = 0;
  const ask = (query = '') => {
    asked++;
    return httpGet(s, `/status${query}`);
  };
  const page = await settled(ask, ({ text }) => JSON.parse(text).requests.total === 5 + asked);
  t.strictSame([page.status, page.header('Content-Type'), page.header('Cache-Control')], [200, 'application/json', 'no-store']);
  const report = JSON.parse(page.text);
  t.match(report, {
    version: /^\d+\.\d+\.\d+/,
    connections: { accepted: 5 + asked, handled: 5 + asked, dropped: 0, active: 1, reading: 0, writing: 1, waiting: 0 },
    requests: { total: 5 + asked, responses: { '1xx': 0, '2xx': 1 + asked, '3xx': 1, '4xx': 1, '5xx': 1 }, abandoned: 0 },
    zones: {
      one: { kind: 'limit_req', size: 1048576, entries: 2, used: 256, evictions: 0, rejections: 1 },
      'a "b" \\c': { kind: 'limit_conn', size: 32768, entries: 0, used: 0, evictions: 0, rejections: 0 },
    },
  });
  t.equal(
    report.workers.reduce((sum: number, worker: { requests: { total: number } }) => sum + worker.requests.total, 0),
    5 + asked,
  );

  const metrics = await settled(
    () => ask('?format=prometheus'),
    ({ text }) => parseMetrics(text).get('sluice_responses_total{class="2xx"}') === 1 + asked,
  );
  t.equal(metrics.header('Content-Type'), 'text/plain; version=0.0.4; charset=utf-8');
  const values = parseMetrics(metrics.text);
  t.equal(values.get('sluice_connections_accepted_total'), 5 + asked);
  t.equal(values.get('sluice_connections{state="writing"}'), 1);
  t.equal(values.get('sluice_http_request_duration_seconds_bucket{server="localhost",le="+Inf"}'), 4 + asked);
  t.equal(values.get('sluice_http_responses_total{server="localhost",code="404"}'), 1);
  t.equal(values.get('sluice_responses_total{class="2xx"}'), 1 + asked);
  t.equal(values.get('sluice_zone_rejections_total{zone="one",kind="limit_req"}'), 1);
  t.equal(values.get('sluice_zone_size_bytes{zone="a \\"b\\" \\\\c",kind="limit_conn"}'), 32768);
  const promtool = spawnSync('promtool', ['check', 'metrics'], { input: metrics.text, encoding: 'utf8' });
  if (promtool.error === undefined) {
    t.strictSame([promtool.status, promtool.stderr], [0, '']);
  }

  const scraper = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1';
  const open = await httpGet(s, '/status', { Accept: scraper });
  t.match(open.header('Content-Type'), /^application\/openmetrics-text; version=1\.0\.0/);
  t.match(open.text, /\n# TYPE sluice_requests counter\nsluice_requests_total \d+\n[\s\S]*\n# EOF\n$/);
  t.match((await httpGet(s, '/status', { Accept: 'text/plain;version=0.0.4,*/*;q=0.1' })).header('Content-Type'), /^text\/plain/);
  t.equal((await httpGet(s, '/status?format=json', { Accept: 'text/plain' })).header('Content-Type'), 'application/json');
  t.equal((await httpGet(s, '/status', { Accept: 'text/html,*/*' })).header('Content-Type'), 'application/json');
  t.equal((await http(s, requestText('PUT', '/status', { Connection: 'close' }, 'x'))).status, 405);
  // A worker is there from its first numbers on.
  const both = await waitFor(async () => {
    const { workers } = JSON.parse((await httpGet(s, '/status')).text);
    return workers.length === 2 && workers;
  });
  t.strictSame(both.map(({ pid }: { pid: number }) => pid).sort(), s.workers().sort());
});
