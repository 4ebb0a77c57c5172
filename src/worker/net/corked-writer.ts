/** What can be told to send several writes together. Of TLS a record is made for all of it rather than one for each piece. */
export abstract class CorkedWriter {
  /** What was written while it is to leave together. */
  #pieces: Buffer[] | null = null;
  #corks = 0;

  abstract write(data: string | Buffer): boolean;

  /** What is written is to be {@link keep kept}. */
  protected get corked(): boolean {
    return this.#corks > 0;
  }

  /** Nothing is kept. */
  protected get released(): boolean {
    return this.#pieces === null;
  }

  protected keep(bytes: Buffer): true {
    if (this.#pieces === null) {
      this.#pieces = [bytes];
    } else {
      this.#pieces.push(bytes);
    }
    return true;
  }

  cork(): void {
    this.#corks++;
  }

  uncork(): void {
    if (this.#corks > 0 && --this.#corks === 0) {
      this.release();
    }
  }

  /** Sends what is kept, and keeps nothing more. */
  protected release(): void {
    const pieces = this.#pieces;
    this.#pieces = null;
    this.#corks = 0;
    if (pieces !== null) {
      this.write(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces));
    }
  }
}
