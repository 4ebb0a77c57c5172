import { Lru } from '../../../shared/collection/lru.js';
import { OK, type Result } from '../../task/codes.js';
import { type ContentTypes, hasContentType } from '../headers/content-types.js';
import type { BodyStage } from '../request/body-stage.js';
import { contextSlot, type Request } from '../request/request.js';
import type { Transform } from './kept-stream.js';
import { ReplacedStage } from './replaced-stage.js';
import { TransformStage } from './transform-stage.js';

/** Memory for results that are kept, and the largest one that is. */
const MEMO_BYTES = 16 * 1024 * 1024;
const MEMO_LARGEST = 256 * 1024;

/** Which responses are compressed. */
export interface CompressionRules {
  readonly types: ContentTypes;
  readonly minLength: number;
  readonly level: number;
  readonly windowBits?: number;
  /** What is compressed with a dictionary is not what is compressed without. */
  readonly dictionary?: { readonly digest: string } | null;
}

/** What the header filter decided: compress, or send what was compressed before. */
interface Decision {
  readonly memo: Buffer | undefined;
  readonly key: string | undefined;
}

/** Compresses responses in one coding, and keeps what a file compressed to while the file does not change. */
export class Compression<R extends CompressionRules> {
  readonly #coding: string;
  readonly #accepts: (r: Request) => boolean;
  readonly #transform: (r: Request, rules: R) => Transform;
  readonly #memo = new Lru<Buffer>(MEMO_BYTES);
  readonly #decision = contextSlot<Decision>();
  readonly #running = contextSlot<TransformStage>();

  /** `accepts` asks whether the client takes the coding. */
  constructor(coding: string, accepts: (r: Request) => boolean, transform: (r: Request, rules: R) => Transform) {
    this.#coding = coding;
    this.#accepts = accepts;
    this.#transform = transform;
  }

  /** Decides by the head. nginx: ngx_http_gzip_header_filter. */
  headerFilter(r: Request, rules: R): Result {
    const out = r.out;
    if (
      (out.status !== 200 && out.status !== 403 && out.status !== 404) ||
      out.contentEncoding !== undefined ||
      (out.contentLength !== -1 && out.contentLength < rules.minLength) ||
      r.headerOnly ||
      !hasContentType(r, rules.types)
    ) {
      return OK;
    }
    r.gzipVary = true;
    if (!this.#accepts(r)) {
      return OK;
    }
    const key =
      r.bodyIdentity === undefined ? undefined : `${rules.level} ${rules.windowBits} ${rules.dictionary?.digest} ${r.bodyIdentity}`;
    this.#decision.set(r, { memo: key === undefined ? undefined : this.#memo.get(key), key });
    out.contentEncoding = this.#coding;
    out.clearContentLength();
    out.clearAcceptRanges();
    out.weakenEtag();
    return OK;
  }

  bodyFilter(r: Request, rules: R, next: BodyStage): BodyStage {
    const decided = this.#decision.get(r);
    if (decided === undefined) {
      return next;
    }
    if (decided.memo !== undefined) {
      return new ReplacedStage(decided.memo, next);
    }
    const { key } = decided;
    const keep = key === undefined ? undefined : (body: Buffer) => void this.#memo.set(key, body, body.length);
    const stage = new TransformStage(r, this.#transform(r, rules), next, false, MEMO_LARGEST, keep);
    this.#running.set(r, stage);
    return stage;
  }

  /** How many times smaller the body became, with so many digits behind the point; undefined when it was not compressed here. */
  ratio(r: Request, digits = 2): string | undefined {
    const stage = this.#running.get(r);
    if (stage === undefined || stage.bytesOut === 0) {
      return undefined;
    }
    const scale = 10 ** digits;
    const scaled = Math.round((stage.bytesIn * scale) / stage.bytesOut);
    return `${Math.floor(scaled / scale)}.${String(scaled % scale).padStart(digits, '0')}`;
  }
}
