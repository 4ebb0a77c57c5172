import { MAX_WINDOW } from './protocol.js';

/** How many bytes may be sent: on a connection, or on a stream, whose window may be below zero (RFC 9113, 6.9). */
export class SendWindow {
  left: number;

  constructor(left: number) {
    this.left = left;
  }

  /** The other side makes room; false if that is more than a window can be. */
  grow(bytes: number): boolean {
    if (this.left + bytes > MAX_WINDOW) {
      return false;
    }
    this.left += bytes;
    return true;
  }
}

/** How many bytes the other side may send, and how it is given room again. */
export class ReceiveWindow {
  left: number;
  /** How much it may send ahead of what was used. */
  size: number;

  constructor(size: number) {
    this.left = size;
    this.size = size;
  }

  /** Bytes came; false if they are more than there was room for. */
  take(bytes: number): boolean {
    if (bytes > this.left) {
      return false;
    }
    this.left -= bytes;
    return true;
  }

  /**
   * The bytes to give room for, when `unused` of those that came wait to be used; 0 while it is not worth a frame. The window is filled
   * up when less than `share` of it is left.
   */
  refill(unused: number, share: number): number {
    if (this.left >= this.size * share) {
      return 0;
    }
    const room = this.size - unused - this.left;
    if (room <= 0) {
      return 0;
    }
    this.left += room;
    return room;
  }
}
