/** Frames that bring nothing, of which a backend may send so many in a minute without any that brings something. */
const CONTROL_FRAMES = 10_000;
const MINUTE = 60_000;
/** Answers to its frames that wait for a backend to read them. nginx: the limits of ngx_http_grpc_parse_settings and its kin. */
const UNREAD_ANSWERS = 1000;

/** Counts what a backend makes us do beside its responses. */
export class ControlGuard {
  #control = 0;
  #since = 0;
  #answers = 0;

  /** A frame that brings nothing came. Returns false if there were too many. */
  control(): boolean {
    if (++this.#control <= CONTROL_FRAMES) {
      return true;
    }
    const now = performance.now();
    const flood = now - this.#since < MINUTE;
    this.#since = now;
    this.#control = 0;
    return !flood;
  }

  /** A frame of a response came. */
  useful(): void {
    this.#control = 0;
  }

  /** An answer to a frame is put with what waits to be sent. Returns false if there are too many. */
  acknowledge(): boolean {
    return ++this.#answers <= UNREAD_ANSWERS;
  }

  /** What waited has left. */
  sent(): void {
    this.#answers = 0;
  }
}
