// The first worker of a start is forked before the configuration is read, and gets its sockets with its first message.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { serverCommand } from '../support/binary.js';
import { DatagramPeer } from '../support/datagrams.js';
import { makePrefix } from '../support/prefix.js';
import { killWorkers } from '../support/processes.js';
import { httpGet } from '../support/raw-client.js';
import { startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

for (const engine of ['uring', 'libuv']) {
  t.test(`sockets of each kind with ${engine}`, async (t) => {
    const s = await startServer(t, {
      expectAlerts: /exited on signal 9/,
      conf: `net_engine ${engine}; events {}
http { server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% reuseport; listen unix:%%DIR%%/socket; location / { return 200 "$pid"; } } }
stream {
  server { listen 127.0.0.1:%%PORT_2%%; return "$pid"; }
  server { listen 127.0.0.1:%%PORT_3%% udp; return "$pid"; }
}`,
    });
    const answers = async (): Promise<string[]> => {
      const peer = await DatagramPeer.connect(t, s.port(3));
      return [
        (await httpGet(s.port(0), '/')).text,
        (await httpGet(s.port(1), '/')).text,
        (await httpGet(`${s.dir}/socket`, '/')).text,
        await peer.ask('who'),
      ];
    };
    const [first] = s.workers();
    t.strictSame(await answers(), Array(4).fill(String(first)));
    await killWorkers([first!]);
    const second = await waitFor(() => s.workers().find((pid) => pid !== first));
    t.strictSame(await answers(), Array(4).fill(String(second)), 'its replacement has them as well');
    await s.reload();
    const third = await waitFor(() => s.workers().find((pid) => pid !== second));
    await waitFor(async () => (await httpGet(s.port(0), '/')).text === String(third), { what: 'answers of the new worker' });
  });
}

const processesOf = (group: number): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
        const [state, , id] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return Number(id) === group && state !== 'Z';
      } catch {
        return false;
      }
    });

t.test('where no server starts, nothing is left of it', async (t) => {
  const http = 'events {} http { server { listen 127.0.0.1:%%PORT_0%%; location / { return 200 ok; } } }';
  const cases = {
    'a broken configuration': 'daemon off; no_such_directive;',
    'an address that is not there': `daemon off; ${http.replace('127.0.0.1', '192.0.2.1')}`,
    'a folder that is none': `daemon off; pid /dev/null/pid; ${http}`,
  };
  for (const [what, conf] of Object.entries(cases)) {
    const { dir } = await makePrefix(t, { 'sluice.conf': conf });
    const [command, ...first] = serverCommand();
    const child = spawn(command, [...first, '-p', `${dir}/`, '-c', 'sluice.conf', '-e', 'error.log'], { detached: true, stdio: 'ignore' });
    const group = child.pid!;
    t.teardown(() => {
      for (const pid of processesOf(group)) {
        process.kill(pid, 'SIGKILL');
      }
    });
    t.equal(await new Promise((done) => child.once('exit', done)), 1, what);
    await waitFor(() => processesOf(group).length === 0, { what: `the end of all processes after ${what}` });
  }
});

t.test('a server of one process forks none', async (t) => {
  const { dir } = await makePrefix(t, {
    'note.mjs': "import { appendFileSync } from 'node:fs'; appendFileSync('%%DIR%%/started', 'one');",
  });
  const s = await startServer(t, {
    // The ring would be tried in another process.
    conf: 'master_process off; net_engine libuv; events {} http { server { listen 127.0.0.1:%%PORT_0%%; return 204; } }',
    preload: `file://${dir}/note.mjs`,
  });
  t.equal((await httpGet(s, '/')).status, 204);
  t.equal(readFileSync(`${dir}/started`, 'latin1'), 'one');
});
