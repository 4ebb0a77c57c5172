import type { ServerConnection } from './connection.js';
import { Control } from './control-queue.js';
import { BASE } from './mtu.js';
import type { RecoveryOwner } from './recovery.js';
import { Probe, type SentData, type SentPacket } from './sent-packets.js';
import { APPLICATION, type Space } from './space.js';
import { MAX_ACK_DELAY } from './transport-parameters.js';

/** What follows for a connection from what became of its packets. */
export class PacketFates implements RecoveryOwner {
  readonly #connection: ServerConnection;
  /** How many marked packets have arrived of which the present acknowledgement is. */
  #marked = 0;

  constructor(connection: ServerConnection) {
    this.#connection = connection;
  }

  get spaces(): readonly Space[] {
    return this.#connection.spaces;
  }

  get maxAckDelay(): number {
    return this.#connection.handshake.maxAckDelay;
  }

  get confirmed(): boolean {
    return this.#connection.confirmed;
  }

  get stuck(): boolean {
    return this.#connection.path.allowance < BASE;
  }

  /**
   * An acknowledgement was about packets that were not acknowledged before, `latest` about a later one than all before. `marks`: the peer's
   * counts of ECN.
   */
  acknowledged(space: Space, newestTime: number, delay: number, marks: readonly number[] | undefined, latest: boolean, now: number): void {
    const c = this.#connection;
    const { ackDelayExponent = 3, maxAckDelay = MAX_ACK_DELAY } = c.handshake.peer ?? {};
    const waited = space.index === APPLICATION ? Math.min(maxAckDelay, (delay * 2 ** ackDelayExponent) / 1000) : 0;
    c.recovery.ackRead(space, newestTime, waited, now);
    const marked = this.#marked;
    this.#marked = 0;
    if (c.path.marks.told(space, marked, marks, latest)) {
      c.recovery.cubic.congested(newestTime >= 0 ? newestTime : now - c.recovery.rtt.smoothed, now);
    }
    c.touch();
  }

  arrived(space: Space, packet: SentPacket): void {
    const c = this.#connection;
    if (packet.acknowledged >= 0 && space.received.count > 1) {
      // What the peer has been told of it need not be told again.
      const { list } = space.received;
      while (list.length > 2 && list[1]! <= packet.acknowledged) {
        space.forgetBelow(list[1]!);
      }
    }
    if (packet.probe === Probe.MTU) {
      c.mtu.arrived(packet.size);
      c.recovery.cubic.resize(c.mtu.size);
    }
    if (packet.marked) {
      this.#marked++;
    }
    const { data, parts, control } = packet;
    for (let i = 0; i < parts; i++) {
      dataArrived(data[i]!);
    }
    if (control !== undefined) {
      for (let i = 0; i < control.length; i += 2) {
        this.#controlArrived(control[i]!, control[i + 1]!);
      }
    }
  }

  #controlArrived(kind: number, argument: number): void {
    const { peerIds, streams } = this.#connection;
    if (kind === Control.RETIRE_ID) {
      peerIds.gaveBack();
    } else if (kind === Control.RESET) {
      const stream = streams.get(argument);
      if (stream !== undefined) {
        stream.resetAcked = true;
        streams.maybeOver(stream);
      }
    }
  }

  sendAgain(space: Space, packet: SentPacket): void {
    const { data, parts, control } = packet;
    for (let i = 0; i < parts; i++) {
      dataLost(data[i]!);
    }
    if (control !== undefined) {
      for (let i = 0; i < control.length; i += 2) {
        this.#controlLost(control[i]!, control[i + 1]!);
      }
    }
    if (packet.acknowledged >= 0 && space.received.count > 0 && space.index !== APPLICATION) {
      space.ackNow = true;
    }
    this.#connection.touch();
  }

  #controlLost(kind: number, argument: number): void {
    const { controls, streams } = this.#connection;
    if (kind < Control.MAX_STREAM_DATA) {
      controls.add(kind, argument);
    } else {
      streams.get(argument)?.control(kind);
    }
  }

  probeLost(kind: number): void {
    if (kind === Probe.MTU) {
      this.#connection.mtu.lost();
      this.#connection.touch();
    }
  }
}

function dataArrived({ buffer, stream, from, to, fin }: SentData): void {
  if (stream === undefined) {
    buffer!.acked(from, to, false);
  } else {
    stream.acked(from, to, fin);
  }
}

function dataLost({ buffer, stream, from, to, fin }: SentData): void {
  if (stream === undefined) {
    buffer!.lost(from, to, false);
  } else {
    stream.lost(from, to, fin);
  }
}
