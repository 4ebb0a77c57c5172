import type { AcceptedSocket, SocketAddress, SocketOwner } from '../../../shared/net/client-socket.js';
import { localAddress, peerAddress } from '../../../shared/net/socket-addresses.js';
import { UringSocket } from './uring-socket.js';

const [SOL_SOCKET, SO_KEEPALIVE] = [1, 9];
const ON = new Int32Array([1]);

/** A client's connection on the ring. */
export class UringClientSocket extends UringSocket implements AcceptedSocket {
  #owner: SocketOwner | undefined = undefined;

  get descriptor(): number {
    return this.fd;
  }

  remote(): SocketAddress {
    return peerAddress(this.engine.native, this.fd);
  }

  local(): SocketAddress {
    return localAddress(this.engine.native, this.fd);
  }

  get empty(): boolean {
    return this.sent;
  }

  get pending(): boolean {
    return !this.sent;
  }

  start(owner: SocketOwner): void {
    this.#owner = owner;
    this.resume();
  }

  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    return this.writePart(before, bytes, start, end, after);
  }

  offerFile(file: number, at: number, size: number): number {
    return this.sendFile(file, at, size);
  }

  get offerLimit(): number {
    return Number.POSITIVE_INFINITY;
  }

  // A write that returned true is as good as in the kernel.
  awaitFlush(): void {}

  keepAlive(): void {
    this.engine.native.setOption(this.fd, SOL_SOCKET, SO_KEEPALIVE, ON);
  }

  protected bytesCame(bytes: Buffer, length: number): void {
    this.#owner!.received(bytes, length, true);
  }

  protected endCame(): void {
    this.#owner!.clientEnded(false);
  }

  protected failed(errno: number, syscall: 'read' | 'write' | 'connect'): void {
    if (syscall === 'read') {
      this.#owner!.readFailed?.(errno);
    }
    this.close();
  }

  protected allSent(): void {
    this.#owner!.flushed();
  }

  protected gone(): void {
    this.#owner?.socketClosed();
  }
}
