// Runs a command without some of the system calls of io_uring, which are FIRST to LAST: they fail with ERRNO, or end the process
// if that is "kill". 425, 427 and 1 are what a container with Docker's usual seccomp profile has.
//
//   node without-uring.mjs FIRST LAST ERRNO COMMAND ARG ...
import koffi from 'koffi';

const libc = koffi.load(null);
const prctl = libc.func('int prctl(int, unsigned long, uintptr_t, unsigned long, unsigned long)');
const fcntl = libc.func('int fcntl(int, int, int)');
const execv = libc.func('int execv(const char *, const char **)');

const [NO_NEW_PRIVILEGES, SECCOMP, FILTER] = [38, 22, 2];
const SET_FD_FLAGS = 2;
const [first, last] = process.argv.slice(2, 4).map(Number);
const answer = process.argv[4] === 'kill' ? 0x80000000 : 0x00050000 | Number(process.argv[4]);
// struct sock_filter is an operation, two jumps and a number.
const program = Buffer.alloc(5 * 8);
[
  [0x20, 0, 0, 0],
  [0x35, 0, 2, first],
  [0x25, 1, 0, last],
  [0x06, 0, 0, answer],
  [0x06, 0, 0, 0x7fff0000],
].forEach(([code, ifTrue, ifFalse, k], i) => {
  program.writeUInt16LE(code, i * 8);
  program[i * 8 + 2] = ifTrue;
  program[i * 8 + 3] = ifFalse;
  program.writeUInt32LE(k, i * 8 + 4);
});
const filter = Buffer.alloc(16);
filter.writeUInt16LE(5, 0);
filter.writeBigUInt64LE(BigInt(koffi.address(program)), 8);

const command = process.argv.slice(5);
// Node has its own standard input and output closed in what follows it.
for (const fd of [0, 1, 2]) {
  fcntl(fd, SET_FD_FLAGS, 0);
}
if (prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) !== 0 || prctl(SECCOMP, FILTER, Number(koffi.address(filter)), 0, 0) !== 0) {
  throw new Error(`prctl() failed (${koffi.errno()})`);
}
execv(command[0], [...command, null]);
throw new Error(`execv() failed (${koffi.errno()})`);
