import type { Field } from './field.js';

/** Fields that were said before, of which the oldest go when there is no more room. */
export class FieldRing {
  /** A ring: the latest entry is before `#next`. It grows when it is full, up to as many fields as fit into the greatest size. */
  #ring: (Field | undefined)[] = [];
  #next = 0;
  #count = 0;
  #size = 0;

  /** The number of bytes that the entries count for. */
  get size(): number {
    return this.#size;
  }

  /** The number of fields that were added and are still there. */
  get count(): number {
    return this.#count;
  }

  /** The field that was added last (1), before that (2), and so on; undefined where there is none. */
  latest(back: number): Field | undefined {
    return back < 1 || back > this.#count ? undefined : this.#ring[(this.#next - back + this.#ring.length) % this.#ring.length];
  }

  /** Adds a field. */
  protected push(field: Field): void {
    if (this.#count === this.#ring.length) {
      this.#grow();
    }
    this.#ring[this.#next] = field;
    this.#next = (this.#next + 1) % this.#ring.length;
    this.#count++;
    this.#size += field.size;
  }

  /** Drops the oldest fields until the others take no more than `room` bytes. */
  protected shrinkTo(room: number): void {
    while (this.#size > room && this.#count > 0) {
      const oldest = (this.#next - this.#count + this.#ring.length) % this.#ring.length;
      this.#size -= this.#ring[oldest]!.size;
      this.#ring[oldest] = undefined;
      this.#count--;
    }
  }

  #grow(): void {
    const length = this.#ring.length;
    const ring: (Field | undefined)[] = [];
    for (let i = 0; i < length; i++) {
      ring.push(this.#ring[(this.#next + i) % length]);
    }
    for (let i = 0; i < Math.max(length, 8); i++) {
      ring.push(undefined);
    }
    this.#ring = ring;
    this.#next = length;
  }
}
