import { chmodSync, readFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { childrenOf, killWorkers } from '../support/processes.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx && 'nginx sells it';

async function ask(s: Server, method: string, path: string, body?: object): Promise<[status: number, value: { readonly id?: number }]> {
  const answer = await http(
    s,
    requestText(method, `/api/9/${path}`, { Connection: 'close' }, body === undefined ? '' : JSON.stringify(body)),
  );
  return [answer.status, JSON.parse(answer.text)];
}

for (const workers of [1, 2]) {
  t.test(`servers outlive a reload, a worker and a restart with ${workers} workers`, { skip }, async (t) => {
    const [one, two] = [await startOrigin(t, () => ({ body: 'one' })), await startOrigin(t, () => ({ body: 'two' }))];
    const s = await startServer(t, {
      files: { 'state/note': '' },
      expectAlerts: /exited on signal 9|the state cannot be written/,
      conf: `worker_processes ${workers};\n${serverConf(
        'location /api { api write=on; } location / { proxy_pass http://app; }',
        'upstream app { zone app 64k; state %%DIR%%/state/app.conf; }',
      )}`,
    });
    const many = async (): Promise<string> => {
      const bodies = [];
      for (let i = 0; i < 7; i++) {
        const { status, text } = await httpGet(s, '/');
        bodies.push(status === 200 ? text : String(status));
      }
      return [...new Set(bodies)].sort().join(' ');
    };
    const servers = 'http/upstreams/app/servers';
    const [first, second] = [`127.0.0.1:${one.port}`, `127.0.0.1:${two.port}`];
    const file = (): string => readFileSync(`${s.dir}/state/app.conf`, 'latin1');
    t.strictSame(await ask(s, 'GET', servers), [200, []]);
    t.match(await many(), /^50\d$/, 'there is none yet');
    chmodSync(`${s.dir}/state`, 0o777);
    t.match(await ask(s, 'POST', servers, { server: first, weight: 2, route: 'a "b"' }), [201, { weight: 2 }]);
    t.match(await ask(s, 'POST', servers, { server: second, max_fails: 3, fail_timeout: '5s', slow_start: '1500ms', drain: true }), [
      201,
      {},
    ]);
    t.match(await ask(s, 'POST', servers, { server: '127.0.0.9:1', backup: true, max_conns: 4, down: true }), [201, { backup: true }]);
    t.equal(
      file(),
      `server ${first} weight=2 "route=a \\"b\\"";\nserver ${second} max_fails=3 fail_timeout=5s slow_start=1500ms drain;\nserver 127.0.0.9:1 max_conns=4 down backup;\n`,
    );
    t.equal(await many(), 'one');
    const victims = childrenOf(s.pid);
    await killWorkers(victims);
    await waitFor(() => childrenOf(s.pid).length === victims.length, {
      what: () => 'new workers',
    });
    t.equal(await many(), 'one', 'new workers know it');
    await s.reload();
    const [, before] = (await ask(s, 'GET', servers)) as unknown as [number, { readonly id: number }[]];
    t.match(before, [
      { id: 0, server: first, weight: 2, route: 'a "b"' },
      { id: 1, server: second, max_fails: 3, fail_timeout: '5s', slow_start: '1500ms', drain: true },
      { id: 2, server: '127.0.0.9:1', max_conns: 4, down: true, backup: true },
    ]);
    t.match(await ask(s, 'PATCH', `${servers}/1`, { drain: false, slow_start: 0 }), [200, {}]);
    t.equal((await ask(s, 'DELETE', `${servers}/0`))[0], 200);
    t.equal(file(), `server ${second} max_fails=3 fail_timeout=5s;\nserver 127.0.0.9:1 max_conns=4 down backup;\n`);
    await s.stop();
    await s.start();
    t.equal(await many(), 'two');
    chmodSync(`${s.dir}/state`, 0o755);
  });
}

t.test('methods go on without servers', { skip }, async (t) => {
  const methods = ['', 'least_conn;', 'hash $uri;', 'hash $uri consistent;', 'ip_hash;', 'random two;', 'least_time header;'];
  const origin = await startOrigin(t, () => ({ body: 'here' }));
  const s = await startServer(t, {
    files: { 'state/note': '' },
    conf: `worker_processes 2;\n${serverConf(
      `location /api { api write=on; } ${methods.map((_, i) => `location /${i}/ { proxy_pass http://g${i}; }`).join(' ')}`,
      methods.map((method, i) => `upstream g${i} { zone g${i} 64k; ${method} state %%DIR%%/state/${i}.conf; }`).join('\n'),
    )}`,
  });
  chmodSync(`${s.dir}/state`, 0o777);
  for (const [i, method] of methods.entries()) {
    t.match(String((await httpGet(s, `/${i}/`)).status), /^50\d$/, method);
    const [status, { id }] = await ask(s, 'POST', `http/upstreams/g${i}/servers`, { server: `127.0.0.1:${origin.port}` });
    t.equal(status, 201);
    t.equal((await httpGet(s, `/${i}/`)).text, 'here', method);
    t.equal((await ask(s, 'DELETE', `http/upstreams/g${i}/servers/${id}`))[0], 200);
    t.match(String((await httpGet(s, `/${i}/`)).status), /^50\d$/, method);
  }
});

t.test('wrong arguments', { skip }, async (t) => {
  const group = (lines: string): string => serverConf('', `upstream app { ${lines} }`);
  for (const [lines, message] of [
    ['zone app 64k; state a; server 127.0.0.1;', '"server" directive is incompatible with "state"'],
    ['zone app 64k; server 127.0.0.1; state a;', '"state" directive is incompatible with "server"'],
    ['zone app 64k; state a; state b;', '"state" directive is duplicate'],
    ['zone app 64k; state "";', '"state" directive needs the name of a file'],
    ['state a;', '"state" requires upstream "app" in '],
  ] as const) {
    t.match(await configMessage(t, group(lines)), message, lines);
  }
  for (const [text, message] of [
    ['listen 80;', 'unexpected "listen" in the state of an upstream in '],
    ['server 127.0.0.1 other;', 'invalid parameter "other" in '],
    ['server 127.0.0.1', 'unexpected end of file, expecting ";" or "}" in '],
  ] as const) {
    t.match(await configMessage(t, group('zone app 64k; state state.conf;'), { 'state.conf': text }), message, text);
  }
});
