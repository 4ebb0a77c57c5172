import { type GeoPlaces, PlacesInOrder, WITHOUT } from './geo-places.js';

/** Disjoint ranges of addresses with one upper half, ascending, and the numbers of their values. */
interface Block {
  /** The first lower half times 65536, plus the last one. */
  readonly bounds: number[];
  readonly values: number[];
}

/** What adding a range met: the values it replaced, by number, or the range it overlaps, as text. */
export type AddRange = { readonly duplicates: readonly number[] } | { readonly overlaps: string };

const nothing: AddRange = { duplicates: [] };

/**
 * Disjoint ranges of IPv4 addresses, kept apart by the upper halves of the addresses as nginx keeps them, because its
 * messages show it. A range inside a known one is cut out of it; one that straddles an end is refused.
 * nginx: ngx_http_geo_add_range, ngx_http_geo_delete_range.
 */
export class GeoRanges {
  readonly #blocks = new Map<number, Block>();
  #count = 0;

  /** Adds a range with the number of its value; a known range of the same extent gets the new value and is reported. */
  add(first: number, last: number, value: number): AddRange {
    let duplicates: number[] | undefined;
    for (let at = first; at <= last; at = nextBlock(at)) {
      const high = Math.floor(at / 65536);
      let block = this.#blocks.get(high);
      if (block === undefined) {
        block = { bounds: [], values: [] };
        this.#blocks.set(high, block);
      }
      const before = block.bounds.length;
      const met = insert(block, at % 65536, lastIn(high, last), value);
      this.#count += block.bounds.length - before;
      if (met === OVERLAP) {
        return { overlaps: overlapped(high, block, at % 65536, lastIn(high, last)) };
      }
      if (met !== WITHOUT) {
        duplicates ??= [];
        duplicates.push(met);
      }
    }
    return duplicates === undefined ? nothing : { duplicates };
  }

  /** Removes ranges of exactly this extent; false when a part of it is none. */
  delete(first: number, last: number): boolean {
    let complete = true;
    for (let at = first; at <= last; at = nextBlock(at)) {
      const high = Math.floor(at / 65536);
      const block = this.#blocks.get(high);
      const found = block?.bounds.indexOf((at % 65536) * 65536 + lastIn(high, last)) ?? -1;
      if (block === undefined || found < 0) {
        complete = false;
      } else {
        block.bounds.splice(found, 1);
        block.values.splice(found, 1);
        this.#count--;
      }
    }
    return complete;
  }

  /** Where another value begins, or none. */
  cut(): GeoPlaces {
    const places = new PlacesInOrder(1, this.#count * 2);
    const place = new Uint32Array(1);
    for (const high of [...this.#blocks.keys()].sort((x, y) => x - y)) {
      const { bounds, values } = this.#blocks.get(high)!;
      for (let i = 0; i < bounds.length; i++) {
        place[0] = high * 65536 + Math.floor(bounds[i]! / 65536);
        places.add(place, values[i]!);
        const behind = high * 65536 + (bounds[i]! % 65536) + 1;
        if (behind < 0x100000000) {
          place[0] = behind;
          places.add(place, WITHOUT);
        }
      }
    }
    return places.end();
  }
}

const OVERLAP = -2;

/** The first address with the next upper half. */
function nextBlock(at: number): number {
  return (Math.floor(at / 65536) + 1) * 65536;
}

/** The last lower half that a range has under an upper half. */
function lastIn(high: number, last: number): number {
  return Math.min(last - high * 65536, 65535);
}

/** Returns WITHOUT, OVERLAP, or the number of the old value of a range that was there already. */
function insert({ bounds, values }: Block, first: number, last: number, value: number): number {
  const added = first * 65536 + last;
  // From the end, since most lists are sorted.
  for (let i = bounds.length - 1; i >= 0; i--) {
    const start = Math.floor(bounds[i]! / 65536);
    const end = bounds[i]! % 65536;
    if (last < start) {
      continue;
    }
    if (first > end) {
      splice(bounds, i + 1, added);
      splice(values, i + 1, value);
      return WITHOUT;
    }
    const old = values[i]!;
    if (first === start && last === end) {
      values[i] = value;
      return old;
    }
    if (first < start || last > end) {
      return OVERLAP;
    }
    bounds[i] = added;
    values[i] = value;
    if (end > last) {
      splice(bounds, i + 1, (last + 1) * 65536 + end);
      splice(values, i + 1, old);
    }
    if (start < first) {
      splice(bounds, i, start * 65536 + first - 1);
      splice(values, i, old);
    }
    return WITHOUT;
  }
  splice(bounds, 0, added);
  splice(values, 0, value);
  return WITHOUT;
}

/** Puts a number in, mostly at the end. */
function splice(list: number[], at: number, item: number): void {
  if (at === list.length) {
    list.push(item);
  } else {
    list.splice(at, 0, item);
  }
}

/** The range that keeps another one out, as text: the last of those that it meets. */
function overlapped(high: number, { bounds }: Block, first: number, last: number): string {
  const met = bounds.findLast((bound) => last >= Math.floor(bound / 65536) && first <= bound % 65536)!;
  return `${dotted(high, Math.floor(met / 65536))}-${dotted(high, met % 65536)}`;
}

function dotted(high: number, low: number): string {
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
