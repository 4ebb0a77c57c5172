/** Every path carries that. */
export const BASE = 1200;
/** What is tried after the largest: a usual link with IPv4, with IPv6, and one with something around it. */
const USUAL = [1472, 1452, 1392, 1280];
/** A longer datagram saves little, and the loss of one costs more. */
const MOST = 16000;
const TRIES = 2;
/** Nothing is to be tried. */
const NONE: readonly number[] = [];

/** Finds out how long datagrams may be on a path (RFC 8899). */
export class MtuDiscovery {
  /** In bytes. */
  size = BASE;
  #candidates: readonly number[] = NONE;
  #tries = 0;
  #underWay = false;

  /** Begins on a validated path; `most`: what the peer takes. */
  begin(most: number): void {
    const largest = Math.min(most, MOST);
    this.#candidates = [largest, ...USUAL.filter((each) => each < largest)].filter((each) => each > BASE);
    this.#tries = 0;
    this.#underWay = false;
  }

  /** The length of the datagram that is to be tried now; 0 for none. */
  get wanted(): number {
    return this.#underWay ? 0 : (this.#candidates[0] ?? 0);
  }

  sent(): void {
    this.#underWay = true;
    this.#tries++;
  }

  /** A datagram of that length has arrived. */
  arrived(size: number): void {
    this.#underWay = false;
    this.#candidates = NONE;
    this.size = Math.max(this.size, size);
  }

  lost(): void {
    this.#underWay = false;
    if (this.#tries >= TRIES) {
      this.refused();
    }
  }

  /** The system does not send such a long one. */
  refused(): void {
    this.#underWay = false;
    this.#tries = 0;
    this.#candidates = this.#candidates.slice(1);
  }

  /** What is known does not hold any more. */
  reset(): void {
    this.size = BASE;
    this.#candidates = NONE;
    this.#underWay = false;
  }
}
