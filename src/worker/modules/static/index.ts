import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { parseNumber, parseOffset, parseSize, parseTime } from '../../../shared/config/language/units.js';
import { accepted, buffers, flag, int, sec, size } from '../../../shared/config/slots.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { OpenFileCache } from '../../http/files/open-file-cache.js';
import type { SymlinkCheck } from '../../http/request/file-settings.js';
import { fileSlot } from '../../http/request/file-settings.js';
import type { Request } from '../../http/request/request.js';
import { type Context, defineModule, defineScope, made } from '../../module.js';
import { sendFile } from './handler.js';

const HTTP_SERVER_LOCATION = In.HTTP | In.SERVER | In.LOCATION;

interface Settings {
  disableSymlinks: SymlinkCheck;
  disableSymlinksFrom: ComplexValue<Request> | null;
  openFileCache: OpenFileCache | null;
  openFileCacheValid: number;
  openFileCacheMinUses: number;
  openFileCacheErrors: boolean;
  directio: number;
  aio: boolean;
  sendfile: boolean;
  sendfileMaxChunk: number;
  outputBuffers: { readonly number: number; readonly size: number } | undefined;
  subrequestOutputBufferSize: number;
}

/** How much of a large file is read at a time, and how much for a client that takes it quickly. */
const PIECE = 128 * 1024;
const LARGE_PIECE = 512 * 1024;
/** Least and most that `output_buffers` can make of it. */
const MIN_PIECE = 4 * 1024;
const MAX_PIECE = 1024 * 1024;

/** Checks the settings that Node or the kernel decides on. */
const unused = (check?: (ctx: Context) => void) => accepted(check);

const scope = defineScope<Settings>({
  fields: {
    disableSymlinks: inherit<SymlinkCheck>('off'),
    disableSymlinksFrom: inherit<ComplexValue<Request> | null>(null),
    openFileCache: inherit<OpenFileCache | null>(null),
    openFileCacheValid: inherit(60),
    openFileCacheMinUses: inherit(1),
    openFileCacheErrors: inherit(false),
    directio: inherit(Number.POSITIVE_INFINITY),
    aio: inherit(false),
    sendfile: inherit(false),
    sendfileMaxChunk: inherit(2 * 1024 * 1024),
    outputBuffers: inherit<{ readonly number: number; readonly size: number } | undefined>(undefined),
    subrequestOutputBufferSize: inherit(4096),
  },
  directives: {
    disable_symlinks: { in: HTTP_SERVER_LOCATION, args: [1, 2], set: (conf, _node, ctx) => setSymlinks(conf, ctx) },
    open_file_cache: { in: HTTP_SERVER_LOCATION, args: [1, 2], set: (conf, _node, ctx) => setCache(conf, ctx) },
    open_file_cache_valid: { in: HTTP_SERVER_LOCATION, args: 1, set: sec('openFileCacheValid') },
    open_file_cache_min_uses: { in: HTTP_SERVER_LOCATION, args: 1, set: int('openFileCacheMinUses') },
    open_file_cache_errors: { in: HTTP_SERVER_LOCATION, args: 'flag', set: flag('openFileCacheErrors') },
    // Only for systems with kqueue.
    open_file_cache_events: { in: HTTP_SERVER_LOCATION, args: 'flag', set: unused() },
    directio: {
      in: HTTP_SERVER_LOCATION,
      args: 1,
      set(conf, node, ctx) {
        if (conf.directio !== undefined) {
          ctx.reject('is duplicate');
        }
        const text = node.args[0]!;
        conf.directio = text === 'off' ? Number.POSITIVE_INFINITY : (parseOffset(text) ?? ctx.reject('invalid value', { arg: 0 }));
      },
    },
    directio_alignment: {
      in: HTTP_SERVER_LOCATION,
      args: 1,
      set: unused((ctx) => void (parseOffset(ctx.node.args[0]!) ?? ctx.reject('invalid value', { arg: 0 }))),
    },
    sendfile: { in: HTTP_SERVER_LOCATION | In.LOCATION_IF, args: 'flag', set: flag('sendfile') },
    sendfile_max_chunk: { in: HTTP_SERVER_LOCATION, args: 1, set: size('sendfileMaxChunk') },
    output_buffers: { in: HTTP_SERVER_LOCATION, args: 2, set: buffers('outputBuffers') },
    subrequest_output_buffer_size: { in: HTTP_SERVER_LOCATION, args: 1, set: size('subrequestOutputBufferSize') },
    aio: { in: HTTP_SERVER_LOCATION, args: 1, set: (conf, _node, ctx) => setAio(conf, ctx) },
    // Node writes files at once, and joins head and body by itself.
    aio_write: { in: HTTP_SERVER_LOCATION, args: 'flag', set: unused() },
    tcp_nopush: { in: HTTP_SERVER_LOCATION, args: 'flag', set: unused() },
    // A hint to the kernel.
    read_ahead: {
      in: HTTP_SERVER_LOCATION,
      args: 1,
      set: unused((ctx) => void (parseSize(ctx.node.args[0]!) ?? ctx.reject('invalid value', { arg: 0 }))),
    },
  },
});

