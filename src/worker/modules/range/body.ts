import { ALERT } from '../../../shared/log/level.js';
import type { BodyStage, Chunk, Source } from '../../http/request/body-stage.js';
import type { Request } from '../../http/request/request.js';
import { FAILED } from '../../task/codes.js';
import { BOUNDARY_MARK, type Cut, cuts, partNumbers } from './header.js';

/** Lets only the granted ranges of the body through. nginx: ngx_http_range_body_filter. */
export function rangeBody(r: Request, next: BodyStage): BodyStage {
  const cut = cuts.get(r);
  if (cut === undefined) {
    return next;
  }
  const source = r.source;
  // The body of a slice is not all of the body that its head announces.
  if (source?.seek === undefined || r.subrequestRanges) {
    return cut.ranges.length === 1 ? new OneRange(cut, next) : new WholeBody(cut, next);
  }
  if (cut.ranges.length === 1) {
    const { start, end } = cut.ranges[0]!;
    source.seek(start - cut.offset, end - cut.offset);
    return next;
  }
  const parts = new Parts(cut, source, next);
  r.source = parts;
  return parts;
}

const partHead = (cut: Cut, i: number): Buffer => Buffer.from(cut.boundary + partNumbers(cut.ranges[i]!, cut.length), 'latin1');
const bodyEnd = (cut: Cut): Buffer => Buffer.from(`${cut.boundary.slice(0, BOUNDARY_MARK)}--\r\n`, 'latin1');

/** Several ranges of a body that can be read in any order. Stands before the source and after it. */
class Parts implements Source, BodyStage {
  readonly #cut: Cut;
  readonly #source: Source;
  readonly #next: BodyStage;
  #started = 0;
  #inPart = false;

  constructor(cut: Cut, source: Source, next: BodyStage) {
    this.#cut = cut;
    this.#source = source;
    this.#next = next;
  }

  pull(r: Request): void {
    if (this.#inPart) {
      this.#source.pull(r);
    } else if (this.#started < this.#cut.ranges.length) {
      const i = this.#started++;
      const { start, end } = this.#cut.ranges[i]!;
      this.#source.seek!(start - this.#cut.offset, end - this.#cut.offset);
      this.#inPart = true;
      this.#next.send(r, partHead(this.#cut, i), false);
    } else {
      r.source = null;
      this.#source.abort(r);
      this.#next.send(r, bodyEnd(this.#cut), true);
    }
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    if (last) {
      this.#inPart = false;
    }
    this.#next.send(r, chunk, false);
  }

  abort(r: Request): void {
    this.#source.abort(r);
  }
}

/** One range of a body that can only be had in order. nginx: ngx_http_range_singlepart_body. */
class OneRange implements BodyStage {
  readonly #start: number;
  readonly #end: number;
  readonly #next: BodyStage;
  #at: number;

  constructor(cut: Cut, next: BodyStage) {
    this.#start = cut.ranges[0]!.start;
    this.#end = cut.ranges[0]!.end;
    this.#at = cut.offset;
    this.#next = next;
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    const from = this.#at;
    const to = from + (chunk === null ? 0 : chunk.length);
    this.#at = to;
    if (chunk !== null && from < this.#end && to > this.#start) {
      const start = Math.max(this.#start - from, 0);
      r.rangeSent = to >= this.#end;
      this.#next.send(r, chunk.subarray(start, Math.min(this.#end, to) - from), last);
    } else if (last) {
      this.#next.send(r, null, true);
    } else {
      r.more();
    }
  }
}

/** Several ranges of a body that comes in one piece; of one in several pieces they cannot be had. nginx: ngx_http_range_multipart_body. */
class WholeBody implements BodyStage {
  readonly #cut: Cut;
  readonly #next: BodyStage;
  #cutOut = false;

  constructor(cut: Cut, next: BodyStage) {
    this.#cut = cut;
    this.#next = next;
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    if (chunk === null || chunk.length === 0) {
      if (last) {
        this.#next.send(r, null, true);
      } else {
        r.more();
      }
      return;
    }
    const { ranges } = this.#cut;
    if (this.#cutOut || this.#cut.offset !== 0 || ranges.some(({ end }) => end > chunk.length)) {
      r.log(ALERT, 'range in overlapped buffers');
      r.finalize(FAILED);
      return;
    }
    this.#cutOut = true;
    const pieces: Buffer[] = [];
    for (let i = 0; i < ranges.length; i++) {
      pieces.push(partHead(this.#cut, i), chunk.subarray(ranges[i]!.start, ranges[i]!.end));
    }
    pieces.push(bodyEnd(this.#cut));
    this.#next.send(r, Buffer.concat(pieces), last);
  }
}
