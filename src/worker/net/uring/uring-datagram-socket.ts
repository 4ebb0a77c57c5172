import type { Native } from '../../../shared/native/native.js';
import { openDescriptor } from '../../../shared/net/backend-descriptor.js';
import type { DatagramHandle } from '../../../shared/net/datagram-handle.js';
import { type DatagramPeer, type DatagramSocket, type DatagramTaker, MOST_WAITING } from '../../../shared/net/datagram-socket.js';
import type { SocketAddress, SocketDemands } from '../../../shared/net/socket.js';
import { addressAt, Family, ipAddress, type KernelAddress, nameOfSocket } from '../../../shared/net/socket-addresses.js';
import { systemError } from '../../../shared/net/system-error.js';
import { Kind, type RingEndpoint, type UringEngine } from '../../../shared/net/uring/engine.js';
import { Region, RingError } from '../../../shared/net/uring/memory.js';
import { BUFFER, BUFFER_SHIFT, MORE } from '../../../shared/net/uring/ring.js';
import { setTimer } from '../../../shared/time/timer.js';
import { localText } from '../local-text.js';
import { MessageSender } from '../message-sender.js';
import { type Ancillary, readControl, tellLocal } from '../udp-options.js';

const [EINTR, EBADF, EAGAIN, EINVAL, ENOBUFS, ECANCELED] = [-4, -9, -11, -22, -105, -125];

/** struct msghdr: its bytes, and where it says how long an address and what is told beside it may be. */
const HEADER = 56;
const [NAME_LENGTH, CONTROL_LENGTH] = [8, 40];
/** struct io_uring_recvmsg_out, behind which are the address, where the datagram came to, if that is asked for, and the datagram. */
const FOUND = 16;
const NAME = 28;
const CONTROL = 64;
/** Bytes of the longest datagram. */
const LONGEST = 64 * 1024;
const ANY: ReadonlySet<string | undefined> = new Set(['0.0.0.0', '::']);
/** As many bytes as a connection may bring in before anybody can say that it is enough. */
const AT_ONCE = 64 * 1024;
/** How many failures in turn there may be; then the socket is tried again after a pause. */
const PATIENCE = 16;
const RETRY = 500;

/** A process asks for the same of every datagram of sockets that are not connected, and are for one address or for all of them. */
let header: Region | undefined;
let localHeader: Region | undefined;
/** What leaves from an address that it names. */
let output: Region | undefined;

interface Waiting {
  readonly bytes: Buffer;
  readonly address: Buffer | null;
  readonly local: Buffer | undefined;
}

function askFor(native: Native, control: number): Region {
  const region = Region.map(native, HEADER);
  region.bytes.writeUInt32LE(NAME, NAME_LENGTH);
  region.bytes.writeUInt32LE(control, CONTROL_LENGTH);
  return region;
}

/** A UDP socket that receives through the ring. It sends at once: the kernel takes datagrams as they are. */
export class UringDatagramSocket implements DatagramSocket, RingEndpoint {
  readonly #engine: UringEngine;
  readonly #fd: number;
  /** What has the descriptor; null where it is this socket's own. */
  readonly #handle: DatagramHandle | null;
  /** Sends from the address to which a client came; null where the socket has one only. */
  readonly #sender: MessageSender | null = null;
  /** What is told beside the present datagram, where there is a sender. */
  readonly #found: Ancillary | null = null;
  readonly #index: number;
  readonly #generation: number;
  #taker: DatagramTaker | undefined = undefined;
  /** Operations that will complete. */
  #operations = 0;
  #receiving = false;
  #wanted = false;
  #closed = false;
  /** The ring knows of it no longer. */
  #gone = false;
  /** How often receiving failed in turn. */
  #failures = 0;
  /** What came while nobody wanted it. */
  #held: Buffer[] = [];
  /** What the kernel had no room for, and its bytes. */
  #queue: Waiting[] = [];
  #waiting = 0;

  private constructor(engine: UringEngine, fd: number, handle: DatagramHandle | null) {
    this.#engine = engine;
    this.#fd = fd;
    this.#handle = handle;
    if (handle !== null && ANY.has(nameOfSocket(engine.native, fd).address)) {
      const { native } = engine;
      tellLocal(native, fd, handle.ipv6 ? Family.INET6 : Family.INET);
      output ??= Region.map(native, LONGEST);
      this.#sender = new MessageSender(native, fd, output);
      this.#found = { segment: 0, ecn: 0, localAt: -1, localLength: 0 };
    }
    this.#index = engine.add(this);
    this.#generation = engine.generation(this.#index);
  }

