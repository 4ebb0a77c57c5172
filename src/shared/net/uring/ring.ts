// The two queues of one io_uring, in memory that is shared with the kernel: entries that say what to do, and completions. Nothing in here
// knows what an operation is for. See io_uring(7) and <linux/io_uring.h> for the numbers.

import type { Native } from '../../native/native.js';
import { Region, RingError } from './memory.js';

/** Entries that may wait to be submitted. */
const ENTRIES = 4096;
/** Completions that have room; the kernel keeps further ones until there is. */
const COMPLETIONS = 16384;

const Setup = { CQSIZE: 1 << 3, SUBMIT_ALL: 1 << 7, TASKRUN_FLAG: 1 << 9, SINGLE_ISSUER: 1 << 12, DEFER_TASKRUN: 1 << 13 } as const;
const Feature = { SINGLE_MMAP: 1, NODROP: 2, NO_IOWAIT: 1 << 17 } as const;
const ENTRIES_OFFSET = 0x10000000;
/** The last of them: the processor's time while this thread waits counts as idle, and not as spent waiting for a disk. */
const [GET_EVENTS, EXTENDED_ARGUMENT, NO_IOWAIT] = [1, 8, 1 << 7];
/** The words of struct io_uring_getevents_arg, the last of which are the address of the struct __kernel_timespec that follows it here. */
const [ARGUMENT_BYTES, TIME_BYTES, ADDRESS_OF_TIME, TIME] = [24, 16, 4, 6];
const EVENTFD_DISABLED = 1;
/** The kernel has completions that only `enter` brings: it had no room for them, or must run work of this thread. */
const OVERFLOW = 1 << 1;
const WORK_WAITS = OVERFLOW | (1 << 2);
const [REGISTER_EVENTFD, REGISTER_BUFFERS] = [4, 22];
const Operation = {
  POLL: 6,
  RECEIVE_MESSAGE: 10,
  ACCEPT: 13,
  CANCEL: 14,
  CONNECT: 16,
  CLOSE: 19,
  READ: 22,
  SEND: 26,
  RECEIVE: 27,
} as const;
const BUFFER_SELECT = 1 << 5;
const SKIP_SUCCESS = 1 << 6;
const ACCEPT_MULTISHOT = 1;
const RECEIVE_MULTISHOT = 1 << 1;
const SOCKET_FLAGS = 0x80800;
const [NO_SIGNAL, WAIT_ALL, DONT_WAIT] = [0x4000, 0x100, 0x40];
const [POLL_IN, POLL_OUT] = [1, 4];
const [EINTR, EAGAIN, EBUSY, ETIME] = [-4, -11, -16, -62];

/** More completions of the same operation follow. */
export const MORE = 1 << 1;
/** The kernel has filled a buffer, whose number is in the upper half of the flags. */
export const BUFFER = 1;
export const BUFFER_SHIFT = 16;

/** One ring, used by the thread that made it. */
export class Ring {
  readonly #native: Native;
  readonly #fd: number;
  readonly #words: Uint32Array;
  readonly #entries: Int32Array;
  readonly #completed: Int32Array;
  readonly #entryMask: number;
  readonly #completionMask: number;
  readonly #submitHead: number;
  readonly #submitTail: number;
  readonly #submitFlags: number;
  readonly #completionHead: number;
  readonly #completionTail: number;
  readonly #completionFlags: number;
  #tail: number;
  #head: number;
  /** How far the kernel was when it was looked last. */
  #seen: number;
  #pending = 0;
  /** The flags of an `enter` that waits. Linux before 6.15 refuses what says that the wait is for no disk. */
  readonly #waitFlags: number;
  readonly #waitAt: number;
  readonly #waitWords: Int32Array;
  /** Of the completion that {@link next} found: the two words that its entry was given. */
  tag = 0;
  generation = 0;
  /** What the system call would have returned, or a negated error number. */
  result = 0;
  flags = 0;

