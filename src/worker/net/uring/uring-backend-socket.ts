import { openDescriptor } from '../../../shared/net/backend-descriptor.js';
import type { BackendSocket, BackendSocketOwner, SocketDemands } from '../../../shared/net/backend-socket.js';
import type { SocketAddress } from '../../../shared/net/client-socket.js';
import { Family, type KernelAddress, localAddress } from '../../../shared/net/socket-addresses.js';
import { systemError } from '../../../shared/net/system-error.js';
import type { UringEngine } from '../../../shared/net/uring/engine.js';
import { FailedBackendSocket } from '../failed-backend-socket.js';
import { UringSocket } from './uring-socket.js';

/** A connection to a backend on the ring. */
export class UringBackendSocket extends UringSocket implements BackendSocket {
  readonly #owner: BackendSocketOwner;
  #connected = false;
  #ended = false;
  /** The owner has closed it. */
  #left = false;
  /** The kernel had no room for all that was offered last. */
  #full = false;

  private constructor(engine: UringEngine, fd: number, owner: BackendSocketOwner) {
    super(engine, fd);
    this.#owner = owner;
  }

  /** Begins to connect. What comes of it is told to the owner after this has returned. */
  static connect(engine: UringEngine, address: KernelAddress, demands: SocketDemands, owner: BackendSocketOwner): BackendSocket {
    const { native } = engine;
    const fd = openDescriptor(native, address.family, demands);
    if (typeof fd !== 'number') {
      return new FailedBackendSocket(fd, owner);
    }
    const tcp = address.family !== Family.UNIX;
    const socket = new UringBackendSocket(engine, fd, owner);
    // A Unix-domain socket answers at once; the ring would wait for room in its backlog.
    const result = tcp ? 0 : native.connect(fd, address.bytes, address.bytes.length);
    if (!tcp || !socket.beginConnect(address.bytes)) {
      setImmediate(connectEnded, socket, tcp ? ENOMEM : result);
    }
    return socket;
  }

  override connectEnded(result: number): void {
    if (this.closed) {
      return;
    }
    if (result < 0) {
      this.#owner.socketFailed(systemError(result, 'connect'));
      return;
    }
    this.#connected = true;
    this.resume();
    this.#owner.socketConnected();
  }

  writeLent(bytes: Buffer, start: number, end: number): boolean {
    return this.writePart('', bytes, start, end, '');
  }

  /** What the kernel has no room for takes time, although it goes into a slot: a connection that closes drops it. */
  override write(data: string | Buffer): boolean {
    const flowing = super.write(data);
    if (!this.#full) {
      return flowing;
    }
    this.#full = false;
    if (flowing && !this.closed) {
      this.tellWhenSent();
    }
    return this.closed;
  }

  override offer(bytes: Buffer): number {
    const taken = super.offer(bytes);
    this.#full = taken < bytes.length;
    return taken;
  }

  get pending(): boolean {
    return !this.sent;
  }

  local(): SocketAddress {
    return localAddress(this.engine.native, this.fd);
  }

  // What is written leaves at the end of the tick in any case.
  cork(): void {}

  uncork(): void {}

  get flushed(): boolean {
    return this.sent;
  }

  awaitFlush(): void {
    this.tellWhenSent();
  }

  /** What was written has left as far as the owner knows, so it still leaves; the owner hears nothing more. */
  override close(): void {
    if (this.#left || !this.#connected) {
      super.close();
      return;
    }
    this.#left = true;
    this.pause();
    this.closeSoon();
  }

  protected bytesCame(bytes: Buffer, length: number): void {
    if (this.#left) {
      return;
    }
    this.#owner.socketReceived(bytes, length);
  }

  protected endCame(): void {
    if (!this.#ended && !this.#left) {
      this.#ended = true;
      this.#owner.socketEnded();
    }
  }

  protected failed(errno: number, syscall: 'read' | 'write' | 'connect'): void {
    if (this.#left) {
      super.close();
      return;
    }
    this.#owner.socketFailed(systemError(errno, syscall));
  }

  protected allSent(): void {
    if (!this.#left) {
      this.#owner.socketDrained();
    }
  }

  protected gone(): void {}
}

const ENOMEM = -12;

function connectEnded(socket: UringBackendSocket, result: number): void {
  socket.connectEnded(result);
}
