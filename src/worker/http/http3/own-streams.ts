import { Buffer } from 'node:buffer';
import type { QuicConnection, QuicStream, QuicStreamHandler } from '../../net/quic/contract.js';
import { FRAME, H3_ERROR, H3_SETTING, STREAM } from '../http3-frames/protocol.js';
import { putVarint, varintLength } from '../http3-frames/varint.js';
import type { Http3Connection } from './connection.js';

/** Bytes of fields that a client may have us remember. nginx: NGX_HTTP_V3_MAX_TABLE_CAPACITY. */
export const TABLE_CAPACITY = 4096;
/** Bytes of instructions that may wait for a client that does not read them. */
const MOST_WAITING = 64 * 1024;

/**
 * The streams on which we tell a client about the connection: what we take, when we go, what our decoder has read. nginx:
 * ngx_http_v3_uni.c.
 */
export class OwnStreams implements QuicStreamHandler {
  readonly #c: Http3Connection;
  readonly #quic: QuicConnection;
  #control: QuicStream | undefined = undefined;
  #decoder: QuicStream | undefined = undefined;
  /** The first request that is not served, which the client is told once there is a stream for it; -1 for none. */
  #goaway = -1;
  /** Instructions that the client has no room for. */
  #waiting: Buffer[] | undefined = undefined;
  #waitingLength = 0;

  constructor(connection: Http3Connection, quic: QuicConnection) {
    this.#c = connection;
    this.#quic = quic;
  }

  /** Opens what is not open yet, and says what we take; `blocked`: how many sections may wait for the client's encoder. */
  open(blocked: number): void {
    if (this.#control === undefined) {
      this.#control = this.#quic.openUnidirectional(this);
      this.#control?.prioritize(0, false);
      this.#control?.write(settings(blocked), false);
      if (this.#goaway !== -1) {
        this.goaway(this.#goaway);
      }
    }
    if (this.#decoder === undefined && this.#control !== undefined) {
      this.#decoder = this.#quic.openUnidirectional(this);
      this.#decoder?.write(Buffer.from([STREAM.DECODER]), false);
      this.drained();
    }
  }

  /** Says that requests from `id` on are not served. */
  goaway(id: number): void {
    this.#goaway = id;
    this.#control?.write(numberFrame(FRAME.GOAWAY, id), false);
  }

  /** Tells the client's encoder what our decoder has read. */
  instruct(instructions: Buffer): void {
    const decoder = this.#decoder;
    if (decoder !== undefined && this.#waiting === undefined && decoder.room > 0) {
      decoder.write(instructions, false);
      return;
    }
    this.#waiting ??= [];
    this.#waiting.push(instructions);
    this.#waitingLength += instructions.length;
    if (this.#waitingLength > MOST_WAITING) {
      this.#c.fail(H3_ERROR.EXCESSIVE_LOAD, 'client does not read what its encoder is told');
    }
  }

  drained(): void {
    const decoder = this.#decoder;
    if (decoder !== undefined && this.#waiting !== undefined && decoder.room > 0) {
      decoder.write(Buffer.concat(this.#waiting), false);
      this.#waiting = undefined;
      this.#waitingLength = 0;
    }
  }

  // A client says nothing on them.
  received(): void {}
  finished(): void {}
  wasReset(): void {}

  refused(): void {
    this.#c.fail(H3_ERROR.CLOSED_CRITICAL_STREAM, 'client refused a critical stream');
  }

  closed(): void {}
}

/** What we take (RFC 9114, 7.2.4), behind the stream's type. nginx: ngx_http_v3_send_settings. */
function settings(blocked: number): Buffer {
  const numbers = [
    ...[H3_SETTING.QPACK_MAX_TABLE_CAPACITY, TABLE_CAPACITY],
    ...[H3_SETTING.QPACK_BLOCKED_STREAMS, blocked],
    ...[H3_SETTING.ENABLE_CONNECT_PROTOCOL, 1],
  ];
  const length = numbers.reduce((sum, number) => sum + varintLength(number), 0);
  const bytes = Buffer.alloc(2 + varintLength(length) + length);
  let at = 0;
  for (const number of [STREAM.CONTROL, FRAME.SETTINGS, length, ...numbers]) {
    at = putVarint(bytes, at, number);
  }
  return bytes;
}

/** A frame that has a number and nothing else. */
function numberFrame(type: number, number: number): Buffer {
  const length = varintLength(number);
  const bytes = Buffer.alloc(2 + length);
  putVarint(bytes, putVarint(bytes, putVarint(bytes, 0, type), length), number);
  return bytes;
}
