/** Size of each buffer. */
export const READ_BUFFER = 256 * 1024;
/** As many as keep Node's four threads busy while the pieces before are sent, and no more: what is sent in one tick keeps everybody else waiting. */
const COUNT = 8;

/** Somebody who waits for a buffer. Gives it back when done, perhaps at once. */
export interface BufferTaker {
  takeBuffer(buffer: Buffer): void;
}

/**
 * The memory that a worker reads large files into, for all its clients together: a piece is read, the kernel takes of it what it has room
 * for, and the buffer goes to the next one who waits. So many slow readers cost no memory, and none is passed over.
 */
export class ReadBuffers {
  readonly #free: Buffer[] = [];
  readonly #takers = new Set<BufferTaker>();
  #made = 0;

  /** Gives a buffer to `taker`, now or when one has come back. */
  request(taker: BufferTaker): void {
    const buffer = this.#free.pop() ?? this.#make();
    if (buffer === undefined) this.#takers.add(taker);
    else taker.takeBuffer(buffer);
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
    if (this.#made === COUNT) return undefined;
    this.#made++;
    return Buffer.allocUnsafeSlow(READ_BUFFER);
  }
}
