// What frames say to a connection (RFC 9000, 19).
import { keepBytes } from '../../bytes/keep.js';
import type { ServerConnection } from './connection.js';
import { Code, TransportError } from './errors.js';
import type { Path } from './path.js';
import { CHALLENGE } from './path.js';
import { APPLICATION, CRYPTO_AHEAD, type Space } from './space.js';
import { MOST_STREAMS } from './transport-parameters.js';
import { PacketCursor } from './varint.js';

/** Types of frames. */
export const Frame = {
  PADDING: 0,
  PING: 1,
  ACK: 2,
  ACK_ECN: 3,
  RESET_STREAM: 4,
  STOP_SENDING: 5,
  CRYPTO: 6,
  NEW_TOKEN: 7,
  STREAM: 8,
  STREAM_LAST: 15,
  MAX_DATA: 16,
  MAX_STREAM_DATA: 17,
  MAX_STREAMS_BIDI: 18,
  MAX_STREAMS_UNI: 19,
  DATA_BLOCKED: 20,
  STREAM_DATA_BLOCKED: 21,
  STREAMS_BLOCKED_BIDI: 22,
  STREAMS_BLOCKED_UNI: 23,
  NEW_CONNECTION_ID: 24,
  RETIRE_CONNECTION_ID: 25,
  PATH_CHALLENGE: 26,
  PATH_RESPONSE: 27,
  CLOSE: 28,
  CLOSE_APPLICATION: 29,
  HANDSHAKE_DONE: 30,
} as const;

const bit = (...types: readonly number[]): number => types.reduce((sum, type) => sum | (1 << type), 0);
/** What may be in packets of Initial and Handshake. */
const IN_HANDSHAKE = bit(Frame.PADDING, Frame.PING, Frame.ACK, Frame.ACK_ECN, Frame.CRYPTO, Frame.CLOSE);
/** What may not be in early data. */
const NOT_EARLY = bit(
  Frame.ACK,
  Frame.ACK_ECN,
  Frame.CRYPTO,
  Frame.NEW_TOKEN,
  Frame.PATH_RESPONSE,
  Frame.RETIRE_CONNECTION_ID,
  Frame.HANDSHAKE_DONE,
);
/** What asks for no acknowledgement. */
const QUIET = bit(Frame.PADDING, Frame.ACK, Frame.ACK_ECN, Frame.CLOSE, Frame.CLOSE_APPLICATION);
/** What only looks whether there is a way. */
const PROBING = bit(Frame.PADDING, Frame.PATH_CHALLENGE, Frame.PATH_RESPONSE, Frame.NEW_CONNECTION_ID);
const TOKEN = 16;
const LONGEST_ID = 20;

/** What {@link QuicFrameReader.read} says of a packet, a bit each. */
export const ELICITING = 1;
export const NOT_PROBING = 2;

/** Reads the frames of packets; one serves all connections, since no packet is read while another is. */
export class QuicFrameReader {
  readonly #cursor = new PacketCursor();
  /** What an acknowledgement tells of marks. */
  readonly #marks = [0, 0, 0];

  /**
   * Reads the frames of a packet in order. `used`: the ID that the packet came to. Returns {@link ELICITING} and {@link NOT_PROBING};
   * throws {@link TransportError}.
   */
  read(
    c: ServerConnection,
    bytes: Buffer,
    from: number,
    end: number,
    space: Space,
    early: boolean,
    path: Path,
    used: string,
    now: number,
  ): number {
    const cursor = this.#cursor;
    cursor.set(bytes, from, end);
    if (from >= end) {
      throw new TransportError(Code.PROTOCOL, 'a packet without frames');
    }
    let result = 0;
    while (cursor.at < end) {
      const at = cursor.at;
      const type = cursor.int();
      // A type is written in as few bytes as it needs.
      if (cursor.failed || type > Frame.HANDSHAKE_DONE || (type < 64 && cursor.at - at > 1)) {
        throw new TransportError(Code.FRAME_ENCODING, 'unknown frame', type);
      }
      const flag = 1 << type;
      if ((space.index !== APPLICATION && (IN_HANDSHAKE & flag) === 0) || (early && (NOT_EARLY & flag) !== 0)) {
        throw new TransportError(Code.PROTOCOL, 'a frame that may not be in this packet', type);
      }
      if ((QUIET & flag) === 0) {
        result |= ELICITING;
      }
      if ((PROBING & flag) === 0) {
        result |= NOT_PROBING;
      }
      if (type >= Frame.STREAM && type <= Frame.STREAM_LAST) {
        this.#stream(c, type);
      } else {
        this.#frame(c, type, space, path, used, now);
      }
      if (cursor.failed) {
        throw new TransportError(Code.FRAME_ENCODING, 'a frame is cut off', type);
      }
      if (c.ending) {
        break;
      }
    }
    return result;
  }

