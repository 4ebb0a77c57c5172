// One file: what a connection may be doing at a time, and in which order it ends, only makes sense together.

import { writeSync, writevSync } from 'node:fs';
import { openDescriptor } from '../../../shared/net/backend-descriptor.js';
import type { AcceptedSocket, Socket, SocketAddress, SocketDemands, SocketOwner } from '../../../shared/net/socket.js';
import { Family, type KernelAddress, nameOfSocket, peerAddress } from '../../../shared/net/socket-addresses.js';
import { systemError } from '../../../shared/net/system-error.js';
import { Kind, type Sender, type UringEngine } from '../../../shared/net/uring/engine.js';
import { RingError } from '../../../shared/net/uring/memory.js';
import { BUFFER, BUFFER_SHIFT, MORE } from '../../../shared/net/uring/ring.js';
import { SLOT } from '../../../shared/net/uring/send-slots.js';
import { setTimer } from '../../../shared/time/timer.js';
import { totalLength } from '../../bytes/total-length.js';
import { FailedSocket } from '../failed-socket.js';
import { writeMuchLent } from '../lent.js';
import { LAST_BYTES } from '../write-limits.js';

const [EINTR, EAGAIN, ENOMEM, EPIPE, ECONNRESET, ENOBUFS, ECANCELED] = [-4, -11, -12, -32, -104, -105, -125];
/**
 * How many pieces are given to the kernel in one call, at most. It takes no more than 1,024; libuv would send those behind them though the
 * kernel took these only in part.
 */
const PIECES = 64;
/** After this number of small pieces in turn no large ones are expected any more: the last pieces of one message are often small. */
const FEW = 3;
const [SOL_SOCKET, SO_KEEPALIVE, SO_LINGER] = [1, 9, 13];
const ON = new Int32Array([1]);
const RESET = new Int32Array([1, 0]);

/** What receives. */
const Receiving = { NOTHING: 0, ONCE: 1, MANY: 2, CANCELLED: 3 } as const;

/**
 * A connection whose bytes go through the ring, accepted or begun here. Small messages are put into a slot and leave with those of all
 * others at the end of the tick; large ones are given to the kernel at once. What it does not take waits, and leaves a slot at a time.
 */
export class UringSocket implements Sender, AcceptedSocket {
  readonly #engine: UringEngine;
  #fd: number;
  #owner: SocketOwner | undefined;
  /** The connection leads to a backend. */
  readonly #outward: boolean;
  /** The connection is there: only one that begins here is not at first. */
  #open: boolean;
  /** The owner has left, and hears no more. */
  #deserted = false;
  /** The kernel had no room for all that was offered to a backend last. */
  #full = false;
  readonly #index: number;
  readonly #generation: number;
  /** Operations that will complete. */
  #operations = 0;
  #closed = false;
  #closing = false;
  #closeTimer: NodeJS.Timeout | undefined = undefined;

  #receiving: number = Receiving.NOTHING;
  /** Which kind of receiving is under way. */
  #receiveKind: number = Kind.RECEIVE;
  #wanted = false;
  #large = false;
  /** How many pieces in turn would have fitted into a small buffer. */
  #little = 0;
  #much = false;
  /** What came while nobody wanted it: pieces, and at last how it ended (0, or a negated error number). */
  #held: Buffer[] | null = null;
  #heldEnd = 1;
  #over = false;
  /** The tick in which bytes came: what they bring about in it comes before the end that follows them. */
  #cameIn = -1;

  /** What is sent with the next submission, and how much of it there is. */
  #slot = -1;
  #used = 0;
  /** What is being sent. */
  #flight = -1;
  #flying = 0;
  /** The write completes only if the kernel does not take all of it. */
  #atOnce = false;
  /** The submission that it left with. */
  #departed = -1;
  /** A write failed with this negated error number, which is told with the next submission. */
  #writeError = 0;
  /** What comes behind that. */
  #queue: Buffer[] | null = null;
  /** The kernel has not been asked yet to take what is in the slot and the queue. */
  #late = false;
  #asked = false;
  /** Somebody waits for all to be sent. */
  #tell = false;
  /** A file was sent in part, and its owner waits until there is room for more. */
  #roomWanted = false;
  /** The kernel has been asked to say when there is. */
  #polling = false;
  #ending = false;
  /** What was never sent, once the connection is closed. */
  #left = 0;

