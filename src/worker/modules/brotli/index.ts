import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { parseSize } from '../../../shared/config/language/units.js';
import { flag, int, unusedBuffers } from '../../../shared/config/slots.js';
import { Compression } from '../../http/body/compression.js';
import { brotli } from '../../http/body/compressor.js';
import { takes } from '../../http/headers/accept-gzip.js';
import { type ContentTypes, contentTypes } from '../../http/headers/content-types.js';
import { defineModule, defineScope } from '../../module.js';

interface Settings {
  enable: boolean;
  types: ContentTypes;
  level: number;
  windowBits: number;
  minLength: number;
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const DEFAULT_TYPES = ['text/html'] as const;
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
    brotli_types: { in: ANYWHERE, args: { min: 1 }, set: contentTypes(DEFAULT_TYPES) },
    brotli_comp_level: { in: ANYWHERE, args: 1, set: int('level', 0, 11) },
    brotli_min_length: { in: ANYWHERE, args: 1, set: int('minLength') },
    brotli_window: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        if (conf.windowBits !== undefined) {
          ctx.reject('is duplicate');
        }
        const bits = Math.log2(parseSize(node.args[0]!) ?? ctx.reject('invalid value', { arg: 0 }));
        if (!Number.isInteger(bits) || bits < MIN_WINDOW || bits > MAX_WINDOW) {
          ctx.reject('must be 1k, 2k, 4k, 8k, 16k, 32k, 64k, 128k, 256k, 512k, 1m, 2m, 4m, 8m or 16m', { arg: 0 });
        }
        conf.windowBits = bits;
      },
    },
    // The memory of the compressor is up to node:zlib.
    brotli_buffers: { in: ANYWHERE, args: 2, set: unusedBuffers },
  },
});

const compression = new Compression<Settings>(
  'br',
  (r) => takes(r, 'br'),
  (r, conf) => brotli(conf.level, conf.windowBits, Math.max(r.bodyLength, 0)),
);

/**
 * Compresses responses with brotli for clients that take it, before gzip is considered. It has the directives of the
 * ngx_brotli module.
 */
export const brotliModule = defineModule({
  name: 'brotli',
  location: scope,
  variables: [
    // A `map` of this name, as configurations for a server without the module have it, replaces it.
    { name: 'brotli_ratio', cacheable: false, changeable: true, weak: true, get: (r) => compression.ratio(r) },
  ],
  headerFilter: (conf) => (conf.enable ? (r) => compression.headerFilter(r, conf) : undefined),
  bodyFilter: (conf) => (conf.enable ? (r, next) => compression.bodyFilter(r, conf, next) : undefined),
});