  /** Where a frame's length of bytes begins. Throws where the packet ends before. */
  #bytes(length: number, type: number): Buffer {
    const cursor = this.#cursor;
    const bytes = cursor.take(length);
    if (cursor.failed) {
      throw new TransportError(Code.FRAME_ENCODING, 'a frame is cut off', type);
    }
    return bytes;
  }

  /** Integers were read, none of which was cut off. */
  #whole(type: number): void {
    if (this.#cursor.failed) {
      throw new TransportError(Code.FRAME_ENCODING, 'a frame is cut off', type);
    }
  }

  #stream(c: ServerConnection, type: number): void {
    const cursor = this.#cursor;
    const id = cursor.int();
    const offset = (type & 4) !== 0 ? cursor.int() : 0;
    const length = (type & 2) !== 0 ? cursor.int() : cursor.left;
    const start = cursor.skip(length);
    this.#whole(type);
    const stream = c.streams.find(id, true);
    if (stream === undefined) {
      return;
    }
    stream.check(offset + length, (type & 1) !== 0);
    stream.came(offset, cursor.bytes, start, start + length);
  }

  #frame(c: ServerConnection, type: number, space: Space, path: Path, used: string, now: number): void {
    const cursor = this.#cursor;
    switch (type) {
      case Frame.PADDING: {
        const { bytes, end } = cursor;
        let { at } = cursor;
        while (at < end && bytes[at] === 0) {
          at++;
        }
        cursor.at = at;
        return;
      }
      case Frame.PING:
        return;
      case Frame.ACK:
      case Frame.ACK_ECN:
        this.#ack(c, type, space, now);
        return;
      case Frame.RESET_STREAM: {
        const [id, code, size] = [cursor.int(), cursor.int(), cursor.int()];
        this.#whole(type);
        c.streams.find(id, true)?.wasReset(code, size);
        return;
      }
      case Frame.STOP_SENDING: {
        const [id, code] = [cursor.int(), cursor.int()];
        this.#whole(type);
        c.streams.find(id, false)?.wasRefused(code);
        return;
      }
      case Frame.CRYPTO: {
        const offset = cursor.int();
        const bytes = this.#bytes(cursor.int(), type);
        if (offset + bytes.length > space.cryptoIn.next + CRYPTO_AHEAD) {
          throw new TransportError(Code.CRYPTO_BUFFER, 'too much of a handshake');
        }
        if (!space.cryptoIn.put(offset, bytes)) {
          throw new TransportError(Code.CRYPTO_BUFFER, 'too many gaps in a handshake');
        }
        for (let ready = space.cryptoIn.ready(); ready !== undefined; ready = space.discarded ? undefined : space.cryptoIn.ready()) {
          c.cryptoCame(space, ready, now);
        }
        return;
      }
      case Frame.MAX_DATA:
        c.streams.raise(cursor.int());
        return;
      case Frame.MAX_STREAM_DATA: {
        const [id, most] = [cursor.int(), cursor.int()];
        this.#whole(type);
        const stream = c.streams.find(id, false);
        if (stream !== undefined) {
          c.streams.raiseStream(stream, most);
        }
        return;
      }
      case Frame.MAX_STREAMS_BIDI:
      case Frame.MAX_STREAMS_UNI: {
        const most = this.#streamCount(type);
        if (type === Frame.MAX_STREAMS_UNI) {
          c.streams.raiseUni(most);
        }
        return;
      }
      case Frame.DATA_BLOCKED:
        cursor.int();
        return;
      case Frame.STREAM_DATA_BLOCKED: {
        const id = cursor.int();
        cursor.int();
        this.#whole(type);
        c.streams.find(id, true);
        return;
      }
      case Frame.STREAMS_BLOCKED_BIDI:
      case Frame.STREAMS_BLOCKED_UNI:
        this.#streamCount(type);
        return;
      case Frame.NEW_CONNECTION_ID: {
        const [sequence, retire] = [cursor.int(), cursor.int()];
        const length = cursor.byte();
        if (length < 1 || length > LONGEST_ID || retire > sequence) {
          throw new TransportError(Code.FRAME_ENCODING, 'NEW_CONNECTION_ID is malformed', type);
        }
        const id = keepBytes(this.#bytes(length, type));
        c.peerIds.add(sequence, retire, id, keepBytes(this.#bytes(TOKEN, type)));
        c.touch();
        return;
      }
      case Frame.RETIRE_CONNECTION_ID: {
        const sequence = cursor.int();
        this.#whole(type);
        c.ownIds.retire(sequence, used);
        c.touch();
        return;
      }
      case Frame.PATH_CHALLENGE:
        path.asked(this.#bytes(CHALLENGE, type));
        return;
      case Frame.PATH_RESPONSE:
        c.paths.answered(this.#bytes(CHALLENGE, type));
        return;
      case Frame.CLOSE:
      case Frame.CLOSE_APPLICATION: {
        const code = cursor.int();
        if (type === Frame.CLOSE) {
          cursor.int();
        }
        const reason = this.#bytes(cursor.int(), type);
        c.peerClosed(type === Frame.CLOSE_APPLICATION, code, reason.toString('latin1'));
        return;
      }
      case Frame.NEW_TOKEN:
      case Frame.HANDSHAKE_DONE:
        throw new TransportError(Code.PROTOCOL, 'a frame that only servers send', type);
    }
  }

  #streamCount(type: number): number {
    const count = this.#cursor.int();
    if (count > MOST_STREAMS) {
      throw new TransportError(Code.FRAME_ENCODING, 'too many streams', type);
    }
    return count;
  }

  #ack(c: ServerConnection, type: number, space: Space, now: number): void {
    const cursor = this.#cursor;
    const largest = cursor.int();
    const delay = cursor.int();
    const count = cursor.int();
    let high = largest;
    let low = high - cursor.int();
    this.#whole(type);
    if (largest >= space.nextNumber) {
      throw new TransportError(Code.PROTOCOL, 'an acknowledgement of what was not sent', type);
    }
    const { recovery } = c;
    const newest = space.sent.get(largest);
    const time = newest === undefined ? -1 : newest.time;
    let acked = 0;
    for (let i = 0; ; i++) {
      if (low < 0) {
        throw new TransportError(Code.FRAME_ENCODING, 'an acknowledgement of numbers below 0', type);
      }
      acked += recovery.acked(space, low, high, now);
      // A count that the packet cannot hold ends where that does.
      if (i === count || cursor.failed) {
        break;
      }
      high = low - cursor.int() - 2;
      low = high - cursor.int();
    }
    const marks = type === Frame.ACK_ECN ? this.#marks : undefined;
    if (marks !== undefined) {
      marks[0] = cursor.int();
      marks[1] = cursor.int();
      marks[2] = cursor.int();
    }
    this.#whole(type);
    const latest = largest > space.largestAcked;
    if (latest) {
      space.largestAcked = largest;
    }
    if (acked > 0) {
      c.fates.acknowledged(space, time, delay, marks, latest, now);
    }
  }
}
