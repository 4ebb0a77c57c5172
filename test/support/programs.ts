import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { reservePort } from './ports.js';
import { waitFor } from './wait.js';

/** Where a program is, or undefined. */
export function find(name: string, ...folders: readonly string[]): string | undefined {
  return [...folders, '/usr/bin', '/usr/sbin', '/usr/local/bin'].map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** What `skip` says: the names of the programs that are not there. */
export function missing(programs: Readonly<Record<string, string | undefined>>): string | false {
  const names = Object.entries(programs).flatMap(([name, path]) => (path === undefined ? [name] : []));
  return names.length > 0 && `${names.join(' and ')} not installed`;
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connectTcp(port, '127.0.0.1', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });

/** Starts a program that listens on a port, and ends it with the test. */
export async function startProgram(
  t: Test,
  port: number,
  command: string,
  args: readonly string[],
  options: object = {},
): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: 'ignore', ...options });
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await waitFor(() => accepts(port), { what: `${command} to listen` });
  return child;
}

export function makeFolder(t: Test, uid?: number): string {
  const dir = mkdtempSync(join(tmpdir(), 'peer-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  chmodSync(dir, 0o700);
  if (uid !== undefined) {
    chownSync(dir, uid, uid);
  }
  return dir;
}

export const reservedPort = async (t: Test): Promise<number> => {
  const { port, release } = await reservePort();
  t.teardown(release);
  return port;
};
