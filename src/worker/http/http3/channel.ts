import type { Buffer } from 'node:buffer';
import { INFO } from '../../../shared/log/level.js';
import type { QuicStream, QuicStreamHandler } from '../../net/quic/contract.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import { H3_ERROR } from '../http3-frames/protocol.js';
import { headSlot } from '../request/client-settings.js';
import type { Http3Connection } from './connection.js';
import type { Http3Stream } from './stream.js';

/** A stream of the client's for a request, before that begins and afterwards. nginx: ngx_http_v3_init_request_stream. */
export abstract class RequestStream implements QuicStreamHandler, Expiring {
  readonly quic: QuicStream;
  protected readonly c: Http3Connection;
  /** Nothing that comes is looked at any more. */
  protected over = false;
  /** The next of those whose heads are awaited soon. */
  nextFresh: RequestStream | null = null;
  /** The client may still send sections on it. */
  reads = true;
  #stream: Http3Stream | null = null;
  /** Runs while a head is awaited; null as long as none had to be. */
  #deadline: Deadline | null = null;
  #headCame = false;

  constructor(connection: Http3Connection, quic: QuicStream) {
    this.c = connection;
    this.quic = quic;
  }

  /** The time for a head, or for what its section needs, begins unless it has come: most heads come at once. */
  awaitHead(): void {
    if (!this.#headCame && !this.over) {
      this.awaitSection();
    }
  }

  protected awaitSection(): void {
    this.#deadline ??= new Deadline(this);
    this.#deadline.set(performance.now(), this.c.server.conf(headSlot).clientHeaderTimeout);
  }

  protected headCame(): void {
    this.#headCame = true;
    this.#deadline?.clear();
  }

  /** The request, once it has begun. */
  get stream(): Http3Stream | null {
    return this.#stream;
  }

  /** A request begins. */
  begins(stream: Http3Stream): void {
    this.#stream = stream;
  }

  abstract received(bytes: Buffer, start: number, end: number, last: boolean): void;

  /** What came may be looked at, now that something is known of the client. */
  abstract resume(): void;

  /** Forgets what came: no request comes of it any more. */
  protected abstract forget(): void;

  /** Breaks the stream off for what the client did, with an error code of HTTP/3. */
  fail(code: number): void {
    this.#giveUp();
    const enough = !this.c.flood.broken();
    if (this.#stream === null || this.#stream.closed) {
      this.quic.stopReceiving(code);
      this.quic.reset(code);
    } else {
      this.#stream.fail(code);
    }
    if (enough) {
      this.c.tooManyBroken();
    }
  }

  #giveUp(): void {
    this.c.willNotRead(this);
    this.forget();
    this.over = true;
    this.#deadline?.close();
  }

  /** The client does not end a head in time. */
  expired(): void {
    this.c.note(INFO, 'client timed out (110: Connection timed out)');
    this.fail(H3_ERROR.GENERAL_PROTOCOL_ERROR);
  }

  drained(): void {
    this.#stream?.windowOpened();
  }

  finished(): void {}

  wasReset(code: number): void {
    this.#gone(code);
  }

  refused(code: number): void {
    this.#gone(code);
  }

  /** The client gives the stream up. */
  #gone(code: number): void {
    const { c } = this;
    const stream = this.#stream;
    const served = stream !== null && !stream.closed;
    this.#giveUp();
    if (served) {
      stream.request.log(INFO, goneText(this.quic.id, code));
      stream.gone();
    }
    this.quic.stopReceiving(H3_ERROR.REQUEST_CANCELLED);
    this.quic.reset(H3_ERROR.REQUEST_CANCELLED);
    if (stream !== null && !served) {
      c.idleFrame();
    } else if (!c.flood.broken()) {
      c.tooManyBroken();
    }
  }

  closed(): void {
    this.#giveUp();
    this.c.channelClosed();
    const stream = this.#stream;
    if (stream !== null && !stream.answeredEarly) {
      stream.gone();
    }
  }
}

function goneText(streamId: number, code: number): string {
  return code === H3_ERROR.REQUEST_CANCELLED
    ? `client canceled stream ${streamId}`
    : `client terminated stream ${streamId} with status ${code}`;
}
