import { closeSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { loadNative, type Native } from '../../src/shared/native/native.js';

const [PIDFD_OPEN, PIDFD_GETFD] = [434, 438];
const LISTEN = '0A';
const native = loadNative();

/** For tests that look at another process's sockets: what `t.test` takes to skip them by name. */
export const needsNative = { skip: typeof native === 'string' && `no system calls: ${native}` };

/** Numbers of options, each with its level. */
export const OPTION = {
  SO_SNDBUF: [1, 7],
  SO_RCVBUF: [1, 8],
  SO_KEEPALIVE: [1, 9],
  TCP_KEEPIDLE: [6, 4],
  TCP_KEEPINTVL: [6, 5],
  TCP_KEEPCNT: [6, 6],
  TCP_DEFER_ACCEPT: [6, 9],
  TCP_FASTOPEN: [6, 23],
} as const;

/** A descriptor of this process's own for the socket that another one holds on a local port; it is to be closed. `state`: as in /proc. */
function borrow(pid: number, table: 'tcp' | 'udp', port: number, state: string): number {
  const own = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const line = readFileSync(`/proc/net/${table}`, 'latin1')
    .split('\n')
    .map((text) => text.trim().split(/\s+/))
    .find((fields) => fields[1]?.endsWith(own) && fields[3] === state);
  const fd = readdirSync(`/proc/${pid}/fd`).find((name) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`) === `socket:[${line?.[9]}]`;
    } catch {
      return false;
    }
  });
  if (fd === undefined) {
    throw new Error(`process ${pid} has no such socket on port ${port}`);
  }
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  const call = koffi.load(null).func('syscall', 'long', ['long', 'long', 'long', 'long']) as (...args: number[]) => number;
  const holder = call(PIDFD_OPEN, pid, 0, 0);
  const got = holder < 0 ? holder : call(PIDFD_GETFD, holder, Number(fd), 0);
  if (holder >= 0) {
    closeSync(holder);
  }
  if (got < 0) {
    throw new Error(`pidfd_getfd() failed (${koffi.errno()})`);
  }
  return got;
}

/** The named options of the socket that a process holds on a port: the listening one of TCP unless told. */
export function socketOptions(
  pid: number,
  port: number,
  names: readonly (keyof typeof OPTION)[],
  of: 'listener' | 'connection' | 'datagrams' = 'listener',
): number[] {
  const fd = borrow(pid, of === 'datagrams' ? 'udp' : 'tcp', port, of === 'listener' ? LISTEN : of === 'connection' ? '01' : '07');
  try {
    return names.map((name) => {
      const value = new Int32Array(1);
      const code = (native as Native).getOption(fd, OPTION[name][0], OPTION[name][1], value);
      if (code < 0) {
        throw new Error(`getsockopt(${name}) failed (${-code})`);
      }
      return value[0]!;
    });
  } finally {
    closeSync(fd);
  }
}
