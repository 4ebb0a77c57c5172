import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { size } from '../../../shared/config/slots.js';
import { ERROR } from '../../../shared/log/level.js';
import { type PostponeStage, postponeOf } from '../../http/body/postpone-stage.js';
import type { BodyStage } from '../../http/request/body-stage.js';
import { contextSlot, type Request } from '../../http/request/request.js';
import { startSubrequest } from '../../http/request/subrequest.js';
import { HeaderSlot } from '../../http/syntax/header-names.js';
import { defineModule, defineScope, type Variable } from '../../module.js';
import { FAILED, OK, type Result } from '../../task/codes.js';
import { LocationSlot } from '../../task/settings-slot.js';
import { type ContentRange, parseContentRange } from './content-range.js';

interface Settings {
  /** Bytes; 0: off. */
  slice: number;
}

const scope = defineScope<Settings>({
  fields: { slice: inherit(0) },
  directives: { slice: { in: In.HTTP | In.SERVER | In.LOCATION, args: 1, set: size('slice') } },
});

/**
 * A response that is asked for in slices; the client's request and the subrequests for later slices share it. nginx:
 * ngx_http_slice_ctx_t.
 */
class Slices {
  readonly size: number;
  /** Where the next slice begins, and where the response ends. */
  start: number;
  end = 0;
  etag: string | undefined = undefined;
  /** A slice has come that fits. */
  active = false;
  /** The value for the Range header of the slice that was asked for last. */
  range = '';

  constructor(size: number, start: number) {
    this.size = size;
    this.start = start;
    this.askFor();
  }

  /** The slice that begins at `start` is asked for. */
  askFor(): void {
    this.range = `bytes=${this.start}-${this.start + this.size - 1}`;
  }

  /** Checks that a response is the slice asked for; a string says why not. */
  accept(etag: string | undefined, given: ContentRange | undefined): string | undefined {
    if (this.etag !== undefined && etag !== this.etag) {
      return 'etag mismatch in slice response';
    }
    if (etag !== undefined) {
      this.etag = etag;
    }
    if (given === undefined) {
      return 'invalid range in slice response';
    }
    if (given.length === -1) {
      return 'no complete length in slice response';
    }
    const end = Math.min(given.start + this.size, given.length);
    if (given.start !== this.start || given.end !== end) {
      return `unexpected range in slice response: ${given.start}-${given.end}, expected: ${this.start}-${end}`;
    }
    this.start = end;
    this.active = true;
    return undefined;
  }
}

/** Head and body wait for the next slice while they are shorter. nginx: the default of postpone_output. */
const POSTPONED = 1460;

const slices = contextSlot<Slices>();

/** Where the client's own range begins, if it asks for a single one. nginx: ngx_http_slice_get_start. */
function firstByte(r: Request): number {
  const range = r.head.known(HeaderSlot.range);
  if (range === undefined || r.head.has(HeaderSlot.ifRange) || range.length < 7 || range.includes(',')) {
    return 0;
  }
  const start = Number(/^bytes= *(\d*)/i.exec(range)?.[1] ?? 0);
  return Number.isSafeInteger(start) ? start : 0;
}

/** For the variable, which learns its location only when it is asked for. */
const slot = new LocationSlot<Settings>();

// nginx: ngx_http_slice_range_variable.
function sliceRange(r: Request): string | undefined {
  const known = slices.get(r);
  if (known !== undefined) {
    return known.range;
  }
  const size = r.location.conf(slot).slice;
  if (r !== r.main || r.out.status !== 0 || size === 0) {
    return undefined;
  }
  const made = new Slices(size, size * Math.floor(firstByte(r) / size));
  slices.set(r, made);
  return made.range;
}

/** Makes a slice look like the beginning of a whole response. nginx: ngx_http_slice_header_filter. */
function headerFilter(r: Request): Result {
  const own = slices.get(r);
  if (own === undefined) {
    return OK;
  }
  const { out } = r;
  if (out.status !== 206) {
    if (r === r.main) {
      slices.set(r, undefined);
      return OK;
    }
    r.log(ERROR, `unexpected status code ${out.status} in slice response`);
    return FAILED;
  }
  const given = parseContentRange(out.contentRange);
  const complaint = own.accept(out.etag, given);
  if (complaint !== undefined) {
    r.log(ERROR, complaint);
    return FAILED;
  }
  out.status = 200;
  out.statusText = undefined;
  out.contentLength = r.bodyLength = given!.length;
  out.contentOffset = given!.start;
  out.contentRange = undefined;
  out.acceptRanges = undefined;
  out.allowRanges = true;
  // Where the client gets no range, later slices have none either.
  r.subrequestRanges = r === r.main || r.main.out.status === 206;
  r.singleRange = true;
  if (r === r.main) {
    r.postpones = true;
    r.bodyIdentity = undefined;
  }
  return OK;
}

/** Lets the other slices follow the first. nginx: ngx_http_slice_body_filter. */
function bodyFilter(r: Request, next: BodyStage): BodyStage {
  const own = slices.get(r);
  const { out } = r;
  const postponed = postponeOf(r);
  if (own === undefined || r !== r.main || postponed === null) {
    return next;
  }
  own.end = r.bodyLength;
  if (out.status === 206) {
    // Slices before the range that was granted are left out.
    if (own.start + own.size <= out.contentOffset) {
      own.start = own.size * Math.floor(out.contentOffset / own.size);
    }
    own.end = out.contentOffset + out.contentLength;
  }
  postponed.holdBack = Math.max(0, POSTPONED - r.headerSize);
  postponed.addTail((then) => askForNext(r, own, postponed, then));
  if (out.status !== 206 && out.contentOffset > 0) {
    // The client asked for a range, and a filter that changes the body does not let it have one: all of it is sent, from the beginning.
    own.start = 0;
    return withoutBody(next);
  }
  return next;
}

/** Takes a slice that is not at the beginning of the response for none. */
const withoutBody = (next: BodyStage): BodyStage => ({
  send(r, _chunk, last) {
    if (last) {
      next.send(r, null, true);
    } else {
      r.more();
    }
  },
});

/** Asks for the next slice; behind the last one goes on with `then`. */
function askForNext(r: Request, own: Slices, postponed: PostponeStage, then: () => void): void {
  if (own.start >= own.end) {
    slices.set(r, undefined);
    then();
    return;
  }
  const slot = postponed.slot();
  own.askFor();
  const sr = startSubrequest(r, {
    uri: r.uri,
    args: r.args,
    keepMethod: true,
    clone: true,
    sink: slot,
    placed: true,
    end() {
      if (!own.active) {
        r.log(ERROR, 'missing slice response');
        r.finalize(FAILED);
        return;
      }
      askForNext(r, own, postponed, then);
      slot.end();
    },
  });
  if (sr === undefined) {
    r.finalize(FAILED);
    return;
  }
  postponed.keep(slot, sr);
  slices.set(sr, own);
  own.active = false;
}

const variables: readonly Variable[] = [{ name: 'slice_range', cacheable: false, get: sliceRange }];

/**
 * Asks for a response in slices of one size, each of which a cache can keep, and puts them together for the client.
 * nginx: ngx_http_slice_filter_module.
 */
export const sliceModule = defineModule({
  name: 'slice',
  location: scope,
  slot,
  variables,
  headerFilter: (conf) => (conf.slice === 0 ? undefined : headerFilter),
  bodyFilter: (conf) => (conf.slice === 0 ? undefined : bodyFilter),
});
