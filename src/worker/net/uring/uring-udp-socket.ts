import type { DatagramHandle } from '../../../shared/net/datagram-handle.js';
import { nameOfSocket } from '../../../shared/net/socket-addresses.js';
import { Kind, type RingEndpoint, type UringEngine } from '../../../shared/net/uring/engine.js';
import { Region, RingError } from '../../../shared/net/uring/memory.js';
import { BUFFER, BUFFER_SHIFT, MORE } from '../../../shared/net/uring/ring.js';
import { setTimer } from '../../../shared/time/timer.js';
import { copyBytes } from '../../bytes/copy-bytes.js';
import { localText } from '../local-text.js';
import { LOCAL_4, LOCAL_6, MessageSender } from '../message-sender.js';
import { type Ancillary, readControl } from '../udp-options.js';
import { UDP_ROOM, type UdpSocket, type UdpTaker } from '../udp-socket.js';

/** struct msghdr, and where it says how much room an address and the rest may have. */
const HEADER = 56;
const [NAME_LENGTH, CONTROL_LENGTH] = [8, 40];
/** struct io_uring_recvmsg_out, behind which come the address, what is told beside it, and the datagram. */
const [FOUND, NAME, CONTROL] = [16, 28, 128];
const CONTROL_AT = FOUND + NAME;
const START = CONTROL_AT + CONTROL;
/** How many failures in turn there may be; then the socket is tried again after a pause. */
const PATIENCE = 16;
const RETRY = 500;

/** A UDP socket that receives through the ring, with all that the kernel tells of datagrams. */
export class UringUdpSocket implements UdpSocket, RingEndpoint {
  readonly input: Region;
  readonly output: Region;
  readonly #engine: UringEngine;
  readonly #handle: DatagramHandle;
  readonly #taker: () => UdpTaker;
  readonly #sender: MessageSender;
  readonly #header: Region;
  readonly #index: number;
  readonly #generation: number;
  readonly #found: Ancillary = { segment: 0, ecn: 0, localAt: -1, localLength: 0 };
  /** The addresses of the present datagram: where it came from, and where it came to. */
  readonly #peer: Buffer = Buffer.alloc(NAME);
  readonly #local4: Buffer = Buffer.alloc(LOCAL_4);
  readonly #local6: Buffer = Buffer.alloc(LOCAL_6);
  #receiving = false;
  #asked = false;
  #released = false;
  #closed = false;
  #gone = false;
  #failures = 0;

  constructor(engine: UringEngine, handle: DatagramHandle, taker: () => UdpTaker) {
    const { native } = engine;
    this.#engine = engine;
    this.#handle = handle;
    this.#taker = taker;
    this.input = Region.map(native, UDP_ROOM);
    this.output = Region.map(native, UDP_ROOM);
    this.#sender = new MessageSender(native, handle.fd, this.output);
    this.#header = Region.map(native, HEADER);
    this.#header.bytes.writeUInt32LE(NAME, NAME_LENGTH);
    this.#header.bytes.writeUInt32LE(CONTROL, CONTROL_LENGTH);
    this.#index = engine.add(this);
    this.#generation = engine.generation(this.#index);
    this.ask();
  }

  ask(): void {
    if (!this.#asked && !this.#gone) {
      this.#asked = true;
      this.#engine.ask(this);
    }
  }

  submit(): boolean {
    this.#asked = false;
    if (!this.#receiving && !this.#released) {
      this.#receiving = true;
      const { ring, datagrams } = this.#engine;
      const tag = this.#engine.tag(Kind.DATAGRAM, this.#index);
      ring.receiveMessages(this.#handle.fd, datagrams.group, this.#header.address(0, HEADER), tag, this.#generation);
    }
    if (!this.#closed) {
      this.#taker().batchOver();
    }
    this.#removeWhenIdle();
    return false;
  }

  completed(_kind: number, result: number, flags: number): void {
    if ((flags & MORE) === 0) {
      this.#receiving = false;
      this.#again(result);
    }
    if ((flags & BUFFER) === 0) {
      return;
    }
    this.#failures = 0;
    const { datagrams } = this.#engine;
    const id = flags >>> BUFFER_SHIFT;
    const bytes = datagrams.take(id);
    try {
      if (!this.#released && result >= 0) {
        this.#read(bytes, result);
      }
    } finally {
      datagrams.give(id);
    }
    this.ask();
  }

  #again(result: number): void {
    if (result < 0) {
      this.#failures++;
    }
    if (this.#failures < PATIENCE || this.#released) {
      this.ask();
    } else {
      setTimer(() => this.ask(), RETRY).unref();
    }
  }

  #read(bytes: Buffer, result: number): void {
    if (result < START || result > bytes.length) {
      throw new RingError(`a datagram with its address has ${result} bytes`);
    }
    const length = result - START;
    const controlLength = Math.min(CONTROL, bytes.readUInt32LE(4));
    const found = this.#found;
    readControl(bytes, CONTROL_AT, CONTROL_AT + controlLength, found);
    bytes.copy(this.input.bytes, 0, START, result);
    const segment = found.segment > 0 && found.segment < length ? found.segment : Math.max(1, length);
    copyBytes(bytes, FOUND, FOUND + NAME, this.#peer, 0);
    this.#taker().datagrams(length, segment, this.#peer, this.#local(bytes), found.ecn);
  }

  /** Where the present datagram came to; undefined for the socket's own address. */
  #local(bytes: Buffer): Buffer | undefined {
    const { localAt, localLength } = this.#found;
    if (localAt < 0) {
      return undefined;
    }
    const local = localLength === LOCAL_4 ? this.#local4 : this.#local6;
    copyBytes(bytes, localAt, localAt + local.length, local, 0);
    return local;
  }

  send(peer: Buffer, local: Buffer | undefined, from: number, length: number, segment: number, marked: boolean): number {
    return this.#closed ? 0 : this.#sender.send(peer, local, from, length, segment, marked);
  }

  localAddress(local: Buffer | undefined): ReturnType<UdpSocket['localAddress']> {
    return localText(this.#gone ? {} : nameOfSocket(this.#engine.native, this.#handle.fd), local);
  }

  release(): void {
    if (!this.#released) {
      this.#released = true;
      if (this.#receiving) {
        this.#engine.ring.cancel(this.#engine.tag(Kind.DATAGRAM, this.#index), this.#generation);
        this.#engine.wake();
      }
    }
  }

  close(): void {
    if (!this.#closed) {
      this.release();
      this.#closed = true;
      this.#removeWhenIdle();
    }
  }

  #removeWhenIdle(): void {
    if (this.#closed && !this.#receiving && !this.#asked && !this.#gone) {
      this.#gone = true;
      this.#engine.remove(this.#index);
      this.#handle.close();
    }
  }
}