  /** Serves a bound socket in the place of its handle. */
  static bound(engine: UringEngine, handle: DatagramHandle): UringDatagramSocket {
    return new UringDatagramSocket(engine, handle.fd, handle);
  }

  /** A socket that only talks to one peer, perhaps from a local address. */
  static connect(engine: UringEngine, peer: KernelAddress, demands: SocketDemands): UringDatagramSocket | Error {
    const { native } = engine;
    const fd = openDescriptor(native, peer.family, demands, true);
    if (typeof fd !== 'number') {
      return fd;
    }
    const code = native.connect(fd, peer.bytes, peer.bytes.length);
    if (code < 0) {
      native.close(fd);
      return systemError(code, 'connect');
    }
    return new UringDatagramSocket(engine, fd, null);
  }

  local(came?: Buffer): SocketAddress {
    return localText(nameOfSocket(this.#engine.native, this.#fd), came);
  }

  // ---------------------------------------------------------------- receiving

  receive(taker: DatagramTaker): number {
    this.#taker = taker;
    this.resume();
    return 0;
  }

  pause(): void {
    this.#wanted = false;
    this.#cancel();
  }

  resume(): void {
    if (this.#closed || this.#wanted) {
      return;
    }
    this.#wanted = true;
    this.#engine.ask(this);
  }

  #cancel(): void {
    if (this.#receiving) {
      this.#engine.ring.cancel(this.#engine.tag(Kind.DATAGRAM, this.#index), this.#generation);
      this.#engine.wake();
    }
  }

  submit(): boolean {
    if (this.#closed) {
      this.#removeWhenIdle();
      return true;
    }
    if (!this.#wanted) {
      return false;
    }
    if (!this.#receiving) {
      this.#receive();
    }
    const held = this.#held.shift();
    if (held === undefined) {
      return false;
    }
    if (this.#held.length > 0) {
      this.#engine.ask(this);
    }
    this.#taker!.datagram(held, '', 0, undefined);
    return true;
  }

  #receive(): void {
    const { ring, native, datagrams, receiveMost } = this.#engine;
    const tag = this.#engine.tag(Kind.DATAGRAM, this.#index);
    this.#receiving = true;
    this.#operations++;
    if (this.#handle === null) {
      ring.receive(this.#fd, datagrams.group, receiveMost > 0 ? AT_ONCE : 0, tag, this.#generation);
      return;
    }
    let asked: Region;
    if (this.#sender === null) {
      header ??= askFor(native, 0);
      asked = header;
    } else {
      localHeader ??= askFor(native, CONTROL);
      asked = localHeader;
    }
    ring.receiveMessages(this.#fd, datagrams.group, asked.address(0, HEADER), tag, this.#generation);
  }

  completed(kind: number, result: number, flags: number): void {
    if ((flags & MORE) === 0) {
      this.#operations--;
      if (kind === Kind.DATAGRAM) {
        this.#receiving = false;
      }
    }
    if (this.#closed || (kind === Kind.DATAGRAM && this.#wanted && !this.#receiving)) {
      // Before a taker gets the bytes, who may throw.
      this.#again(result);
    }
    if (kind === Kind.ROOM) {
      this.#sendWaiting();
    } else {
      this.#received(result, flags);
    }
  }

  /** Asks the ring for the next datagrams, later after several failures; a closed socket tells the ring to let it go. */
  #again(result: number): void {
    if (result < 0) {
      this.#failures++;
    }
    if (this.#failures < PATIENCE || this.#closed) {
      this.#engine.ask(this);
    } else {
      setTimer(ask, RETRY, this.#engine, this).unref();
    }
  }

  #received(result: number, flags: number): void {
    if ((flags & BUFFER) === 0) {
      const usual = result === ECANCELED || result === ENOBUFS || result === EAGAIN || result === EINTR;
      if (result < 0 && !usual && !this.#closed) {
        this.#taker!.receiveFailed(result);
      } else if (result === 0 && !this.#closed) {
        this.#came(Buffer.alloc(0), '', 0, undefined);
      }
      return;
    }
    this.#failures = 0;
    const { datagrams } = this.#engine;
    const id = flags >>> BUFFER_SHIFT;
    const bytes = datagrams.take(id);
    try {
      if (!this.#closed && result >= 0) {
        this.#read(bytes, result);
      }
    } finally {
      datagrams.give(id);
    }
  }

  #read(bytes: Buffer, length: number): void {
    if (this.#handle === null) {
      this.#came(Buffer.from(bytes.subarray(0, length)), '', 0, undefined);
      return;
    }
    const told = FOUND + NAME;
    const start = this.#sender === null ? told : told + CONTROL;
    if (length < start || length > bytes.length) {
      throw new RingError(`a datagram with its address has ${length} bytes`);
    }
    const { address = '', port = 0 } = addressAt(bytes, FOUND);
    let local: Buffer | undefined;
    if (this.#found !== null) {
      readControl(bytes, told, told + Math.min(CONTROL, bytes.readUInt32LE(4)), this.#found);
      const { localAt, localLength } = this.#found;
      local = localAt < 0 ? undefined : bytes.subarray(localAt, localAt + localLength);
    }
    this.#came(Buffer.from(bytes.subarray(start, length)), address, port, local);
  }

  #came(bytes: Buffer, address: string, port: number, local: Buffer | undefined): void {
    if (this.#handle === null && (!this.#wanted || this.#held.length > 0)) {
      this.#held.push(bytes);
    } else {
      this.#taker!.datagram(bytes, address, port, local);
    }
  }

