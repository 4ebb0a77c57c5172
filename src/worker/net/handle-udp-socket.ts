import { loadNative, type Native } from '../../shared/native/native.js';
import type { DatagramHandle } from '../../shared/net/datagram-handle.js';
import { ipAddress } from '../../shared/net/socket-addresses.js';
import { Region } from '../../shared/net/uring/memory.js';
import { AtTickEnd, endOfTick, type TickTask } from '../../shared/time/end-of-tick.js';
import { MessageSender } from './message-sender.js';
import { UDP_ROOM, type UdpSocket, type UdpTaker } from './udp-socket.js';

/** A UDP socket that libuv reads, which tells neither marks nor local addresses. It sends as the ring's does. */
export class HandleUdpSocket implements UdpSocket, TickTask {
  readonly input: Region;
  readonly output: Region;
  readonly #handle: DatagramHandle;
  readonly #taker: () => UdpTaker;
  readonly #sender: MessageSender;
  #asked = false;
  #closed = false;
  /** The latest client, in the kernel's form. */
  #address = '';
  #port = 0;
  #peer = Buffer.alloc(28);

  constructor(handle: DatagramHandle, taker: () => UdpTaker) {
    const native = loadNative() as Native;
    this.#handle = handle;
    this.#taker = taker;
    this.input = Region.map(native, UDP_ROOM);
    this.output = Region.map(native, UDP_ROOM);
    this.#sender = new MessageSender(native, handle.fd, this.output);
    handle.receive({
      datagram: (bytes, address, port) => this.#came(bytes, address, port),
      receiveFailed: () => {},
    });
  }

  #came(bytes: Buffer, address: string, port: number): void {
    if (this.#closed || bytes.length === 0 || bytes.length > UDP_ROOM) {
      return;
    }
    if (port !== this.#port || address !== this.#address) {
      const kernel = ipAddress(address, port);
      if (kernel === undefined) {
        return;
      }
      this.#address = address;
      this.#port = port;
      this.#peer = Buffer.alloc(28);
      kernel.bytes.copy(this.#peer);
    }
    bytes.copy(this.input.bytes);
    this.#taker().datagrams(bytes.length, bytes.length, this.#peer, undefined, 0);
    this.ask();
  }

  ask(): void {
    if (!this.#asked) {
      this.#asked = true;
      endOfTick.ask(AtTickEnd.SENDS, this);
    }
  }

  tickEnded(): void {
    this.#asked = false;
    if (!this.#closed) {
      this.#taker().batchOver();
    }
  }

  send(peer: Buffer, local: Buffer | undefined, from: number, length: number, segment: number, marked: boolean): number {
    return this.#closed ? 0 : this.#sender.send(peer, local, from, length, segment, marked);
  }

  localAddress(): ReturnType<UdpSocket['localAddress']> {
    return this.#handle.local();
  }

  release(): void {
    this.#handle.pause();
  }

  close(): void {
    if (!this.#closed) {
      this.#closed = true;
      this.#handle.close();
    }
  }
}