  /** Room for so many entries and completions: powers of two. Throws an Error that says why there is no ring. */
  constructor(native: Native, entries = ENTRIES, completions = COMPLETIONS) {
    this.#native = native;
    const params = new Uint32Array(30);
    params[1] = completions;
    params[2] = Setup.CQSIZE | Setup.SUBMIT_ALL | Setup.TASKRUN_FLAG | Setup.SINGLE_ISSUER | Setup.DEFER_TASKRUN;
    const fd = native.ringSetup(entries, params);
    if (fd < 0) {
      throw Object.assign(new Error('io_uring_setup() failed'), { errno: fd });
    }
    this.#fd = fd;
    try {
      if ((params[5]! & Feature.SINGLE_MMAP) === 0 || (params[5]! & Feature.NODROP) === 0) {
        throw new Error('the kernel is too old');
      }
      this.#waitFlags = GET_EVENTS | ((params[5]! & Feature.NO_IOWAIT) === 0 ? 0 : NO_IOWAIT);
      const submit = params.subarray(10, 20);
      const complete = params.subarray(20, 30);
      const size = Math.max(submit[6]! + params[0]! * 4, complete[5]! + params[1]! * 16);
      const shared = Region.map(native, size, fd).bytes;
      const { bytes } = Region.map(native, params[0]! * 64, fd, ENTRIES_OFFSET);
      this.#words = new Uint32Array(shared.buffer, shared.byteOffset, size >> 2);
      this.#entries = new Int32Array(bytes.buffer, bytes.byteOffset, params[0]! * 16);
      this.#completed = new Int32Array(shared.buffer, shared.byteOffset + complete[5]!, params[1]! * 4);
      this.#submitHead = submit[0]! >> 2;
      this.#submitTail = submit[1]! >> 2;
      this.#submitFlags = submit[4]! >> 2;
      this.#entryMask = this.#words[submit[2]! >> 2]!;
      this.#completionHead = complete[0]! >> 2;
      this.#completionTail = complete[1]! >> 2;
      this.#completionFlags = complete[6]! >> 2;
      this.#completionMask = this.#words[complete[2]! >> 2]!;
      for (let i = 0; i < params[0]!; i++) {
        this.#words[(submit[6]! >> 2) + i] = i;
      }
      const wait = Region.map(native, ARGUMENT_BYTES + TIME_BYTES);
      this.#waitAt = wait.address(0, ARGUMENT_BYTES);
      this.#waitWords = new Int32Array(wait.bytes.buffer, wait.bytes.byteOffset, (ARGUMENT_BYTES + TIME_BYTES) >> 2);
      const time = wait.address(ARGUMENT_BYTES, TIME_BYTES);
      this.#waitWords[ADDRESS_OF_TIME] = (time % 0x100000000) | 0;
      this.#waitWords[ADDRESS_OF_TIME + 1] = (time / 0x100000000) | 0;
      this.#tail = this.#words[this.#submitTail]!;
      this.#head = this.#words[this.#completionHead]!;
      this.#seen = this.#head;
    } catch (error) {
      native.close(fd);
      throw error;
    }
  }

  // ---------------------------------------------------------------- what is to be done

  /** The place of a fresh entry: the operation, its flags and priority, and its descriptor are set, and whom it belongs to. */
  #entry(first: number, fd: number, tag: number, generation: number): number {
    if (this.#pending > this.#entryMask) {
      this.enter();
    }
    const at = (this.#tail & this.#entryMask) << 4;
    const entries = this.#entries;
    entries[at] = first;
    entries[at + 1] = fd;
    for (let i = at + 2; i < at + 16; i++) {
      entries[i] = 0;
    }
    entries[at + 8] = tag;
    entries[at + 9] = generation;
    this.#tail = (this.#tail + 1) >>> 0;
    this.#pending++;
    return at;
  }

