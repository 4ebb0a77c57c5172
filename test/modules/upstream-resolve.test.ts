import { createHash } from 'node:crypto';
import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { startNameServer } from '../support/name-server.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

/** Backends at 127.0.0.2 to 127.0.0.4 that answer with their address, and one at another port. */
const BACKENDS = `server {
    listen 127.0.0.2:%%PORT_1%%; listen 127.0.0.3:%%PORT_1%%; listen 127.0.0.4:%%PORT_1%%; listen 127.0.0.2:%%PORT_2%%;
    location / { return 200 $server_addr; }
    location /port { return 200 $server_addr:$server_port; }
  }`;

const conf = (dns: number, group: string, main = ''): string =>
  httpConf(
    `${BACKENDS}
    resolver 127.0.0.1:${dns} ipv6=off;
    upstream u { zone u 256k; ${group} }
    server { listen 127.0.0.1:%%PORT_0%%; add_header X-Pid $pid always; location / { proxy_pass http://u; } }`,
    main,
  );

/** Waits until requests at once, which all workers answered, went to these backends, to all of them and to no other. */
async function until(s: Server, expected: readonly string[], path = '/'): Promise<void> {
  const workers = s.workers().length;
  let seen: string[] = [];
  await waitFor(
    async () => {
      const responses = await Promise.all(Array.from({ length: 12 }, () => httpGet(s, path)));
      seen = [...new Set(responses.map(({ status, text }) => (status === 200 ? text : String(status))))].sort();
      const pids = new Set(responses.map((response) => response.header('x-pid')));
      return pids.size === workers && seen.join() === expected.join();
    },
    { what: () => `${expected.join()}; last ${seen.join()}` },
  );
}

t.test('resolve: servers follow their name, in every worker', async (t) => {
  const dns = await startNameServer(t, {
    'a.test': [
      { type: 'A', value: '127.0.0.2', ttl: 1 },
      { type: 'A', value: '127.0.0.3', ttl: 1 },
    ],
  });
  const s = await startServer(t, { conf: conf(dns.port, 'server a.test:%%PORT_1%% resolve;', 'worker_processes 2;'), compatible: true });
  await until(s, ['127.0.0.2', '127.0.0.3']);
  dns.answer({ 'a.test': [{ type: 'A', value: '127.0.0.4', ttl: 1 }] });
  await until(s, ['127.0.0.4']);
  dns.answer({});
  await until(s, ['502']);
  await s.logged(/\[error\] .*: a\.test could not be resolved \(3: Host not found\)/);
  dns.answer({ 'a.test': [{ type: 'A', value: '127.0.0.2' }] });
  await until(s, ['127.0.0.2']);
  t.ok(dns.questions.every((question) => question === 'A a.test'));
});

t.test('service: SRV records say where servers listen, which come first, and how much they take', async (t) => {
  const srv = (...values: string[]) => values.map((value) => ({ type: 'SRV', value, ttl: 1 }) as const);
  const hosts = {
    'two.test': [{ type: 'A', value: '127.0.0.2' }],
    'three.test': [{ type: 'A', value: '127.0.0.3' }],
  } as const;
  const dns = await startNameServer(t, {});
  const s = await startServer(t, { conf: conf(dns.port, 'server a.test service=http resolve;'), compatible: true });
  const [one, other] = [s.port(1), s.port(2)];
  dns.answer({ ...hosts, '_http._tcp.a.test': srv(`1 1 ${one} three.test`, `1 3 ${other} two.test`) });
  await until(s, [`127.0.0.2:${other}`, `127.0.0.3:${one}`], '/port');
  let of = '';
  for (let i = 0; i < 8; i++) {
    of += (await httpGet(s, '/')).text.slice(-1);
  }
  t.equal(of.replaceAll('3', '').length, 6, 'three of four to the heavier one');
  dns.answer({ ...hosts, '_http._tcp.a.test': srv(`2 1 ${one} three.test`, `1 1 ${other} two.test`) });
  await until(s, ['127.0.0.2']);
  dns.answer({ ...hosts, '_http._tcp.a.test': srv(`2 1 ${one} three.test`, `1 1 1 two.test`) });
  await until(s, ['127.0.0.3']);
  t.pass('the lesser priority stands in');
  t.ok(dns.questions.includes('SRV _http._tcp.a.test'));
});

t.test('service: a name with dots is taken as it is; sessions find servers that were looked up', async (t) => {
  const dns = await startNameServer(t, {});
  const s = await startServer(t, {
    conf: conf(dns.port, 'server a.test service=_x._udp resolve; sticky cookie srv;', 'worker_processes 2;'),
  });
  dns.answer({
    '_x._udp.a.test': [
      { type: 'SRV', value: `1 1 ${s.port(1)} b.test` },
      { type: 'SRV', value: `1 1 ${s.port(2)} b.test` },
    ],
    'b.test': [{ type: 'A', value: '127.0.0.2' }],
  });
  const backends = [s.port(1), s.port(2)].map((port) => `127.0.0.2:${port}`).sort();
  await until(s, backends, '/port');
  for (const backend of backends) {
    const Cookie = `srv=${createHash('md5').update(backend).digest('hex')}`;
    for (let i = 0; i < 4; i++) {
      t.equal((await httpGet(s, '/port', { Cookie })).text, backend);
    }
  }
});

t.test('wrong arguments', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['server a.test service=http;', 'service upstream "a.test" requires "resolve" parameter in %%FILE%%:6'],
    ['server a.test:80 service=http resolve;', 'service upstream "a.test:80" may not have port in %%FILE%%:6'],
    ['server 127.0.0.1 service=http resolve;', 'service upstream "127.0.0.1" requires domain name in %%FILE%%:6'],
    ['server a.test service= resolve;', 'service is empty in %%FILE%%:6'],
    ['server a.test resolve;', 'resolving names at run time requires upstream "u" in %%FILE%%:6 to be in shared memory'],
    ['server 127.0.0.1 backup;', 'no servers in upstream "u" in %%FILE%%:6'],
    ['zone z 64k; server a.test resolve;', 'no resolver defined to resolve names at run time in upstream "u" in %%FILE%%:6'],
  ];
  for (const [lines, message] of cases) {
    t.equal(await configMessage(t, httpConf(`upstream u { ${lines} }`)), message, lines);
  }
  t.equal(await configMessage(t, httpConf('upstream u {\nzone z 64k;\n}')), 'no servers are inside upstream in %%FILE%%:8');
  const [, resolved] = cases[4]!;
  t.equal(
    await configMessage(t, httpConf('upstream u { server a.test resolve; }').replace('events {}', '')),
    resolved,
    'an error in http comes first',
  );
});
