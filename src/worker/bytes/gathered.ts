import { spoil } from '../../shared/system/spoil.js';

/** The largest piece that small ones are gathered in. */
const LARGEST = 64 * 1024;

/** Up to this size a loop copies faster than a call does. */
const BY_HAND = 48;

/** Memory that was lent and came back, LARGEST each, and how many pieces of it are kept. */
const spare: Buffer[] = [];
const MOST_SPARE = 16;

/** Bytes that are kept in the order in which they came: in few pieces and little more memory than they need, however small they come. */
export class Gathered {
  /** Bytes in all pieces. */
  length = 0;
  pieces: Buffer[] = [];
  /** The memory of the last piece, which may have room behind it. */
  #block: Buffer | null = null;
  #used = 0;
  readonly #lends: boolean;

  /** `lends`: its first piece is {@link lend | lent} rather than given away, as a rule. */
  constructor(lends = false) {
    this.#lends = lends;
  }

  /** Keeps a copy of `start..end`. */
  add(bytes: Buffer, start: number, end: number): void {
    let at = start;
    if (this.#block !== null && this.#used < this.#block.length) {
      const size = Math.min(end - start, this.#block.length - this.#used);
      at += size;
      copyInto(this.#block, this.#used, bytes, start, at);
      this.#used += size;
      this.pieces[this.pieces.length - 1] = this.#block.subarray(0, this.#used);
    }
    if (at < end) {
      this.#begin(bytes, at, end);
    }
    this.length += end - start;
  }

  /** The first bytes get as much memory as they need: often no more come. */
  #begin(bytes: Buffer, start: number, end: number): void {
    const size = end - start;
    // Memory outside of V8's heap has V8 collect garbage, each time anew: so that of a first piece, if it is much, is used again.
    const block =
      this.#lends && this.length === 0 && size > LARGEST / 2 && size <= LARGEST
        ? (spare.pop() ?? Buffer.allocUnsafeSlow(LARGEST))
        : Buffer.allocUnsafe(Math.max(size, Math.min(this.length, LARGEST)));
    copyInto(block, 0, bytes, start, end);
    this.pieces.push(block.length === size ? block : block.subarray(0, size));
    this.#block = block;
    this.#used = size;
  }

  /** Gives all pieces away. */
  take(): Buffer[] {
    const pieces = this.pieces;
    this.clear();
    return pieces;
  }

  /** There is one piece, whose memory is used again if it is lent. */
  get lendable(): boolean {
    return this.#lends && this.pieces.length === 1 && this.#block?.length === LARGEST;
  }

  /** Empties this, and has `use` see the piece that was {@link lendable}: its memory is somebody else's afterwards. */
  lend<T>(use: (piece: Buffer) => T): T {
    const piece = this.pieces[0]!;
    const block = this.#block!;
    this.clear();
    const result = use(piece);
    if (spare.length < MOST_SPARE) {
      spoil(block);
      spare.push(block);
    }
    return result;
  }

  /** Gives all pieces away to be written to a file, where each costs a call: as one if they are not long together. */
  takeForFile(): Buffer[] {
    if (this.pieces.length > 1 && this.length <= LARGEST) {
      this.joined();
    }
    return this.take();
  }

  /** Gives the first pieces away that are not longer than `limit` together. */
  takeUpTo(limit: number): Buffer[] {
    let size = 0;
    let n = 0;
    while (n < this.pieces.length && size + this.pieces[n]!.length <= limit) {
      size += this.pieces[n++]!.length;
    }
    if (n === this.pieces.length) {
      return this.take();
    }
    this.length -= size;
    return this.pieces.splice(0, n);
  }

  /** Gives the first piece away; null when there is none. */
  shift(): Buffer | null {
    const piece = this.pieces.shift();
    if (piece === undefined) {
      return null;
    }
    if (this.pieces.length === 0) {
      this.clear();
    } else {
      this.length -= piece.length;
    }
    return piece;
  }

  /** Makes one piece of all, and returns it. */
  joined(): Buffer {
    if (this.pieces.length !== 1) {
      this.pieces = [Buffer.concat(this.pieces, this.length)];
      this.#block = null;
    }
    return this.pieces[0]!;
  }

  /** Memory of its own that holds a latin1 text, all pieces and another text: as much as was counted of what is copied into it. */
  between(before: string, after: string): Buffer {
    let size = before.length + after.length;
    for (let i = 0; i < this.pieces.length; i++) {
      size += this.pieces[i]!.length;
    }
    const whole = Buffer.allocUnsafe(size);
    let at = whole.write(before, 0, before.length, 'latin1');
    for (let i = 0; i < this.pieces.length; i++) {
      at += this.pieces[i]!.copy(whole, at);
    }
    whole.write(after, at, after.length, 'latin1');
    return whole;
  }

  clear(): void {
    this.pieces = [];
    this.length = 0;
    this.#block = null;
    this.#used = 0;
  }
}

function copyInto(target: Buffer, to: number, bytes: Buffer, start: number, end: number): void {
  const size = end - start;
  if (size > BY_HAND) {
    bytes.copy(target, to, start, end);
  } else {
    for (let i = 0; i < size; i++) {
      target[to + i] = bytes[start + i]!;
    }
  }
}

/** Moves `start..end` to `to`, a place before it. */
export function moveDown(bytes: Uint8Array, to: number, start: number, end: number): void {
  if (end - start > BY_HAND) {
    bytes.copyWithin(to, start, end);
  } else {
    for (let i = start, at = to; i < end; i++) {
      bytes[at++] = bytes[i]!;
    }
  }
}

/** A copy of `start..end`, for pieces that are not kept with others. */
export function copied(bytes: Buffer, start: number, end: number): Buffer {
  const piece = Buffer.allocUnsafe(end - start);
  copyInto(piece, 0, bytes, start, end);
  return piece;
}
