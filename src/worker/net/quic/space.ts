import type { PacketKeys } from '../openssl/packet-keys.js';
import { Ranges } from './ranges.js';
import { ReceiveBuffer } from './receive-buffer.js';
import { SendBuffer } from './send-buffer.js';
import { SentPackets } from './sent-packets.js';

/** The spaces of packet numbers. */
export const [INITIAL, HANDSHAKE, APPLICATION] = [0, 1, 2] as const;

/** How many ranges of numbers are remembered of the packets that came; older ones count as received. */
const MOST_RANGES = 32;
/** How far CRYPTO data may be ahead, in bytes: more than any hello. */
export const CRYPTO_AHEAD = 64 * 1024;
const NO_MARKS = [0, 0, 0] as const;

/** A packet number space (RFC 9000, 12.3): what came, what was sent, and the keys for both. */
export class Space {
  readonly index: number;
  /** Undefined before they are known, and once they are discarded. */
  readKeys: PacketKeys | undefined = undefined;
  writeKeys: PacketKeys | undefined = undefined;

  // What came.
  largest = -1;
  largestAt = 0;
  readonly received = new Ranges();
  /** Everything below counts as received. */
  #floor = 0;
  /** How many packets came that ask for an acknowledgement, and were not acknowledged. */
  unacked = 0;
  ackNow = false;
  /** When an acknowledgement leaves at the latest. */
  ackAt = Number.POSITIVE_INFINITY;
  /** How many packets came with each mark of ECN: ECT(0), ECT(1), CE. Undefined as long as none did. */
  marks: [number, number, number] | undefined = undefined;

  // What was sent.
  nextNumber = 0;
  /** How many packets left with a mark of ECN, and what the peer told last of ECT(0), ECT(1) and CE. */
  markedSent = 0;
  toldMarks: readonly [number, number, number] = NO_MARKS;
  readonly sent = new SentPackets();
  largestAcked = -1;
  /** When a packet counts as lost. */
  lossAt = Number.POSITIVE_INFINITY;
  /** How many packets are in flight, and when the last of them left. */
  eliciting = 0;
  lastEliciting = 0;
  /** How many packets leave whatever the window says. */
  probes = 0;

  readonly cryptoOut = new SendBuffer();
  /** Made when something comes: behind a handshake nothing does. */
  #cryptoIn: ReceiveBuffer | undefined = undefined;
  discarded = false;

  constructor(index: number) {
    this.index = index;
  }

  /** What comes of a handshake. */
  get cryptoIn(): ReceiveBuffer {
    this.#cryptoIn ??= new ReceiveBuffer();
    return this.#cryptoIn;
  }

  /** Whether a packet of this number came before. */
  has(number: number): boolean {
    return number < this.#floor || (number <= this.largest && this.received.has(number));
  }

  /** Notes that a packet came. */
  add(number: number, now: number): void {
    this.received.add(number, number + 1);
    if (number > this.largest) {
      this.largest = number;
      this.largestAt = now;
    }
    if (this.received.count > MOST_RANGES) {
      this.forgetBelow(this.received.list[1]!);
    }
  }

  /** The numbers below a limit need not be told again, and count as received. */
  forgetBelow(limit: number): void {
    if (limit > this.#floor) {
      this.#floor = limit;
      this.received.removeBelow(limit);
    }
  }

  /** Lets go of keys and of what waits. */
  discard(): void {
    this.discarded = true;
    this.readKeys?.free();
    this.writeKeys?.free();
    this.readKeys = undefined;
    this.writeKeys = undefined;
    this.cryptoOut.clear();
    this.#cryptoIn?.clear();
    this.received.list.length = 0;
    this.eliciting = 0;
    this.probes = 0;
    this.unacked = 0;
    this.ackNow = false;
    this.ackAt = Number.POSITIVE_INFINITY;
    this.lossAt = Number.POSITIVE_INFINITY;
  }
}

/** What stands for the spaces of all handshakes that are over, so that no connection keeps its own. */
export const GONE = new Space(INITIAL);
GONE.discard();
