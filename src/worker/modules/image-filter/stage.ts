import { ERROR } from '../../../shared/log/level.js';
import type { BodyStage, Chunk, Source } from '../../http/request/body-stage.js';
import { CLIENT_CLOSED_REQUEST } from '../../http/request/codes.js';
import { contextSlot, type Request } from '../../http/request/request.js';
import { forgetHeldHead, sendHeldHead } from '../../http/request/respond.js';
import { enter, leave } from '../../task/at-work.js';
import { asStatus, FAILED, OK } from '../../task/codes.js';
import { upstreamOf } from '../../upstream/exchange/upstream-request.js';
import { staysAsItIs, type Wanted } from './geometry.js';
import { ImageBytes } from './image-bytes.js';
import { type ImageSize, imageSize } from './image-size.js';
import { ENOUGH, type ImageType, imageType } from './image-type.js';
import { type ImageJob, imageWorks } from './image-works.js';
import { boundedNumberOf, type ImageSettings, numberOf } from './settings.js';
import { loadSharp, type Treatment, treat } from './sharp-package.js';

/** How far a body has come. nginx: NGX_HTTP_IMAGE_START and the others. */
const [START, READ, WORK, PASS] = [0, 1, 2, 3];
/** Nothing is made of the rest of the body, which comes all the same: an answer waits for its end, or there is no body to send. */
const [DROP, DROP_SENT] = [4, 5];

/** How long a body may be whose head the filter has held back; it stays until another response takes its place. */
export const seen = contextSlot<number>();

/** Gathers an image, and sends what is made of it, or passes it on. nginx: ngx_http_image_body_filter. */
export class ImageStage implements BodyStage, Source, ImageJob {
  readonly works = true;
  readonly #r: Request;
  readonly #conf: Readonly<ImageSettings>;
  readonly #next: BodyStage;
  readonly #most: number;
  #state = START;
  /** The bytes that have come. */
  readonly #bytes: ImageBytes;
  #type: ImageType = 'jpeg';
  #treatment: Treatment | null = null;
  #begun = false;
  #untaken = false;
  pixels = 0;

  /** `most`: how many bytes the body may have. */
  constructor(r: Request, conf: Readonly<ImageSettings>, most: number, next: BodyStage) {
    this.#r = r;
    this.#conf = conf;
    this.#most = most;
    this.#next = next;
    this.#bytes = new ImageBytes(conf.filter.mode === 'test' ? -1 : r.out.contentLength);
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    if (this.#state === PASS) {
      this.#next.send(r, chunk, last);
      return;
    }
    if (this.#state <= READ && chunk !== null) {
      this.#bytes.add(chunk);
    }
    if (this.#state === START && (last || this.#bytes.length >= ENOUGH)) {
      const type = imageType(this.#bytes.all);
      if (type === undefined) {
        this.#state = DROP;
      } else if (r.subrequestRanges) {
        this.#drop(r, 'a response in slices');
      } else if (this.#conf.filter.mode === 'test') {
        this.#pass(r, type, last);
        return;
      } else {
        this.#type = type;
        this.#state = READ;
      }
    }
    if (this.#state === READ && this.#bytes.length > this.#most) {
      this.#drop(r, 'too big response');
    }
    if (!last) {
      if (this.#state !== DROP || !this.#endsHere(r)) {
        r.more();
      }
      return;
    }
    r.source = null;
    if (this.#state === DROP_SENT) {
      this.#end(r);
    } else if (this.#state === DROP) {
      this.#answerNone(r);
    } else {
      this.#process(r);
    }
  }

  /** What may be an image cannot be taken. */
  #drop(r: Request, why: string): void {
    r.log(ERROR, `image filter: ${why}`);
    this.#state = DROP;
    this.#untaken = true;
  }

