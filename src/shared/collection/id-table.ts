/** In place of an identifier. */
const FREE = -1;
/** Slots of a table that has something; always a power of two. */
const FIRST_SLOTS = 8;
/** What tables have before anything is put in, for which they get memory of their own: nobody writes there. */
const NO_IDS = [FREE];
const NO_ITEMS = [null];

/**
 * The streams of a connection by their identifiers, or what belongs to them. A Map leaves its memory behind from time to time, with
 * whatever was in it then: that memory leads to what replaced it, so that what is over lives on until all of the heap is
 * looked at. Here nothing is left behind.
 */
export class IdTable<T extends object> {
  /** How many there are. */
  size = 0;
  /** Identifiers, each in the first slot behind its own which was free; {@link FREE}: a free one. */
  #ids: number[] = NO_IDS;
  #items: (T | null)[] = NO_ITEMS;

  get(id: number): T | undefined {
    return this.#items[this.#find(id)] ?? undefined;
  }

  has(id: number): boolean {
    return this.#items[this.#find(id)] !== null;
  }

  /** Adds one, whose identifier is new. */
  set(id: number, item: T): void {
    if ((this.size + 1) * 2 > this.#ids.length) {
      this.#widen();
    }
    this.#put(id, item);
    this.size++;
  }

  /** Returns false if there is none. */
  delete(id: number): boolean {
    const ids = this.#ids;
    const mask = ids.length - 1;
    let free = this.#find(id);
    if (ids[free] !== id) {
      return false;
    }
    this.size--;
    // Those behind it that are not in a slot of their own move up.
    for (let at = (free + 1) & mask; ids[at] !== FREE; at = (at + 1) & mask) {
      const own = slotOf(ids[at]!) & mask;
      if (((at - own) & mask) >= ((at - free) & mask)) {
        ids[free] = ids[at]!;
        this.#items[free] = this.#items[at]!;
        free = at;
      }
    }
    ids[free] = FREE;
    this.#items[free] = null;
    return true;
  }

  /** All of them, in the order of their identifiers; for callers that may delete some. */
  all(): T[] {
    const ids = this.#ids.filter((id) => id !== FREE).sort((a, b) => a - b);
    return ids.map((id) => this.get(id)!);
  }

  /** The slot of an identifier, or the free one where it would be. */
  #find(id: number): number {
    const ids = this.#ids;
    const mask = ids.length - 1;
    let at = slotOf(id) & mask;
    while (ids[at] !== FREE && ids[at] !== id) {
      at = (at + 1) & mask;
    }
    return at;
  }

  #put(id: number, item: T): void {
    const at = this.#find(id);
    this.#ids[at] = id;
    this.#items[at] = item;
  }

  #widen(): void {
    const [ids, items] = [this.#ids, this.#items];
    const length = Math.max(FIRST_SLOTS, ids.length * 2);
    this.#ids = new Array<number>(length).fill(FREE);
    this.#items = new Array<T | null>(length).fill(null);
    for (let i = 0; i < ids.length; i++) {
      if (ids[i] !== FREE) {
        this.#put(ids[i]!, items[i]!);
      }
    }
  }
}

/**
 * Where an identifier belongs, modulo the slots: those that follow one another, by two or four mostly, are spread, since a slot that
 * becomes free has all behind it looked at up to the next free one.
 */
const slotOf = (id: number): number => {
  const mixed = Math.imul(id, 0x9e3779b1);
  return (mixed >>> 15) ^ (mixed >>> 3);
};