  #memory(at: number, address: number, length: number): void {
    this.#entries[at + 4] = (address % 0x100000000) | 0;
    this.#entries[at + 5] = (address / 0x100000000) | 0;
    this.#entries[at + 6] = length;
  }

  /** Accepts a connection, or many until it is cancelled or fails: one completion for each, with its descriptor. */
  accept(fd: number, many: boolean, tag: number, generation: number): void {
    const at = this.#entry(Operation.ACCEPT | (many ? ACCEPT_MULTISHOT << 16 : 0), fd, tag, generation);
    this.#entries[at + 7] = SOCKET_FLAGS;
  }

  /** Connects to the address of so many bytes that lies there. */
  connect(fd: number, address: number, length: number, tag: number, generation: number): void {
    const at = this.#entry(Operation.CONNECT, fd, tag, generation);
    this.#memory(at, address, 0);
    this.#entries[at + 2] = length;
  }

  /**
   * Receives into a buffer of the group: once; or with a `most`, until so many bytes came in all, with a completion for each buffer. The
   * kernel fills one after another before anybody can say that it is enough. Linux before 6.17 knows no `most`.
   */
  receive(fd: number, group: number, most: number, tag: number, generation: number): void {
    const flags = (BUFFER_SELECT << 8) | (most > 0 ? RECEIVE_MULTISHOT << 16 : 0);
    const at = this.#entry(Operation.RECEIVE | flags, fd, tag, generation);
    this.#entries[at + 10] = group;
    this.#entries[at + 11] = most;
  }

  /**
   * Receives datagrams into buffers of the group until it is cancelled or fails: a completion for each, whose buffer begins with the
   * sender's address as the message header at `header` asks for it. See io_uring_prep_recvmsg_multishot(3).
   */
  receiveMessages(fd: number, group: number, header: number, tag: number, generation: number): void {
    const at = this.#entry(Operation.RECEIVE_MESSAGE | (BUFFER_SELECT << 8) | (RECEIVE_MULTISHOT << 16), fd, tag, generation);
    this.#memory(at, header, 1);
    this.#entries[at + 10] = group;
  }

  /** Sends all of so many bytes, however long that takes. */
  send(fd: number, address: number, length: number, tag: number, generation: number): void {
    const at = this.#entry(Operation.SEND, fd, tag, generation);
    this.#memory(at, address, length);
    this.#entries[at + 7] = NO_SIGNAL | WAIT_ALL;
  }

  /** Sends what there is room for, while it is submitted. Completes, in the same `enter`, only if that is not all. */
  sendAtOnce(fd: number, address: number, length: number, tag: number, generation: number): void {
    const at = this.#entry(Operation.SEND | (SKIP_SUCCESS << 8), fd, tag, generation);
    this.#memory(at, address, length);
    this.#entries[at + 7] = NO_SIGNAL | WAIT_ALL | DONT_WAIT;
  }

  /** Reads up to so many bytes of a file from `offset` on: fewer where the file ends, and perhaps elsewhere. */
  read(fd: number, address: number, length: number, offset: number, tag: number, generation: number): void {
    const at = this.#entry(Operation.READ, fd, tag, generation);
    this.#memory(at, address, length);
    this.#entries[at + 2] = (offset % 0x100000000) | 0;
    this.#entries[at + 3] = (offset / 0x100000000) | 0;
  }

  /** Completes once the socket has room to send, or is broken. */
  awaitRoom(fd: number, tag: number, generation: number): void {
    const at = this.#entry(Operation.POLL, fd, tag, generation);
    this.#entries[at + 7] = POLL_OUT;
  }

  /** Completes once something can be read. */
  awaitReadable(fd: number, tag: number, generation: number): void {
    const at = this.#entry(Operation.POLL, fd, tag, generation);
    this.#entries[at + 7] = POLL_IN;
  }

  /** Cancels the operation that was given these two words. It completes in any case; that it was cancelled, nobody is told. */
  cancel(tag: number, generation: number): void {
    const at = this.#entry(Operation.CANCEL | (SKIP_SUCCESS << 8), -1, 0, 0);
    this.#entries[at + 4] = tag;
    this.#entries[at + 5] = generation;
  }

  close(fd: number, tag: number, generation: number): void {
    this.#entry(Operation.CLOSE, fd, tag, generation);
  }

  // ---------------------------------------------------------------- the kernel's part

  /** Entries wait to be submitted. */
  get pending(): boolean {
    return this.#pending > 0;
  }

  /**
   * Gives the kernel all entries and has it bring what is complete, without waiting. What the kernel does not take now stays. Throws
   * {@link RingError} when the ring is broken.
   */
  enter(): void {
    this.#submit(0, GET_EVENTS, 0, 0);
  }

  /** Enters the kernel and waits until something is complete: for `most` milliseconds, or without an end (-1). */
  enterAndWait(most: number): void {
    if (most < 0) {
      this.#submit(1, this.#waitFlags, 0, 0);
      return;
    }
    const words = this.#waitWords;
    words[TIME] = Math.floor(most / 1000);
    words[TIME + 2] = (most % 1000) * 1e6;
    this.#submit(1, this.#waitFlags | EXTENDED_ARGUMENT, this.#waitAt, ARGUMENT_BYTES);
  }

  #submit(wait: number, flags: number, argument: number, size: number): void {
    Atomics.store(this.#words, this.#submitTail, this.#tail);
    const code = this.#native.ringEnter(this.#fd, this.#pending, wait, flags, argument, size);
    if (code < 0 && code !== EINTR && code !== EAGAIN && code !== EBUSY && code !== ETIME) {
      throw new RingError(`io_uring_enter() failed (${-code})`);
    }
    this.#pending = (this.#tail - Atomics.load(this.#words, this.#submitHead)) >>> 0;
    if (this.#pending > this.#entryMask) {
      throw new RingError('io_uring takes no more entries');
    }
  }

  /** The kernel has more to bring: {@link enter} gets it. */
  get more(): boolean {
    return (
      (Atomics.load(this.#words, this.#submitFlags) & WORK_WAITS) !== 0 || this.#head !== Atomics.load(this.#words, this.#completionTail)
    );
  }

  /** Everything was submitted, and all that completed with it can be taken. */
  get settled(): boolean {
    return this.#pending === 0 && (Atomics.load(this.#words, this.#submitFlags) & OVERFLOW) === 0;
  }

  /** Tells which tags from `first` to `last` the completions have that are to be taken. */
  lookAhead(first: number, last: number, see: (tag: number) => void): void {
    const completed = this.#completed;
    const mask = this.#completionMask;
    const end = Atomics.load(this.#words, this.#completionTail);
    for (let head = this.#head; head !== end; head = (head + 1) >>> 0) {
      const tag = completed[(head & mask) << 2]!;
      if (tag >= first && tag <= last) {
        see(tag);
      }
    }
  }

  /** Completions that came together with the latest one are still to be taken. */
  get hasNext(): boolean {
    return this.#head !== this.#seen;
  }

  /** Takes the next completion. Returns false when there is none. */
  next(): boolean {
    if (this.#head === this.#seen) {
      this.#seen = Atomics.load(this.#words, this.#completionTail);
      if (this.#head === this.#seen) {
        return false;
      }
    }
    const completed = this.#completed;
    const at = (this.#head & this.#completionMask) << 2;
    this.tag = completed[at]!;
    this.generation = completed[at + 1]!;
    this.result = completed[at + 2]!;
    this.flags = completed[at + 3]!;
    this.#head = (this.#head + 1) >>> 0;
    return true;
  }

  /** Tells the kernel which completions were taken. */
  taken(): void {
    Atomics.store(this.#words, this.#completionHead, this.#head);
  }

  // ---------------------------------------------------------------- around it

  /** Has the descriptor signalled when something completes, from now on and unless {@link quiet}. Throws an Error when that fails. */
  signal(fd: number): void {
    this.#register(REGISTER_EVENTFD, new Int32Array([fd]));
  }

  /** No signal is needed, since the caller looks itself; or it is again, and then the caller looks once more. */
  quiet(on: boolean): void {
    Atomics.store(this.#words, this.#completionFlags, on ? EVENTFD_DISABLED : 0);
  }

  /** Names the ring of buffers of a group: so many entries of 16 bytes. Throws an Error when that fails. */
  useBuffers(address: number, entries: number, group: number): void {
    this.#register(
      REGISTER_BUFFERS,
      new Int32Array([(address % 0x100000000) | 0, (address / 0x100000000) | 0, entries, group, 0, 0, 0, 0, 0, 0]),
    );
  }

  #register(operation: number, argument: Int32Array): void {
    const code = this.#native.ringRegister(this.#fd, operation, argument, 1);
    if (code < 0) {
      throw Object.assign(new Error('io_uring_register() failed'), { errno: code });
    }
  }

  /** Gives the ring up, with all that is under way in it. */
  dispose(): void {
    this.#native.close(this.#fd);
  }
}
