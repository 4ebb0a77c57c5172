import { copied, Gathered } from '../../bytes/gathered.js';
import { DEFAULT_WINDOW, ERROR_CODE } from '../http2-frames/protocol.js';
import type { BodySink, ClientTunnel, TunnelOwner } from '../request/client-exchange.js';
import type { Request } from '../request/request.js';
import type { PieceStream } from './paced-pieces.js';

/** A stream that may become a tunnel. */
export interface TunnelStream extends PieceStream {
  readonly request: Request;
  /** The request is over, or its client has gone. */
  readonly closed: boolean;
  /** The error code that ends the stream once the answer has gone out. */
  afterwards: number;
  resumeBody(r: Request): void;
}

/** Bytes that wait for the client's window; then the other side is asked to wait. */
const HIGH = 64 * 1024;

/** A stream whose DATA frames carry another protocol both ways, such as WebSocket (RFC 8441, 5; RFC 9220). */
export class StreamTunnel implements ClientTunnel, BodySink {
  readonly room: number = DEFAULT_WINDOW;
  readonly pending = null;
  /** Browsers end a stream with their last frame, and read the answer to it. */
  readonly halfCloses = true;
  readonly #stream: TunnelStream;
  readonly #owner: TunnelOwner;
  readonly #waiting = new Gathered();
  /** A piece is being sent. */
  #sending = false;
  #paused = false;

  constructor(stream: TunnelStream, owner: TunnelOwner) {
    this.#stream = stream;
    this.#owner = owner;
  }

  // ---------------------------------------------------------------- to the client

  get flushed(): boolean {
    return !this.#sending;
  }

  writeLent(bytes: Buffer, start: number, end: number): boolean {
    if (this.#stream.closed) {
      return true;
    }
    if (this.#sending) {
      this.#waiting.add(bytes, start, end);
    } else {
      this.#sending = true;
      this.#stream.put(copied(bytes, start, end), false);
    }
    return this.#waiting.length < HIGH;
  }

  /** What was put last is in frames. */
  pieceSent(): void {
    const next = this.#waiting.shift();
    if (next !== null) {
      this.#stream.put(next, false);
      return;
    }
    this.#sending = false;
    this.#owner.clientFlushed();
  }

  failed(): void {
    const { resetCode } = this.#stream.request;
    this.#stream.afterwards = resetCode === 0 ? ERROR_CODE.CONNECT_ERROR : resetCode;
  }

  // ---------------------------------------------------------------- from the client

  data(bytes: Buffer, start: number, end: number, _announced: number): boolean {
    this.#owner.clientSent(bytes, start, end);
    return !this.#paused;
  }

  end(): void {
    this.#owner.clientEnded();
  }

  fail(_status: number): void {
    this.#owner.clientClosed();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#stream.resumeBody(this.#stream.request);
  }

  /** The client gave the stream up. */
  gone(): void {
    this.#owner.clientClosed();
  }
}
