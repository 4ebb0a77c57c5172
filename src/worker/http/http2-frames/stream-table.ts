/** Slots of a table at first; always a power of two. */
const FIRST_SLOTS = 8;

/**
 * The streams of a connection by their identifiers. A Map leaves its memory behind from time to time, with whatever was in it then: that
 * memory leads to what replaced it, so that what is over lives on until all of the heap is looked at. Here nothing is left behind.
 */
export class Http2StreamTable<T extends object> {
  /** How many there are. */
  size = 0;
  /** Identifiers, each in the first slot behind that of its number which was free; 0: a free one. */
  #ids: number[] = new Array<number>(FIRST_SLOTS).fill(0);
  #streams: (T | null)[] = new Array<T | null>(FIRST_SLOTS).fill(null);

  get(id: number): T | undefined {
    const at = this.#find(id);
    return this.#ids[at] === id && id !== 0 ? this.#streams[at]! : undefined;
  }

  has(id: number): boolean {
    return id !== 0 && this.#ids[this.#find(id)] === id;
  }

  /** Adds a stream, whose identifier is new. */
  set(id: number, stream: T): void {
    if ((this.size + 1) * 2 > this.#ids.length) {
      this.#widen();
    }
    this.#put(id, stream);
    this.size++;
  }

  /** Returns false if there is none. */
  delete(id: number): boolean {
    const ids = this.#ids;
    const mask = ids.length - 1;
    let free = this.#find(id);
    if (id === 0 || ids[free] !== id) {
      return false;
    }
    this.size--;
    // Those behind it that are not in a slot of their own move up.
    for (let at = (free + 1) & mask; ids[at] !== 0; at = (at + 1) & mask) {
      const own = (ids[at]! >>> 1) & mask;
      if (((at - own) & mask) >= ((at - free) & mask)) {
        ids[free] = ids[at]!;
        this.#streams[free] = this.#streams[at]!;
        free = at;
      }
    }
    ids[free] = 0;
    this.#streams[free] = null;
    return true;
  }

  /** All of them, in the order of their identifiers; for callers that may delete some. */
  all(): T[] {
    const ids = this.#ids.filter((id) => id !== 0).sort((a, b) => a - b);
    return ids.map((id) => this.get(id)!);
  }

  /** The slot of an identifier, or the free one where it would be. */
  #find(id: number): number {
    const ids = this.#ids;
    const mask = ids.length - 1;
    let at = (id >>> 1) & mask;
    while (ids[at] !== 0 && ids[at] !== id) {
      at = (at + 1) & mask;
    }
    return at;
  }

  #put(id: number, stream: T): void {
    const at = this.#find(id);
    this.#ids[at] = id;
    this.#streams[at] = stream;
  }

  #widen(): void {
    const [ids, streams] = [this.#ids, this.#streams];
    this.#ids = new Array<number>(ids.length * 2).fill(0);
    this.#streams = new Array<T | null>(ids.length * 2).fill(null);
    for (let i = 0; i < ids.length; i++) {
      if (ids[i] !== 0) {
        this.#put(ids[i]!, streams[i]!);
      }
    }
  }
}
