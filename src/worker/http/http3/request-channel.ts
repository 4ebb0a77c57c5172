import { Buffer } from 'node:buffer';
import { INFO } from '../../../shared/log/level.js';
import { Gathered } from '../../bytes/gathered.js';
import { CAME, Http3FrameReader } from '../http3-frames/frame-reader.js';
import { FRAME, H3_ERROR, isHttp2Frame } from '../http3-frames/protocol.js';
import { SECTION } from '../http3-frames/qpack/section-decoder.js';
import { TrailerCheck } from '../multiplexed/trailer-check.js';
import { RequestStream } from './channel.js';
import { decoder, openRequest, refuseTooLarge } from './open-request.js';

/** What a section may take beside its fields, as with HTTP/2. */
const SECTION_EXTRA = 512;
/** The size in which a section begins to be gathered. */
const FIRST_BLOCK = 512;

const Expect = { HEAD: 0, BODY: 1, END: 2 } as const;

const trailerCheck = new TrailerCheck();
const NOTHING = Buffer.alloc(0);

/**
 * What comes on a stream for a request: a header section, a body, trailers. The request begins with its section. nginx:
 * ngx_http_v3_process_request, ngx_http_v3_request_body_filter.
 */
export class RequestChannel extends RequestStream {
  /** What reads anything but a head that came whole. */
  #frames: Http3FrameReader | undefined = undefined;
  #expect: number = Expect.HEAD;
  /** The section that comes in several pieces, or that waits for the client's encoder. */
  #block: Buffer | null = null;
  #blockLength = 0;
  #blocked = false;
  /** How many insertions the section that waits needs. */
  required = 0;
  /** What came behind a section that waits; null for nothing. */
  #behind: Gathered | null = null;
  #ended = false;
  /** The end of the piece that is read, and how far that was. */
  #pieceEnd = 0;
  #readTo = 0;

  // ---------------------------------------------------------------- what comes in

  received(bytes: Buffer, start: number, end: number, last: boolean): void {
    if (this.over) {
      this.quic.consumed(end - start);
      return;
    }
    this.c.arrived(end - start);
    this.#ended = last;
    if (this.#blocked || this.c.holding) {
      this.#keep(bytes, start, end);
    } else {
      this.#read(bytes, start, end);
    }
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    if (from < to) {
      this.#behind ??= new Gathered();
      this.#behind.add(bytes, from, to);
    }
  }

  #read(bytes: Buffer, start: number, end: number): void {
    const { c } = this;
    this.#pieceEnd = end;
    let at = this.#frames === undefined && this.#expect === Expect.HEAD ? this.#wholeHead(bytes, start, end) : start;
    if (at === end && !this.#blocked) {
      this.#endRead();
      return;
    }
    const frames = (this.#frames ??= new Http3FrameReader());
    while (at < end && !this.#blocked && !this.over && c.open) {
      const came = frames.read(bytes, at, end);
      const before = at;
      at = this.#readTo = frames.next;
      if (came === CAME.PAYLOAD && frames.type === FRAME.DATA) {
        // What its reader takes is given room for by itself.
        this.#body(bytes, frames);
        continue;
      }
      this.quic.consumed(at - before);
      if (came === CAME.HEAD) {
        this.#frameHead(frames);
      } else if (came === CAME.PAYLOAD && frames.type === FRAME.HEADERS) {
        this.#section(bytes, frames);
      }
    }
    if (this.#blocked) {
      this.#keep(bytes, at, end);
    } else {
      this.#endRead();
    }
  }

