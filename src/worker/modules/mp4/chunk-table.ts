import type { Output } from './output.js';
import { Table } from './tables.js';

/** Bytes of an entry: the first chunk that has so many samples, their number, the number of their description. */
const ENTRY = 12;

/**
 * Which samples are in which chunks: so many in each chunk from one on. A first or a last chunk that is cut gets an entry of its own,
 * before or behind the others, if it stands with others in an entry.
 */
export class ChunkTable extends Table {
  /** Of the first entry that is left: its first chunk, and its number of samples. -1: as in the file. */
  #firstChunk = -1;
  #firstSamples = -1;
  /** The number of samples of the last entry that is left. */
  #lastSamples = -1;
  /** Samples and description of the entries of a first and a last chunk that is cut; -1: there is no such entry. */
  startSamples = -1;
  #startId = 0;
  #endSamples = -1;
  #endId = 0;

  constructor(bytes: Buffer) {
    super(bytes, ENTRY);
  }

  override found(data: number, at: number, entries: number): void {
    super.found(data, at, entries);
    this.#firstChunk = -1;
    this.#firstSamples = -1;
    this.#lastSamples = -1;
    this.startSamples = -1;
    this.#endSamples = -1;
  }

  chunk(entry: number): number {
    return entry === this.from && this.#firstChunk !== -1 ? this.#firstChunk : this.value(entry, 0);
  }

  samples(entry: number): number {
    if (entry === this.to - 1 && this.#lastSamples !== -1) {
      return this.#lastSamples;
    }
    return entry === this.from && this.#firstSamples !== -1 ? this.#firstSamples : this.value(entry, 1);
  }

  /** Entries that are written. */
  get count(): number {
    return this.left + (this.startSamples === -1 ? 0 : 1) + (this.#endSamples === -1 ? 0 : 1);
  }

  /** Leaves out what is before an entry, which begins with `chunk` then. */
  beginAt(entry: number, chunk: number): void {
    this.from = entry;
    this.#firstChunk = chunk;
  }

  /** Cuts the first entry, which has one chunk. */
  cutFirst(samples: number): void {
    this.#firstSamples = samples;
  }

  /** Takes the first chunk, which is cut, out of its entry. */
  splitFirst(samples: number): void {
    this.startSamples = samples;
    this.#startId = this.value(this.from, 2);
    this.#firstChunk = (this.#firstChunk + 1) >>> 0;
  }

  /** Cuts the last entry, of which one chunk is left. */
  cutLast(samples: number): void {
    this.#lastSamples = samples;
  }

  /** Takes the last chunk, which is cut, out of its entry. */
  splitLast(samples: number): void {
    this.#endSamples = samples;
    this.#endId = this.value(this.to - 1, 2);
  }

  /** Writes the atom. `startChunk`, `endChunk`: the chunks of the file that are left, counted from 0 on. */
  write(out: Output, name: number, startChunk: number, endChunk: number): void {
    this.writeHead(out, name, this.count);
    if (this.startSamples !== -1) {
      out.u32(1);
      out.u32(this.startSamples);
      out.u32(this.#startId);
    }
    for (let i = this.from; i < this.to; i++) {
      out.u32(this.chunk(i) - startChunk);
      out.u32(this.samples(i));
      out.u32(this.value(i, 2));
    }
    if (this.#endSamples !== -1) {
      out.u32(endChunk - startChunk);
      out.u32(this.#endSamples);
      out.u32(this.#endId);
    }
  }
}
