import { putU32, u32 } from './big-endian.js';
import type { Output } from './output.js';

/** Bytes of a table before its entries, with the atom's head: version, flags, the number of entries. */
export const TABLE_HEAD = 16;

/**
 * A table of a track in the film's index: numbers of 32 bits, some to each entry, of which those from {@link from} to {@link to} are left.
 */
export class Table {
  /** Place of the atom's data; -1 where the track has no such table. */
  data = -1;
  /** Place of the first entry. */
  at = 0;
  /** Entries of the whole table, and those that are left. */
  entries = 0;
  from = 0;
  to = 0;
  bytes: Buffer;
  /** Bytes of one entry. */
  readonly width: number;

  constructor(bytes: Buffer, width: number) {
    this.bytes = bytes;
    this.width = width;
  }

  get left(): number {
    return this.to - this.from;
  }

  /** `data`: place of the atom's data; `at`: place of the first of so many entries. */
  found(data: number, at: number, entries: number): void {
    this.data = data;
    this.at = at;
    this.entries = entries;
    this.from = 0;
    this.to = entries;
  }

  forget(): void {
    this.data = -1;
    this.found(-1, 0, 0);
  }

  /** The number `field` of an entry, as the file has it. */
  value(entry: number, field: number): number {
    return u32(this.bytes, this.at + entry * this.width + 4 * field);
  }

  /** Writes the atom's head and what comes before the entries, whose number is `entries`. */
  writeHead(out: Output, name: number, entries: number): void {
    out.head(name, TABLE_HEAD + entries * this.width);
    out.copy(this.bytes, this.data, this.data + 4);
    out.u32(entries);
  }

  /** Writes the entries that are left as they are. Returns their place. */
  writeEntries(out: Output): number {
    const size = this.left * this.width;
    const start = this.at + this.from * this.width;
    return out.copy(this.bytes, start, start + size);
  }
}

/**
 * A table of runs: so many samples in a row have the same value. The first and the last run that are left may be shorter than in the file.
 */
export class Runs extends Table {
  #first = -1;
  #last = -1;

  constructor(bytes: Buffer) {
    super(bytes, 8);
  }

  override found(data: number, at: number, entries: number): void {
    super.found(data, at, entries);
    this.#first = -1;
    this.#last = -1;
  }

  /** Samples of a run. */
  count(run: number): number {
    if (run === this.to - 1 && this.#last !== -1) {
      return this.#last;
    }
    return run === this.from && this.#first !== -1 ? this.#first : this.value(run, 0);
  }

  /** Leaves out what is before a run, of which `count` samples are left. */
  beginAt(run: number, count: number): void {
    this.from = run;
    this.#first = count;
  }

  /** Leaves out what is behind a run, of which `count` samples are left. */
  endAt(run: number, count: number): void {
    this.to = run + 1;
    this.#last = count;
  }

  write(out: Output, name: number): void {
    this.writeHead(out, name, this.left);
    if (this.left === 0) {
      return;
    }
    const start = this.writeEntries(out);
    putU32(out.bytes, start, this.count(this.from));
    putU32(out.bytes, start + 8 * (this.left - 1), this.count(this.to - 1));
  }
}
