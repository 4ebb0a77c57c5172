// Clients with link-local addresses, to which Node adds the zone: in a network namespace of their own, where such may be made.
import { execFile, spawnSync } from 'node:child_process';
import t from 'tap';
import { httpConf, startServer } from '../support/server.js';

const ADDRESS = 'fe80::7';
const NETWORK = `ip link set lo up && ip -6 addr add ${ADDRESS}/64 dev lo`;
const namespace = (command: string): string[] => ['unshare', '-n', 'sh', '-c', command, 'sh'];

function missing(): string | false {
  const [command, ...args] = namespace(NETWORK) as [string, ...string[]];
  const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return error === undefined && status === 0 ? false : `no network namespace can be made here: ${error?.message ?? stderr}`;
}

const CLIENT = `
  const [port, path, first] = process.argv.slice(1);
  const socket = require('node:net').connect(Number(port), '${ADDRESS}%lo', () => socket.write(first + 'GET ' + path + ' HTTP/1.0\\r\\n\\r\\n'));
  socket.pipe(process.stdout);`;

t.test('a link-local client', { skip: missing() }, async (t) => {
  const s = await startServer(t, {
    within: namespace(`${NETWORK} && exec "$@"`),
    conf: httpConf(`
      geo $place { default elsewhere; fe80::/10 near; }
      server {
        listen [::]:%%PORT_0%%;
        location /who { return 200 "$remote_addr $server_addr $place"; }
        location /denied { deny fe80::/10; allow all; root %%DIR%%; }
        location /unix { allow unix:; deny all; root %%DIR%%; }
        location /trusted { set_real_ip_from unix:; real_ip_header X-A; return 200 $remote_addr; }
      }
      server { listen [::]:%%PORT_1%% proxy_protocol; return 200 "$proxy_protocol_addr $remote_addr"; }`),
  });
  const get = (path: string, port = 0, first = ''): Promise<string> =>
    new Promise((done, fail) => {
      const args = ['-t', `${s.pid}`, '-n', process.execPath, '-e', CLIENT, `${s.port(port)}`, path, first];
      execFile('nsenter', args, { env: {} }, (error, stdout) => (error === null ? done(stdout) : fail(error)));
    });
  t.match(await get('/who'), /\r\n\r\nfe80::7 fe80::7 near$/);
  t.match(await get('/denied'), /^HTTP\/1\.1 403 /);
  t.match(await get('/unix'), /^HTTP\/1\.1 403 /);
  t.match(await get('/trusted'), /\r\n\r\nfe80::7$/);
  t.match(await get('/', 1, 'PROXY TCP6 2001:db8::1 2001:db8::2 1 2\r\n'), /\r\n\r\n2001:db8::1 fe80::7$/);
  t.equal(await get('/', 1, 'PROXY TCP6 fe80::1%lo 2001:db8::2 1 2\r\n'), '');
  await s.logged(/broken header: "PROXY TCP6 fe80::1%lo.*client: fe80::7,/);
  await s.logged(/access forbidden by rule, client: fe80::7,/);
});
