import { lowerAscii } from '../../../text/ascii-case.js';
import { putNumber, putText } from '../../fields/put-text.js';
import { DEFAULT_TABLE_SIZE } from './field-table.js';
import { STATIC_COUNT, staticIndexOf } from './static-table.js';

/** How a name's values are dealt with. */
export const KEEP = {
  /** A value goes into the table when it comes a second time. */
  REPEATED: 0,
  /** The value goes into the table at once: it will come again. */
  ALWAYS: 1,
  /** The value never goes there: guesses at it could be told from its length. */
  NEVER: 2,
} as const;

/** A field's name as the encoder knows it: made once for all connections. */
export interface HpackName {
  /** In lower case. */
  readonly text: string;
  /** The name's index in the table that both sides know; 0 when it is not there. */
  readonly index: number;
  /** One of `KEEP`. */
  readonly keep: number;
  /** The name's place among those whose values a connection remembers; -1 if there is none. */
  readonly place: number;
}

/** Names whose latest values each connection remembers: those that a server's responses are made of are few. */
const PLACES = 256;
const codes = new Map<string, HpackName>();
const SECRET: ReadonlySet<string> = new Set(['set-cookie', 'authorization', 'proxy-authorization']);

/** The code of a name, in whatever case. */
export function hpackName(name: string, keep: number = KEEP.REPEATED): HpackName {
  const known = codes.get(name);
  if (known !== undefined) {
    return known;
  }
  const text = lowerAscii(name);
  let code = codes.get(text);
  if (code === undefined) {
    const room = codes.size < PLACES;
    const index = staticIndexOf.get(text) ?? 0;
    code = { text, index, keep: SECRET.has(text) ? KEEP.NEVER : keep, place: room ? codes.size : -1 };
    if (!room) {
      return code;
    }
    codes.set(text, code);
  }
  // Other spellings need no place of their own, but they are bounded, too.
  if (name !== text && codes.size < PLACES) {
    codes.set(name, code);
  }
  return code;
}

/** The code of a name that somebody else chose: it has a place only where we use it, too, so that nobody can use the places up. */
export function foreignNameCode(name: string): HpackName {
  const known = codes.get(name);
  if (known !== undefined) {
    return known;
  }
  const text = lowerAscii(name);
  const keep = SECRET.has(text) ? KEEP.NEVER : KEEP.REPEATED;
  return codes.get(text) ?? { text, index: staticIndexOf.get(text) ?? 0, keep, place: -1 };
}

/** The latest value of a name on one connection. */
class Remembered {
  value = '';
  /** The value's number among all entries that the table ever had; 0 while it is in none. */
  entry = 0;
}

/**
 * Encodes the header sections of one connection. It remembers the latest value of each name and puts what repeats into the other side's
 * table, so that most fields of most responses are one byte.
 */
export class HpackEncoder {
  readonly #places: (Remembered | undefined)[] = [];
  #limit = DEFAULT_TABLE_SIZE;
  /** The smallest limit since the last block, and whether the other side has to be told. */
  #lowest = DEFAULT_TABLE_SIZE;
  #resized = false;
  /** Sizes of the entries, the oldest first, from `#first` on. */
  #sizes: number[] = [];
  #first = 0;
  #size = 0;
  /** How many entries there ever were, and how many of them are gone. */
  #added = 0;
  #gone = 0;

  /** The other side's SETTINGS_HEADER_TABLE_SIZE. */
  resize(limit: number): void {
    const next = Math.min(limit, DEFAULT_TABLE_SIZE);
    if (next === this.#limit) {
      return;
    }
    this.#limit = next;
    this.#lowest = this.#resized ? Math.min(this.#lowest, next) : next;
    this.#resized = true;
    this.#shrinkTo(next);
  }

  /** How many bytes a field may take at most. */
  static room(code: HpackName, value: string): number {
    return code.text.length + value.length + 12;
  }

  /** How many bytes {@link begin} may take at most. */
  static readonly beginRoom = 10;

  /** Begins a block: tells of new limits. Returns the place behind it. */
  begin(into: Buffer, at: number): number {
    if (!this.#resized) {
      return at;
    }
    this.#resized = false;
    let end = at;
    if (this.#lowest < this.#limit) {
      end = putNumber(into, end, 0x20, 0x1f, this.#lowest);
    }
    return putNumber(into, end, 0x20, 0x1f, this.#limit);
  }

  /** Puts a field at `at`, where there is room. Returns the place behind it. */
  field(into: Buffer, at: number, code: HpackName, value: string): number {
    if (code.place === -1 || code.keep === KEEP.NEVER) {
      return this.#literal(into, at, 0, 0x0f, code, value);
    }
    const known = this.#places[code.place];
    if (known !== undefined && known.value === value) {
      if (known.entry > this.#gone) {
        return putNumber(into, at, 0x80, 0x7f, STATIC_COUNT + 1 + this.#added - known.entry);
      }
      return this.#add(into, at, code, known, value);
    }
    const kept = known ?? this.#remember(code.place);
    kept.value = value;
    kept.entry = 0;
    if (code.keep === KEEP.ALWAYS) {
      return this.#add(into, at, code, kept, value);
    }
    return this.#literal(into, at, 0, 0x0f, code, value);
  }

  /** Puts a field of the table that both sides know. */
  indexed(into: Buffer, at: number, index: number): number {
    into[at] = 0x80 | index;
    return at + 1;
  }

  #remember(place: number): Remembered {
    const places = this.#places;
    while (places.length <= place) {
      places.push(undefined);
    }
    return (places[place] = new Remembered());
  }

  #add(into: Buffer, at: number, code: HpackName, known: Remembered, value: string): number {
    const size = code.text.length + value.length + 32;
    // A value that would push out most others is not worth it.
    if (size > this.#limit / 2) {
      return this.#literal(into, at, 0, 0x0f, code, value);
    }
    this.#shrinkTo(this.#limit - size);
    this.#sizes.push(size);
    this.#size += size;
    known.entry = ++this.#added;
    return this.#literal(into, at, 0x40, 0x3f, code, value);
  }

  #shrinkTo(room: number): void {
    while (this.#size > room && this.#first < this.#sizes.length) {
      this.#size -= this.#sizes[this.#first++]!;
      this.#gone++;
    }
    if (this.#first > 64) {
      this.#sizes.splice(0, this.#first);
      this.#first = 0;
    }
  }

  #literal(into: Buffer, at: number, bits: number, prefix: number, code: HpackName, value: string): number {
    let end = putNumber(into, at, bits, prefix, code.index);
    if (code.index === 0) {
      end = putText(into, end, 0, 0x7f, code.text);
    }
    return putText(into, end, 0, 0x7f, value);
  }
}
