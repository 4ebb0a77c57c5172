import { getSystemErrorName } from 'node:util';

/** The error that Node makes of a negated error number of a system call. */
export function systemError(errno: number, syscall: string): Error {
  const code = getSystemErrorName(errno);
  return Object.assign(new Error(`${syscall} ${code}`), { errno, code, syscall });
}
