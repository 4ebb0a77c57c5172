// libuv's wrapper of a UDP socket, as it looks from inside Node: node:dgram has no way to adopt a descriptor that the master has bound
// without starting to read, nor to send without an object and a callback for each datagram. The only file that knows it.
import { withoutZone } from '../address/zone-id.js';
import { needsDescriptor, openDescriptorTo } from './backend-descriptor.js';
import { type DatagramPeer, type DatagramSocket, type DatagramTaker, MOST_WAITING } from './datagram-socket.js';
import type { SocketAddress, SocketDemands } from './socket.js';
import { systemError } from './system-error.js';

interface Address {
  address?: string;
  family?: string;
  port?: number;
}

interface SendRequest {
  oncomplete?: ((status: number) => void) | undefined;
  /** Keeps memory alive that libuv still sends from. */
  data?: unknown;
}

/** Calls return a negated errno when they fail. */
interface UdpHandle {
  readonly fd: number;
  onmessage: ((this: UdpHandle, length: number, handle: UdpHandle, bytes: Buffer | undefined, from: Required<Address>) => void) | undefined;
  /** What serves it. */
  owner?: unknown;
  bind(address: string, port: number, flags: number): number;
  bind6(address: string, port: number, flags: number): number;
  open(fd: number): number;
  connect(address: string, port: number): number;
  connect6(address: string, port: number): number;
  recvStart(): number;
  recvStop(): number;
  getsockname(into: Address): number;
  /** Returns more than 0 when the kernel took the datagram at once, and 0 when `oncomplete` follows. */
  send(request: SendRequest, pieces: readonly Buffer[], count: number, notify: boolean): number;
  send(request: SendRequest, pieces: readonly Buffer[], count: number, port: number, address: string, notify: boolean): number;
  send6(request: SendRequest, pieces: readonly Buffer[], count: number, port: number, address: string, notify: boolean): number;
  close(): void;
}

interface UdpBinding {
  readonly UDP: new () => UdpHandle;
  readonly SendWrap: new () => SendRequest;
}

const IPV6ONLY = 1;
const REUSEADDR = 4;
const EBADF = -9;
const ENOBUFS = -105;

let loaded: UdpBinding | undefined;

function binding(): UdpBinding {
  loaded ??= (process as unknown as { binding(name: string): UdpBinding }).binding('udp_wrap');
  return loaded;
}

/** A datagram that the kernel took at once has left no trace in its request, so that the next one can have it. */
let spare: SendRequest | undefined;
const pieces: Buffer[] = [];

/** Where a socket is bound, or leads to. */
export interface DatagramPlace {
  readonly address: string;
  readonly port: number;
}

function onMessage(this: UdpHandle, length: number, _handle: UdpHandle, bytes: Buffer | undefined, from: Required<Address>): void {
  const taker = this.owner as DatagramTaker;
  if (length < 0) {
    taker.receiveFailed(length);
  } else if (from === undefined) {
    taker.datagram(bytes ?? Buffer.alloc(0), '', 0, undefined);
  } else {
    taker.datagram(bytes as Buffer, from.address, from.port, undefined);
  }
}

/** A UDP socket that libuv serves. */
export class DatagramHandle implements DatagramSocket {
  readonly #handle: UdpHandle;
  /** The socket is of IPv6. */
  readonly ipv6: boolean;
  /** Bytes that the kernel has not taken yet. */
  #waiting = 0;
  #closed = false;

  private constructor(handle: UdpHandle, ipv6: boolean) {
    this.#handle = handle;
    this.ipv6 = ipv6;
  }

  /** A socket that is bound to a local address, which a more special one may have beside it. */
  static bind(place: DatagramPlace, ipv6: boolean, ipv6only: boolean): DatagramHandle | number {
    const handle = new (binding().UDP)();
    const { address, port } = place;
    const flags = REUSEADDR | (ipv6only ? IPV6ONLY : 0);
    const error = ipv6 ? handle.bind6(address, port, flags) : handle.bind(address, port, flags);
    if (error < 0) {
      handle.close();
      return error;
    }
    return new DatagramHandle(handle, ipv6);
  }

