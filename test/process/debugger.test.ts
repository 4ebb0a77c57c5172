import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import t from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { isAlive } from '../support/processes.js';
import { serverConf } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const PORT = 9229;

/** Whether a process listens at the port of Node's debugger. */
function listens(pid: number): boolean {
  const inodes = readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([, local, , state, , , , , , inode]) =>
      local?.endsWith(`:${PORT.toString(16).toUpperCase()}`) && state === '0A' ? [`socket:[${inode}]`] : [],
    );
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return inodes.includes(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      return false;
    }
  });
}

// How none opens in the first place is a drill: scripts/faults/drills/early-signals.mjs.
t.test(
  'a debugger that USR1 opened before anybody listened for it is closed',
  { skip: againstNginx || !existsSync('/proc/net/tcp') },
  async (t) => {
    const prefix = await makePrefix(t, { 'sluice.conf': `daemon off;\npid %%DIR%%/server.pid;\n${serverConf('')}` });
    const [command, ...first] = serverCommand();
    const child = spawn(command, [...first, '-p', `${prefix.dir}/`, '-c', 'sluice.conf', '-e', 'stderr'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = new Promise((done) => child.once('exit', done));
    t.teardown(async () => {
      child.kill('SIGTERM');
      await ended;
    });
    let said = '';
    child.stderr.setEncoding('latin1').on('data', (text: string) => (said += text));
    // As soon as Node answers the signal at all, which ends a younger process.
    await waitFor(() => /^SigCgt:\s+\w*[2367abef]\w\w$/m.test(readFileSync(`/proc/${child.pid}/status`, 'latin1')));
    child.kill('SIGUSR1');
    await waitFor(() => existsSync(`${prefix.dir}/server.pid`), { what: () => `the start\n${said}` });
    await waitFor(() => !listens(child.pid!));
    t.ok(isAlive(child.pid!));
  },
);
