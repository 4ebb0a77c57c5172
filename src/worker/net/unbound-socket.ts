import type { Socket, SocketAddress, SocketOwner } from '../../shared/net/socket.js';

/** One end of a connection without a kernel below it: whatever is written has left at once. */
export abstract class UnboundSocket implements Socket {
  readonly descriptor = -1;
  readonly flushed = true;
  readonly blocked = false;
  readonly pending = false;
  readonly unsent = 0;
  readonly offerLimit = 65536;

  abstract remote(): SocketAddress;
  abstract local(): SocketAddress;
  abstract start(owner: SocketOwner): void;
  abstract write(data: string | Buffer): boolean;
  abstract awaitFlush(): void;
  abstract end(): void;
  abstract close(): void;

  writeJoined(before: string, bytes: Buffer, after: string): boolean {
    return this.writeLent(before, bytes, 0, bytes.length, after);
  }

  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    return this.write(before + bytes.toString('latin1', start, end) + after);
  }

  offer(bytes: Buffer): number {
    this.write(Buffer.from(bytes));
    return bytes.length;
  }

  closeSoon(): void {
    this.close();
  }

  leave(): void {
    this.close();
  }

  reset(): void {
    this.close();
  }

  // What steers a kernel has nothing to steer.
  pause(): void {}

  resume(): void {}

  expectMuch(): void {}

  cork(): void {}

  uncork(): void {}
}