  /** A piece was read. */
  #endRead(): void {
    if (this.#ended && !this.over && this.c.open) {
      this.#end();
    }
  }

  /** Reads a head that a stream begins with, if all of it has come, as nearly all do. Returns the place behind it. */
  #wholeHead(bytes: Buffer, start: number, end: number): number {
    const long = (bytes[start + 1]! & 0xc0) === 0x40;
    const at = start + (long ? 3 : 2);
    if (at > end || bytes[start] !== FRAME.HEADERS || (!long && bytes[start + 1]! >= 0x40)) {
      return start;
    }
    const length = long ? ((bytes[start + 1]! & 0x3f) << 8) | bytes[start + 2]! : bytes[start + 1]!;
    const { c } = this;
    if (length === 0 || at + length > end || length > c.fieldLimits.total + SECTION_EXTRA) {
      return start;
    }
    this.quic.consumed(at + length - start);
    this.#blockLength = length;
    this.#readTo = at + length;
    this.#decode(bytes, at, at + length);
    return at + length;
  }

  /** The type and the length of a frame are known. */
  #frameHead({ type, length }: Http3FrameReader): void {
    const { c } = this;
    switch (type) {
      case FRAME.DATA:
        if (this.#expect !== Expect.BODY) {
          c.fail(
            H3_ERROR.FRAME_UNEXPECTED,
            `client sent DATA frame ${this.#expect === Expect.HEAD ? 'before headers' : 'behind trailers'}`,
          );
        } else if (length === 0) {
          c.idleFrame();
        }
        return;
      case FRAME.HEADERS:
        if (this.#expect === Expect.END) {
          c.fail(H3_ERROR.FRAME_UNEXPECTED, 'client sent HEADERS frame behind trailers');
        } else if (length === 0) {
          c.fail(H3_ERROR.FRAME_ERROR, 'client sent HEADERS frame with empty header block');
        } else if (length > c.fieldLimits.total + SECTION_EXTRA) {
          this.#tooLarge('client sent too large header');
        } else {
          this.#blockLength = 0;
        }
        return;
      case FRAME.CANCEL_PUSH:
      case FRAME.SETTINGS:
      case FRAME.PUSH_PROMISE:
      case FRAME.GOAWAY:
      case FRAME.MAX_PUSH_ID:
      case FRAME.PRIORITY_UPDATE_REQUEST:
      case FRAME.PRIORITY_UPDATE_PUSH:
        c.fail(H3_ERROR.FRAME_UNEXPECTED, `client sent frame of type ${type} on a request stream`);
        return;
      default:
        if (isHttp2Frame(type)) {
          c.fail(H3_ERROR.FRAME_UNEXPECTED, `client sent frame of type ${type} on a request stream`);
        } else {
          c.idleFrame();
        }
    }
  }

  #body(bytes: Buffer, { start, end, left }: Http3FrameReader): void {
    const { stream } = this;
    if (stream === null || stream.closed) {
      this.quic.consumed(end - start);
      return;
    }
    if (!stream.input.ignoring) {
      this.c.flood.useful(end - start);
    }
    stream.bodyCame(end - start);
    stream.input.data(bytes, start, end, left);
  }

  /** A piece of a section came. */
  #section(bytes: Buffer, { start, end, left, length }: Http3FrameReader): void {
    if (left === 0 && this.#block === null) {
      // Most sections come whole, and are read where they are.
      this.#blockLength = end - start;
      this.#decode(bytes, start, end);
      return;
    }
    this.#gather(bytes, start, end, length);
    if (left === 0) {
      this.#decode(this.#block!, 0, this.#blockLength);
    }
  }

  #gather(bytes: Buffer, start: number, end: number, length: number): void {
    const needed = this.#blockLength + end - start;
    let block = this.#block;
    if (block === null) {
      block = this.#block = Buffer.alloc(Math.min(length, Math.max(needed, FIRST_BLOCK)));
    } else if (needed > block.length) {
      block = this.#block = Buffer.concat([block], Math.min(length, Math.max(needed, block.length * 2)));
    }
    bytes.copy(block, this.#blockLength, start, end);
    this.#blockLength = needed;
  }

  /** A section is whole: it begins the request or ends its body, unless it has to wait. */
  #decode(bytes: Buffer, start: number, end: number): void {
    const { c } = this;
    const code = decoder.begin(c.table, bytes, start, end);
    if (code === SECTION.BLOCKED) {
      this.#block ??= Buffer.from(bytes.subarray(start, end));
      this.required = decoder.required;
      this.#blocked = c.block(this);
      if (this.#blocked && this.#expect === Expect.BODY) {
        this.awaitSection();
      }
      return;
    }
    this.#blocked = false;
    this.#block = null;
    if (code !== SECTION.DECODED) {
      this.#undecodable(code);
    } else if (this.#expect === Expect.HEAD) {
      this.#open(end);
    } else {
      this.#trailers(end);
    }
  }

  #undecodable(code: number): void {
    if (code === SECTION.TOO_LARGE) {
      this.#tooLarge(decoder.problem);
    } else {
      this.c.fail(H3_ERROR.QPACK_DECOMPRESSION_FAILED, decoder.problem);
    }
  }

  #open(end: number): void {
    this.headCame();
    this.#expect = Expect.BODY;
    openRequest(this.c, this, end, this.#blockLength, this.#ended && this.#behind === null && this.#readTo === this.#pieceEnd);
  }

  #tooLarge(problem: string): void {
    this.headCame();
    this.over = true;
    this.#block = null;
    if (this.#expect === Expect.HEAD) {
      refuseTooLarge(this.c, this, problem);
    } else {
      this.c.note(INFO, problem);
      this.fail(H3_ERROR.EXCESSIVE_LOAD);
    }
  }

  /** The fields behind a body: nobody wants them. */
  #trailers(end: number): void {
    const { c } = this;
    this.headCame();
    this.#expect = Expect.END;
    trailerCheck.malformed = false;
    const code = decoder.decode(end, c.fieldLimits, trailerCheck);
    if (code !== SECTION.DECODED) {
      this.#undecodable(code);
      return;
    }
    c.sectionRead(this.quic.id, decoder.required);
    if (trailerCheck.malformed) {
      c.note(INFO, 'client sent invalid trailers');
      this.fail(H3_ERROR.MESSAGE_ERROR);
    }
  }

  /** The client sends no more on the stream. */
  #end(): void {
    const { c } = this;
    if (this.#frames?.within) {
      c.fail(H3_ERROR.FRAME_ERROR, 'client ended a stream within a frame');
    } else if (this.#expect === Expect.HEAD) {
      c.note(INFO, 'client prematurely closed stream');
      this.fail(H3_ERROR.REQUEST_INCOMPLETE);
    } else {
      this.over = true;
      this.reads = false;
      this.stream?.inputEnded();
    }
  }

  /** The client's encoder has said more: what waited for it may go on. */
  unblock(): void {
    if (!this.#blocked || this.over || !this.c.open) {
      return;
    }
    this.#pieceEnd = this.#readTo;
    this.#decode(this.#block!, 0, this.#blockLength);
    if (this.#blocked) {
      return;
    }
    this.#readBehind();
  }

  #readBehind(): void {
    const behind = this.#behind;
    this.#behind = null;
    const bytes = behind === null ? NOTHING : behind.joined();
    this.#read(bytes, 0, bytes.length);
  }

  override resume(): void {
    if (!this.#blocked && !this.over && this.c.open) {
      this.#readBehind();
    }
  }

  protected override forget(): void {
    this.#block = null;
    this.#behind = null;
    if (this.#blocked) {
      this.c.unblocked(this);
    }
  }
}
