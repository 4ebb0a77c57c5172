import { hash } from 'node:crypto';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { readNamed } from '../../../shared/config/read-named.js';
import { flag, size, unusedBuffers } from '../../../shared/config/slots.js';
import { Compression } from '../../http/body/compression.js';
import { hasZstd, whyNoDictionary, ZSTD_LEVELS, type ZstdDictionary, zstd } from '../../http/body/zstd.js';
import { takes } from '../../http/headers/accept-gzip.js';
import { type ContentTypes, contentTypes } from '../../http/headers/content-types.js';
import type { Request } from '../../http/request/request.js';
import { type Context, defineModule, defineScope } from '../../module.js';

interface Settings {
  enable: boolean;
  types: ContentTypes;
  level: number;
  minLength: number;
  dictionary: ZstdDictionary | null;
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const DEFAULT_TYPES = ['text/html'] as const;

const scope = defineScope<Settings>({
  fields: {
    enable: inherit(false),
    types: inherit<ContentTypes>(new Set(DEFAULT_TYPES)),
    level: inherit(1),
    minLength: inherit(20),
    dictionary: inherit<ZstdDictionary | null>(null),
  },
  directives: {
    zstd: {
      in: ANYWHERE | In.LOCATION_IF,
      args: 'flag',
      set(conf, node, ctx) {
        flag<'enable', Request>('enable')(conf, node, ctx);
        if (conf.enable && !hasZstd()) {
          unsupported(ctx);
          conf.enable = false;
        }
      },
    },
    zstd_types: { in: ANYWHERE, args: { min: 1 }, set: contentTypes(DEFAULT_TYPES) },
    zstd_comp_level: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        if (conf.level !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.level = readLevel(node.args[0]!, ctx);
      },
    },
    zstd_min_length: { in: ANYWHERE, args: 1, set: size('minLength') },
    // The memory of the compressor is up to node:zlib.
    zstd_buffers: { in: ANYWHERE, args: 2, set: unusedBuffers },
    zstd_dict_file: {
      in: In.HTTP,
      args: 1,
      set(conf, node, ctx) {
        if (conf.dictionary !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.dictionary = hasZstd() ? readDictionary(ctx.path(node.args[0]!, 'conf'), ctx) : unsupported(ctx);
      },
    },
  },
});

function unsupported(ctx: Context): null {
  ctx.warn(`"${ctx.node.name}" is not supported on this platform, ignored`, {
    hint: `Node ${process.versions.node} has no zstd; 22.15 and 24 have`,
  });
  return null;
}

function readLevel(text: string, ctx: Context): number {
  const level = /^-?\d{1,9}$/.test(text) ? Number(text) : ctx.reject('invalid number', { arg: 0 });
  const { min, max } = ZSTD_LEVELS;
  if (level === 0 || level < min || level > max) {
    ctx.fail(`zstd compress level must between ${min} and ${max} excluding 0`, { arg: 0 });
  }
  return level;
}

/** Reads a dictionary and tries it. */
function readDictionary(path: string, ctx: Context): ZstdDictionary | null {
  const bytes = Buffer.from(readNamed(path, ctx), 'latin1');
  if (bytes.length === 0) {
    return null;
  }
  const dictionary = { bytes, digest: hash('sha256', bytes, 'base64') };
  switch (whyNoDictionary(dictionary)) {
    case 'no dictionaries':
      return unsupported(ctx);
    case 'broken':
      return ctx.fail('ZSTD_createCDict_byReference() failed', { arg: 0 });
    default:
      return dictionary;
  }
}

const compression = new Compression<Settings>(
  'zstd',
  (r) => takes(r, 'zstd'),
  (_r, conf) => zstd(conf.level, conf.dictionary),
);

/**
 * Compresses responses with zstd for clients that take it, before brotli and gzip are considered. It has the directives of the
 * zstd-nginx-module.
 */
export const zstdModule = defineModule({
  name: 'zstd',
  location: scope,
  variables: [
    // A `map` of this name, as configurations for a server without the module have it, replaces it.
    { name: 'zstd_ratio', cacheable: false, changeable: true, weak: true, get: (r) => compression.ratio(r, 3) },
  ],
  headerFilter: (conf) => (conf.enable ? (r) => compression.headerFilter(r, conf) : undefined),
  bodyFilter: (conf) => (conf.enable ? (r, next) => compression.bodyFilter(r, conf, next) : undefined),
});
