import { Buffer } from 'node:buffer';
import { ERROR } from '../../../shared/log/level.js';
import { Gathered } from '../../bytes/gathered.js';
import { asStatus } from '../../task/codes.js';
import { checkClientCertificate } from '../../tls/request-check.js';
import { H3_ERROR } from '../http3-frames/protocol.js';
import { headSlot } from '../request/client-settings.js';
import type { Request } from '../request/request.js';
import { refuseRequest, startRequest } from '../request/start-request.js';
import { chooseServer } from '../serving/choose-server.js';
import { takeHead } from '../serving/take-head.js';
import { METHOD } from '../syntax/method.js';
import { HTTP_09, REQUEST_LINE_AGAIN, REQUEST_LINE_OK, RequestLine } from '../syntax/request-line.js';
import { normalizeUri } from '../syntax/uri.js';
import { RequestStream } from './channel.js';
import { isDisabled, makeHttp3Stream } from './open-request.js';

const line = new RequestLine();
const LF = 0x0a;

/**
 * What comes on a stream of `hq-interop`: the line of a request of HTTP/0.9, by which implementations of QUIC are tried without HTTP/3.
 * nginx reads HTTP/1 there.
 */
export class HqChannel extends RequestStream {
  readonly #held = new Gathered();
  /** The client has ended its side. */
  #ended = false;

  override received(bytes: Buffer, start: number, end: number, last: boolean): void {
    this.quic.consumed(end - start);
    this.c.arrived(end - start);
    if (this.over || !this.c.open) {
      return;
    }
    const held = this.#held;
    const first = held.length === 0;
    held.add(bytes, start, end);
    this.#ended = last;
    const { field } = this.c.fieldLimits;
    // A line that goes on is looked at again when its end may have come: its pieces are not joined for each of them.
    const looks = first || last || held.length > field || bytes.subarray(start, end).includes(LF);
    if (looks && !(this.c.holding && held.length <= field)) {
      this.#read();
    }
  }

  #read(): void {
    const held = this.#held.joined();
    const last = this.#ended;
    // A line may end with the stream.
    const whole = last && held.at(-1) !== LF ? Buffer.concat([held, Buffer.from('\n')]) : held;
    const code = line.scan(whole, 0, whole.length);
    if (code === REQUEST_LINE_AGAIN && !last && held.length <= this.c.fieldLimits.field) {
      return;
    }
    if (code === REQUEST_LINE_OK && line.version === HTTP_09 && line.schemaStart === -1) {
      this.#run(whole, last);
    } else {
      this.c.note(ERROR, 'client sent invalid request of HTTP/0.9');
      this.fail(H3_ERROR.GENERAL_PROTOCOL_ERROR);
    }
  }

  #run(bytes: Buffer, end: boolean): void {
    const { c } = this;
    this.headCame();
    this.over = true;
    this.#held.clear();
    const stream = makeHttp3Stream(c, this);
    stream.inClosed = end;
    const r = stream.request;
    const { head } = r;
    head.version = HTTP_09;
    head.line = bytes.toString('latin1', line.start, line.end);
    head.method = 'GET';
    head.methodBit = METHOD.GET;
    head.unparsedUri = bytes.toString('latin1', line.uriStart, line.uriEnd);
    head.validUnparsedUri = true;
    head.length = line.next - line.start;
    const sound = normalizeUri(head.unparsedUri, r.server.conf(headSlot).headLimits.mergeSlashes, head);
    const status = isDisabled(c, r) ? 421 : sound ? chooseServer(r, c.serverName ?? '', c.serverName) : 400;
    takeHead(r, head);
    stream.action = undefined;
    begin(r, status === 0 ? checkClientCertificate(r) : status);
  }

  override resume(): void {
    if (this.#held.length > 0 && !this.over && this.c.open) {
      this.#read();
    }
  }

  protected override forget(): void {
    this.#held.clear();
  }
}

function begin(r: Request, status: number): void {
  if (status === 0) {
    startRequest(r);
  } else {
    refuseRequest(r, asStatus(status));
  }
}
