import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { buffers, flag, int } from '../../../shared/config/slots.js';
import { parseSize } from '../../../shared/config/units.js';
import { Lru } from '../../../shared/lib/lru.js';
import { brotli } from '../../body/compressor.js';
import { ReplacedStage } from '../../body/replaced-stage.js';
import type { BodyStage } from '../../body/stage.js';
import { TransformStage } from '../../body/transform-stage.js';
import { acceptsCoding } from '../../http/accept-gzip.js';
import { type ContentTypes, hasContentType, parseContentTypes } from '../../http/content-types.js';
import { contextSlot, type Request } from '../../http/request.js';
import { defineModule, defineScope } from '../../module.js';
import { OK } from '../../phases/codes.js';

interface Settings {
  enable: boolean;
  types: ContentTypes;
  level: number;
  windowBits: number;
  minLength: number;
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const DEFAULT_TYPES = ['text/html'] as const;
/** Memory for results that are kept, and the largest one that is. */
const MEMO_BYTES = 16 * 1024 * 1024;
const MEMO_LARGEST = 256 * 1024;
/** Bits of the smallest and the largest window, 1k and 16m. */
const MIN_WINDOW = 10;
const MAX_WINDOW = 24;

const scope = defineScope<Settings>({
  fields: {
    enable: inherit(false),
    types: inherit<ContentTypes>(new Set(DEFAULT_TYPES)),
    level: inherit(6),
    windowBits: inherit(19),
    minLength: inherit(20),
  },
  directives: {
    brotli: { in: ANYWHERE | In.LOCATION_IF, args: 'flag', set: flag('enable') },
    brotli_types: {
      in: ANYWHERE,
      args: { min: 1 },
      set(conf, node, ctx) {
        conf.types = parseContentTypes(conf.types, node, ctx, DEFAULT_TYPES);
      },
    },
    brotli_comp_level: { in: ANYWHERE, args: 1, set: int('level', 0, 11) },
    brotli_min_length: { in: ANYWHERE, args: 1, set: int('minLength') },
    brotli_window: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        if (conf.windowBits !== undefined) ctx.reject('is duplicate');
        const bits = Math.log2(parseSize(node.args[0]!) ?? ctx.reject('invalid value', { arg: 0 }));
        if (!Number.isInteger(bits) || bits < MIN_WINDOW || bits > MAX_WINDOW) {
          ctx.reject('must be 1k, 2k, 4k, 8k, 16k, 32k, 64k, 128k, 256k, 512k, 1m, 2m, 4m, 8m or 16m', { arg: 0 });
        }
        conf.windowBits = bits;
      },
    },
    // The memory of the compressor is up to node:zlib.
    brotli_buffers: { in: ANYWHERE, args: 2, set: (_conf, node, ctx) => buffers<'ignored', Request>('ignored')({}, node, ctx) },
  },
});

/** What the header filter decided: compress, or send what was compressed before. */
type Decision = { readonly memo: Buffer | undefined; readonly key: string | undefined };
const decision = contextSlot<Decision>();
const running = contextSlot<TransformStage>();

const memo = new Lru<Buffer>(MEMO_BYTES);

function headerFilter(conf: Readonly<Settings>, r: Request): number {
  const out = r.out;
  if (
    (out.status !== 200 && out.status !== 403 && out.status !== 404) ||
    out.contentEncoding !== undefined ||
    (out.contentLength !== -1 && out.contentLength < conf.minLength) ||
    r.headerOnly ||
    !hasContentType(r, conf.types)
  ) {
    return OK;
  }
  r.gzipVary = true;
  const accept = r.header('accept-encoding');
  if (r !== r.main || accept === undefined || !acceptsCoding(accept, 'br')) return OK;
  const key = r.bodyIdentity === undefined ? undefined : `${conf.level} ${conf.windowBits} ${r.bodyIdentity}`;
  decision.set(r, { memo: key === undefined ? undefined : memo.get(key), key });
  out.contentEncoding = 'br';
  out.clearContentLength();
  out.clearAcceptRanges();
  out.weakenEtag();
  return OK;
}

function bodyFilter(conf: Readonly<Settings>, r: Request, next: BodyStage): BodyStage {
  const decided = decision.get(r);
  if (decided === undefined) return next;
  if (decided.memo !== undefined) return new ReplacedStage(decided.memo, next);
  const { key } = decided;
  const keep = key === undefined ? undefined : (body: Buffer) => void memo.set(key, body, body.length);
  const stage = new TransformStage(r, brotli(conf.level, conf.windowBits, Math.max(r.bodyLength, 0)), next, MEMO_LARGEST, keep);
  running.set(r, stage);
  return stage;
}

/**
 * Compresses responses with brotli for clients that take it, before gzip is considered. It has the directives of the
 * ngx_brotli module.
 */
export const brotliModule = defineModule({
  name: 'brotli',
  location: scope,
  variables: [
    {
      name: 'brotli_ratio',
      cacheable: false,
      get(r) {
        const stage = running.get(r);
        if (stage === undefined || stage.bytesOut === 0) return undefined;
        const hundredths = Math.round((stage.bytesIn * 100) / stage.bytesOut);
        return `${Math.floor(hundredths / 100)}.${String(hundredths % 100).padStart(2, '0')}`;
      },
    },
  ],
  headerFilter: (conf) => (conf.enable ? (r) => headerFilter(conf, r) : undefined),
  bodyFilter: (conf) => (conf.enable ? (r, next) => bodyFilter(conf, r, next) : undefined),
});
