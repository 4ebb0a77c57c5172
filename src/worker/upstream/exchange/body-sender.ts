import type { Level } from '../../../shared/log/level.js';
import { SEGMENT } from '../../../shared/net/segment.js';
import type { RequestBody } from '../../http/request/request-body.js';
import type { TempFile, TempFileRead, TempFileTaker } from '../../http/request/temp-file.js';
import type { Channel } from '../connection/channel.js';
import { writePiece } from './body-frame.js';
import type { RequestOutput } from './request-output.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Writes a request with its body to a connection, as fast as that takes it. */
export interface RequestSender {
  start(): void;
  /** The connection has room again. */
  drained(): void;
  /** Nothing more may be written. */
  stop(): void;
}

/** Up to this size head and body leave in one write. */
const COPY_LIMIT = 32 * 1024;

/** What sends the request at hand; null when it has no body. */
export function makeBodySender(u: UpstreamRequest, output: RequestOutput, c: Channel): RequestSender | null {
  const { r, exchange } = u;
  if (r.requestBodyNoBuffering && u.relay !== null) {
    return u.relay.bind(output, c);
  }
  if (!exchange.sendsBody || r.body === null || r.body.length === 0) {
    return null;
  }
  return new BodySender(u, output, c, r.body);
}

/** Sends a body that was read before, from memory or from its temporary file. */
class BodySender implements RequestSender, TempFileTaker {
  readonly #u: UpstreamRequest;
  readonly #output: RequestOutput;
  readonly #c: Channel;
  readonly #body: RequestBody;
  #piece = 0;
  #offset = 0;
  #last = false;
  #stopped = false;
  /** The system fetches the next piece of the file. */
  #reading: TempFileRead | null = null;

  constructor(u: UpstreamRequest, output: RequestOutput, c: Channel, body: RequestBody) {
    this.#u = u;
    this.#output = output;
    this.#c = c;
    this.#body = body;
  }

  start(): void {
    const text = this.#u.exchange.requestText;
    const body = this.#body;
    if (body.file === undefined && text.length + body.length <= COPY_LIMIT) {
      const frame = this.#u.exchange.bodyFrame;
      const before = frame === undefined ? text : text + frame.before(body.length);
      const after = frame === undefined ? '' : frame.after(body.length) + frame.last;
      this.#last = true;
      this.#piece = body.bytes.pieces.length;
      this.#ended(this.#c.write(body.bytes.between(before, after)));
      return;
    }
    if (this.#c.writeText(text)) {
      this.#write(true);
    }
  }

  drained(): void {
    if (this.#stopped || this.#reading !== null) {
      return;
    }
    if (this.#allWritten()) {
      if (this.#c.flushed) {
        this.#output.finish();
      }
      return;
    }
    this.#output.awaitBackend();
    this.#write(true);
  }

  stop(): void {
    this.#stopped = true;
    this.#reading?.drop();
    this.#reading = null;
  }

  #allWritten(): boolean {
    const body = this.#body;
    return body.file === undefined ? this.#piece >= body.bytes.pieces.length : this.#offset >= body.length;
  }

  /** Writes on as long as the connection takes more at once, which it does if it is `flowing`. */
  #write(flowing: boolean): void {
    let more = flowing;
    while (more && !this.#allWritten() && !this.#stopped) {
      const { file } = this.#body;
      const piece = file === undefined ? this.#next() : this.#stored(file);
      if (piece === null) {
        return;
      }
      more = writePiece(this.#c, this.#u.exchange.bodyFrame, piece, file !== undefined);
    }
    if (!this.#stopped && this.#allWritten()) {
      this.#ended(more);
    }
  }

  #ended(wasFlowing: boolean): void {
    const frame = this.#u.exchange.bodyFrame;
    const flowing = frame === undefined || this.#last ? wasFlowing : this.#c.writeText(frame.last);
    this.#last = true;
    this.#c.finishRequest();
    if (this.#c.flushed) {
      this.#output.finish();
    } else if (flowing) {
      this.#c.awaitFlush();
    }
  }

  #next(): Buffer {
    const whole = this.#body.bytes.pieces[this.#piece]!;
    const piece = whole.subarray(this.#offset, this.#offset + SEGMENT);
    this.#offset += piece.length;
    if (this.#offset >= whole.length) {
      this.#piece++;
      this.#offset = 0;
    }
    return piece;
  }

  /** The next piece of the file, lent; null when it is read in the background. */
  #stored(file: TempFile): Buffer | null {
    const size = Math.min(SEGMENT, this.#body.length - this.#offset);
    const piece = file.present(this.#offset, size);
    if (piece === null) {
      this.#output.awaitBody();
      this.#reading = file.read(this.#u.r, this.#offset, size, this);
    } else {
      this.#offset += size;
    }
    return piece;
  }

  fileRead(bytes: Buffer): void {
    this.#reading = null;
    this.#offset += bytes.length;
    this.#output.awaitBackend();
    this.#write(writePiece(this.#c, this.#u.exchange.bodyFrame, bytes, true));
  }

  fileFailed(level: Level, message: string): void {
    this.#reading = null;
    this.#u.log(level, message);
    this.#u.finalize(500);
  }
}
