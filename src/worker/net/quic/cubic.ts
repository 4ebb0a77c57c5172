/** What CUBIC's window grows by, and what is left of it after a loss (RFC 9438, 4). */
const C = 0.4;
const BETA = 0.7;
/** Growth in the region where Reno would be faster. */
const ALPHA = (3 * (1 - BETA)) / (1 + BETA);
/** No connection has more in flight, in bytes. */
const MOST = 16 * 1024 * 1024;

/** How much may be in flight: slow start and CUBIC (RFC 9438), in bytes. */
export class Cubic {
  window: number;
  inFlight = 0;
  #datagram: number;
  #threshold = Number.POSITIVE_INFINITY;
  /** Packets that were sent until then belong to the loss that was answered already. */
  #recoveryStart = Number.NEGATIVE_INFINITY;
  /** The window before the last loss, and when the curve began: a negative number before it did. */
  #most = 0;
  #epoch = -1;
  /** When the curve reaches {@link #most}, in seconds after it began. */
  #k = 0;
  /** What Reno's window would be, and the one that it grows carefully up to: that before the last loss. */
  #reno = 0;
  #before = 0;
  /** What was sent until then was all that the window, or the pace that follows from it, has let out. */
  limitedAt = Number.NEGATIVE_INFINITY;

  constructor(datagram: number) {
    this.#datagram = datagram;
    this.window = initialWindow(datagram);
  }

  /** Datagrams have another size from now on. */
  resize(datagram: number): void {
    this.#datagram = datagram;
    this.window = Math.max(this.window, 2 * datagram);
  }

  get room(): number {
    return this.window - this.inFlight;
  }

  get slowStart(): boolean {
    return this.window < this.#threshold;
  }

  sent(bytes: number): void {
    this.inFlight += bytes;
  }

  /** A packet that was sent then has arrived; `rtt` in milliseconds. */
  acked(bytes: number, sentAt: number, now: number, rtt: number): void {
    this.inFlight -= bytes;
    if (sentAt <= this.#recoveryStart || sentAt > this.limitedAt || this.window >= MOST) {
      return;
    }
    if (this.window < this.#threshold) {
      this.window += bytes;
      return;
    }
    const datagram = this.#datagram;
    if (this.#epoch < 0) {
      this.#epoch = now;
      this.#most = Math.max(this.#most, this.window);
      this.#k = Math.cbrt((this.#most - this.window) / datagram / C);
      this.#reno = this.window;
    }
    const t = (now - this.#epoch + rtt) / 1000 - this.#k;
    const target = this.#most + C * t * t * t * datagram;
    this.#reno += ((this.#reno < this.#before ? ALPHA : 1) * datagram * bytes) / this.window;
    if (this.#reno >= target) {
      this.window = Math.max(this.window, this.#reno);
    } else if (target > this.window) {
      this.window += ((Math.min(target, 1.5 * this.window) - this.window) * bytes) / this.window;
    }
  }

  lost(bytes: number): void {
    this.inFlight -= bytes;
  }

  /** Bytes of packets that nobody waits for any more. */
  forgotten(bytes: number): void {
    this.inFlight -= bytes;
  }

  /** A packet that was sent then is lost, or was marked. */
  congested(sentAt: number, now: number): void {
    if (sentAt <= this.#recoveryStart) {
      return;
    }
    this.#recoveryStart = now;
    this.#epoch = -1;
    this.#before = this.window;
    // A flow that has not got back to where it was leaves room for others.
    this.#most = this.window < this.#most ? (this.window * (1 + BETA)) / 2 : this.window;
    this.window = Math.max(this.window * BETA, 2 * this.#datagram);
    this.#threshold = this.window;
  }

  /** Nothing has arrived for a long time (RFC 9002, 7.6). */
  collapsed(): void {
    this.#threshold = Math.max(this.window * BETA, 2 * this.#datagram);
    this.window = 2 * this.#datagram;
    this.#recoveryStart = Number.NEGATIVE_INFINITY;
    this.#epoch = -1;
  }

  /** Nothing is known of a new path. */
  reset(): void {
    this.window = initialWindow(this.#datagram);
    this.#threshold = Number.POSITIVE_INFINITY;
    this.#recoveryStart = Number.NEGATIVE_INFINITY;
    this.#epoch = -1;
    this.#most = 0;
  }
}

const initialWindow = (datagram: number): number => Math.min(10 * datagram, Math.max(14720, 2 * datagram));
