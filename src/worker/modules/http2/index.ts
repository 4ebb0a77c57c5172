import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { parseSize } from '../../../shared/config/language/units.js';
import { accepted, flag, int, parseInteger, size } from '../../../shared/config/slots.js';
import { chunkSizeSlot, http2Slot } from '../../http/http2/http2-settings.js';
import type { Request } from '../../http/request/request.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { obsolete } from './without-effect.js';

const HTTP_SERVER = In.HTTP | In.SERVER;
const LOCATION = In.HTTP | In.SERVER | In.LOCATION;
/** The longest frame, and the largest window. */
const MAX_FRAME = 2 ** 24 - 1;
const MAX_WINDOW = 2 ** 31 - 1;
/** nginx: NGX_HTTP_V2_STATE_BUFFER_SIZE. */
const STATE_BUFFER = 16;
/** nginx: NGX_MIN_POOL_SIZE, NGX_POOL_ALIGNMENT. */
const MIN_POOL = 112;
const POOL_ALIGNMENT = 16;

interface ServerConf {
  /** undefined: the default that is in {@link http2ByDefault}. */
  http2: boolean | undefined;
  /** `https` wants HTTP/2 where nothing else is said. */
  http2ByDefault: boolean;
  http2MaxConcurrentStreams: number;
  http2BodyPrereadSize: number;
}

interface LocationConf {
  http2ChunkSize: number;
}

const sizeOf = (ctx: Context): number => parseSize(ctx.node.args[0]!) ?? ctx.reject('invalid value', { arg: 0 });

/** `http2` and its kin. */
export const http2Scope = defineScope<ServerConf>({
  fields: {
    http2: inherit<boolean | undefined>(undefined),
    http2ByDefault: inherit(false),
    http2MaxConcurrentStreams: inherit(128),
    http2BodyPrereadSize: inherit(65536),
  },
  directives: {
    http2: { in: HTTP_SERVER, args: 'flag', set: flag('http2') },
    http2_max_concurrent_streams: { in: HTTP_SERVER, args: 1, set: int('http2MaxConcurrentStreams') },
    http2_body_preread_size: {
      in: HTTP_SERVER,
      args: 1,
      set(conf: Partial<ServerConf>, node: DirectiveNode, ctx: Context): void {
        size<'http2BodyPrereadSize', Request>('http2BodyPrereadSize')(conf, node, ctx);
        if (conf.http2BodyPrereadSize! > MAX_WINDOW) {
          ctx.fail(`the maximum body preread buffer size is ${MAX_WINDOW}`);
        }
      },
    },
    http2_recv_buffer_size: {
      in: In.HTTP,
      args: 1,
      set: accepted((ctx) => {
        if (sizeOf(ctx) <= STATE_BUFFER) {
          ctx.reject('value is too small');
        }
      }),
    },
    http2_pool_size: {
      in: HTTP_SERVER,
      args: 1,
      set: accepted((ctx) => {
        const bytes = sizeOf(ctx);
        if (bytes < MIN_POOL) {
          ctx.fail(`the pool size must be no less than ${MIN_POOL}`);
        }
        if (bytes % POOL_ALIGNMENT !== 0) {
          ctx.fail(`the pool size must be a multiple of ${POOL_ALIGNMENT}`);
        }
      }),
    },
    http2_streams_index_size: {
      in: HTTP_SERVER,
      args: 1,
      set: accepted((ctx) => {
        const n = parseInteger(ctx.node.args[0]!, ctx);
        if (n === 0 || (n & (n - 1)) !== 0) {
          ctx.reject('must be a power of two');
        }
      }),
    },
    http2_max_concurrent_pushes: obsolete(HTTP_SERVER),
    http2_max_requests: obsolete(HTTP_SERVER, 'keepalive_requests'),
    http2_max_field_size: obsolete(HTTP_SERVER, 'large_client_header_buffers'),
    http2_max_header_size: obsolete(HTTP_SERVER, 'large_client_header_buffers'),
    http2_recv_timeout: obsolete(HTTP_SERVER, 'client_header_timeout'),
    http2_idle_timeout: obsolete(HTTP_SERVER, 'keepalive_timeout'),
  },
  finish(conf, _parent, { context }) {
    if (context === In.SERVER) {
      conf.http2 ??= conf.http2ByDefault;
    }
  },
});

const location = defineScope<LocationConf>({
  fields: { http2ChunkSize: inherit(8 * 1024) },
  directives: {
    http2_chunk_size: {
      in: LOCATION,
      args: 1,
      set(conf: Partial<LocationConf>, node: DirectiveNode, ctx: Context): void {
        size<'http2ChunkSize', Request>('http2ChunkSize')(conf, node, ctx);
        if (conf.http2ChunkSize === 0) {
          ctx.fail('the http2 chunk size cannot be zero');
        }
        conf.http2ChunkSize = Math.min(conf.http2ChunkSize!, MAX_FRAME);
      },
    },
    http2_push_preload: obsolete(LOCATION, undefined, 'flag'),
    http2_push: obsolete(LOCATION),
  },
});

/** HTTP/2 for clients: its directives and `$http2`. nginx: ngx_http_v2_module. The protocol itself is in `worker/http2`. */
export const http2Module = defineModule({
  name: 'http2',
  server: http2Scope,
  location,
  serverSlot: http2Slot,
  slot: chunkSizeSlot,
  variables: [
    {
      name: 'http2',
      // Not by the request's version: a backend without a status line makes that 0.9.
      get: (r) => (r.head.protocol !== 'HTTP/2.0' ? '' : r.connection.tls === undefined ? 'h2c' : 'h2'),
    },
  ],
});