  // ---------------------------------------------------------------- sending

  peer(address: string, port: number, local?: Buffer): DatagramPeer {
    return { address, port, kernel: ipAddress(address, port)?.bytes, local: local === undefined ? undefined : Buffer.from(local) };
  }

  send(bytes: Buffer): number {
    return this.#send(bytes, null, undefined);
  }

  sendTo(bytes: Buffer, { kernel, local }: DatagramPeer): number {
    return kernel === undefined ? EINVAL : this.#send(bytes, kernel, local);
  }

  #give(bytes: Buffer, address: Buffer | null, local: Buffer | undefined): number {
    if (local === undefined || address === null || this.#sender === null || bytes.length > LONGEST) {
      return this.#engine.native.sendDatagram(this.#fd, bytes, address);
    }
    bytes.copy(output!.bytes);
    return this.#sender.send(address, local, 0, bytes.length, bytes.length, true);
  }

  #send(bytes: Buffer, address: Buffer | null, local: Buffer | undefined): number {
    if (this.#closed) {
      return EBADF;
    }
    const code = this.#queue.length > 0 ? EAGAIN : this.#give(bytes, address, local);
    if (code !== EAGAIN) {
      return Math.min(code, 0);
    }
    if (this.#waiting > MOST_WAITING) {
      return ENOBUFS;
    }
    this.#queue.push({ bytes, address, local });
    this.#waiting += bytes.length;
    if (this.#queue.length === 1) {
      this.#awaitRoom();
    }
    return 0;
  }

  #awaitRoom(): void {
    this.#operations++;
    this.#engine.ring.awaitRoom(this.#fd, this.#engine.tag(Kind.ROOM, this.#index), this.#generation);
    this.#engine.wake();
  }

  #sendWaiting(): void {
    while (this.#queue.length > 0 && !this.#closed) {
      const { bytes, address, local } = this.#queue[0]!;
      if (this.#give(bytes, address, local) === EAGAIN) {
        this.#awaitRoom();
        return;
      }
      this.#waiting -= bytes.length;
      this.#queue.shift();
    }
  }

  // ---------------------------------------------------------------- the end

  close(): void {
    if (this.#closed) {
      return;
    }
    this.#closed = true;
    this.#cancel();
    this.#held = [];
    if (this.#queue.length > 0) {
      this.#queue = [];
      this.#engine.ring.cancel(this.#engine.tag(Kind.ROOM, this.#index), this.#generation);
      this.#engine.wake();
    }
    this.#removeWhenIdle();
  }

  #removeWhenIdle(): void {
    if (this.#operations > 0 || this.#gone) {
      return;
    }
    this.#gone = true;
    this.#engine.remove(this.#index);
    if (this.#handle === null) {
      this.#engine.native.close(this.#fd);
    } else {
      this.#handle.close();
    }
  }
}

function ask(engine: UringEngine, socket: UringDatagramSocket): void {
  engine.ask(socket);
}