  /** `owner`: of a connection that is begun here. */
  constructor(engine: UringEngine, fd: number, owner?: SocketOwner) {
    this.#engine = engine;
    this.#fd = fd;
    this.#owner = owner;
    this.#outward = owner !== undefined;
    this.#open = !this.#outward;
    this.#index = engine.add(this);
    this.#generation = engine.generation(this.#index);
  }

  /** Begins to connect to a backend. What comes of it is told to the owner after this has returned. */
  static connect(engine: UringEngine, address: KernelAddress, demands: SocketDemands, owner: SocketOwner): Socket {
    const { native } = engine;
    const fd = openDescriptor(native, address.family, demands);
    if (typeof fd !== 'number') {
      return new FailedSocket(fd, owner);
    }
    const tcp = address.family !== Family.UNIX;
    const socket = new UringSocket(engine, fd, owner);
    // A Unix-domain socket answers at once; the ring would wait for room in its backlog.
    const result = tcp ? 0 : native.connect(fd, address.bytes, address.bytes.length);
    if (!tcp || !socket.#beginConnect(address.bytes)) {
      setImmediate(connectEnded, socket, tcp ? ENOMEM : result);
    }
    return socket;
  }

  get descriptor(): number {
    return this.#fd;
  }

  remote(): SocketAddress {
    return peerAddress(this.#engine.native, this.#fd);
  }

  local(): SocketAddress {
    return nameOfSocket(this.#engine.native, this.#fd);
  }

  keepAlive(): void {
    this.#engine.native.setOption(this.#fd, SOL_SOCKET, SO_KEEPALIVE, ON);
  }

  completed(kind: number, result: number, flags: number): void {
    if ((flags & MORE) === 0) {
      this.#operations--;
    }
    try {
      this.#complete(kind, result, flags);
    } finally {
      if (this.#closed && this.#operations === 0) {
        this.#engine.remove(this.#index);
        this.#operations = -1;
      }
    }
  }

  #complete(kind: number, result: number, flags: number): void {
    switch (kind) {
      case Kind.RECEIVE:
      case Kind.RECEIVE_LARGE:
        this.#received(kind, result, flags);
        break;
      case Kind.SEND:
        this.#sent(result);
        break;
      case Kind.ROOM:
        this.#roomCame(result);
        break;
      case Kind.CONNECT:
        this.#release(this.#flight);
        this.#flight = -1;
        if (!this.#closed) {
          if (this.#queue !== null) {
            this.#ask();
          }
          this.connectEnded(result);
        }
        break;
      default:
        if (!this.#deserted) {
          this.#owner?.socketClosed?.();
        }
    }
  }

  submit(): boolean {
    this.#asked = false;
    if (this.#closed) {
      return false;
    }
    if (this.#writeError < 0) {
      this.#failed(this.#writeError, 'write');
      return true;
    }
    if (this.#late) {
      this.#late = false;
      this.#writeAll();
      // What follows from it has its turn once the others' bytes have left.
      this.#ask();
      return true;
    }
    try {
      return this.#goOn();
    } catch (error) {
      // One request's: others may be on the same connection.
      if (!this.#closed) {
        this.#ask();
      }
      throw error;
    }
  }

  /** Returns whether the owner was called, or the connection ended. */
  #goOn(): boolean {
    let called = false;
    if (this.#held !== null || this.#heldEnd <= 0) {
      called = true;
      this.#deliver();
    }
    called = !this.#send() || called;
    if (this.#tell && this.#idle) {
      called = true;
      this.#tellSent();
    }
    if (this.#wanted && !this.#closed) {
      this.#receive();
    }
    return called;
  }

