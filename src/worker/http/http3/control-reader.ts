import { Buffer } from 'node:buffer';
import { CAME, Http3FrameReader } from '../http3-frames/frame-reader.js';
import { FRAME, H3_ERROR, isHttp2Frame, isHttp2Setting } from '../http3-frames/protocol.js';
import { VarintReader } from '../http3-frames/varint.js';
import type { Http3Connection } from './connection.js';

/** The longest payload that is looked at. */
const LONGEST = 4096;
/** The longest `priority` text of a frame that is read, as with HTTP/2. */
const LONGEST_PRIORITY = 256;

/** Reads a client's control stream (RFC 9114, 6.2.1). nginx: ngx_http_v3_parse_control. */
export class ControlReader {
  // The connection is told by itself.
  readonly problem = '';
  readonly #c: Http3Connection;
  readonly #frames = new Http3FrameReader();
  #payload: Buffer | null = null;
  #length = 0;
  /** SETTINGS have begun: they come first, and once. */
  #begun = false;
  /** What the client said last; it may not take that back. */
  #mostPushId = -1;
  #goaway = Number.POSITIVE_INFINITY;

  constructor(connection: Http3Connection) {
    this.#c = connection;
  }

  read(bytes: Buffer, start: number, end: number): boolean {
    const frames = this.#frames;
    let at = start;
    while (at < end && this.#c.open) {
      const came = frames.read(bytes, at, end);
      at = frames.next;
      if (came === CAME.HEAD) {
        this.#head();
        if (frames.length === 0 && this.#c.open) {
          this.#whole(EMPTY);
        }
      } else if (came === CAME.PAYLOAD) {
        this.#piece(bytes);
      }
    }
    return true;
  }

