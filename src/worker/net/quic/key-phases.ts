import type { PacketKeys } from '../openssl/packet-keys.js';
import { Code, TransportError } from './errors.js';
import type { Space } from './space.js';

/** How many packets that ask may be sent with one key before it is changed: far from what it could bear. */
const UPDATE_AFTER = 2 ** 22;

/** The keys of 1-RTT packets before and after the present ones, which the space has (RFC 9001, 6). Times are monotonic milliseconds. */
export class KeyPhases {
  /** The bit that packets with the present keys carry. */
  present: 0 | 1 = 0;
  #next: PacketKeys | undefined = undefined;
  #old: PacketKeys | undefined = undefined;
  /** When the old keys are needed no more. */
  dropOldAt = Number.POSITIVE_INFINITY;
  /** The first number that came with the present keys, and that was sent with them. */
  #read = 0;
  #sent = 0;

  /** The keys of a packet whose bit is not the present one. */
  others(space: Space, number: number): PacketKeys {
    if (this.#old !== undefined && number < this.#read) {
      return this.#old;
    }
    this.#next ??= space.readKeys!.next();
    return this.#next;
  }

  /** Whether a packet with these keys says that the peer has changed to the next ones. */
  areNext(keys: PacketKeys): boolean {
    return keys === this.#next;
  }

  /** The peer uses the next keys, so that we do. `keptFor`: how long packets with the old ones may come. */
  peerUpdated(space: Space, number: number, now: number, keptFor: number): void {
    if (this.#old !== undefined && space.nextNumber === this.#sent) {
      // Nothing was sent with the present keys, so that the peer cannot know that they are in use (RFC 9001, 6.2).
      throw new TransportError(Code.KEY_UPDATE, 'keys are changed again too early');
    }
    this.#change(space, number, now, keptFor);
  }

  /** Changes keys oneself before one has protected too much (RFC 9001, 6.6). */
  updateOwn(space: Space, now: number, keptFor: number): void {
    const { writeKeys } = space;
    if (writeKeys !== undefined && writeKeys.sealed >= UPDATE_AFTER && this.#old === undefined && space.largestAcked >= this.#sent) {
      // Whatever comes with the old keys has a smaller number.
      this.#change(space, Number.POSITIVE_INFINITY, now, keptFor);
    }
  }

  #change(space: Space, number: number, now: number, keptFor: number): void {
    this.#old?.free();
    this.#old = space.readKeys;
    this.dropOldAt = now + keptFor;
    this.#next ??= space.readKeys!.next();
    space.readKeys = this.#next;
    this.#next = undefined;
    this.#read = number;
    const before = space.writeKeys!;
    space.writeKeys = before.next();
    before.free();
    this.present = this.present === 0 ? 1 : 0;
    this.#sent = space.nextNumber;
  }

  /** Lets go of the old keys when their time is over. */
  expired(now: number): void {
    if (now >= this.dropOldAt) {
      this.#old?.free();
      this.#old = undefined;
      this.dropOldAt = Number.POSITIVE_INFINITY;
    }
  }

  /** Lets go of all keys but the space's. */
  free(): void {
    this.#next?.free();
    this.#old?.free();
    this.#next = undefined;
    this.#old = undefined;
  }
}
