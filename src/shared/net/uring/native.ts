// The only file that uses koffi, which calls the system's functions where Node has no way to them.
import { createRequire } from 'node:module';
import type Koffi from 'koffi';

/** Memory that the kernel is given for a call. */
type Memory = Uint8Array | Int32Array | Uint32Array | Int16Array;

/** The system's calls. Each returns the negated error number when it fails, unless it says otherwise. */
export interface Native {
  /** Maps memory of so many bytes that is neither moved nor freed; undefined when there is none. */
  map(length: number, fd: number, offset: number): { readonly address: number; readonly memory: ArrayBuffer } | undefined;
  /** io_uring_setup. */
  ringSetup(entries: number, params: Uint32Array): number;
  /** io_uring_enter: submits so many entries, and waits for so many completions. */
  ringEnter(fd: number, submit: number, wait: number, flags: number): number;
  /** io_uring_register. */
  ringRegister(fd: number, operation: number, argument: Memory, count: number): number;
  /** eventfd, which is not blocking and not inherited. */
  eventDescriptor(): number;
  socket(family: number, type: number): number;
  bind(fd: number, address: Uint8Array, length: number): number;
  listen(fd: number, backlog: number): number;
  /** accept4: the descriptor of a connection that waits, which is not blocking and not inherited. */
  accept(fd: number): number;
  connect(fd: number, address: Uint8Array, length: number): number;
  /** Says that nothing more is sent. */
  shutdownSend(fd: number): number;
  setOption(fd: number, level: number, option: number, value: Memory): number;
  /** The length is that of `value`; what the kernel leaves out stays as it was. */
  getOption(fd: number, level: number, option: number, value: Memory): number;
  /** Writes the socket's own address, or its peer's, into memory of 128 bytes. */
  localAddress(fd: number, into: Uint8Array): number;
  peerAddress(fd: number, into: Uint8Array): number;
  /** send: of bytes that more will follow at once. Never waits. */
  sendMore(fd: number, bytes: Uint8Array): number;
  /** sendfile: `length` bytes of a file from `offset` on, as far as the socket has room. */
  sendFile(fd: number, file: number, offset: number, length: number): number;
  close(fd: number): number;
}

const [READ_WRITE, SHARED_POPULATED, PRIVATE] = [3, 0x8001, 0x4022];
const [RING_SETUP, RING_ENTER, RING_REGISTER] = [425, 426, 427];
const NOT_BLOCKING_CLOSED_ON_EXEC = 0x80800;
const SEND = 1;
/** MSG_DONTWAIT, MSG_NOSIGNAL and MSG_MORE. */
const NOW_AND_MORE = 0x40 | 0x4000 | 0x8000;
const MAP_FAILED = -1;

let loaded: Native | string | undefined;

/** The system's calls, or why they are not to be had. */
export function loadNative(): Native | string {
  loaded ??= load();
  return loaded;
}

function load(): Native | string {
  if (process.platform !== 'linux') {
    return 'the system is not Linux';
  }
  let koffi: typeof Koffi;
  try {
    koffi = createRequire(import.meta.url)('koffi') as typeof Koffi;
  } catch {
    return 'the package koffi is not installed';
  }
  try {
    return bind(koffi);
  } catch (error) {
    return `koffi does not work: ${(error as Error).message}`;
  }
}

function bind(koffi: typeof Koffi): Native {
  const libc = koffi.load(null);
  const func = (prototype: string): ((...args: unknown[]) => number) => libc.func(prototype) as never;
  const checked = (result: number): number => (result < 0 ? -koffi.errno() : result);
  const mmap = func('intptr_t mmap(intptr_t, size_t, int, int, int, long)');
  // With fixed types: koffi takes longer for a call with variable arguments.
  const system = (types: string[]): ((...args: unknown[]) => number) => libc.func('syscall', 'long', types) as never;
  const setup = system(['long', 'long', 'void *']);
  const enter = system(['long', 'int', 'uint32_t', 'uint32_t', 'uint32_t', 'long', 'long']);
  const register = system(['long', 'int', 'uint32_t', 'void *', 'uint32_t']);
  const eventfd = func('int eventfd(uint32_t, int)');
  const socket = func('int socket(int, int, int)');
  const bindTo = func('int bind(int, void *, uint32_t)');
  const listen = func('int listen(int, int)');
  const accept = func('int accept4(int, intptr_t, intptr_t, int)');
  const connect = func('int connect(int, void *, uint32_t)');
  const shutdown = func('int shutdown(int, int)');
  const setsockopt = func('int setsockopt(int, int, int, void *, uint32_t)');
  const getsockopt = func('int getsockopt(int, int, int, void *, void *)');
  const getsockname = func('int getsockname(int, void *, void *)');
  const getpeername = func('int getpeername(int, void *, void *)');
  const send = func('intptr_t send(int, void *, size_t, int)');
  const sendfile = func('intptr_t sendfile(int, int, void *, size_t)');
  const close = func('int close(int)');
  const length = new Uint32Array(1);
  const from = new BigInt64Array(1);
  return {
    map(size, fd, offset) {
      const address = mmap(0, size, READ_WRITE, fd < 0 ? PRIVATE : SHARED_POPULATED, fd, offset);
      return address === MAP_FAILED ? undefined : { address, memory: koffi.view(address as never, size) };
    },
    ringSetup: (entries, params) => checked(setup(RING_SETUP, entries, params)),
    ringEnter: (fd, submit, wait, flags) => checked(enter(RING_ENTER, fd, submit, wait, flags, 0, 0)),
    ringRegister: (fd, operation, argument, count) => checked(register(RING_REGISTER, fd, operation, argument, count)),
    eventDescriptor: () => checked(eventfd(0, NOT_BLOCKING_CLOSED_ON_EXEC)),
    socket: (family, type) => checked(socket(family, type, 0)),
    bind: (fd, address, size) => checked(bindTo(fd, address, size)),
    listen: (fd, backlog) => checked(listen(fd, backlog)),
    accept: (fd) => checked(accept(fd, 0, 0, NOT_BLOCKING_CLOSED_ON_EXEC)),
    connect: (fd, address, size) => checked(connect(fd, address, size)),
    shutdownSend: (fd) => checked(shutdown(fd, SEND)),
    setOption: (fd, level, option, value) => checked(setsockopt(fd, level, option, value, value.byteLength)),
    getOption(fd, level, option, value) {
      length[0] = value.byteLength;
      return checked(getsockopt(fd, level, option, value, length));
    },
    localAddress(fd, into) {
      length[0] = into.byteLength;
      return checked(getsockname(fd, into, length));
    },
    peerAddress(fd, into) {
      length[0] = into.byteLength;
      return checked(getpeername(fd, into, length));
    },
    sendMore: (fd, bytes) => checked(send(fd, bytes, bytes.length, NOW_AND_MORE)),
    sendFile(fd, file, offset, size) {
      from[0] = BigInt(offset);
      return checked(sendfile(fd, file, from, size));
    },
    close: (fd) => checked(close(fd)),
  };
}
