import type { Buffer } from 'node:buffer';
import type { QuicStream, QuicStreamHandler } from '../../net/quic/contract.js';
import { H3_ERROR } from '../http3-frames/protocol.js';
import type { Http3Connection } from './connection.js';

/** A request that came after the client was told that no more are served: it may try again elsewhere. */
export class RejectedStream implements QuicStreamHandler {
  readonly #c: Http3Connection;
  readonly #quic: QuicStream;

  constructor(connection: Http3Connection, quic: QuicStream) {
    this.#c = connection;
    this.#quic = quic;
  }

  received(_bytes: Buffer, start: number, end: number): void {
    this.#quic.consumed(end - start);
    this.#quic.stopReceiving(H3_ERROR.REQUEST_REJECTED);
    this.#quic.reset(H3_ERROR.REQUEST_REJECTED);
    if (!this.#c.flood.refuse()) {
      this.#c.fail(H3_ERROR.EXCESSIVE_LOAD, 'client sent too many refused streams');
    }
  }

  wasReset(): void {
    this.#quic.reset(H3_ERROR.REQUEST_REJECTED);
  }

  refused(): void {
    this.#quic.stopReceiving(H3_ERROR.REQUEST_REJECTED);
  }

  drained(): void {}
  finished(): void {}
  closed(): void {}
}
