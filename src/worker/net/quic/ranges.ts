/** Numbers as half-open ranges, ascending, with gaps between them. */
export class Ranges {
  /** Start and end by turns. */
  list: number[] = [];

  /** How many there are. */
  get count(): number {
    return this.list.length >> 1;
  }

  /** Adds `start..end`. Returns false when all of it was there. */
  add(start: number, end: number): boolean {
    const { list } = this;
    const { length } = list;
    if (length === 0) {
      // A list that begins with its first range has room for that alone.
      this.list = [start, end];
      return true;
    }
    if (start > list[length - 1]!) {
      list.push(start, end);
      return true;
    }
    if (start === list[length - 1]) {
      list[length - 1] = end;
      return true;
    }
    let from = length - 2;
    // Nearly everything concerns the last ranges.
    while (from > 0 && list[from - 1]! >= start) {
      from -= 2;
    }
    if (list[from + 1]! < start) {
      from += 2;
    }
    if (from < length && list[from]! <= start && list[from + 1]! >= end) {
      return false;
    }
    let to = from;
    let first = start;
    let last = end;
    while (to < length && list[to]! <= end) {
      first = Math.min(first, list[to]!);
      last = Math.max(last, list[to + 1]!);
      to += 2;
    }
    list.splice(from, to - from, first, last);
    return true;
  }

  /** Takes out what is below `limit`. */
  removeBelow(limit: number): void {
    const { list } = this;
    let gone = 0;
    while (gone < list.length && list[gone + 1]! <= limit) {
      gone += 2;
    }
    if (gone > 0) {
      list.splice(0, gone);
    }
    if (list.length > 0 && list[0]! < limit) {
      list[0] = limit;
    }
  }

  /** Takes `start..end` out, from the first ranges on. */
  remove(start: number, end: number): void {
    const { list } = this;
    for (let i = 0; i < list.length && list[i]! < end; ) {
      const [first, last] = [list[i]!, list[i + 1]!];
      if (last <= start) {
        i += 2;
      } else if (first >= start && last <= end) {
        list.splice(i, 2);
      } else if (first < start && last > end) {
        list.splice(i + 1, 0, start, end);
        return;
      } else if (first < start) {
        list[i + 1] = start;
        i += 2;
      } else {
        list[i] = end;
        return;
      }
    }
  }

  has(value: number): boolean {
    const { list } = this;
    for (let i = list.length - 2; i >= 0; i -= 2) {
      if (value >= list[i]!) {
        return value < list[i + 1]!;
      }
    }
    return false;
  }

  /** Up to where everything from 0 on is there. */
  get front(): number {
    return this.list.length > 0 && this.list[0] === 0 ? this.list[1]! : 0;
  }
}