// nginx: ngx_http_disable_symlinks.
function setSymlinks(conf: Partial<Settings>, ctx: Context): void {
  if (conf.disableSymlinks !== undefined) {
    ctx.reject('is duplicate');
  }
  const args = ctx.node.args;
  for (const [i, word] of args.entries()) {
    if (word === 'off' || word === 'on' || word === 'if_not_owner') {
      conf.disableSymlinks = word;
    } else if (word.startsWith('from=')) {
      conf.disableSymlinksFrom = ctx.complex(word.slice(5));
    } else {
      ctx.fail(`invalid parameter "${word}"`, { arg: i, hint: 'it is off, on or if_not_owner, perhaps with from=PART' });
    }
  }
  if (conf.disableSymlinks === undefined) {
    ctx.fail('"disable_symlinks" must have "off", "on" or "if_not_owner" parameter');
  }
  if (args.length === 1) {
    conf.disableSymlinksFrom = null;
    return;
  }
  if (conf.disableSymlinksFrom === undefined) {
    ctx.fail(`duplicate parameters "${args[0]} ${args[1]}"`);
  }
  if (conf.disableSymlinks === 'off') {
    ctx.fail('"from=" cannot be used with "off" parameter');
  }
}

// nginx: ngx_http_core_open_file_cache.
function setCache(conf: Partial<Settings>, ctx: Context): void {
  if (conf.openFileCache !== undefined) {
    ctx.reject('is duplicate');
  }
  let max = 0;
  let inactive: number | undefined = 60;
  for (const [i, word] of ctx.node.args.entries()) {
    const bad = (): never =>
      ctx.fail(`invalid "open_file_cache" parameter "${word}"`, { arg: i, hint: 'it is max=NUMBER, perhaps with inactive=TIME, or off' });
    if (word.startsWith('max=')) {
      max = parseNumber(word.slice(4)) ?? 0;
      if (max === 0) {
        bad();
      }
    } else if (word.startsWith('inactive=')) {
      inactive = parseTime(word.slice(9), 's') ?? bad();
    } else if (word === 'off') {
      conf.openFileCache = null;
    } else {
      bad();
    }
  }
  if (conf.openFileCache === null) {
    return;
  }
  if (max === 0) {
    ctx.fail('"open_file_cache" must have the "max" parameter');
  }
  conf.openFileCache = new OpenFileCache(max, inactive);
}

// nginx: ngx_http_core_set_aio.
function setAio(conf: Partial<Settings>, ctx: Context): void {
  if (conf.aio !== undefined) {
    ctx.reject('is duplicate');
  }
  const word = ctx.node.args[0]!;
  conf.aio = word !== 'off';
  if (word === 'off' || word === 'on' || word === 'threads') {
    return;
  }
  if (!word.startsWith('threads=')) {
    ctx.reject('invalid value', { arg: 0, hint: 'it is off, on, threads or threads=POOL' });
  }
  if (word === 'threads=') {
    ctx.fail('invalid thread pool name ""', { arg: 0 });
  }
  ctx.complex(word.slice(8));
}

/** Sends files, and says how all modules open and read them. nginx: ngx_http_static_module and a part of ngx_http_core_module. */
export const staticModule = defineModule({
  name: 'static',
  location: scope,
  phases: { content: () => sendFile },
  slot: made(fileSlot, (conf: Readonly<Settings>) => {
    let maxReadSize = LARGE_PIECE;
    if (conf.sendfile && conf.sendfileMaxChunk !== 0) {
      maxReadSize = Math.min(conf.sendfileMaxChunk, LARGE_PIECE);
    } else if (!conf.sendfile && conf.outputBuffers !== undefined) {
      maxReadSize = Math.min(conf.outputBuffers.size, MAX_PIECE);
    }
    maxReadSize = Math.max(maxReadSize, MIN_PIECE);
    return {
      disableSymlinks: conf.disableSymlinks,
      disableSymlinksFrom: conf.disableSymlinksFrom ?? undefined,
      openFileCache: conf.openFileCache ?? undefined,
      openFileCacheValid: conf.openFileCacheValid,
      openFileCacheMinUses: conf.openFileCacheMinUses,
      openFileCacheErrors: conf.openFileCacheErrors,
      directio: conf.directio,
      aio: conf.aio,
      readSize: conf.outputBuffers === undefined ? Math.min(PIECE, maxReadSize) : maxReadSize,
      maxReadSize,
      subrequestOutputBufferSize: conf.subrequestOutputBufferSize,
    };
  }),
});
