/** Size of each buffer. */
export const READ_BUFFER = 256 * 1024;
/** Enough to keep Node's four threads busy while earlier pieces are sent. More would make other clients wait longer in a tick. */
const COUNT = 8;

/** Somebody who waits for a buffer. Gives it back when done, perhaps at once. */
export interface BufferTaker {
  takeBuffer(buffer: Buffer): void;
}

/**
 * The buffers into which a worker reads large files, for all its clients. A piece is read, the kernel takes what it has room for, and the
 * buffer goes to the next client that waits. Slow clients therefore hold no memory, and each gets its turn.
 */
export class ReadBuffers {
  readonly #free: Buffer[] = [];
  readonly #takers = new Set<BufferTaker>();
  #made = 0;

  /** Gives a buffer to `taker`, now or when one has come back. */
  request(taker: BufferTaker): void {
    const buffer = this.#free.pop() ?? this.#make();
    if (buffer === undefined) {
      this.#takers.add(taker);
    } else {
      taker.takeBuffer(buffer);
    }
  }

  /** `taker` waits no longer. */
  cancel(taker: BufferTaker): void {
    this.#takers.delete(taker);
  }

  /** Takes a buffer back that nobody looks at any more. */
  release(buffer: Buffer): void {
    for (const taker of this.#takers) {
      this.#takers.delete(taker);
      taker.takeBuffer(buffer);
      return;
    }
    this.#free.push(buffer);
  }

  #make(): Buffer | undefined {
    if (this.#made === COUNT) {
      return undefined;
    }
    this.#made++;
    return Buffer.allocUnsafeSlow(READ_BUFFER);
  }
}
