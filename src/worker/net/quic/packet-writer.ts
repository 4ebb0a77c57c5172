// Builds packets in the memory that datagrams leave from.
import type { Region } from '../../../shared/net/uring/memory.js';
import { copyBytes } from '../../bytes/copy-bytes.js';
import { TAG } from '../openssl/packet-keys.js';
import type { ServerConnection } from './connection.js';
import { Control } from './control-queue.js';
import { Frame } from './frame-reader.js';
import { HeaderMasks } from './header-masks.js';
import { numberLength } from './packet-number.js';
import { taken } from './send-buffer.js';
import { giveRecord, Probe, type SentPacket, takeRecord } from './sent-packets.js';
import { APPLICATION, HANDSHAKE, INITIAL, type Space } from './space.js';
import { intLength, putInt } from './varint.js';
import { Type } from './version.js';

/** A packet number and the sample behind it lie within the packet: it has that many bytes from the number on. */
const LEAST = 4;
/** A long header with the longest IDs, a length, a number and a tag takes no more. */
const HEADER_ROOM = 80;
/** The largest control frame: NEW_CONNECTION_ID or NEW_TOKEN. */
const CONTROL_ROOM = 160;
/** An ACK frame takes no more: 32 ranges, and the counts of ECN. */
const ACK_ROOM = 24;
/** A STREAM or CRYPTO frame of fewer bytes than that is not begun. */
const DATA_ROOM = 32;
const TYPE_OF_SPACE = [Type.INITIAL, Type.HANDSHAKE] as const;
const DELAY_EXPONENT = 3;

/** Writes packets of one connection after the other; what it writes into is given with each. */
export class PacketWriter {
  readonly #region: Region;
  readonly #bytes: Buffer;
  /** Packets leave only after these were put: {@link protect}. */
  readonly #masks: HeaderMasks;
  /** What {@link #begin} has left behind. */
  #lengthAt = 0;
  #numberAt = 0;
  #numberLength = 0;

  constructor(region: Region) {
    this.#region = region;
    this.#bytes = region.bytes;
    this.#masks = new HeaderMasks(region);
  }

