import type { Request } from '../../http/request/request.js';
import { HeaderSlot } from '../../http/syntax/header-names.js';
import type { UpstreamRequest } from '../../upstream/exchange/upstream-request.js';
import { HeaderKind } from '../../upstream/response/header-kinds.js';
import { ResponseHeader } from '../../upstream/response/upstream-head.js';
import { Base64Pieces } from './base64-pieces.js';
import { GrpcExchange, type GrpcPlan } from './exchange.js';

const WEB = 'application/grpc-web';
const WEB_TEXT = 'application/grpc-web-text';
const GRPC = 'application/grpc';
/** The first byte of the frame that holds the trailers. */
const TRAILERS = 0x80;

/** What a request's Content-Type says, in lower case. */
const typeOf = (r: Request): string => r.head.known(HeaderSlot.contentType)?.toLowerCase() ?? '';

/** A client speaks gRPC-Web. */
export const isGrpcWeb = (r: Request): boolean => typeOf(r).startsWith(WEB);

/** The Content-Type that the server gets: with the message format that the client names, such as `+proto`. */
export function grpcType(r: Request): string {
  const type = typeOf(r);
  return GRPC + type.slice((type.startsWith(WEB_TEXT) ? WEB_TEXT : WEB).length);
}

/**
 * A call of a client that speaks gRPC-Web, as browsers do: its trailers come in a last frame of the body, and all of the body is
 * base64 where the client asks for text.
 */
export class GrpcWebExchange extends GrpcExchange {
  readonly #text: Base64Pieces | null;
  /** The response is gRPC's. */
  #converts = false;

  constructor(r: Request, plan: GrpcPlan, host: string) {
    super(plan, host);
    this.#text = typeOf(r).startsWith(WEB_TEXT) ? new Base64Pieces() : null;
  }

  /** What the server gets of a piece of the request's body. */
  override encode(piece: Buffer): Buffer {
    return this.#text === null ? piece : this.#text.decode(piece);
  }

  override reset(): void {
    super.reset();
    this.#text?.reset();
    this.#converts = false;
  }

  override endSection(last: boolean): void {
    const before = this.answered;
    super.endSection(last);
    if (!before && this.answered) {
      this.#convertHead(last);
    }
  }

  #convertHead(last: boolean): void {
    const { head } = this.request;
    const { headers } = head;
    const at = headers.findIndex(({ kind }) => (kind & ~HeaderKind.HIDDEN) === HeaderKind.CONTENT_TYPE);
    const type = headers[at]?.value ?? '';
    if (!type.toLowerCase().startsWith(GRPC)) {
      return;
    }
    const { name, lower, kind } = headers[at]!;
    headers[at] = new ResponseHeader(name, lower, (this.#text === null ? WEB : WEB_TEXT) + type.slice(GRPC.length), kind);
    // What has no body has its status in the head, where these clients look, too.
    if (!last) {
      this.#converts = true;
      this.announced = head.contentLength;
      head.contentLength = -1;
    }
  }

  override readBody(u: UpstreamRequest, bytes: Buffer, start: number, end: number): boolean {
    if (!super.readBody(u, bytes, start, end)) {
      return false;
    }
    if (this.#converts && this.complete) {
      const frame = this.#shown(trailerFrame(u));
      u.pipe!.add(frame, 0, frame.length);
    }
    return true;
  }

  protected override give(u: UpstreamRequest, bytes: Buffer, start: number, end: number): void {
    if (!this.#converts) {
      super.give(u, bytes, start, end);
      return;
    }
    const piece = this.#shown(bytes.subarray(start, end));
    super.give(u, piece, 0, piece.length);
  }

  #shown(piece: Buffer): Buffer {
    return this.#text === null ? piece : Buffer.from(piece.toString('base64'), 'latin1');
  }
}

/** The frame that ends the body: the trailers as lines. */
function trailerFrame({ head, conf }: UpstreamRequest): Buffer {
  const { trailers } = head;
  let text = '';
  for (let i = 0; i < trailers.length; i += 3) {
    if ((conf.kinds.of(trailers[i + 1]!) & HeaderKind.HIDDEN) === 0) {
      text += `${trailers[i + 1]}: ${trailers[i + 2]}\r\n`;
    }
  }
  const frame = Buffer.allocUnsafe(5 + text.length);
  frame[0] = TRAILERS;
  frame.writeUInt32BE(text.length, 1);
  frame.write(text, 5, 'latin1');
  return frame;
}
