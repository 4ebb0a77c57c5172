import t from 'tap';
import { againstNginx } from '../support/binary.js';
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