  /** Writes a header; returns where the frames begin. */
  #begin(c: ServerConnection, space: Space, at: number, destination = c.peerIds.current): number {
    if (at === 0) {
      this.#masks.forget();
    }
    const bytes = this.#bytes;
    const number = space.nextNumber;
    const length = numberLength(number, space.largestAcked);
    const { version } = c;
    if (space.index === APPLICATION) {
      bytes[at++] = 0x40 | (c.keys.present << 2) | (length - 1);
      at = copyBytes(destination, 0, destination.length, bytes, at);
    } else {
      bytes[at] = 0xc0 | (version.bits[TYPE_OF_SPACE[space.index as 0 | 1]]! << 4) | (length - 1);
      bytes.writeUInt32BE(version.number, at + 1);
      at += 5;
      bytes[at++] = destination.length;
      bytes.set(destination, at);
      at += destination.length;
      const source = c.ownIds.first;
      bytes[at++] = source.length;
      at += bytes.write(source, at, 'latin1');
      if (space.index === INITIAL) {
        bytes[at++] = 0;
      }
      this.#lengthAt = at;
      at += 2;
    }
    this.#numberAt = at;
    this.#numberLength = length;
    for (let i = length - 1, left = number; i >= 0; i--) {
      bytes[at + i] = left & 255;
      left = Math.floor(left / 256);
    }
    return at + length;
  }

  /** Encrypts a packet whose frames end at `end`, and whose tag follows; returns its length. */
  #finish(space: Space, start: number, textAt: number, end: number): number {
    const bytes = this.#bytes;
    const keys = space.writeKeys!;
    const number = space.nextNumber++;
    if (space.index === APPLICATION) {
      keys.seal(number, this.#region, start, textAt, end);
      this.#masks.add(keys, start, this.#numberAt, this.#numberLength);
      return end + TAG - start;
    }
    const length = this.#numberLength + (end - textAt) + TAG;
    bytes[this.#lengthAt] = 0x40 | (length >> 8);
    bytes[this.#lengthAt + 1] = length & 255;
    keys.seal(number, this.#region, start, textAt, end);
    const mask = keys.mask(this.#region, this.#numberAt + 4);
    bytes[start]! ^= mask[0]! & 0x0f;
    for (let i = 0; i < this.#numberLength; i++) {
      bytes[this.#numberAt + i]! ^= mask[1 + i]!;
    }
    return end + TAG - start;
  }

  /** What was written since a packet at the beginning of the memory may leave now. */
  protect(): void {
    this.#masks.put();
  }

  #pad(at: number, until: number): number {
    if (until > at) {
      this.#bytes.fill(0, at, until);
    }
    return Math.max(at, until);
  }

  /**
   * Writes a datagram of at most `size` bytes at `start`: packets of all spaces that have something, within the congestion window as far as
   * `data` says. Returns its length; 0 for nothing.
   */
  datagram(c: ServerConnection, start: number, size: number, data: boolean, now: number): number {
    let at = start;
    const spaces = c.spaces;
    // A datagram with an Initial packet that asks for an acknowledgement has full length (RFC 9000, 14.1).
    for (let i = 0; i < spaces.length; i++) {
      const space = spaces[i]!;
      const room = start + size - at;
      if (space.writeKeys === undefined || room < HEADER_ROOM) {
        continue;
      }
      const fills = this.#fills(c, i, at > start, data);
      at += this.#packet(c, space, at, room, data, fills, now);
    }
    return at - start;
  }

  /** Whether a space's packet is to be padded so that the datagram has full length, if it is the last one in it. */
  #fills(c: ServerConnection, index: number, behindInitial: boolean, data: boolean): boolean {
    if (index === INITIAL) {
      // Nothing of the handshake follows.
      const { writeKeys, cryptoOut, probes } = c.spaces[HANDSHAKE]!;
      return writeKeys === undefined || (!(data && cryptoOut.pending) && probes === 0);
    }
    return index === HANDSHAKE && behindInitial;
  }

  #packet(c: ServerConnection, space: Space, start: number, room: number, data: boolean, fills: boolean, now: number): number {
    const application = space.index === APPLICATION;
    const sends = (data || space.probes > 0) && (space.probes > 0 || space.cryptoOut.pending || (application && c.hasFrames));
    if (!sends && !space.ackNow) {
      return 0;
    }
    const bytes = this.#bytes;
    const textAt = this.#begin(c, space, start);
    const end = start + room - TAG;
    const packet = takeRecord();
    let at = textAt;
    if (space.ackNow || space.unacked > 0) {
      at = this.#ack(space, at, end, packet, now);
    }
    if (sends) {
      at = this.#crypto(space, at, end, packet);
      if (application) {
        at = this.#controls(c, at, end, packet);
        at = this.#streams(c, at, end, packet);
      }
      if (space.probes > 0) {
        space.probes--;
        if (!packet.eliciting) {
          bytes[at++] = Frame.PING;
          packet.eliciting = true;
        }
      }
    }
    if (at === textAt) {
      giveRecord(packet);
      return 0;
    }
    if (packet.eliciting && (fills || (space.index === INITIAL && end - at < HEADER_ROOM))) {
      at = this.#pad(at, end);
    }
    at = this.#pad(at, this.#numberAt + LEAST);
    return this.#sent(c, space, packet, start, textAt, at, now);
  }

  #sent(c: ServerConnection, space: Space, packet: SentPacket, start: number, textAt: number, end: number, now: number): number {
    packet.number = space.nextNumber;
    packet.time = now;
    const length = this.#finish(space, start, textAt, end);
    packet.size = length;
    c.packetBuilt(space, packet, now);
    return length;
  }

  /** A packet of one PING and padding, to find out whether datagrams of that length arrive. */
  mtuProbe(c: ServerConnection, space: Space, start: number, size: number, now: number): number {
    const textAt = this.#begin(c, space, start);
    const packet = takeRecord();
    packet.eliciting = true;
    packet.probe = Probe.MTU;
    this.#bytes[textAt] = Frame.PING;
    const end = this.#pad(textAt + 1, start + size - TAG);
    return this.#sent(c, space, packet, start, textAt, end, now);
  }

  /** A packet to an ID with frames of paths, which nobody repeats: `size` bytes long, or as long as it must be. */
  pathPacket(c: ServerConnection, space: Space, destination: Buffer, frames: readonly Buffer[], size: number, now: number): number {
    const textAt = this.#begin(c, space, 0, destination);
    let at = textAt;
    for (const frame of frames) {
      this.#bytes.set(frame, at);
      at += frame.length;
    }
    const end = this.#pad(at, Math.max(size - TAG, this.#numberAt + LEAST));
    const packet = takeRecord();
    packet.eliciting = true;
    packet.probe = Probe.PATH;
    return this.#sent(c, space, packet, 0, textAt, end, now);
  }

  /** A packet with CONNECTION_CLOSE, of which nothing is remembered. */
  closePacket(c: ServerConnection, space: Space, start: number, frame: Buffer): number {
    const textAt = this.#begin(c, space, start);
    this.#bytes.set(frame, textAt);
    const end = this.#pad(textAt + frame.length, this.#numberAt + LEAST);
    const length = this.#finish(space, start, textAt, end);
    this.protect();
    return length;
  }

  /** As much of what came as there is room for, the latest first. */
  #ack(space: Space, at: number, end: number, packet: SentPacket, now: number): number {
    const { list } = space.received;
    let i = list.length - 2;
    if (i < 0 || end - at < ACK_ROOM + 3 * 8) {
      return at;
    }
    const bytes = this.#bytes;
    const typeAt = at++;
    bytes[typeAt] = space.marks === undefined ? Frame.ACK : Frame.ACK_ECN;
    const largest = list[i + 1]! - 1;
    at = putInt(bytes, at, largest);
    const delay = space.index === APPLICATION ? Math.max(0, Math.floor(((now - space.largestAt) * 1000) / 2 ** DELAY_EXPONENT)) : 0;
    at = putInt(bytes, at, delay);
    const countAt = at++;
    at = putInt(bytes, at, largest - list[i]!);
    let count = 0;
    let low = list[i]!;
    for (i -= 2; i >= 0 && end - at >= 16 + 24 && count < 63; i -= 2) {
      at = putInt(bytes, at, low - list[i + 1]! - 1);
      at = putInt(bytes, at, list[i + 1]! - 1 - list[i]!);
      low = list[i]!;
      count++;
    }
    bytes[countAt] = count;
    if (space.marks !== undefined) {
      for (const mark of space.marks) {
        at = putInt(bytes, at, mark);
      }
    }
    packet.acknowledged = largest;
    space.unacked = 0;
    space.ackNow = false;
    space.ackAt = Number.POSITIVE_INFINITY;
    return at;
  }

  #crypto(space: Space, at: number, end: number, packet: SentPacket): number {
    const out = space.cryptoOut;
    const bytes = this.#bytes;
    while (out.pending && end - at > DATA_ROOM) {
      if (!out.take(end - at - 12, Number.POSITIVE_INFINITY)) {
        break;
      }
      const { from, to } = taken;
      bytes[at++] = Frame.CRYPTO;
      at = putInt(bytes, at, from);
      at = putInt(bytes, at, to - from);
      out.copy(from, to, bytes, at);
      at += to - from;
      packet.add(out, undefined, from, to, false);
    }
    return at;
  }

  #controls(c: ServerConnection, at: number, end: number, packet: SentPacket): number {
    const queue = c.controls;
    while (queue.length > 0 && end - at >= CONTROL_ROOM) {
      const { kind, argument } = queue;
      queue.shift();
      const next = this.#control(c, kind, argument, at);
      if (next > at) {
        packet.addControl(kind, argument);
        at = next;
      }
    }
    return at;
  }

  /** Writes a frame as it is to be told now; nothing where it is not needed any more. */
  #control(c: ServerConnection, kind: number, argument: number, at: number): number {
    const bytes = this.#bytes;
    const { streams } = c;
    switch (kind) {
      case Control.DONE:
        bytes[at] = Frame.HANDSHAKE_DONE;
        return at + 1;
      case Control.TOKEN: {
        const token = c.newToken();
        if (token === undefined) {
          return at;
        }
        bytes[at] = Frame.NEW_TOKEN;
        at = putInt(bytes, at + 1, token.length);
        bytes.set(token, at);
        return at + token.length;
      }
      case Control.MAX_DATA:
        bytes[at] = Frame.MAX_DATA;
        return putInt(bytes, at + 1, streams.receiveMax);
      case Control.MAX_BIDI:
        bytes[at] = Frame.MAX_STREAMS_BIDI;
        return putInt(bytes, at + 1, streams.maxBidi);
      case Control.MAX_UNI:
        bytes[at] = Frame.MAX_STREAMS_UNI;
        return putInt(bytes, at + 1, streams.maxUni);
      case Control.NEW_ID:
        return this.#newId(c, argument, at);
      case Control.RETIRE_ID:
        bytes[at] = Frame.RETIRE_CONNECTION_ID;
        return putInt(bytes, at + 1, argument);
    }
    const stream = streams.get(argument);
    if (stream === undefined) {
      return at;
    }
    stream.controls &= ~(1 << kind);
    if (kind === Control.MAX_STREAM_DATA) {
      if (stream.received || stream.size >= 0) {
        return at;
      }
      bytes[at] = Frame.MAX_STREAM_DATA;
      return putInt(bytes, putInt(bytes, at + 1, stream.id), stream.receiveLimit);
    }
    if (kind === Control.STOP_SENDING) {
      if (stream.received || stream.size >= 0) {
        return at;
      }
      bytes[at] = Frame.STOP_SENDING;
      return putInt(bytes, putInt(bytes, at + 1, stream.id), stream.stopCode);
    }
    bytes[at] = Frame.RESET_STREAM;
    return putInt(bytes, putInt(bytes, putInt(bytes, at + 1, stream.id), stream.resetCode), stream.send!.end);
  }

  #newId(c: ServerConnection, sequence: number, at: number): number {
    const bytes = this.#bytes;
    const id = c.ownIds.tell(sequence);
    if (id === undefined) {
      return at;
    }
    bytes[at] = Frame.NEW_CONNECTION_ID;
    at = putInt(bytes, putInt(bytes, at + 1, sequence), 0);
    bytes[at++] = id.length;
    at += bytes.write(id, at, 'latin1');
    const token = c.resetToken(id);
    bytes.set(token, at);
    return at + token.length;
  }

  #streams(c: ServerConnection, at: number, end: number, packet: SentPacket): number {
    const { streams } = c;
    const queue = streams.queueOfSenders;
    const bytes = this.#bytes;
    while (end - at > DATA_ROOM) {
      const stream = queue.first();
      if (stream === undefined) {
        break;
      }
      const send = stream.send!;
      const before = send.next;
      const idLength = intLength(stream.id);
      const room = end - at - 1 - idLength - 8 - 2;
      const allowed = Math.min(stream.sendLimit, before + streams.room);
      if (room <= 0) {
        break;
      }
      if (!send.take(room, allowed)) {
        if (streams.room <= 0 && before < send.end && before < stream.sendLimit) {
          streams.block(stream);
        } else {
          queue.remove(stream);
        }
        continue;
      }
      const { from, to, withFin } = taken;
      streams.sent(send.next - before);
      const size = to - from;
      const typeAt = at++;
      at = putInt(bytes, at, stream.id);
      if (from > 0) {
        at = putInt(bytes, at, from);
      }
      bytes[at] = 0x40 | (size >> 8);
      bytes[at + 1] = size & 255;
      at += 2;
      bytes[typeAt] = Frame.STREAM | 2 | (from > 0 ? 4 : 0) | (withFin ? 1 : 0);
      send.copy(from, to, bytes, at);
      at += size;
      packet.add(send, stream, from, to, withFin);
      if (!send.pending) {
        queue.remove(stream);
      } else if (stream.incremental) {
        queue.rotate(stream);
      }
    }
    return at;
  }
}
