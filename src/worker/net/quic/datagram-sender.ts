import type { ServerConnection } from './connection.js';
import type { Path } from './path.js';
import { APPLICATION } from './space.js';

/** As many datagrams leave in one call, and as many bytes. */
const MOST_SEGMENTS = 60;
const MOST_BYTES = 63_000;
const EMSGSIZE = -90;

/** Sends a connection's datagrams, as far as address, congestion window and pacer allow. */
export class DatagramSender {
  readonly #connection: ServerConnection;
  /** When something may leave that the pacer holds back. */
  pacedUntil = Number.POSITIVE_INFINITY;
  /** How many bytes left on all paths. */
  bytes = 0;
  /** The packets that are being built leave with a mark of ECN. */
  marks = false;

  constructor(connection: ServerConnection) {
    this.#connection = connection;
  }

  /** Sends `length` bytes of the output as datagrams of `segment` bytes. Returns 0, or a negated error number. */
  send(path: Path, from: number, length: number, segment: number): number {
    path.sent += length;
    this.bytes += length;
    return this.#connection.host.send(path, from, length, segment, this.marks);
  }

  /** Sends the packets that there are. */
  sendPackets(now: number): void {
    const c = this.#connection;
    const { writer } = c.host;
    const { cubic, pacer, rtt } = c.recovery;
    const { size } = c.mtu;
    const { segments } = c.settings;
    let budget = pacer.budget(now, cubic.window, rtt.smoothed, cubic.slowStart, size);
    this.pacedUntil = Number.POSITIVE_INFINITY;
    const { path } = c;
    this.marks = path.marks.used;
    let [from, segment, count] = [0, 0, 0];
    let { allowance } = path;
    for (;;) {
      // A datagram of the handshake has full length, so that there must be room for that.
      if (allowance < size) {
        break;
      }
      const room = cubic.room >= size || cubic.inFlight === 0;
      const length = writer.datagram(c, from, size, room && budget > 0, now);
      if (length === 0) {
        if ((budget <= 0 || !room) && this.#waits) {
          cubic.limitedAt = now;
          if (room) {
            this.pacedUntil = now + pacer.wait(cubic.window, rtt.smoothed, cubic.slowStart, size);
          }
        }
        break;
      }
      budget -= length;
      allowance -= length;
      count++;
      segment = segment === 0 ? length : segment;
      from += length;
      // A shorter one ends what leaves together.
      if (length < segment || length > segment || count === MOST_SEGMENTS || from + size > MOST_BYTES || !segments) {
        this.#sendTrain(path, from, segment, length);
        [from, segment, count] = [0, 0, 0];
      }
    }
    if (from > 0) {
      this.#sendTrain(path, from, segment, segment);
    }
  }

  /** Datagrams leave together as long as all but the last have one length. */
  #sendTrain(path: Path, length: number, segment: number, last: number): void {
    if (last <= segment) {
      this.send(path, 0, length, segment);
      return;
    }
    this.send(path, 0, length - last, segment);
    this.send(path, length - last, last, last);
  }

  /** Something would leave if it were allowed. */
  get #waits(): boolean {
    const c = this.#connection;
    return c.spaces.some((space) => space.cryptoOut.pending && space.writeKeys !== undefined) || (c.confirmed && c.hasFrames);
  }

  /** Tries whether longer datagrams arrive, when that is to be found out. */
  probeMtu(now: number): void {
    const c = this.#connection;
    const size = c.mtu.wanted;
    // One datagram more than the window allows does no harm.
    if (size === 0 || !c.confirmed || !c.path.validated || c.recovery.cubic.room < -size) {
      return;
    }
    const length = c.host.writer.mtuProbe(c, c.spaces[APPLICATION]!, 0, size, now);
    c.mtu.sent();
    if (this.send(c.path, 0, length, length) === EMSGSIZE) {
      c.mtu.refused();
      c.touch();
    }
  }
}
