// The only file that uses koffi, which calls the system's functions where Node has no way to them.
import { createRequire } from 'node:module';
import type Koffi from 'koffi';

/** Memory that the kernel is given for a call. */
type Memory = Uint8Array | Int32Array | Uint32Array | Int16Array;

/** Hashes a password with a setting, or a stored hash, in one of libuv's threads; `done` gets nothing when that fails. */
export type SystemHash = (password: Uint8Array, setting: Uint8Array, done: (hash: string | undefined) => void) => void;

/** The system's calls. Each returns the negated error number when it fails, unless it says otherwise. */
export interface Native {
  /** Maps memory of so many bytes that is neither moved nor freed; undefined when there is none. */
  map(length: number, fd: number, offset: number): { readonly address: number; readonly memory: ArrayBuffer } | undefined;
  /** io_uring_setup. */
  ringSetup(entries: number, params: Uint32Array): number;
  /** io_uring_enter: submits so many entries, and waits for so many completions; `argument`: the address of what the flags speak of. */
  ringEnter(fd: number, submit: number, wait: number, flags: number, argument: number, size: number): number;
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
  /** sendto: a datagram to an address, or to a connected socket's peer. Never waits. */
  sendDatagram(fd: number, bytes: Uint8Array, address: Uint8Array | null): number;
  /** sendmsg: what the struct msghdr at this address tells. Never waits. */
  sendMessage(fd: number, header: number): number;
  /** sendfile: `length` bytes of a file from `offset` on, as far as the socket has room. */
  sendFile(fd: number, file: number, offset: number, length: number): number;
  /**
   * preadv2 with RWF_NOWAIT: reads into the memory that one `struct iovec` at this address names what of a file is in the system's memory.
   * Fails with EAGAIN when nothing of it is, and with EOPNOTSUPP where the file system cannot tell.
   */
  readPresent(fd: number, vector: number, offset: number): number;
  close(fd: number): number;
  /** prctl(PR_SET_KEEPCAPS): this thread keeps its capabilities when it becomes another user. */
  keepCapabilities(): number;
  /** capset: this thread has these capabilities, as bits of the first 32, and no others. */
  setCapabilities(bits: number): number;
  /** prlimit of this process: both limits. */
  setLimit(resource: number, limit: number): number;
  /** sched_setaffinity of a thread: a bit for each CPU. */
  setAffinity(thread: number, mask: Uint8Array): number;
  /** dup2: `to` becomes a second number of the open file `from`. */
  duplicateTo(from: number, to: number): number;
  /** crypt_r of the system's libcrypt; undefined where there is none. */
  loadCrypt(): SystemHash | undefined;
}

const [READ_WRITE, SHARED_POPULATED, PRIVATE] = [3, 0x8001, 0x4022];
const [RING_SETUP, RING_ENTER, RING_REGISTER] = [425, 426, 427];
/** Number of preadv2, which musl had no function for before 1.2.5. */
const READ_VECTOR = process.arch === 'x64' ? 327 : 286;
const NO_WAIT = 8;
const NOT_BLOCKING_CLOSED_ON_EXEC = 0x80800;
const SEND = 1;
/** MSG_DONTWAIT, MSG_NOSIGNAL and MSG_MORE. */
const NOW = 0x40 | 0x4000;
const NOW_AND_MORE = NOW | 0x8000;
const MAP_FAILED = -1;
const PR_SET_KEEPCAPS = 8;
const CAPABILITY_VERSION_1 = 0x19980330;
const LIBCRYPT = 'libcrypt.so.1';
/** As large as struct crypt_data in any of its forms. */
const CRYPT_DATA = 256 * 1024;

/** Functions of the libraries that this process has loaded. Addresses are numbers, 0 for none. */
export interface Library {
  /** A function by its C prototype. Throws an Error where there is none of that name. */
  find(prototype: string): (...args: unknown[]) => number;
  /** As `find`, of a function that is to run in one of libuv's threads, for which nobody waits. */
  findForThread(prototype: string): (...args: unknown[]) => void;
  /** What C code can call, in this thread, for a function; for good. It may not throw. */
  callback(prototype: string, call: (...args: number[]) => number | undefined): unknown;
  /** `length` bytes of memory that stay where they are for as long as the process runs. */
  view(address: number, length: number): ArrayBuffer;
}

let loaded: Native | string | undefined;

/** The system's calls, or why they are not to be had. */
export function loadNative(): Native | string {
  loaded ??= load();
  return loaded;
}

/** What the process has loaded, or why it cannot be called. */
export function loadLibrary(): Library | string {
  const koffi = loadKoffi();
  if (typeof koffi === 'string') {
    return koffi;
  }
  const library = koffi.load(null);
  return {
    find: (prototype) => library.func(prototype) as never,
    findForThread(prototype) {
      const call = library.func(prototype);
      return (...args) => call.async(...args, nothing);
    },
    callback: (prototype, call) => koffi.register(call, koffi.pointer(koffi.proto(prototype))),
    view: (address, length) => koffi.view(address as never, length),
  };
}

function load(): Native | string {
  const koffi = loadKoffi();
  if (typeof koffi === 'string') {
    return koffi;
  }
  try {
    return bind(koffi);
  } catch (error) {
    return `koffi does not work: ${(error as Error).message}`;
  }
}

