import type { Block } from '../../../shared/config/block.js';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { mergeErrorPos } from '../../../shared/config/errors.js';
import { parseSize, parseTime } from '../../../shared/config/language/units.js';
import { defaultTempPath } from '../../../shared/config/paths.js';
import { accepted, bits, buffers, flag, int, msec, offset, oneOf, predicates, size } from '../../../shared/config/slots.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { parseTempPath } from '../../http/files/temp-path.js';
import { type ClientSettings, clientSlot, type HeadSettings, headSlot, type TempPath } from '../../http/request/client-settings.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineScope, made } from '../../module.js';

interface HeadConf {
  clientHeaderBufferSize: number;
  largeBuffers: { readonly number: number; readonly size: number };
  clientHeaderTimeout: number;
  ignoreInvalidHeaders: boolean;
  underscoresInHeaders: boolean;
  mergeSlashes: boolean;
  maxHeaders: number;
  bodyEarlyRead: readonly ComplexValue<Request>[];
}

const HTTP_SERVER = In.HTTP | In.SERVER;
const HTTP_SERVER_LOCATION = In.HTTP | In.SERVER | In.LOCATION;

const head = defineScope<HeadConf>({
  fields: {
    clientHeaderBufferSize: inherit(1024),
    largeBuffers: inherit<{ readonly number: number; readonly size: number }>({ number: 4, size: 8192 }),
    clientHeaderTimeout: inherit(60_000),
    ignoreInvalidHeaders: inherit(true),
    underscoresInHeaders: inherit(false),
    mergeSlashes: inherit(true),
    maxHeaders: inherit(1000),
    bodyEarlyRead: inherit<readonly ComplexValue<Request>[]>([]),
  },
  directives: {
    client_header_buffer_size: { in: HTTP_SERVER, args: 1, set: size('clientHeaderBufferSize') },
    large_client_header_buffers: { in: HTTP_SERVER, args: 2, set: buffers('largeBuffers') },
    client_header_timeout: { in: HTTP_SERVER, args: 1, set: msec('clientHeaderTimeout') },
    ignore_invalid_headers: { in: HTTP_SERVER, args: 'flag', set: flag('ignoreInvalidHeaders') },
    underscores_in_headers: { in: HTTP_SERVER, args: 'flag', set: flag('underscoresInHeaders') },
    merge_slashes: { in: HTTP_SERVER, args: 'flag', set: flag('mergeSlashes') },
    client_body_early_read: { in: HTTP_SERVER, args: { min: 1 }, set: predicates('bodyEarlyRead') },
    max_headers: { in: HTTP_SERVER, args: 1, set: int('maxHeaders') },
  },
  // nginx: the same check in ngx_http_core_merge_srv_conf.
  link(conf, ctx, { block, context }) {
    if (context === In.SERVER && conf.largeBuffers.size < poolSize(block)) {
      const message = 'the "large_client_header_buffers" size must be equal to or greater than "connection_pool_size"';
      ctx.fail(message, mergeErrorPos(block));
    }
  },
});

/** The `connection_pool_size` in force, which has no other effect here. */
function poolSize(block: Block): number {
  for (let outer: Block | undefined = block; outer !== undefined; outer = outer.parent) {
    const node = outer.seen('connection_pool_size');
    if (node !== undefined) {
      return parseSize(node.args[0]!) ?? 0;
    }
  }
  return 512;
}