  /** A socket whose descriptor was inherited. */
  static adopt(fd: number): DatagramHandle | number {
    const handle = new (binding().UDP)();
    const error = handle.open(fd);
    if (error < 0) {
      handle.close();
      return error;
    }
    return DatagramHandle.of(handle);
  }

  /** The socket of a handle that came from another process. */
  static of(handle: object): DatagramHandle {
    const name: Address = {};
    (handle as UdpHandle).getsockname(name);
    return new DatagramHandle(handle as UdpHandle, name.family === 'IPv6');
  }

  /** Tells whether a handle that came from another process is of UDP. */
  static is(handle: object): boolean {
    return 'recvStart' in handle;
  }

  /** A socket that only talks to one peer, perhaps from a local address. */
  static connect(peer: DatagramPlace, ipv6: boolean, demands: SocketDemands): DatagramHandle | Error {
    const handle = new (binding().UDP)();
    const { localAddress, localPort = 0 } = demands;
    let error = 0;
    if (needsDescriptor(demands)) {
      const fd = openDescriptorTo(peer.address, peer.port, demands, true);
      if (typeof fd !== 'number') {
        handle.close();
        return fd;
      }
      error = handle.open(fd);
    } else if (localAddress !== undefined) {
      error = ipv6 ? handle.bind6(localAddress, localPort, 0) : handle.bind(localAddress, localPort, 0);
      if (error < 0) {
        handle.close();
        return systemError(error, 'bind');
      }
    }
    if (error >= 0) {
      error = ipv6 ? handle.connect6(peer.address, peer.port) : handle.connect(peer.address, peer.port);
    }
    if (error < 0) {
      handle.close();
      return systemError(error, 'connect');
    }
    return new DatagramHandle(handle, ipv6);
  }

  get fd(): number {
    return this.#handle.fd;
  }

  /** What a channel to another process takes. */
  get raw(): object {
    return this.#handle;
  }

  local(): SocketAddress {
    const name: Address = {};
    this.#handle.getsockname(name);
    return name.address === undefined || name.port === undefined ? {} : { address: withoutZone(name.address), port: name.port };
  }

  receive(taker: DatagramTaker): number {
    const handle = this.#handle;
    handle.owner = taker;
    handle.onmessage = onMessage;
    return handle.recvStart();
  }

  pause(): void {
    if (!this.#closed) {
      this.#handle.recvStop();
    }
  }

  resume(): void {
    if (!this.#closed) {
      this.#handle.recvStart();
    }
  }

  send(bytes: Buffer): number {
    if (!this.#mayWrite()) {
      return this.#closed ? EBADF : ENOBUFS;
    }
    pieces[0] = bytes;
    spare ??= new (binding().SendWrap)();
    return this.#sent(this.#handle.send(spare, pieces, 1, true), bytes);
  }

  peer(address: string, port: number): DatagramPeer {
    return { address, port, kernel: undefined, local: undefined };
  }

  sendTo(bytes: Buffer, { address, port }: DatagramPeer): number {
    if (!this.#mayWrite()) {
      return this.#closed ? EBADF : ENOBUFS;
    }
    pieces[0] = bytes;
    spare ??= new (binding().SendWrap)();
    const handle = this.#handle;
    const code = this.ipv6 ? handle.send6(spare, pieces, 1, port, address, true) : handle.send(spare, pieces, 1, port, address, true);
    return this.#sent(code, bytes);
  }

  #mayWrite(): boolean {
    return !this.#closed && this.#waiting <= MOST_WAITING;
  }

  #sent(code: number, bytes: Buffer): number {
    if (code === 0) {
      this.#awaitKernel(bytes);
    }
    return code < 0 ? code : 0;
  }

  /** The request given last is in use, with the memory it sends from. */
  #awaitKernel(bytes: Buffer): void {
    const request = spare as SendRequest;
    spare = undefined;
    this.#waiting += bytes.length;
    request.data = bytes;
    request.oncomplete = () => {
      this.#waiting -= bytes.length;
      request.data = undefined;
    };
  }

  close(): void {
    if (!this.#closed) {
      this.#closed = true;
      this.#handle.close();
    }
  }
}
