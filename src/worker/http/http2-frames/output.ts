import { spoil } from '../../../shared/system/spoil.js';
import { FRAME, FRAME_HEAD } from './protocol.js';

/** Memory that frames are put together in: most connections send little at a time. */
const SMALL = 4 * 1024;
const LARGE = 80 * 1024;
/** What is sent in one go. */
export const ENOUGH: number = 64 * 1024;
const SPARE_SMALL = 64;
const SPARE_LARGE = 8;

const small: Buffer[] = [];
const large: Buffer[] = [];

function take(size: number): Buffer {
  if (size <= SMALL) {
    return small.pop() ?? Buffer.allocUnsafeSlow(SMALL);
  }
  if (size <= LARGE) {
    return large.pop() ?? Buffer.allocUnsafeSlow(LARGE);
  }
  return Buffer.allocUnsafeSlow(size);
}

function give(bytes: Buffer): void {
  spoil(bytes);
  if (bytes.length === SMALL && small.length < SPARE_SMALL) {
    small.push(bytes);
  } else if (bytes.length === LARGE && large.length < SPARE_LARGE) {
    large.push(bytes);
  }
}

/** What takes the bytes: a client's socket, or a connection to a backend. */
export interface OutputTarget {
  /** Nothing waits for the kernel. */
  readonly flushed: boolean;
  /** Sends bytes, which must not change until all is sent. Returns false when that takes time. */
  write(bytes: Buffer): boolean;
}

/** Puts frames one behind the other, and what came together on the socket in one piece. */
export class Output {
  readonly #socket: OutputTarget;
  #bytes: Buffer | null = null;
  /** How many bytes wait to be sent. */
  length = 0;
  /** The kernel has not taken all of what was sent; `flushed` follows. */
  blocked = false;
  /** How many bytes never left. */
  dropped = 0;

  constructor(socket: OutputTarget) {
    this.#socket = socket;
  }

  /** Makes room for so many bytes more, and returns the memory; they begin at {@link length}. */
  room(size: number): Buffer {
    const bytes = this.#bytes;
    if (bytes !== null && bytes.length - this.length >= size) {
      return bytes;
    }
    const wider = take(this.length + size);
    if (bytes !== null) {
      bytes.copy(wider, 0, 0, this.length);
      give(bytes);
    }
    this.#bytes = wider;
    return wider;
  }

  /** Puts the head of a frame whose payload of `size` bytes follows, makes room for that, and returns the memory. */
  frame(type: number, flags: number, id: number, size: number): Buffer {
    const bytes = this.room(FRAME_HEAD + size);
    putHead(bytes, this.length, type, flags, id, size);
    this.length += FRAME_HEAD;
    return bytes;
  }

  /** Puts a frame with one or two numbers of 32 bits. */
  numbers(type: number, id: number, first: number, second = -1): void {
    const bytes = this.frame(type, 0, id, second === -1 ? 4 : 8);
    putNumber32(bytes, this.length, first);
    this.length += 4;
    if (second === -1) {
      return;
    }
    putNumber32(bytes, this.length, second);
    this.length += 4;
  }

  /** Puts a frame with the bytes given. */
  copy(type: number, flags: number, id: number, payload: Buffer, start: number, end: number): void {
    const bytes = this.frame(type, flags, id, end - start);
    payload.copy(bytes, this.length, start, end);
    this.length += end - start;
  }

  /** Sends what there is, unless something sent before is still under way. */
  send(): void {
    const bytes = this.#bytes;
    if (bytes === null || this.length === 0 || this.blocked) {
      return;
    }
    const size = this.length;
    this.#bytes = null;
    this.length = 0;
    this.blocked = !this.#socket.write(bytes.subarray(0, size));
    if (this.#socket.flushed) {
      give(bytes);
    }
  }

  /** Nothing more leaves. */
  drop(): void {
    if (this.#bytes !== null) {
      give(this.#bytes);
    }
    this.#bytes = null;
    this.dropped += this.length;
    this.length = 0;
  }
}

/** Writes a frame's head. */
export function putHead(bytes: Buffer, at: number, type: number, flags: number, id: number, size: number): void {
  bytes[at] = size >>> 16;
  bytes[at + 1] = size >>> 8;
  bytes[at + 2] = size;
  bytes[at + 3] = type;
  bytes[at + 4] = flags;
  putNumber32(bytes, at + 5, id);
}

function putNumber32(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** How many bytes a header section of so many takes as frames of at most `longest`. */
export const sectionSize = (size: number, longest: number): number => size + FRAME_HEAD * Math.max(1, Math.ceil(size / longest));

/**
 * Makes frames of a header section that stands at `start`, behind room for one head: HEADERS, and CONTINUATION for what is longer than
 * `longest`.
 * There must be room for the other heads behind it. Returns the place behind the last.
 */
export function frameSection(bytes: Buffer, start: number, size: number, longest: number, flags: number, id: number): number {
  const pieces = Math.max(1, Math.ceil(size / longest));
  for (let piece = pieces - 1; piece >= 0; piece--) {
    const from = piece * longest;
    const length = Math.min(longest, size - from);
    const at = start + from + piece * FRAME_HEAD;
    if (piece > 0) {
      bytes.copyWithin(at + FRAME_HEAD, start + FRAME_HEAD + from, start + FRAME_HEAD + from + length);
    }
    const end = piece === pieces - 1 ? 4 : 0;
    putHead(bytes, at, piece === 0 ? FRAME.HEADERS : FRAME.CONTINUATION, end | (piece === 0 ? flags : 0), id, length);
  }
  return start + size + pieces * FRAME_HEAD;
}
