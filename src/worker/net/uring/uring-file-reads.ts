import { systemError } from '../../../shared/net/system-error.js';
import { Kind, type RingEndpoint, type UringEngine } from '../../../shared/net/uring/engine.js';
import { Region } from '../../../shared/net/uring/memory.js';
import { type FileReads, type FileTaker, PRESENT_MOST, READ_MOST } from '../file-reads.js';
import { ReadMemory } from './read-memory.js';

/** Reads that are under way at a time: enough for a disk, and few enough that other clients do not wait long when all end in one tick. */
const COUNT = 8;
/** Bytes of a `struct iovec`. */
const VECTOR = 16;
/** Where the memory begins that it names. The kernel takes three times as long to copy to what is not on a cache line. */
const PRESENT = 4096;
const [EINTR, EAGAIN] = [-4, -11];

/** Reads files through the ring. What is in the system's memory is had by a call, which is cheaper and cannot wait. */
export class UringFileReads implements FileReads {
  readonly engine: UringEngine;
  /** Of the reads that are under way, one piece each. */
  readonly memory: ReadMemory;
  readonly #waiting: Reading[] = [];
  /** The vector, and behind it what it names. */
  readonly #present: Region;
  readonly #vector: number;
  readonly #length: Uint32Array;

  /** Throws an Error when the system has no such memory. */
  constructor(engine: UringEngine) {
    this.engine = engine;
    this.memory = new ReadMemory(engine.native, COUNT, READ_MOST);
    this.#present = Region.map(engine.native, PRESENT + PRESENT_MOST);
    this.#vector = this.#present.address(0, VECTOR);
    const { buffer, byteOffset } = this.#present.bytes;
    const words = new Uint32Array(buffer, byteOffset, VECTOR / 4);
    const address = this.#present.address(PRESENT, PRESENT_MOST);
    words[0] = address % 0x100000000;
    words[1] = address / 0x100000000;
    this.#length = words.subarray(2);
  }

  /** The kernel reads into this memory only while the call lasts. */
  present(fd: number, at: number, size: number): Buffer | null {
    return this.#readPresent(fd, at, size) < size ? null : this.#present.bytes.subarray(PRESENT, PRESENT + size);
  }

  #readPresent(fd: number, at: number, size: number): number {
    // The address counts for as many bytes as are in the region behind it.
    this.#present.address(PRESENT, size);
    this.#length[0] = size;
    return this.engine.native.readPresent(fd, this.#vector, at);
  }

  /** Files are read in order: where both ends are there, all is. A file system that cannot tell sends as it ever did. */
  sendable(fd: number, at: number, size: number): boolean {
    return this.#readPresent(fd, at, 1) !== EAGAIN && this.#readPresent(fd, Math.max(at, at + size - 1), 1) !== EAGAIN;
  }

  read(fd: number, at: number, size: number, keep: boolean, taker: FileTaker): void {
    this.#waiting.push(new Reading(this, fd, at, size, keep, taker));
    this.next();
  }

  withdraw(taker: FileTaker): boolean {
    const found = this.#waiting.findIndex((reading) => reading.taker === taker);
    if (found >= 0) {
      this.#waiting.splice(found, 1);
    }
    return found >= 0;
  }

  /** Begins what waits, as far as there is memory. */
  next(): void {
    while (this.#waiting.length > 0) {
      const piece = this.memory.take();
      if (piece < 0) {
        return;
      }
      this.#waiting.shift()!.begin(piece);
    }
  }
}

/** One read, from its request until the completion of its last operation. */
class Reading implements RingEndpoint {
  readonly taker: FileTaker;
  readonly #reads: UringFileReads;
  readonly #fd: number;
  readonly #at: number;
  readonly #size: number;
  readonly #keep: boolean;
  #piece = -1;
  #index = 0;
  #have = 0;

  constructor(reads: UringFileReads, fd: number, at: number, size: number, keep: boolean, taker: FileTaker) {
    this.#reads = reads;
    this.#fd = fd;
    this.#at = at;
    this.#size = size;
    this.#keep = keep;
    this.taker = taker;
  }

  begin(piece: number): void {
    const { engine } = this.#reads;
    this.#piece = piece;
    this.#index = engine.add(this);
    engine.ask(this);
  }

  submit(): boolean {
    const { engine, memory } = this.#reads;
    const rest = this.#size - this.#have;
    const address = memory.address(this.#piece, this.#have, rest);
    const tag = engine.tag(Kind.FILE, this.#index);
    engine.ring.read(this.#fd, address, rest, this.#at + this.#have, tag, engine.generation(this.#index));
    return false;
  }

  completed(_kind: number, result: number): void {
    if (result > 0) {
      this.#have += result;
    }
    if (result === EINTR || result === EAGAIN || (result > 0 && this.#have < this.#size)) {
      this.#reads.engine.ask(this);
      return;
    }
    this.#reads.engine.remove(this.#index);
    const bytes = this.#reads.memory.lend(this.#piece, this.#have);
    try {
      if (result < 0) {
        this.taker.fileFailed(systemError(result, 'read'));
      } else {
        this.taker.fileRead(this.#keep ? Buffer.from(bytes) : bytes);
      }
    } finally {
      this.#reads.memory.release(this.#piece);
      this.#reads.next();
    }
  }
}
