import type { Buffer } from 'node:buffer';
import { INFO } from '../../../shared/log/level.js';
import type { QuicStream, QuicStreamHandler } from '../../net/quic/contract.js';
import { H3_ERROR, STREAM } from '../http3-frames/protocol.js';
import { DecoderStreamReader } from '../http3-frames/qpack/decoder-stream.js';
import { EncoderStreamReader } from '../http3-frames/qpack/encoder-stream.js';
import { VarintReader } from '../http3-frames/varint.js';
import type { Http3Connection } from './connection.js';
import { ControlReader } from './control-reader.js';

/** Which of the streams that each side has once the client has opened. */
export interface ClientStreams {
  control: boolean;
  encoder: boolean;
  decoder: boolean;
}

/** What a stream of a known type is read by. */
interface Reader {
  /** Takes the bytes `start..end`; false if they are wrong. */
  read(bytes: Buffer, start: number, end: number): boolean;
  readonly problem: string;
}

/** A stream on which a client tells about the connection (RFC 9114, 6.2). nginx: ngx_http_v3_init_uni_stream, ngx_http_v3_parse_uni. */
export class ClientStream implements QuicStreamHandler {
  readonly #c: Http3Connection;
  readonly #quic: QuicStream;
  /** Reads the stream's type; null once that is known. */
  #type: VarintReader | null = new VarintReader();
  #reader: Reader | null = null;
  /** What is wrong with the connection where the reader says that something is. */
  #error = 0;

  constructor(connection: Http3Connection, quic: QuicStream) {
    this.#c = connection;
    this.#quic = quic;
  }

  received(bytes: Buffer, start: number, end: number, last: boolean): void {
    const c = this.#c;
    this.#quic.consumed(end - start);
    c.arrived(end - start);
    if (c.hq) {
      c.fail(H3_ERROR.STREAM_CREATION_ERROR, 'uni stream in hq mode');
    }
    if (!c.open) {
      return;
    }
    let at = start;
    const type = this.#type;
    if (type !== null) {
      at = type.read(bytes, at, end);
      if (at === -1) {
        return;
      }
      this.#type = null;
      this.#begin(type.value);
    }
    const reader = this.#reader;
    if (reader === null || !c.open) {
      return;
    }
    if (at < end) {
      if (!reader.read(bytes, at, end)) {
        c.fail(this.#error, reader.problem);
      } else if (this.#error === H3_ERROR.QPACK_ENCODER_STREAM_ERROR) {
        c.encoderSpoke();
      }
    }
    if (last) {
      this.#ended();
    }
  }

  /** The stream's type is known. */
  #begin(type: number): void {
    const c = this.#c;
    const { clientStreams } = c;
    switch (type) {
      case STREAM.CONTROL:
        if (this.#only(clientStreams.control)) {
          clientStreams.control = true;
          this.#reader = new ControlReader(c);
        }
        break;
      case STREAM.ENCODER:
        if (this.#only(clientStreams.encoder)) {
          clientStreams.encoder = true;
          this.#error = H3_ERROR.QPACK_ENCODER_STREAM_ERROR;
          this.#reader = new EncoderStreamReader(c.table);
        }
        break;
      case STREAM.DECODER:
        if (this.#only(clientStreams.decoder)) {
          clientStreams.decoder = true;
          this.#error = H3_ERROR.QPACK_DECODER_STREAM_ERROR;
          this.#reader = new DecoderStreamReader();
        }
        break;
      case STREAM.PUSH:
        c.fail(H3_ERROR.STREAM_CREATION_ERROR, 'client opened a push stream');
        break;
      default:
        c.note(INFO, `client opened a stream of unknown type ${type}`);
        this.#quic.stopReceiving(H3_ERROR.STREAM_CREATION_ERROR);
        c.idleFrame();
        break;
    }
  }

  #only(opened: boolean): boolean {
    if (opened) {
      this.#c.fail(H3_ERROR.STREAM_CREATION_ERROR, 'stream already created');
    }
    return !opened;
  }

  /** The stream says no more: some streams must stay for as long as the connection does. */
  #ended(): void {
    if (this.#reader !== null) {
      this.#c.fail(H3_ERROR.CLOSED_CRITICAL_STREAM, 'client closed a critical stream');
    }
  }

  wasReset(): void {
    this.#ended();
  }

  // Nothing is sent on it.
  drained(): void {}
  finished(): void {}
  refused(): void {}
  closed(): void {}
}
