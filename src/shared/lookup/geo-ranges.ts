import { Address } from '../lib/address.js';
import type { AddressEntry } from '../lib/address-map.js';

/** Low halves of IPv4 addresses, both ends included. */
interface Range {
  start: number;
  end: number;
  value: string;
}

/** What adding a range met: the value it replaced, or the range it overlaps, as text. */
export type AddRange = { readonly duplicates: readonly string[] } | { readonly overlaps: string };

/**
 * Disjoint ranges of IPv4 addresses, kept apart by the upper halves of the addresses as nginx keeps them, because its
 * messages show it. A range inside a known one is cut out of it; one that straddles an end is refused.
 * nginx: ngx_http_geo_add_range, ngx_http_geo_delete_range.
 */
export class GeoRanges {
  readonly #blocks = new Map<number, Range[]>();

  /** Adds a range; a known range of the same extent gets the new value and is reported. */
  add(first: number, last: number, value: string): AddRange {
    const duplicates: string[] = [];
    for (const { high, start, end } of pieces(first, last)) {
      let ranges = this.#blocks.get(high);
      if (ranges === undefined) {
        ranges = [];
        this.#blocks.set(high, ranges);
      }
      const before = insert(ranges, { start, end, value });
      if (typeof before === 'string') {
        duplicates.push(before);
      } else if (before !== undefined) {
        return { overlaps: `${dotted(high, before.start)}-${dotted(high, before.end)}` };
      }
    }
    return { duplicates };
  }

  /** Removes ranges of exactly this extent; false when a part of it is none. */
  delete(first: number, last: number): boolean {
    let complete = true;
    for (const { high, start, end } of pieces(first, last)) {
      const ranges = this.#blocks.get(high) ?? [];
      const at = ranges.findIndex((range) => range.start === start && range.end === end);
      if (at < 0) {
        complete = false;
      } else {
        ranges.splice(at, 1);
      }
    }
    return complete;
  }

  entries(): AddressEntry<string>[] {
    const entries: AddressEntry<string>[] = [];
    for (const [high, ranges] of this.#blocks) {
      const base = high * 65536;
      for (const { start, end, value } of ranges) {
        entries.push({ first: new Address(4, 0, 0, 0, base + start), last: new Address(4, 0, 0, 0, base + end), value });
      }
    }
    return entries;
  }
}

/** Cuts a range at the borders between upper halves. */
function* pieces(first: number, last: number): Generator<{ readonly high: number; readonly start: number; readonly end: number }> {
  for (let at = first; at <= last; at = (Math.floor(at / 65536) + 1) * 65536) {
    const high = Math.floor(at / 65536);
    yield { high, start: at % 65536, end: Math.min(last - high * 65536, 65535) };
  }
}

/** Returns undefined, the old value of a range that was there already, or the range that is overlapped. */
function insert(ranges: Range[], added: Range): string | Range | undefined {
  // From the end, since most lists are sorted.
  for (let i = ranges.length - 1; i >= 0; i--) {
    const range = ranges[i]!;
    if (added.end < range.start) {
      continue;
    }
    if (added.start > range.end) {
      ranges.splice(i + 1, 0, added);
      return undefined;
    }
    if (added.start === range.start && added.end === range.end) {
      const old = range.value;
      range.value = added.value;
      return old;
    }
    if (added.start < range.start || added.end > range.end) {
      return range;
    }
    const parts: Range[] = [added];
    if (range.start < added.start) {
      parts.unshift({ start: range.start, end: added.start - 1, value: range.value });
    }
    if (range.end > added.end) {
      parts.push({ start: added.end + 1, end: range.end, value: range.value });
    }
    ranges.splice(i, 1, ...parts);
    return undefined;
  }
  ranges.unshift(added);
  return undefined;
}

function dotted(high: number, low: number): string {
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
