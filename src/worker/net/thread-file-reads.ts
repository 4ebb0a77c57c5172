import { read, readSync } from 'node:fs';
import { spoil } from '../../shared/system/spoil.js';
import { type FileReads, type FileTaker, PRESENT_MOST, READ_MOST } from './file-reads.js';

/** Enough to keep Node's four threads busy while earlier pieces are sent. More would make other clients wait longer in a tick. */
const COUNT = 8;

interface Waiting {
  readonly fd: number;
  readonly at: number;
  readonly size: number;
}

/** Reads files in libuv's threads, or at once. A buffer goes to the next who waits when its bytes were used: slow clients hold none. */
export class ThreadFileReads implements FileReads {
  readonly #free: Buffer[] = [];
  readonly #waiting = new Map<FileTaker, Waiting>();
  #made = 0;
  #common: Buffer | undefined;

  /** As nginx does without `aio`: the call waits where the system must fetch the bytes. */
  present(fd: number, at: number, size: number): Buffer | null {
    this.#common ??= Buffer.allocUnsafeSlow(PRESENT_MOST);
    spoil(this.#common);
    try {
      const count = readSync(fd, this.#common, 0, size, at);
      return count < size ? null : this.#common.subarray(0, size);
    } catch {
      return null;
    }
  }

  sendable(): boolean {
    return true;
  }

  read(fd: number, at: number, size: number, keep: boolean, taker: FileTaker): void {
    if (keep) {
      read(fd, Buffer.allocUnsafeSlow(size), 0, size, at, (error, count, bytes) => {
        finish(taker, error, count, bytes);
      });
      return;
    }
    const buffer = this.#free.pop() ?? this.#make();
    if (buffer === undefined) {
      this.#waiting.set(taker, { fd, at, size });
    } else {
      this.#begin(buffer, { fd, at, size }, taker);
    }
  }

  withdraw(taker: FileTaker): boolean {
    return this.#waiting.delete(taker);
  }

  #begin(buffer: Buffer, { fd, at, size }: Waiting, taker: FileTaker): void {
    read(fd, buffer, 0, size, at, (error, count) => {
      try {
        finish(taker, error, count, buffer);
      } finally {
        this.#release(buffer);
      }
    });
  }

  #release(buffer: Buffer): void {
    spoil(buffer);
    for (const [taker, waiting] of this.#waiting) {
      this.#waiting.delete(taker);
      this.#begin(buffer, waiting, taker);
      return;
    }
    this.#free.push(buffer);
  }

  #make(): Buffer | undefined {
    if (this.#made === COUNT) {
      return undefined;
    }
    this.#made++;
    return Buffer.allocUnsafeSlow(READ_MOST);
  }
}

function finish(taker: FileTaker, error: Error | null, count: number, bytes: Buffer): void {
  if (error === null) {
    taker.fileRead(bytes.length === count ? bytes : bytes.subarray(0, count));
  } else {
    taker.fileFailed(error);
  }
}
