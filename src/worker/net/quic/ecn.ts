import type { Space } from './space.js';

/** What is known of marks on a path. */
const State = { TESTING: 0, UNKNOWN: 1, CAPABLE: 2, FAILED: 3 } as const;
/** How many packets are marked before it is known that marks arrive. */
const TRIED = 10;

/** Whether packets that leave on a path carry ECT(0), and whether such marks arrive (RFC 9000, 13.4.2 and A.4). */
export class PathMarks {
  #state: number = State.TESTING;
  #tried = 0;

  /** Packets are marked. */
  get used(): boolean {
    return this.#state === State.TESTING || this.#state === State.CAPABLE;
  }

  /** A marked packet leaves. */
  sent(): void {
    if (this.#state === State.TESTING && ++this.#tried >= TRIED) {
      // Something on the way may drop what is marked: the others are not, until one of these arrives.
      this.#state = State.UNKNOWN;
    }
  }

  /**
   * An acknowledgement came, with the peer's counts of all packets with ECT(0), ECT(1) and CE that it has received in the space; undefined
   * where it tells none. `marked`: how many marked packets are acknowledged that were not before. `latest`: it is about a packet that is
   * later than all that were acknowledged. Returns whether the peer tells of congestion.
   */
  told(space: Space, marked: number, counts: readonly number[] | undefined, latest: boolean): boolean {
    if (this.#state === State.FAILED || !latest) {
      return false;
    }
    if (counts === undefined) {
      if (marked > 0) {
        this.#state = State.FAILED;
      }
      return false;
    }
    const [plain, other, congested] = counts as [number, number, number];
    const [plainBefore, , congestedBefore] = space.toldMarks;
    const grown = plain - plainBefore + (congested - congestedBefore);
    if (plain < plainBefore || congested < congestedBefore || grown < marked || plain + congested > space.markedSent || other > 0) {
      this.#state = State.FAILED;
      return false;
    }
    space.toldMarks = [plain, other, congested];
    if (marked > 0) {
      this.#state = State.CAPABLE;
    }
    return congested > congestedBefore;
  }
}
