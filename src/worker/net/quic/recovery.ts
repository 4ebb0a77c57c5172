import { Cubic } from './cubic.js';
import { Pacer } from './pacer.js';
import { Rtt } from './rtt.js';
import { giveRecord, Probe, type SentPacket } from './sent-packets.js';
import { APPLICATION, type Space } from './space.js';

/** A packet is lost when so many later ones were acknowledged. */
const REORDERING = 3;
/** How many probe timeouts without anything that arrives are persistent congestion. */
const PERSISTENT = 3;
/** A timeout doubles so often, at most. */
const MOST_DOUBLINGS = 10;

/** Who hears what became of packets. */
export interface RecoveryOwner {
  readonly spaces: readonly Space[];
  /** The client's, in milliseconds. */
  readonly maxAckDelay: number;
  /** Packets of the application's space may be probed for. */
  readonly confirmed: boolean;
  arrived(space: Space, packet: SentPacket): void;
  /** What the packet carries is to be sent once more. */
  sendAgain(space: Space, packet: SentPacket): void;
  probeLost(kind: number): void;
  /** Nothing can be sent before the client sends something. */
  readonly stuck: boolean;
}

/** Finds out what was lost, and how much may be in flight (RFC 9002). Times are monotonic milliseconds. */
export class Recovery {
  readonly rtt = new Rtt();
  readonly cubic: Cubic;
  readonly pacer = new Pacer();
  readonly #owner: RecoveryOwner;
  /** How many probe timeouts there were in turn. */
  #timeouts = 0;
  #probed: Space | undefined = undefined;
  lostPackets = 0;

  constructor(owner: RecoveryOwner, datagram: number) {
    this.#owner = owner;
    this.cubic = new Cubic(datagram);
  }

  sent(space: Space, packet: SentPacket, now: number): void {
    space.sent.add(packet);
    space.eliciting++;
    space.lastEliciting = now;
    this.cubic.sent(packet.size);
    if (packet.probe === Probe.NONE) {
      this.pacer.sent(packet.size);
    }
  }

  /** Packets `low..high` were acknowledged. Returns how many of them were not before. */
  acked(space: Space, low: number, high: number, now: number): number {
    const { sent } = space;
    const from = Math.max(low, sent.start);
    const to = Math.min(high, sent.end - 1);
    let count = 0;
    for (let number = from; number <= to && sent.size > 0; number++) {
      const packet = sent.get(number);
      if (packet === undefined) {
        continue;
      }
      count++;
      sent.delete(number);
      space.eliciting--;
      this.cubic.acked(packet.size, packet.time, now, this.rtt.smoothed);
      this.#owner.arrived(space, packet);
      giveRecord(packet);
    }
    return count;
  }

  /** An acknowledgement was read, whose largest number's packet left at `newestTime`: -1 where that was known before. */
  ackRead(space: Space, newestTime: number, delay: number, now: number): void {
    if (newestTime >= 0) {
      this.rtt.sample(Math.max(0, now - newestTime), delay, now);
    }
    this.detectLosses(space, now);
    this.#timeouts = 0;
  }

  detectLosses(space: Space, now: number): void {
    const { sent } = space;
    space.lossAt = Number.POSITIVE_INFINITY;
    const delay = this.rtt.lossDelay;
    const last = Math.min(space.largestAcked, sent.end - 1);
    let firstLost = Number.POSITIVE_INFINITY;
    let lastLost = -1;
    for (let number = sent.start; number <= last; number++) {
      const packet = sent.get(number);
      if (packet === undefined) {
        continue;
      }
      if (space.largestAcked - number < REORDERING && packet.time > now - delay) {
        space.lossAt = Math.min(space.lossAt, packet.time + delay);
        continue;
      }
      sent.delete(number);
      space.eliciting--;
      this.cubic.lost(packet.size);
      if (packet.probe !== Probe.NONE) {
        this.#owner.probeLost(packet.probe);
      } else {
        this.lostPackets++;
        firstLost = Math.min(firstLost, packet.time);
        lastLost = Math.max(lastLost, packet.time);
        this.#owner.sendAgain(space, packet);
      }
      giveRecord(packet);
    }
    if (lastLost >= 0) {
      this.cubic.congested(lastLost, now);
      const persistent = PERSISTENT * this.rtt.probeTimeout(this.#owner.maxAckDelay);
      if (firstLost > this.rtt.firstAt && lastLost - firstLost > persistent) {
        this.cubic.collapsed();
      }
    }
  }

  /** When something is due: a loss, or a probe. */
  get due(): number {
    let due = Number.POSITIVE_INFINITY;
    for (const { lossAt } of this.#owner.spaces) {
      due = Math.min(due, lossAt);
    }
    return due === Number.POSITIVE_INFINITY ? this.#probe() : due;
  }

  /** When something is probed next; leaves the space in {@link #probed}. */
  #probe(): number {
    const { spaces, maxAckDelay, confirmed, stuck } = this.#owner;
    let at = Number.POSITIVE_INFINITY;
    this.#probed = undefined;
    if (stuck) {
      return at;
    }
    const factor = 2 ** Math.min(this.#timeouts, MOST_DOUBLINGS);
    for (const space of spaces) {
      if (space.eliciting === 0 || (space.index === APPLICATION && !confirmed)) {
        continue;
      }
      const time = space.lastEliciting + this.rtt.probeTimeout(space.index === APPLICATION ? maxAckDelay : 0) * factor;
      if (time < at) {
        at = time;
        this.#probed = space;
      }
    }
    return at;
  }

  /** The time has come for something. Returns whether packets may have to leave. */
  expired(now: number): boolean {
    let work = false;
    for (const space of this.#owner.spaces) {
      if (now >= space.lossAt) {
        this.detectLosses(space, now);
        work = true;
      }
    }
    const at = this.#probe();
    const space = this.#probed;
    if (work || space === undefined || now < at) {
      return work;
    }
    this.#timeouts++;
    space.probes = 2;
    // What was sent first goes once more, since a probe should carry something.
    let again = 0;
    for (let number = space.sent.start; number < space.sent.end && again < 2; number++) {
      const packet = space.sent.get(number);
      // Nobody waits for tickets, and some clients do not take them twice.
      const tickets = packet !== undefined && packet.parts > 0 && packet.data[0]!.stream === undefined && space.index === APPLICATION;
      if (packet !== undefined && packet.probe === Probe.NONE && !tickets) {
        this.#owner.sendAgain(space, packet);
        packet.empty();
        again++;
      }
    }
    return true;
  }

  /** Nobody waits any more for what a space has sent. */
  discard(space: Space): void {
    const { sent } = space;
    for (let number = sent.start; number < sent.end && sent.size > 0; number++) {
      const packet = sent.get(number);
      if (packet !== undefined) {
        sent.delete(number);
        this.cubic.forgotten(packet.size);
        giveRecord(packet);
      }
    }
    this.#timeouts = 0;
  }

  /** A new path is another one in all that was measured. */
  newPath(): void {
    this.rtt.reset();
    this.cubic.reset();
  }
}
