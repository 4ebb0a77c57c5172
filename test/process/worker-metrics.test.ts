import { readFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { startOrigin } from '../support/origin.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('nginx has no such metrics');
}

t.test('metrics of lost log lines, and of how late the event loop is', async (t) => {
  const server = await startServer(t, {
    conf: httpConf(
      `js_import busy from busy.js;
       server {
         listen 127.0.0.1:%%PORT_0%%;
         access_log off;
         location /lost { access_log /dev/full; return 204; }
         location /busy { js_content busy.busy; }
         location = /metrics { sluice_status; }
       }`,
    ),
    expectAlerts: /write\(\) to "\/dev\/full" failed \(28: No space left on device\)/,
    files: { 'busy.js': 'export default { busy(r) { for (const end = Date.now() + 500; Date.now() < end; ); r.return(204); } };' },
  });
  const metric = async (pattern: string): Promise<number> => {
    const { text } = await httpGet(server, '/metrics?format=prometheus');
    return Number(new RegExp(`^sluice_${pattern} (.*)$`, 'm').exec(text)?.[1]);
  };
  t.equal(await metric('log_lines_lost_total'), 0);
  for (let i = 0; i < 3; i++) {
    t.equal((await httpGet(server, '/lost')).status, 204);
  }
  t.equal(await metric('log_lines_lost_total'), 3);
  t.equal(JSON.parse((await httpGet(server, '/metrics')).text).log_lines_lost, 3);

  t.equal((await httpGet(server, '/busy')).status, 204);
  const delay = 'worker_event_loop_delay_max_seconds\\{pid="\\d+"\\}';
  await waitFor(async () => (await metric(delay)) > 0.2);
  t.type(JSON.parse((await httpGet(server, '/metrics')).text).workers[0].event_loop_delay.max, 'number');
});

t.test('lines that the master has lost are counted, too', async (t) => {
  const conf = (more: string) =>
    httpConf(`server { listen 127.0.0.1:%%PORT_0%%; location = /metrics { sluice_status; } ${more} }`, 'error_log /dev/full emerg;');
  const server = await startServer(t, { conf: conf(''), expectAlerts: /No space left on device/ });
  const lost = async (): Promise<number> => JSON.parse((await httpGet(server, '/metrics')).text).log_lines_lost;
  t.equal(await lost(), 0);
  for (const lines of [1, 2]) {
    await server.configure(conf('no_such_directive;'));
    server.signal('HUP');
    await waitFor(async () => (await lost()) === lines);
  }
});

t.test('the guide names every metric in full', async (t) => {
  const origin = await startOrigin(t, () => ({ body: 'x' }));
  const server = await startServer(t, {
    conf: `events {} http {
      access_log off;
      proxy_cache_path cache keys_zone=one:1m;
      limit_req_zone $uri zone=req:1m rate=100r/s;
      limit_conn_zone $uri zone=conn:1m;
      upstream app { zone app 64k; server 127.0.0.1:${origin.port}; }
      server {
        listen 127.0.0.1:%%PORT_0%%; resolver 127.0.0.1:1 status_zone=names;
        location = /metrics { sluice_status; }
        location / { status_zone all; proxy_pass http://app; proxy_cache one; limit_req zone=req; limit_conn conn 10; }
      }
    }
    stream {
      limit_conn_zone $remote_addr zone=sessions:1m;
      upstream tcp { zone tcp 64k; server 127.0.0.1:${origin.port}; }
      server { listen 127.0.0.1:%%PORT_1%%; limit_conn sessions 10; proxy_pass tcp; }
    }`,
  });
  await httpGet(server, '/');
  const { text } = await httpGet(server, '/metrics?format=prometheus');
  const guide = readFileSync(new URL('../../docs/guides/metrics.md', import.meta.url), 'utf8');
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
  t.ok(names.length > 60);
  const missing = names.filter((name) => !name.startsWith('sluice_http_location_') && !new RegExp(`\`${name}[\`{]`).test(guide));
  t.strictSame(missing, []);
  t.notMatch(guide, /`…/);
});
