import type { Native } from '../native/native.js';

/** A kind of socket that neither waits nor goes to other programs: SOCK_NONBLOCK and SOCK_CLOEXEC. */
export const NOT_BLOCKING_CLOSED_ON_EXEC = 0x80800;

const value = new Int32Array(1);

/** setsockopt with a number. Returns a negated error number when it fails. */
export function setNumber(native: Native, fd: number, level: number, option: number, to: number): number {
  value[0] = to;
  return native.setOption(fd, level, option, value);
}