const body = defineScope<ClientSettings>({
  fields: {
    clientMaxBodySize: inherit(1024 * 1024),
    clientBodyBufferSize: inherit(16 * 1024),
    clientBodyTimeout: inherit(60_000),
    clientBodyTempPath: inherit<TempPath>({ path: '', levels: [] }),
    clientBodyInFileOnly: inherit<'off' | 'on' | 'clean'>('off'),
    clientBodyInSingleBuffer: inherit(false),
    sendTimeout: inherit(60_000),
    keepaliveTimeout: inherit(75_000),
    keepaliveHeader: inherit(0),
    keepaliveRequests: inherit(1000),
    keepaliveTime: inherit(3_600_000),
    keepaliveMinTimeout: inherit(-1),
    keepaliveDisable: inherit(1),
    lingeringClose: inherit<'off' | 'on' | 'always'>('on'),
    lingeringTime: inherit(30_000),
    lingeringTimeout: inherit(5_000),
    resetTimedoutConnection: inherit(false),
    chunkedTransferEncoding: inherit(true),
    tcpNodelay: inherit(true),
  },
  finish(conf, parent, { prefix }) {
    if (parent === undefined && conf.clientBodyTempPath.path === '') {
      conf.clientBodyTempPath = { path: defaultTempPath('client_body_temp', prefix), levels: [] };
    }
  },
  link: (conf, ctx) => ctx.folder(conf.clientBodyTempPath.path),
  directives: {
    client_max_body_size: { in: HTTP_SERVER_LOCATION, args: 1, set: offset('clientMaxBodySize') },
    client_body_buffer_size: { in: HTTP_SERVER_LOCATION, args: 1, set: size('clientBodyBufferSize') },
    client_body_timeout: { in: HTTP_SERVER_LOCATION, args: 1, set: msec('clientBodyTimeout') },
    client_body_temp_path: {
      in: HTTP_SERVER_LOCATION,
      args: [1, 2, 3, 4],
      set(conf, _node, ctx) {
        if (conf.clientBodyTempPath !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.clientBodyTempPath = parseTempPath(ctx);
      },
    },
    client_body_in_file_only: {
      in: HTTP_SERVER_LOCATION,
      args: 1,
      set: oneOf('clientBodyInFileOnly', { off: 'off', on: 'on', clean: 'clean' } as const),
    },
    client_body_in_single_buffer: { in: HTTP_SERVER_LOCATION, args: 'flag', set: flag('clientBodyInSingleBuffer') },
    send_timeout: { in: HTTP_SERVER_LOCATION, args: 1, set: msec('sendTimeout') },
    keepalive_timeout: {
      in: HTTP_SERVER_LOCATION,
      args: [1, 2],
      set(conf, node, ctx) {
        if (conf.keepaliveTimeout !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.keepaliveTimeout = parseTime(node.args[0]!, 'ms') ?? ctx.reject('invalid value', { arg: 0 });
        if (node.args[1] !== undefined) {
          conf.keepaliveHeader = parseTime(node.args[1], 's') ?? ctx.reject('invalid value', { arg: 1 });
        }
      },
    },
    keepalive_requests: { in: HTTP_SERVER_LOCATION, args: 1, set: int('keepaliveRequests') },
    keepalive_time: { in: HTTP_SERVER_LOCATION, args: 1, set: msec('keepaliveTime') },
    keepalive_min_timeout: { in: HTTP_SERVER_LOCATION, args: 1, set: msec('keepaliveMinTimeout') },
    keepalive_disable: { in: HTTP_SERVER_LOCATION, args: [1, 2], set: bits('keepaliveDisable', { none: 0, msie6: 1, safari: 2 }) },
    lingering_close: {
      in: HTTP_SERVER_LOCATION,
      args: 1,
      set: oneOf('lingeringClose', { off: 'off', on: 'on', always: 'always' } as const),
    },
    lingering_time: { in: HTTP_SERVER_LOCATION, args: 1, set: msec('lingeringTime') },
    lingering_timeout: { in: HTTP_SERVER_LOCATION, args: 1, set: msec('lingeringTimeout') },
    reset_timedout_connection: { in: HTTP_SERVER_LOCATION, args: 'flag', set: flag('resetTimedoutConnection') },
    chunked_transfer_encoding: { in: HTTP_SERVER_LOCATION, args: 'flag', set: flag('chunkedTransferEncoding') },
    tcp_nodelay: { in: HTTP_SERVER_LOCATION | In.STREAM | In.STREAM_SERVER, args: 'flag', set: flag('tcpNodelay') },
    postpone_output: {
      in: HTTP_SERVER_LOCATION,
      args: 1,
      set: accepted((ctx) => void (parseSize(ctx.node.args[0]!) ?? ctx.reject('invalid value'))),
    },
    send_lowat: {
      in: HTTP_SERVER_LOCATION,
      args: 1,
      set: accepted((ctx) => void (parseSize(ctx.node.args[0]!) ?? ctx.reject('invalid value'))),
    },
  },
});

/** How requests are read from clients and connections kept: nginx's `client_*`, `keepalive_*` and `lingering_*`. */
export const clientModule = defineModule({
  name: 'client',
  server: head,
  location: body,
  serverSlot: made(
    headSlot,
    (conf: Readonly<HeadConf>): HeadSettings => ({
      headLimits: {
        headerBufferSize: conf.clientHeaderBufferSize,
        largeBufferCount: conf.largeBuffers.number,
        largeBufferSize: conf.largeBuffers.size,
        maxHeaders: conf.maxHeaders,
        ignoreInvalidHeaders: conf.ignoreInvalidHeaders,
        underscoresInHeaders: conf.underscoresInHeaders,
        mergeSlashes: conf.mergeSlashes,
        allowConnect: false,
      },
      clientHeaderTimeout: conf.clientHeaderTimeout,
      bodyEarlyRead: conf.bodyEarlyRead,
    }),
  ),
  // Two seconds by default, so that a reload cuts no connection as its next request arrives.
  slot: made(clientSlot, (conf: Readonly<ClientSettings>, env) => ({
    ...conf,
    keepaliveMinTimeout: conf.keepaliveMinTimeout !== -1 ? conf.keepaliveMinTimeout : env.compatible ? 0 : 2000,
  })),
});
