/**
 * What a worker counts about its connections and requests: plain numbers, changed in place on the hot path. The code that
 * publishes them to other processes sets `changed`, which is called with each change.
 */
export class ConnectionCounters {
  accepted = 0;
  /** The connections that are clients who send datagrams. */
  sessions = 0;
  handled = 0;
  requests = 0;
  active = 0;
  reading = 0;
  writing = 0;
  waiting = 0;
  /** Requests by first digit of their status; index 0 counts those that were given up. */
  readonly statusClasses: number[] = [0, 0, 0, 0, 0, 0];
  /** Asks for the numbers to be published soon. */
  changed: () => void = () => {};
}