let loadedPackage: typeof Koffi | undefined;
let forgone: string | undefined;

/** Has this process not load what it has not loaded yet: another one has died of that. `why`: words that follow "because". */
export function forgoNative(why: string): void {
  forgone = why;
}

function loadKoffi(): typeof Koffi | string {
  if (forgone !== undefined) {
    return forgone;
  }
  if (process.platform !== 'linux') {
    return 'the system is not Linux';
  }
  if (loadedPackage !== undefined) {
    return loadedPackage;
  }
  const require = createRequire(import.meta.url);
  try {
    loadedPackage = addonOf(require) ?? (require('koffi') as typeof Koffi);
    return loadedPackage;
  } catch (error) {
    return whyNot(error, () => require.resolve('koffi'));
  }
}

/**
 * The package with koffi's addon for this platform, which has all that is used here; undefined where it is not as expected. koffi itself
 * looks for it in files that take as long again to find and to compile, and adds names of earlier versions.
 */
function addonOf(require: NodeJS.Require): typeof Koffi | undefined {
  try {
    const addon = createRequire(require.resolve('koffi'))(`@koromix/koffi-linux-${process.arch}`) as typeof Koffi;
    return [addon.load, addon.register, addon.pointer, addon.proto, addon.view, addon.errno].every((call) => typeof call === 'function')
      ? addon
      : undefined;
  } catch {
    return undefined;
  }
}

/** What is the matter with koffi, in words that follow "because": it is not there, or its loader's own words. */
function whyNot(error: unknown, find: () => void): string {
  try {
    find();
  } catch {
    return 'the package koffi is not installed';
  }
  const words = error instanceof Error ? error.message : String(error);
  // The loader's first line says it; what follows are the files that it has looked at.
  return `the package koffi cannot be loaded: ${words.split('\n', 1)[0]!.trim()}`;
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
  const sendto = func('intptr_t sendto(int, void *, size_t, int, void *, uint32_t)');
  const sendmsg = func('intptr_t sendmsg(int, intptr_t, int)');
  const sendfile = func('intptr_t sendfile(int, int, void *, size_t)');
  const readVector = system(['long', 'int', 'intptr_t', 'long', 'intptr_t', 'long', 'int']);
  const close = func('int close(int)');
  const prctl = func('int prctl(int, unsigned long, unsigned long, unsigned long, unsigned long)');
  const capset = func('int capset(void *, void *)');
  const prlimit = func('int prlimit64(int, int, void *, intptr_t)');
  const setaffinity = func('int sched_setaffinity(int, size_t, void *)');
  const dup2 = func('int dup2(int, int)');
  const length = new Uint32Array(1);
  const from = new Int32Array(2);
  return {
    map(size, fd, offset) {
      const address = mmap(0, size, READ_WRITE, fd < 0 ? PRIVATE : SHARED_POPULATED, fd, offset);
      return address === MAP_FAILED ? undefined : { address, memory: koffi.view(address as never, size) };
    },
    ringSetup: (entries, params) => checked(setup(RING_SETUP, entries, params)),
    ringEnter: (fd, submit, wait, flags, argument, size) => checked(enter(RING_ENTER, fd, submit, wait, flags, argument, size)),
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
    sendDatagram: (fd, bytes, address) => checked(sendto(fd, bytes, bytes.length, NOW, address, address === null ? 0 : address.length)),
    sendMessage: (fd, header) => checked(sendmsg(fd, header, NOW)),
    sendFile(fd, file, offset, size) {
      from[0] = (offset % 0x100000000) | 0;
      from[1] = (offset / 0x100000000) | 0;
      return checked(sendfile(fd, file, from, size));
    },
    readPresent: (fd, vector, offset) => checked(readVector(READ_VECTOR, fd, vector, 1, offset, 0, NO_WAIT)),
    close: (fd) => checked(close(fd)),
    keepCapabilities: () => checked(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)),
    setCapabilities: (bits) => checked(capset(new Uint32Array([CAPABILITY_VERSION_1, 0]), new Uint32Array([bits, bits, 0]))),
    setLimit: (resource, limit) => checked(prlimit(0, resource, new BigUint64Array([BigInt(limit), BigInt(limit)]), 0)),
    setAffinity: (thread, mask) => checked(setaffinity(thread, mask.length, mask)),
    duplicateTo: (from, to) => checked(dup2(from, to)),
    loadCrypt: () => loadCrypt(koffi),
  };
}

function loadCrypt(koffi: typeof Koffi): SystemHash | undefined {
  let crypt: ReturnType<ReturnType<typeof Koffi.load>['func']>;
  try {
    crypt = koffi.load(LIBCRYPT).func('str crypt_r(void *, void *, void *)');
  } catch {
    return undefined;
  }
  return (password, setting, done) => {
    const [key, salt, data] = [ended(password), ended(setting), new Uint8Array(CRYPT_DATA)];
    crypt.async(key, salt, data, (error: unknown, hash: string | null) => {
      // What is named here lives for as long as the call; and nothing of the password is left behind.
      for (const memory of [key, salt, data]) {
        memory.fill(0);
      }
      done(error ? undefined : (hash ?? undefined));
    });
  };
}

function nothing(): void {
  // Nobody waits for it.
}

/** A text as C has it, in memory of its own. */
function ended(text: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(text.length + 1);
  bytes.set(text);
  return bytes;
}
