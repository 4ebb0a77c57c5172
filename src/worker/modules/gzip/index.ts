import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { parseSize } from '../../../shared/config/language/units.js';
import { accepted, bits, flag, int, oneOf, size, unusedBuffers } from '../../../shared/config/slots.js';
import type { RegexValue } from '../../../shared/value/regex-value.js';
import { Compression } from '../../http/body/compression.js';
import { gzip } from '../../http/body/compressor.js';
import { GzipProxied, gzipSlot, mayCompress } from '../../http/headers/accept-gzip.js';
import { type ContentTypes, contentTypes } from '../../http/headers/content-types.js';
import type { Request } from '../../http/request/request.js';
import { HTTP_10, HTTP_11 } from '../../http/syntax/request-line.js';
import { type Context, defineModule, defineScope } from '../../module.js';

interface Settings {
  enable: boolean;
  types: ContentTypes;
  level: number;
  windowBits: number;
  memLevel: number;
  minLength: number;
  vary: boolean;
  httpVersion: number;
  proxied: number;
  disable: readonly RegexValue<Request>[];
  disableMsie6: boolean;
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const DEFAULT_TYPES = ['text/html'] as const;

/** A power of two between bounds, as bits. nginx: ngx_http_gzip_window, ngx_http_gzip_hash. */
function sizeBits(ctx: Context, smallest: number, largest: number): number {
  const bytes = parseSize(ctx.node.args[0]!) ?? ctx.reject('invalid value', { arg: 0 });
  for (let n = largest; n >= smallest; n--) {
    if (bytes === 1 << n) {
      return n;
    }
  }
  return ctx.reject(`must be ${Array.from({ length: largest - smallest + 1 }, (_, i) => sizeName(1 << (smallest + i))).join(', ')}`);
}

const sizeName = (bytes: number): string => (bytes >= 1024 ? `${bytes / 1024}k` : String(bytes));

const scope = defineScope<Settings>({
  fields: {
    enable: inherit(false),
    types: inherit<ContentTypes>(new Set(DEFAULT_TYPES)),
    level: inherit(1),
    windowBits: inherit(15),
    memLevel: inherit(8),
    minLength: inherit(20),
    vary: inherit(false),
    httpVersion: inherit<number>(HTTP_11),
    proxied: inherit<number>(GzipProxied.OFF),
    disable: inherit<readonly RegexValue<Request>[]>([]),
    disableMsie6: inherit(false),
  },
  directives: {
    gzip: { in: ANYWHERE | In.LOCATION_IF, args: 'flag', set: flag('enable') },
    gzip_types: { in: ANYWHERE, args: { min: 1 }, set: contentTypes(DEFAULT_TYPES) },
    gzip_comp_level: { in: ANYWHERE, args: 1, set: int('level', 1, 9) },
    gzip_min_length: { in: ANYWHERE, args: 1, set: size('minLength') },
    gzip_window: {
      in: ANYWHERE,
      args: 1,
      set(conf, _node, ctx) {
        if (conf.windowBits !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.windowBits = sizeBits(ctx, 9, 15);
      },
    },
    gzip_hash: {
      in: ANYWHERE,
      args: 1,
      set(conf, _node, ctx) {
        if (conf.memLevel !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.memLevel = sizeBits(ctx, 9, 17) - 8;
      },
    },
    gzip_buffers: { in: ANYWHERE, args: 2, set: unusedBuffers },
    postpone_gzipping: {
      in: ANYWHERE,
      args: 1,
      set: accepted((ctx) => void (parseSize(ctx.node.args[0]!) ?? ctx.reject('invalid value'))),
    },
    gzip_no_buffer: { in: ANYWHERE, args: 'flag', set: accepted() },
    gzip_vary: { in: ANYWHERE, args: 'flag', set: flag('vary') },
    gzip_http_version: {
      in: ANYWHERE,
      args: 1,
      set: oneOf<'httpVersion', number, Request>('httpVersion', { '1.0': HTTP_10, '1.1': HTTP_11 }),
    },
    gzip_proxied: {
      in: ANYWHERE,
      args: { min: 1 },
      set: bits('proxied', {
        off: GzipProxied.OFF,
        expired: GzipProxied.EXPIRED,
        'no-cache': GzipProxied.NO_CACHE,
        'no-store': GzipProxied.NO_STORE,
        private: GzipProxied.PRIVATE,
        no_last_modified: GzipProxied.NO_LAST_MODIFIED,
        no_etag: GzipProxied.NO_ETAG,
        auth: GzipProxied.AUTH,
        any: GzipProxied.ANY,
      }),
    },
    gzip_disable: {
      in: ANYWHERE,
      args: { min: 1 },
      set(conf, node, ctx) {
        for (const pattern of node.args) {
          if (pattern === 'msie6') {
            conf.disableMsie6 = true;
          } else if (pattern !== 'degradation') {
            conf.disable = append(conf.disable, ctx.regex(pattern, true));
          }
        }
      },
    },
  },
});

const compression = new Compression<Settings>(
  'gzip',
  (r) => mayCompress(r, r.location.conf(gzipSlot), 'gzip'),
  (r, conf) => {
    // A small body needs only a small window. nginx: ngx_http_gzip_filter_memory.
    let { windowBits, memLevel } = conf;
    const length = r.bodyLength;
    while (length > 0 && windowBits > 9 && length < (1 << (windowBits - 1)) - 262) {
      windowBits--;
      memLevel--;
    }
    return gzip(conf.level, windowBits, Math.max(memLevel, 1));
  },
);

/** Compresses responses with gzip. What a file compressed to is kept while the file does not change. nginx: ngx_http_gzip_filter_module. */
export const gzipModule = defineModule({
  name: 'gzip',
  location: scope,
  slot: gzipSlot,
  variables: [{ name: 'gzip_ratio', get: (r) => compression.ratio(r) }],
  headerFilter: (conf) => (conf.enable ? (r) => compression.headerFilter(r, conf) : undefined),
  bodyFilter: (conf) => (conf.enable ? (r, next) => compression.bodyFilter(r, conf, next) : undefined),
});