  #ask(): void {
    if (!this.#asked) {
      this.#asked = true;
      this.#engine.ask(this);
    }
  }

  #tag(kind: number): number {
    return this.#engine.tag(kind, this.#index);
  }

  // ---------------------------------------------------------------- connecting

  /** Begins to connect to an address in the kernel's form. */
  #beginConnect(address: Buffer): boolean {
    const { slots, ring } = this.#engine;
    const slot = slots.take();
    if (slot < 0) {
      return false;
    }
    this.#flight = slot;
    slots.put(slot, 0, address, 0, address.length);
    this.#operations++;
    ring.connect(this.#fd, slots.address(slot, address.length), address.length, this.#tag(Kind.CONNECT), this.#generation);
    this.#engine.wake();
    return true;
  }

  /** An attempt to connect is over: 0, or a negated error number. */
  connectEnded(result: number): void {
    if (this.#closed) {
      return;
    }
    if (result < 0) {
      this.#failed(result, 'connect');
      return;
    }
    this.#open = true;
    this.resume();
    this.#owner!.socketOpened?.();
  }

  // ---------------------------------------------------------------- reading

  start(owner: SocketOwner): void {
    this.#owner = owner;
    this.resume();
  }

  /** Begins or goes on to read. */
  resume(): void {
    if (this.#wanted || this.#closed) {
      return;
    }
    this.#wanted = true;
    if (this.#receiving === Receiving.NOTHING || this.#held !== null || this.#heldEnd <= 0) {
      this.#ask();
    }
  }

  /** Gives nothing until {@link resume}. */
  pause(): void {
    if (!this.#wanted || this.#closed) {
      return;
    }
    this.#wanted = false;
    // One that receives once is left alone: it brings at most a buffer, which is kept.
    if (this.#receiving === Receiving.MANY) {
      this.#cancelReceiving();
    }
  }

  expectMuch(much: boolean): void {
    this.#much = much;
    if (much) {
      this.#readLarge();
    }
  }

  #readLarge(): void {
    if (this.#large) {
      return;
    }
    this.#large = true;
    if (this.#receiving === Receiving.MANY) {
      this.#cancelReceiving();
    }
  }

  #cancelReceiving(): void {
    this.#receiving = Receiving.CANCELLED;
    this.#engine.ring.cancel(this.#tag(this.#receiveKind), this.#generation);
    this.#engine.wake();
  }

  #receive(): void {
    if (this.#receiving !== Receiving.NOTHING || this.#over || this.#held !== null) {
      return;
    }
    this.#operations++;
    const engine = this.#engine;
    const large = this.#large;
    const kind = large ? Kind.RECEIVE_LARGE : Kind.RECEIVE;
    const most = large ? 0 : engine.receiveMost;
    this.#receiveKind = kind;
    this.#receiving = most > 0 ? Receiving.MANY : Receiving.ONCE;
    engine.ring.receive(this.#fd, (large ? engine.large : engine.small).group, most, this.#tag(kind), this.#generation);
  }

  #received(kind: number, result: number, flags: number): void {
    if ((flags & MORE) === 0) {
      this.#receiving = Receiving.NOTHING;
    }
    // Before an owner gets the bytes, who may throw.
    if (result > 0 && this.#wanted && this.#receiving === Receiving.NOTHING) {
      this.#ask();
    }
    if ((flags & BUFFER) !== 0) {
      const buffers = kind === Kind.RECEIVE ? this.#engine.small : this.#engine.large;
      const id = flags >>> BUFFER_SHIFT;
      const bytes = buffers.take(id);
      try {
        if (result > 0) {
          this.#piece(bytes, result);
        }
      } finally {
        buffers.give(id);
      }
    } else if (result > 0) {
      throw new RingError('bytes came into no buffer');
    }
    if (this.#closed) {
      return;
    }
    if (result === 0 || (result < 0 && result !== ECANCELED && result !== ENOBUFS && result !== EAGAIN && result !== EINTR)) {
      this.#over = true;
      if (this.#wanted && this.#held === null && !this.#cameNow) {
        this.#end(result);
      } else {
        this.#heldEnd = result;
        this.#engine.askNext(this);
      }
    } else if (result < 0 && this.#wanted && this.#receiving === Receiving.NOTHING) {
      this.#ask();
    }
  }

  #piece(bytes: Buffer, length: number): void {
    if (this.#closed) {
      return;
    }
    if (!this.#wanted || this.#held !== null) {
      const copy = Buffer.from(bytes.subarray(0, length));
      if (this.#held === null) {
        this.#held = [copy];
      } else {
        this.#held.push(copy);
      }
      return;
    }
    this.#cameIn = this.#engine.ticks;
    if (!this.#much) {
      this.#adapt(bytes.length, length);
    }
    this.#tellBytes(bytes, length);
  }

  /** Much is read at a time from where buffers come full. */
  #adapt(room: number, length: number): void {
    const { size } = this.#engine.small;
    if (room === size ? length === size : length > size) {
      this.#little = 0;
      this.#readLarge();
    } else if (this.#large && ++this.#little === FEW) {
      this.#large = false;
    }
  }

  #deliver(): void {
    while (this.#wanted && !this.#closed && this.#held !== null) {
      const piece = this.#held.shift()!;
      if (this.#held.length === 0) {
        this.#held = null;
      }
      this.#cameIn = this.#engine.ticks;
      this.#tellBytes(piece, piece.length);
    }
    if (!this.#wanted || this.#closed || this.#held !== null || this.#heldEnd > 0) {
      return;
    }
    if (this.#cameNow) {
      this.#engine.askNext(this);
      return;
    }
    const result = this.#heldEnd;
    this.#heldEnd = 1;
    this.#end(result);
  }

  /** What the last bytes have brought about may still be to come in an immediate: the connection's end waits for that. */
  get #cameNow(): boolean {
    return this.#cameIn === this.#engine.ticks || this.#cameIn > this.#engine.settledTick;
  }

  #end(result: number): void {
    if (result < 0) {
      this.#failed(result, 'read');
    } else if (!this.#deserted) {
      this.#owner!.socketEnded(false);
    }
  }

  #tellBytes(bytes: Buffer, length: number): void {
    if (!this.#deserted) {
      this.#owner!.socketReceived(bytes, length, true);
    }
  }

  // ---------------------------------------------------------------- sending

  /** Nothing is in front of what is written next, but for what leaves with it. */
  get #idle(): boolean {
    return this.#flight === -1 && this.#queue === null;
  }

  get pending(): boolean {
    return !this.flushed;
  }

  get blocked(): boolean {
    return this.pending;
  }

  /** The kernel has all, or is about to get it. */
  get flushed(): boolean {
    return !this.#roomWanted && this.#queue === null && (this.#flight === -1 || this.#departed === this.#engine.exchanges);
  }

  /**
   * How many bytes of what was written the kernel has not taken, or has never taken. What leaves at the end of the turn is as good as
   * taken.
   */
  get unsent(): number {
    return this.flushed ? this.#left : this.#untaken();
  }

  /** How many bytes the kernel has not taken, without what leaves at the end of the turn. */
  #untaken(): number {
    let unsent = this.#left;
    if (this.#slot !== -1) {
      unsent += this.#used;
    }
    // What leaves with the submission at hand is as good as taken.
    if (this.#flight !== -1 && this.#departed !== this.#engine.exchanges && !this.#closed) {
      unsent += this.#flying;
    }
    return unsent + (this.#queue === null ? 0 : totalLength(this.#queue));
  }

  /** `bytes` came too late to be sent. */
  #dropped(bytes: number): true {
    this.#left += bytes;
    return true;
  }

  awaitFlush(): void {
    // Room that is waited for is told of in any case.
    if (!this.#roomWanted) {
      this.#tell = true;
      this.#ask();
    }
  }

  // What is written leaves at the end of the tick in any case.
  cork(): void {}

  uncork(): void {}

  write(data: string | Buffer): boolean {
    if (this.#full) {
      return this.#writeOnFull(data);
    }
    if (this.#closed) {
      return this.#dropped(data.length);
    }
    if (this.#writeError < 0) {
      this.#left += data.length;
      // Somebody with much to send would go on with all of it before the connection's end is told.
      return false;
    }
    if (!this.#idle) {
      return this.#wait(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
    }
    if (this.#room(data.length)) {
      if (typeof data === 'string') {
        this.#engine.slots.putText(this.#slot, this.#used, data);
      } else {
        this.#engine.slots.put(this.#slot, this.#used, data, 0, data.length);
      }
      this.#used += data.length;
      return true;
    }
    this.#writeNow(typeof data === 'string' ? Buffer.from(data, 'latin1') : data, true);
    return this.#idle && this.#writeError === 0;
  }

  /** What the kernel has no room for takes time, although it goes into a slot: a connection that closes drops it. */
  #writeOnFull(data: string | Buffer): boolean {
    this.#full = false;
    if (this.write(data) && !this.#closed) {
      this.awaitFlush();
    }
    return this.#closed;
  }

  /**
   * Sends text, bytes and text. Much leaves once the requests that came with this one are answered: what the kernel copies drives the
   * memory that answers need out of the processor's cache.
   */
  writeJoined(before: string, bytes: Buffer, after: string): boolean {
    if (this.#putJoined(before, bytes, 0, bytes.length, after)) {
      return true;
    }
    this.write(before);
    if (!this.#engine.ring.hasNext || !this.#idle || this.#closed || this.#writeError < 0) {
      const flowing = this.write(bytes);
      return after === '' ? flowing : this.write(after);
    }
    this.#late = true;
    this.#ask();
    this.#wait(bytes);
    return after === '' ? false : this.#wait(Buffer.from(after, 'latin1'));
  }

  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    return this.#putJoined(before, bytes, start, end, after) || writeMuchLent(this, before, bytes.subarray(start, end), after);
  }

  /** Puts all of it behind what is in the slot. Returns false when there is no room. */
  #putJoined(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    if (this.#closed) {
      return this.#dropped(before.length + end - start + after.length);
    }
    if (!this.#idle || !this.#room(before.length + end - start + after.length)) {
      return false;
    }
    const { slots } = this.#engine;
    const slot = this.#slot;
    let at = this.#used;
    if (before !== '') {
      slots.putText(slot, at, before);
      at += before.length;
    }
    slots.put(slot, at, bytes, start, end);
    at += end - start;
    if (after !== '') {
      slots.putText(slot, at, after);
      at += after.length;
    }
    this.#used = at;
    return true;
  }

  /** Whether so many bytes go behind those in the slot, which there is then. */
  #room(length: number): boolean {
    if ((this.#slot === -1 ? length : this.#used + length) > SLOT) {
      return false;
    }
    if (this.#slot === -1) {
      this.#slot = this.#engine.slots.take();
      if (this.#slot === -1) {
        return false;
      }
      this.#used = 0;
      this.#ask();
    }
    return true;
  }

  /** Keeps what comes behind that which is being sent. */
  #wait(bytes: Buffer): false {
    if (this.#queue === null) {
      this.#queue = [bytes];
    } else {
      this.#queue.push(bytes);
    }
    this.#tell = true;
    return false;
  }

  /**
   * Gives the kernel what is in the slot and these bytes. Returns how many of the bytes it took, or a negated error number; what is left of
   * the slot waits, and of the bytes if they are to be kept.
   */
  #writeNow(bytes: Buffer, keep: boolean): number {
    const taken = this.#giveKernel([bytes]);
    if (taken < 0) {
      this.#left += keep ? bytes.length : 0;
      return taken;
    }
    if (keep && taken < bytes.length) {
      this.#wait(taken === 0 ? bytes : bytes.subarray(taken));
    }
    if (this.#queue !== null) {
      this.#ask();
    }
    return taken;
  }

  /** Gives the kernel what is in the slot and the queue. What it does not take waits. */
  #writeAll(): void {
    const behind = this.#queue!;
    const pieces = behind.splice(0, PIECES);
    this.#queue = null;
    let taken = this.#giveKernel(pieces);
    if (taken < 0) {
      return;
    }
    for (const bytes of pieces) {
      if (taken < bytes.length) {
        this.#wait(taken <= 0 ? bytes : bytes.subarray(taken));
      }
      taken -= bytes.length;
    }
    for (const bytes of behind) {
      this.#wait(bytes);
    }
  }

  /**
   * Gives the kernel what is in the slot, and these pieces. Returns how many bytes of the pieces it took, or a negated error number; what
   * is left of the slot waits.
   */
  #giveKernel(pieces: Buffer[]): number {
    const slot = this.#slot;
    const used = slot === -1 ? 0 : this.#used;
    const inSlot = used === 0 ? null : this.#engine.slots.bytes(slot, used);
    let taken = 0;
    try {
      if (inSlot !== null) {
        taken = writevSync(this.#fd, [inSlot, ...pieces]);
      } else {
        taken = pieces.length === 1 ? writeSync(this.#fd, pieces[0]!) : writevSync(this.#fd, pieces);
      }
    } catch (error) {
      const { errno = 0 } = error as NodeJS.ErrnoException;
      if (errno !== EAGAIN) {
        this.#writeError = errno;
        this.#ask();
        return errno;
      }
    }
    if (inSlot !== null && taken < used) {
      this.#wait(Buffer.from(inSlot.subarray(taken)));
    }
    this.#release(slot);
    this.#slot = -1;
    this.#used = 0;
    return Math.max(0, taken - used);
  }

  get offerLimit(): number {
    return Number.POSITIVE_INFINITY;
  }

  offer(bytes: Buffer): number {
    const taken = this.#offer(bytes);
    this.#full = this.#outward && taken < bytes.length;
    return taken;
  }

  /** Takes few bytes into the slot; gives the kernel as many of more as it has room for, and keeps none of them. */
  #offer(bytes: Buffer): number {
    if (this.#closed || !this.#idle || this.#writeError < 0) {
      return 0;
    }
    if (this.#putJoined('', bytes, 0, bytes.length, '')) {
      return bytes.length;
    }
    return Math.max(0, this.#writeNow(bytes, false));
  }

  /**
   * Has the kernel send so many bytes of a file, from `at` on, as far as it has room. Returns how many it took, and if these are not
   * all, `socketDrained` follows when there is room; -1 where it does not send that file, which may have become shorter.
   */
  offerFile(file: number, at: number, size: number): number {
    if (this.#closed || this.#writeError < 0 || !this.#idle || !this.#slotLeaves()) {
      this.#wantRoom();
      return 0;
    }
    const taken = this.#engine.native.sendFile(this.#fd, file, at, size);
    if (taken > 0) {
      if (taken < size) {
        this.#wantRoom();
      }
      return taken;
    }
    if (taken === EAGAIN || taken === EINTR) {
      this.#wantRoom();
      return 0;
    }
    if (taken === EPIPE || taken === ECONNRESET) {
      this.#writeError = taken;
      this.#wantRoom();
      this.#ask();
      return 0;
    }
    return -1;
  }

  /** Has the owner told when there is room for more. What is being sent tells that by itself. */
  #wantRoom(): void {
    this.#roomWanted = true;
    if (this.#closed || this.#writeError < 0) {
      // Nothing leaves any more, and the owner is about to be told so.
      return;
    }
    if (!this.#idle) {
      this.#tell = true;
    } else if (!this.#polling) {
      this.#polling = true;
      this.#operations++;
      this.#engine.ring.awaitRoom(this.#fd, this.#tag(Kind.ROOM), this.#generation);
      this.#engine.wake();
    }
  }

  #roomCame(result: number): void {
    this.#polling = false;
    if (this.#closed || !this.#roomWanted) {
      return;
    }
    if (result < 0) {
      this.#failed(result, 'write');
    } else if (this.#idle) {
      this.#tellSent();
    } else {
      this.#tell = true;
    }
  }

  /** Gives the kernel what is in the slot, as the beginning of more. Returns whether it took all. */
  #slotLeaves(): boolean {
    const slot = this.#slot;
    if (slot === -1) {
      return true;
    }
    const bytes = this.#engine.slots.bytes(slot, this.#used);
    const taken = this.#engine.native.sendMore(this.#fd, bytes);
    if (taken < 0 && taken !== EAGAIN && taken !== EINTR) {
      this.#writeError = taken;
      return false;
    }
    const rest = Math.max(0, taken);
    if (rest < bytes.length) {
      this.#wait(Buffer.from(bytes.subarray(rest)));
    }
    this.#release(slot);
    this.#slot = -1;
    return rest === bytes.length;
  }

  /** Has the next slot sent unless one is. Returns false when the connection ended in place of that. */
  #send(): boolean {
    if (this.#flight !== -1) {
      return true;
    }
    if (this.#slot === -1 && this.#queue !== null && !this.#fill(this.#queue)) {
      return false;
    }
    const slot = this.#slot;
    if (slot === -1) {
      if (this.#closing) {
        this.close();
        return false;
      }
      if (this.#ending) {
        this.#endNow();
        return false;
      }
      return true;
    }
    const engine = this.#engine;
    const length = this.#used;
    this.#flight = slot;
    this.#slot = -1;
    this.#operations++;
    this.#flying = length;
    this.#departed = engine.exchanges;
    const address = engine.slots.address(slot, length);
    if (this.#queue === null && !this.#tell && !this.#closing && !this.#ending) {
      this.#atOnce = true;
      engine.ring.sendAtOnce(this.#fd, address, length, this.#tag(Kind.SEND), this.#generation);
      engine.sentAtOnce(this);
    } else {
      engine.ring.send(this.#fd, address, length, this.#tag(Kind.SEND), this.#generation);
    }
    return true;
  }

  notTaken(): void {
    this.#atOnce = false;
  }

  taken(): void {
    if (this.#atOnce) {
      this.completed(Kind.SEND, this.#flying, 0);
    }
  }

  /** Takes a slot's worth from the queue. Returns false when there is none. */
  #fill(queue: Buffer[]): boolean {
    const { slots } = this.#engine;
    const slot = slots.take();
    if (slot === -1) {
      this.#failed(ENOMEM, 'write');
      return false;
    }
    let used = 0;
    while (queue.length > 0 && used < SLOT) {
      const bytes = queue[0]!;
      const length = Math.min(bytes.length, SLOT - used);
      slots.put(slot, used, bytes, 0, length);
      used += length;
      if (length === bytes.length) {
        queue.shift();
      } else {
        queue[0] = bytes.subarray(length);
      }
    }
    if (queue.length === 0) {
      this.#queue = null;
    }
    this.#slot = slot;
    this.#used = used;
    return true;
  }

  #sent(result: number): void {
    const slot = this.#flight;
    const length = this.#flying;
    this.#flight = -1;
    this.#atOnce = false;
    if (this.#closed) {
      this.#release(slot);
      return;
    }
    if (result !== length && (result >= 0 || result === EINTR || result === EAGAIN)) {
      // The kernel took a part: the rest goes first.
      const rest = Buffer.from(this.#engine.slots.bytes(slot, length).subarray(Math.max(0, result)));
      this.#release(slot);
      this.#takeBack();
      this.#queue = [rest, ...(this.#queue ?? [])];
      // What follows waits for room.
      this.#tell = true;
      this.#ask();
      return;
    }
    this.#release(slot);
    if (result < 0) {
      this.#left += length;
      this.#failed(result, 'write');
      return;
    }
    // The owner may have seen that it was under way.
    if (this.#departed !== this.#engine.exchanges) {
      this.#tell = true;
    }
    if (this.#queue !== null || this.#slot !== -1 || this.#closing || this.#ending) {
      this.#ask();
    } else if (this.#tell) {
      this.#tellSent();
    }
  }

  #tellSent(): void {
    this.#tell = false;
    this.#roomWanted = false;
    if (!this.#deserted) {
      this.#owner?.socketDrained();
    }
  }

  /** What was put into a slot waits behind what is in front of it. */
  #takeBack(): void {
    if (this.#slot === -1) {
      return;
    }
    const bytes = Buffer.from(this.#engine.slots.bytes(this.#slot, this.#used));
    this.#release(this.#slot);
    this.#slot = -1;
    this.#queue = [bytes, ...(this.#queue ?? [])];
  }

  #release(slot: number): void {
    if (slot !== -1) {
      this.#engine.slots.release(slot);
    }
  }

  // ---------------------------------------------------------------- the end

  /** The connection broke, or could not be made: negated error number. */
  #failed(errno: number, syscall: 'read' | 'write' | 'connect'): void {
    if (!this.#deserted && (this.#outward || syscall === 'read')) {
      this.#owner?.socketFailed?.(systemError(errno, syscall));
    }
    this.close();
  }

  /** Sends what is left, and then that this is the end. */
  end(): void {
    if (this.#closed || this.#ending) {
      return;
    }
    this.#ending = true;
    if (this.#idle && this.#slot === -1) {
      this.#endNow();
    } else {
      this.#ask();
    }
  }

  #endNow(): void {
    this.#ending = false;
    if (this.#engine.native.shutdownSend(this.#fd) < 0) {
      this.close();
    }
  }

  /** Closes once everything is sent. */
  closeSoon(): void {
    if (this.#closed || this.#closing) {
      return;
    }
    if (this.#idle && this.#slot === -1) {
      this.close();
      return;
    }
    this.#closing = true;
    this.#engine.leaving(1);
    this.#closeTimer = setTimer(close, LAST_BYTES, this);
    this.#closeTimer.unref();
    this.#ask();
  }

  /** Closes at once: what was not sent is dropped. */
  close(): void {
    if (this.#closed) {
      return;
    }
    this.#left = this.#untaken();
    this.#closed = true;
    if (this.#closing) {
      clearTimeout(this.#closeTimer);
      this.#engine.leaving(-1);
    }
    const { ring } = this.#engine;
    if (this.#receiving === Receiving.ONCE || this.#receiving === Receiving.MANY) {
      ring.cancel(this.#tag(this.#receiveKind), this.#generation);
    }
    if (this.#flight !== -1 && !this.#atOnce) {
      ring.cancel(this.#tag(Kind.SEND), this.#generation);
      ring.cancel(this.#tag(Kind.CONNECT), this.#generation);
    }
    if (this.#polling) {
      ring.cancel(this.#tag(Kind.ROOM), this.#generation);
    }
    this.#release(this.#slot);
    this.#slot = -1;
    this.#queue = null;
    this.#held = null;
    this.#operations++;
    ring.close(this.#fd, this.#tag(Kind.CLOSE), this.#generation);
    this.#fd = -1;
    this.#engine.wake();
  }

  /** What was written has left as far as the owner knows, so it still leaves. */
  leave(): void {
    if (this.#deserted || !this.#open) {
      this.close();
      return;
    }
    this.#deserted = true;
    this.pause();
    this.closeSoon();
  }

  reset(): void {
    if (!this.#closed) {
      this.#engine.native.setOption(this.#fd, SOL_SOCKET, SO_LINGER, RESET);
      this.close();
    }
  }
}

function close(socket: UringSocket): void {
  socket.close();
}

function connectEnded(socket: UringSocket, result: number): void {
  socket.connectEnded(result);
}
