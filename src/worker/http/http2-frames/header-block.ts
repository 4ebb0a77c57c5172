/** The header section that is being read, in one frame or in several (RFC 9113, 4.3). */
export class HeaderBlock {
  /** Whose it is, from the first byte of its first frame on; 0 while none is under way. */
  streamId = 0;
  /** The section's first frame is here, and more must follow. */
  open = false;
  /** No body follows. */
  ended = false;
  /** The section stands behind a body. */
  trailers = false;
  /** The section took too long: its stream is over already. */
  refused = false;
  /** The section's time has begun to run. */
  timed = false;
  /** How far its first frame, which is not whole, was looked at. */
  seen = 0;
  #pieces: Buffer[] = [];
  #size = 0;

  /** The first frame is here. */
  begin(streamId: number, ended: boolean, trailers: boolean): void {
    this.streamId = streamId;
    this.open = true;
    this.ended = ended;
    this.trailers = trailers;
  }

  /** Keeps a copy of a piece; false if all together are longer than `longest`. */
  add(bytes: Buffer, start: number, end: number, longest: number): boolean {
    this.#size += end - start;
    if (this.#size > longest) {
      return false;
    }
    this.#pieces.push(Buffer.from(bytes.subarray(start, end)));
    return true;
  }

  /** The whole section. */
  take(): Buffer {
    return this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
  }

  /** The section was read. */
  end(): void {
    this.streamId = 0;
    this.open = false;
    this.refused = this.timed = false;
    this.seen = 0;
    if (this.#size === 0) {
      return;
    }
    this.#pieces = [];
    this.#size = 0;
  }
}
