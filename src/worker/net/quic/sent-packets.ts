import { emptyList } from '../../../shared/collection/empty-list.js';
import type { SendBuffer } from './send-buffer.js';
import type { Stream } from './stream.js';

/** A part of a stream, or of CRYPTO data, that a packet carries. */
export class SentData {
  /** Undefined once the record holds nothing. */
  buffer: SendBuffer | undefined = undefined;
  /** Undefined for CRYPTO data. */
  stream: Stream | undefined = undefined;
  from = 0;
  to = 0;
  fin = false;

  set(buffer: SendBuffer, stream: Stream | undefined, from: number, to: number, fin: boolean): void {
    this.buffer = buffer;
    this.stream = stream;
    this.from = from;
    this.to = to;
    this.fin = fin;
  }
}

/** Packets whose loss says nothing of how much may be in flight: those longer than what is known to arrive, and those on other paths. */
export const Probe = { NONE: 0, MTU: 1, PATH: 2 } as const;

/** What is known of a packet that was sent and not acknowledged; records are used again. */
export class SentPacket {
  number = 0;
  /** Monotonic milliseconds. */
  time = 0;
  size = 0;
  /** The packet asks for an acknowledgement, and counts as in flight. */
  eliciting = false;
  /** The packet left with a mark of ECN. */
  marked = false;
  /** One of {@link Probe}. */
  probe: number = Probe.NONE;
  /** The parts of data, of which there are so many; the others are used again. */
  parts = 0;
  readonly data: SentData[] = [];
  /** Kinds of control frames and their numbers, by turns. */
  control: number[] | undefined = undefined;
  /** The largest number that an ACK frame in it was about; -1 for none. */
  acknowledged = -1;

  /** Notes a part of data. */
  add(buffer: SendBuffer, stream: Stream | undefined, from: number, to: number, fin: boolean): void {
    this.eliciting = true;
    const index = this.parts++;
    if (index === this.data.length) {
      this.data.push(new SentData());
    }
    this.data[index]!.set(buffer, stream, from, to, fin);
  }

  /** Notes a control frame. */
  addControl(kind: number, argument: number): void {
    this.eliciting = true;
    this.control ??= [];
    this.control.push(kind, argument);
  }

  /** Forgets what it carries: that is sent otherwise. */
  empty(): void {
    const { data } = this;
    for (let i = 0; i < this.parts; i++) {
      data[i]!.buffer = undefined;
      data[i]!.stream = undefined;
    }
    this.parts = 0;
    if (data.length > MOST_KEPT) {
      data.length = MOST_KEPT;
    }
    this.control = undefined;
  }
}

const SPARE = 1024;
/** As many parts of data stay with a record that is used again. */
const MOST_KEPT = 32;
const spare: SentPacket[] = [];

/** A record that nobody uses. */
export function takeRecord(): SentPacket {
  return spare.pop() ?? new SentPacket();
}

/** Gives a record back. */
export function giveRecord(packet: SentPacket): void {
  if (spare.length < SPARE) {
    packet.empty();
    packet.eliciting = false;
    packet.marked = false;
    packet.probe = Probe.NONE;
    packet.acknowledged = -1;
    spare.push(packet);
  }
}

/** The packets of a space that wait for an acknowledgement, by their numbers. */
export class SentPackets {
  /** Has room for a few from the beginning: the first one that is pushed would make it for 17. */
  #list: (SentPacket | undefined)[] = [undefined, undefined, undefined, undefined];
  /** The number of the first in the list. */
  #base = 0;
  #size = 0;

  constructor() {
    emptyList(this.#list);
  }

  get size(): number {
    return this.#size;
  }

  /** The smallest number that may be there, and one more than the largest. */
  get start(): number {
    return this.#base;
  }

  get end(): number {
    return this.#base + this.#list.length;
  }

  /** Adds a packet, whose number is larger than all before. */
  add(packet: SentPacket): void {
    if (this.#size === 0) {
      emptyList(this.#list);
      this.#base = packet.number;
    }
    while (this.#base + this.#list.length < packet.number) {
      this.#list.push(undefined);
    }
    this.#list.push(packet);
    this.#size++;
  }

  get(number: number): SentPacket | undefined {
    return this.#list[number - this.#base];
  }

  /** Takes a packet out that is there. */
  delete(number: number): void {
    const list = this.#list;
    const index = number - this.#base;
    list[index] = undefined;
    this.#size--;
    if (this.#size === 0) {
      emptyList(list);
      return;
    }
    if (index === 0 || list[0] === undefined) {
      let gone = 0;
      while (list[gone] === undefined) {
        gone++;
      }
      // Moving what is left costs as much as it is long.
      if (gone > 32 && gone * 2 > list.length) {
        list.splice(0, gone);
        this.#base += gone;
      }
    }
  }
}