  #pass(r: Request, type: ImageType, last: boolean): void {
    r.out.contentType = `image/${type}`;
    const begin = this.#bytes.all;
    this.#state = PASS;
    if (this.#sendHead(r)) {
      this.#next.send(r, begin, last);
    } else if (!last && !r.finished && keptByCache(r)) {
      this.#state = DROP_SENT;
      r.more();
    } else if (!r.finished) {
      this.#end(r);
    }
  }

  /** Ends a response without a body. */
  #end(r: Request): void {
    const { source } = r;
    r.source = null;
    source?.abort(r);
    r.finalize(OK);
  }

  /**
   * The rest of the body is of no use: answers without it. Returns false where a cache keeps the body, which has to come to its end for
   * that.
   */
  #endsHere(r: Request): boolean {
    this.#bytes.free();
    if (keptByCache(r)) {
      return false;
    }
    const { source } = r;
    r.source = null;
    source?.abort(r);
    this.#answerNone(r);
    return true;
  }

  /** The body is no image, or one that cannot be taken. */
  #answerNone(r: Request): void {
    if (this.#conf.filter.mode === 'size' && !this.#untaken) {
      this.#sendSize(r, undefined);
    } else {
      this.#refuse(r);
    }
  }

  /** The whole image is here. nginx: ngx_http_image_process. */
  #process(r: Request): void {
    const image = this.#bytes.all;
    const type = this.#type;
    const { filter } = this.#conf;
    const { mode } = filter;
    const size = imageSize(type, image);
    if (mode === 'size') {
      this.#sendSize(r, size);
      return;
    }
    const angle = boundedNumberOf(r, filter.angle);
    let [maxWidth, maxHeight] = [0, 0];
    r.out.contentType = `image/${type}`;
    if (mode !== 'rotate') {
      maxWidth = numberOf(r, filter.width);
      maxHeight = maxWidth === 0 ? 0 : numberOf(r, filter.height);
    }
    if (mode === 'rotate' ? angle !== 90 && angle !== 180 && angle !== 270 : maxHeight === 0) {
      this.#refuse(r);
      return;
    }
    const wanted = { mode, maxWidth, maxHeight, angle } as Wanted;
    const always = size?.bloated === true;
    if (size !== undefined && !always && staysAsItIs(size.width, size.height, wanted)) {
      this.#sendWhole(r, image);
      return;
    }
    this.#begin(r, { wanted, always, ...this.#look(r) }, size);
  }

  #look(r: Request): Omit<Treatment, 'wanted' | 'always'> {
    const { jpegQuality, webpQuality, sharpen, interlace, transparency } = this.#conf;
    const quality = this.#type === 'jpeg' ? boundedNumberOf(r, jpegQuality) : this.#type === 'webp' ? boundedNumberOf(r, webpQuality) : 0;
    return { quality, sharpen: boundedNumberOf(r, sharpen), interlace, transparency };
  }

  #begin(r: Request, treatment: Treatment, size: ImageSize | undefined): void {
    this.#state = WORK;
    this.#treatment = treatment;
    this.pixels = size === undefined ? 0 : size.width * size.height;
    r.source = this;
    imageWorks(r.http).add(this);
  }

  /** The client's connection is no more; one that has only ended its side still takes the answer. */
  get unwanted(): boolean {
    return this.#r.finished || this.#r.connection.closed;
  }

  dropped(): void {
    const r = this.#r;
    if (!r.finished) {
      r.finalize(asStatus(CLIENT_CLOSED_REQUEST));
    }
  }

  begin(done: () => void): void {
    this.#begun = true;
    const sharp = loadSharp();
    if (typeof sharp === 'string') {
      this.#treated(`the package sharp ${sharp}`);
      done();
      return;
    }
    treat(sharp, this.#type, this.#bytes.all, this.#treatment!, (outcome) => {
      this.#treated(outcome);
      done();
    });
  }

  #treated(outcome: Buffer | string | null): void {
    const r = this.#r;
    if (r.finished || r.source !== this) {
      this.#bytes.free();
      return;
    }
    const before = enter(r);
    r.source = null;
    if (typeof outcome === 'string') {
      r.log(ERROR, `image filter: ${outcome}`);
      this.#refuse(r);
    } else if (outcome === null) {
      this.#sendWhole(r, this.#bytes.all);
    } else {
      this.#bytes.free();
      r.out.weakenEtag();
      this.#sendWhole(r, outcome);
    }
    leave(before);
  }

  /** Nothing more comes from here until the work is done. */
  pull(): void {}

  abort(r: Request): void {
    if (this.#state !== WORK) {
      this.#next.abort?.(r);
    } else if (!this.#begun) {
      this.#bytes.free();
      imageWorks(r.http).withdraw(this);
    }
  }

  // nginx: ngx_http_image_json.
  #sendSize(r: Request, size: ImageSize | undefined): void {
    const { out } = r;
    this.#bytes.free();
    out.clear();
    out.status = 200;
    out.contentType = 'application/json';
    const text = size === undefined ? '{}' : `{ "img" : { "width": ${size.width}, "height": ${size.height}, "type": "${this.#type}" } }`;
    this.#sendWhole(r, Buffer.from(`${text}\r\n`));
  }

  #sendWhole(r: Request, body: Buffer): void {
    this.#state = PASS;
    r.out.contentLength = r.bodyLength = body.length;
    if (this.#sendHead(r)) {
      this.#next.send(r, body, true);
    } else if (!r.finished) {
      this.#end(r);
    }
  }

  /** Sends the head. Returns whether a body follows; where sending failed, the request is over. nginx: ngx_http_image_send. */
  #sendHead(r: Request): boolean {
    if (sendHeldHead(r) === OK) {
      return !r.headerOnly;
    }
    r.terminate(FAILED);
    return false;
  }

  #refuse(r: Request): void {
    const most = this.#most;
    this.#state = PASS;
    this.#bytes.free();
    forgetHeldHead(r);
    seen.set(r, most);
    r.finalize(415);
  }
}

/** A cache keeps the body, which has to come to its end for that. */
function keptByCache(r: Request): boolean {
  const u = upstreamOf(r);
  return u !== null && u.tee !== null;
}