  #head(): void {
    const { type, length } = this.#frames;
    const c = this.#c;
    this.#payload = null;
    this.#length = 0;
    if (!this.#begun && type !== FRAME.SETTINGS) {
      c.fail(H3_ERROR.MISSING_SETTINGS, 'client sent no SETTINGS frame first');
      return;
    }
    switch (type) {
      case FRAME.SETTINGS:
        if (this.#begun) {
          c.fail(H3_ERROR.FRAME_UNEXPECTED, 'client sent SETTINGS frame again');
        }
        this.#begun = true;
        break;
      case FRAME.DATA:
      case FRAME.HEADERS:
      case FRAME.PUSH_PROMISE:
        c.fail(H3_ERROR.FRAME_UNEXPECTED, `client sent frame of type ${type} on the control stream`);
        return;
      case FRAME.CANCEL_PUSH:
        // Nothing was promised.
        c.fail(H3_ERROR.ID_ERROR, 'client sent CANCEL_PUSH frame');
        return;
      case FRAME.GOAWAY:
      case FRAME.MAX_PUSH_ID:
      case FRAME.PRIORITY_UPDATE_REQUEST:
      case FRAME.PRIORITY_UPDATE_PUSH:
        break;
      default:
        if (isHttp2Frame(type)) {
          c.fail(H3_ERROR.FRAME_UNEXPECTED, `client sent frame of type ${type} on the control stream`);
          return;
        }
    }
    if (this.#known && length > LONGEST) {
      c.fail(H3_ERROR.EXCESSIVE_LOAD, `client sent frame of type ${type} with length ${length}`);
      return;
    }
    c.idleFrame();
  }

  /** The frame at hand is one that says something to us. */
  get #known(): boolean {
    const { type } = this.#frames;
    return (
      type === FRAME.SETTINGS ||
      type === FRAME.GOAWAY ||
      type === FRAME.MAX_PUSH_ID ||
      type === FRAME.PRIORITY_UPDATE_REQUEST ||
      type === FRAME.PRIORITY_UPDATE_PUSH
    );
  }

  #piece(bytes: Buffer): void {
    if (!this.#known) {
      return;
    }
    const { start, end, left, length } = this.#frames;
    const piece = bytes.subarray(start, end);
    if (left === 0 && this.#length === 0) {
      this.#whole(piece);
      return;
    }
    // However small the pieces come, they are copied once.
    const payload = (this.#payload ??= Buffer.alloc(length));
    piece.copy(payload, this.#length);
    this.#length += piece.length;
    if (left === 0) {
      this.#payload = null;
      this.#whole(payload);
    }
  }

  #whole(payload: Buffer): void {
    switch (this.#frames.type) {
      case FRAME.SETTINGS:
        this.#settings(payload);
        break;
      case FRAME.GOAWAY:
        this.#goneAway(payload);
        break;
      case FRAME.MAX_PUSH_ID:
        this.#maxPushId(payload);
        break;
      case FRAME.PRIORITY_UPDATE_REQUEST:
      case FRAME.PRIORITY_UPDATE_PUSH:
        this.#priority(payload);
        break;
      default:
        break;
    }
  }

  #settings(payload: Buffer): void {
    const c = this.#c;
    const seen = new Set<number>();
    const number = new VarintReader();
    for (let at = 0; at < payload.length; ) {
      at = number.read(payload, at, payload.length);
      const id = number.value;
      at = at === -1 ? -1 : number.read(payload, at, payload.length);
      if (at === -1) {
        c.fail(H3_ERROR.FRAME_ERROR, `client sent SETTINGS frame with incorrect length ${payload.length}`);
        return;
      }
      if (isHttp2Setting(id) || seen.has(id)) {
        c.fail(H3_ERROR.SETTINGS_ERROR, `client sent SETTINGS frame with ${seen.has(id) ? 'duplicate' : 'reserved'} parameter ${id}`);
        return;
      }
      if (id === ENABLE_CONNECT_PROTOCOL && number.value > 1) {
        c.fail(H3_ERROR.SETTINGS_ERROR, `client sent SETTINGS frame with incorrect value ${number.value}`);
        return;
      }
      seen.add(id);
    }
  }

  /** The only number of a payload; -1, and the connection has ended, if there is none or something else, too. */
  #onlyNumber(payload: Buffer, name: string): number {
    const number = new VarintReader();
    const at = number.read(payload, 0, payload.length);
    if (at === payload.length) {
      return number.value;
    }
    this.#c.fail(H3_ERROR.FRAME_ERROR, `client sent ${name} frame with incorrect length ${payload.length}`);
    return -1;
  }

  #goneAway(payload: Buffer): void {
    const id = this.#onlyNumber(payload, 'GOAWAY');
    if (id > this.#goaway) {
      this.#c.fail(H3_ERROR.ID_ERROR, 'client sent GOAWAY frame with greater identifier');
    } else {
      this.#goaway = id;
    }
  }

  #maxPushId(payload: Buffer): void {
    const id = this.#onlyNumber(payload, 'MAX_PUSH_ID');
    if (id === -1) {
      return;
    }
    if (id < this.#mostPushId) {
      this.#c.fail(H3_ERROR.ID_ERROR, 'client sent MAX_PUSH_ID frame with smaller identifier');
    } else {
      this.#mostPushId = id;
    }
  }

  /** A stream's urgency changes (RFC 9218, 7.2). */
  #priority(payload: Buffer): void {
    const c = this.#c;
    const number = new VarintReader();
    const at = number.read(payload, 0, payload.length);
    const id = number.value;
    if (at === -1) {
      c.fail(H3_ERROR.FRAME_ERROR, `client sent PRIORITY_UPDATE frame with incorrect length ${payload.length}`);
    } else if (this.#frames.type === FRAME.PRIORITY_UPDATE_PUSH || id % 4 !== 0) {
      c.fail(H3_ERROR.ID_ERROR, 'client sent PRIORITY_UPDATE frame with incorrect identifier');
    } else if (!c.flood.prioritized()) {
      c.fail(H3_ERROR.EXCESSIVE_LOAD, 'client sent too many PRIORITY_UPDATE frames');
    } else {
      c.prioritize(id, payload.toString('latin1', at, Math.min(payload.length, at + LONGEST_PRIORITY)));
    }
  }
}

const EMPTY = Buffer.alloc(0);
const ENABLE_CONNECT_PROTOCOL = 8;
