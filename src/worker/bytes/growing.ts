const NONE = Buffer.alloc(0);

/**
 * The beginning of something of which more comes, in one piece of memory that grows by doubling: what is there is not copied anew for
 * each byte that comes.
 */
export class Growing {
  /** What has come is the first {@link length} bytes. */
  bytes: Buffer = NONE;
  length = 0;

  add(from: Buffer, start: number, end: number): void {
    const length = this.length + end - start;
    if (length > this.bytes.length) {
      const more = Buffer.alloc(Math.max(length, 2 * this.length));
      this.bytes.copy(more, 0, 0, this.length);
      this.bytes = more;
    }
    from.copy(this.bytes, this.length, start, end);
    this.length = length;
  }

  /** Forgets the first `size` bytes. */
  drop(size: number): void {
    if (size > 0) {
      this.bytes.copyWithin(0, size, this.length);
      this.length -= size;
    }
  }
}
