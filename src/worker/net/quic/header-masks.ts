import type { Region } from '../../../shared/net/uring/memory.js';
import { MASKS_MOST, type PacketKeys, SAMPLE } from '../openssl/packet-keys.js';

/** Packets with short headers that are encrypted but for those: all that leave together get their masks in one call (RFC 9001, 5.4). */
export class HeaderMasks {
  readonly #region: Region;
  /** The keys of all that wait, of whom there are so many. */
  #keys: PacketKeys | undefined = undefined;
  #count = 0;
  /** Where each packet begins, and its number; and how long that is. */
  readonly #starts = new Uint32Array(MASKS_MOST);
  readonly #numbersAt = new Uint32Array(MASKS_MOST);
  readonly #lengths = new Uint8Array(MASKS_MOST);

  constructor(region: Region) {
    this.#region = region;
  }

  /** The packet at `start` has to get a mask before it leaves. */
  add(keys: PacketKeys, start: number, numberAt: number, numberLength: number): void {
    if (this.#count === MASKS_MOST || (this.#count > 0 && this.#keys !== keys)) {
      this.put();
    }
    const index = this.#count++;
    this.#keys = keys;
    this.#starts[index] = start;
    this.#numbersAt[index] = numberAt;
    this.#lengths[index] = numberLength;
  }

  /** Masks the headers of all that wait. */
  put(): void {
    const count = this.#count;
    if (count === 0) {
      return;
    }
    this.#count = 0;
    const { bytes } = this.#region;
    const keys = this.#keys!;
    this.#keys = undefined;
    const masks = keys.masks(this.#region, this.#numbersAt, 4, count);
    for (let i = 0; i < count; i++) {
      const mask = i * SAMPLE;
      const numberAt = this.#numbersAt[i]!;
      bytes[this.#starts[i]!]! ^= masks[mask]! & 0x1f;
      for (let k = this.#lengths[i]! - 1; k >= 0; k--) {
        bytes[numberAt + k]! ^= masks[mask + 1 + k]!;
      }
    }
  }

  /** What waits does not leave: something went wrong before it could. */
  forget(): void {
    this.#count = 0;
    this.#keys = undefined;
  }
}
