import { In } from '../../../shared/config/context.js';
import { type Directive, inherit, type LinkContext, type MergeContext, type SettingField } from '../../../shared/config/define.js';
import { mergeErrorPos } from '../../../shared/config/errors.js';
import { parseSize } from '../../../shared/config/language/units.js';
import { defaultTempPath } from '../../../shared/config/paths.js';
import { access, bits, buffers, flag, int, msec, size } from '../../../shared/config/slots.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { parseTempPath } from '../../http/files/temp-path.js';
import type { TempPath } from '../../http/request/client-settings.js';
import type { Request } from '../../http/request/request.js';
import { FailureType, ignoreHeaderWords, nextUpstreamWords } from '../settings/failure.js';
import type { CompleteSettings, LocalAddress, ResponseFileSettings, UpstreamSettings } from '../settings/settings.js';
import { bindAddress } from './bind.js';
import { socketBuffer } from './socket-buffer.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const PAGE = 4096;
const GIGABYTE = 1024 * 1024 * 1024;

type Row = Directive<UpstreamSettings, Request>;

/** The protocols whose directives are made here. */
export type UpstreamFamily = 'proxy' | 'fastcgi' | 'uwsgi' | 'scgi' | 'grpc' | 'memcached' | 'tunnel';

/** The defaults of the shared settings, and how inner blocks take them over. */
export const upstreamFields: { readonly [K in keyof UpstreamSettings]: SettingField<UpstreamSettings[K]> } = {
  connectTimeout: inherit(60_000),
  sendTimeout: inherit(60_000),
  readTimeout: inherit(60_000),
  nextUpstreamTimeout: inherit(0),
  nextUpstreamTries: inherit(0),
  nextUpstream: inherit<number>(FailureType.ERROR | FailureType.TIMEOUT),
  bufferSize: inherit(PAGE),
  buffers: inherit<UpstreamSettings['buffers']>({ number: 8, size: PAGE }),
  busyBuffersSize: inherit(-1),
  maxTempFileSize: inherit(-1),
  tempFileWriteSize: inherit(-1),
  tempPath: inherit<TempPath | undefined>(undefined),
  buffering: inherit(true),
  requestBuffering: inherit(true),
  ignoreClientAbort: inherit(false),
  interceptErrors: inherit(false),
  forceRanges: inherit(false),
  passRequestHeaders: inherit(true),
  passRequestBody: inherit(true),
  passTrailers: inherit(false),
  ignoreHeaders: inherit(0),
  hideHeaders: inherit<readonly string[]>([]),
  passHeaders: inherit<readonly string[]>([]),
  bind: inherit<LocalAddress | null>(null),
  socketKeepalive: inherit(false),
  socketRcvbuf: inherit(0),
  socketSndbuf: inherit(0),
  limitRate: inherit<ComplexValue<Request> | undefined>(undefined),
  store: inherit<ResponseFileSettings | null>(null),
  storeAccess: inherit(0o600),
};

/** Adds to a list of names. nginx: ngx_conf_set_str_array_slot. */
const names =
  (key: 'hideHeaders' | 'passHeaders'): Row['set'] =>
  (conf, node) => {
    conf[key] = [...(conf[key] ?? []), node.args[0]!];
  };

// nginx: ngx_http_set_complex_value_size_slot.
const rate: Row['set'] = (conf, node, ctx) => {
  if (conf.limitRate !== undefined) {
    ctx.reject('is duplicate');
  }
  const value = ctx.complex(node.args[0]!);
  if (value.constant !== undefined && parseSize(value.constant) === undefined) {
    ctx.reject('invalid value', { arg: 0 });
  }
  conf.limitRate = value;
};

const store: Row['set'] = (conf, node, ctx) => {
  if (conf.store !== undefined) {
    ctx.reject('is duplicate');
  }
  const word = node.args[0]!;
  if (word === '') {
    ctx.fail('empty path', { arg: 0 });
  }
  if (word === 'off') {
    conf.store = null;
    return;
  }
  if (((conf as { cache?: unknown }).cache ?? null) !== null) {
    ctx.reject(`is incompatible with "${node.name.replace(/store$/, 'cache')}"`);
  }
  conf.store = { path: word === 'on' ? undefined : ctx.complex(word) };
};

const tempPath: Row['set'] = (conf, _node, ctx) => {
  if (conf.tempPath !== undefined) {
    ctx.reject('is duplicate');
  }
  conf.tempPath = parseTempPath(ctx);
  ctx.folder(conf.tempPath.path);
};

/** Linux has no such mark for sockets. nginx: ngx_http_fastcgi_lowat_check. */
const sendLowat: Row['set'] = (_conf, node, ctx) => {
  if (parseSize(node.args[0]!) === undefined) {
    ctx.reject('invalid value', { arg: 0 });
  }
  ctx.warn(`"${node.name}" is not supported, ignored`);
};

/** Every shared row, by the part of its name behind the prefix. */
const rows: Readonly<Record<string, Row>> = {
  store: { in: ANYWHERE, args: 1, set: store },
  store_access: { in: ANYWHERE, args: [1, 2, 3], set: access('storeAccess') },
  buffering: { in: ANYWHERE, args: 'flag', set: flag('buffering') },
  request_buffering: { in: ANYWHERE, args: 'flag', set: flag('requestBuffering') },
  ignore_client_abort: { in: ANYWHERE, args: 'flag', set: flag('ignoreClientAbort') },
  bind: { in: ANYWHERE, args: [1, 2], set: bindAddress },
  socket_keepalive: { in: ANYWHERE, args: 'flag', set: flag('socketKeepalive') },
  socket_rcvbuf: { in: ANYWHERE, args: 1, set: socketBuffer('socketRcvbuf') },
  socket_sndbuf: { in: ANYWHERE, args: 1, set: socketBuffer('socketSndbuf') },
  connect_timeout: { in: ANYWHERE, args: 1, set: msec('connectTimeout') },
  send_timeout: { in: ANYWHERE, args: 1, set: msec('sendTimeout') },
  read_timeout: { in: ANYWHERE, args: 1, set: msec('readTimeout') },
  send_lowat: { in: ANYWHERE, args: 1, set: sendLowat },
  intercept_errors: { in: ANYWHERE, args: 'flag', set: flag('interceptErrors') },
  pass_request_headers: { in: ANYWHERE, args: 'flag', set: flag('passRequestHeaders') },
  pass_request_body: { in: ANYWHERE, args: 'flag', set: flag('passRequestBody') },
  pass_trailers: { in: ANYWHERE, args: 'flag', set: flag('passTrailers') },
  buffer_size: { in: ANYWHERE, args: 1, set: size('bufferSize') },
  buffers: { in: ANYWHERE, args: 2, set: buffers('buffers') },
  busy_buffers_size: { in: ANYWHERE, args: 1, set: size('busyBuffersSize') },
  force_ranges: { in: ANYWHERE, args: 'flag', set: flag('forceRanges') },
  limit_rate: { in: ANYWHERE, args: 1, set: rate },
  temp_path: { in: ANYWHERE, args: [1, 2, 3, 4], set: tempPath },
  max_temp_file_size: { in: ANYWHERE, args: 1, set: size('maxTempFileSize') },
  temp_file_write_size: { in: ANYWHERE, args: 1, set: size('tempFileWriteSize') },
  next_upstream: { in: ANYWHERE, args: { min: 1 }, set: bits('nextUpstream', nextUpstreamWords) },
  next_upstream_tries: { in: ANYWHERE, args: 1, set: int('nextUpstreamTries') },
  next_upstream_timeout: { in: ANYWHERE, args: 1, set: msec('nextUpstreamTimeout') },
  pass_header: { in: ANYWHERE, args: 1, set: names('passHeaders') },
  hide_header: { in: ANYWHERE, args: 1, set: names('hideHeaders') },
  ignore_headers: { in: ANYWHERE, args: { min: 1 }, set: bits('ignoreHeaders', ignoreHeaderWords) },
};

/** What takes a buffered body, which some protocols do not have. */
const OF_BUFFERS: readonly string[] = [
  'store',
  'store_access',
  'buffering',
  'request_buffering',
  'ignore_client_abort',
  'send_lowat',
  'pass_request_headers',
  'pass_request_body',
  'pass_trailers',
  'buffers',
  'busy_buffers_size',
  'force_ranges',
  'limit_rate',
  'temp_path',
  'max_temp_file_size',
  'temp_file_write_size',
];

/** The rows that each protocol does not have. */
const ABSENT: Readonly<Record<UpstreamFamily, readonly string[]>> = {
  proxy: [],
  fastcgi: ['pass_trailers'],
  uwsgi: ['pass_trailers', 'send_lowat'],
  scgi: ['pass_trailers', 'send_lowat'],
  grpc: OF_BUFFERS,
  memcached: [
    ...OF_BUFFERS,
    'socket_rcvbuf',
    'socket_sndbuf',
    'intercept_errors',
    'next_upstream',
    'pass_header',
    'hide_header',
    'ignore_headers',
  ],
  tunnel: [
    ...OF_BUFFERS.filter((name) => name !== 'send_lowat'),
    'intercept_errors',
    'buffer_size',
    'next_upstream',
    'pass_header',
    'hide_header',
    'ignore_headers',
  ],
};

/** The directives that the protocols to backends share, under one protocol's prefix. */
export function upstreamDirectives(family: UpstreamFamily): { readonly [name: string]: Row } {
  const absent = ABSENT[family];
  const made: Record<string, Row> = {};
  for (const [name, row] of Object.entries(rows)) {
    if (!absent.includes(name)) {
      made[`${family}_${name}`] = row;
    }
  }
  return made;
}

/** Gives the protocol its folder for temporary files; for `finish`. */
export function finishUpstream(family: UpstreamFamily, conf: UpstreamSettings, place: MergeContext): void {
  conf.tempPath ??= { path: defaultTempPath(`${family}_temp`, place.prefix), levels: [1, 2] };
}

/** Fills in the defaults that depend on other settings. nginx: the size part of ngx_http_proxy_merge_loc_conf. */
export function completeSettings(conf: Readonly<UpstreamSettings>): CompleteSettings {
  return {
    ...conf,
    ...completeSizes(conf),
    nextUpstream: (conf.nextUpstream & FailureType.OFF) !== 0 ? FailureType.OFF : conf.nextUpstream,
    tempPath: conf.tempPath!,
  };
}

function completeSizes(
  conf: Readonly<UpstreamSettings>,
): Pick<CompleteSettings, 'busyBuffersSize' | 'tempFileWriteSize' | 'maxTempFileSize'> {
  const largest = Math.max(conf.bufferSize, conf.buffers.size);
  return {
    busyBuffersSize: conf.busyBuffersSize === -1 ? 2 * largest : conf.busyBuffersSize,
    tempFileWriteSize: conf.tempFileWriteSize === -1 ? 2 * largest : conf.tempFileWriteSize,
    maxTempFileSize: conf.maxTempFileSize === -1 ? GIGABYTE : conf.maxTempFileSize,
  };
}

/** Checks that the sizes fit each other, and names the folder; for `link`. */
export function linkUpstream(
  family: UpstreamFamily,
  conf: Readonly<UpstreamSettings>,
  ctx: LinkContext<Request>,
  place: MergeContext,
): void {
  if (conf.tempPath !== undefined) {
    ctx.folder(conf.tempPath.path);
  }
  if (place.context === In.HTTP) {
    return;
  }
  const wrong = wrongSize(family, conf);
  if (wrong !== undefined) {
    ctx.fail(wrong, mergeErrorPos(place.block));
  }
}

/** What is wrong with the sizes, which fit each other in nearly all of the thousands of blocks there may be. */
function wrongSize(family: UpstreamFamily, conf: Readonly<UpstreamSettings>): string | undefined {
  const { busyBuffersSize, tempFileWriteSize, maxTempFileSize } = completeSizes(conf);
  const { number, size: each } = conf.buffers;
  const largest = Math.max(conf.bufferSize, each);
  const maximum = (): string => `the maximum of the value of "${family}_buffer_size" and one of the "${family}_buffers"`;
  if (number < 2) {
    return `there must be at least 2 "${family}_buffers"`;
  }
  if (busyBuffersSize < largest) {
    return `"${family}_busy_buffers_size" must be equal to or greater than ${maximum()}`;
  }
  if (busyBuffersSize > (number - 1) * each) {
    return `"${family}_busy_buffers_size" must be less than the size of all "${family}_buffers" minus one buffer`;
  }
  if (tempFileWriteSize < largest) {
    return `"${family}_temp_file_write_size" must be equal to or greater than ${maximum()}`;
  }
  if (maxTempFileSize !== 0 && maxTempFileSize < largest) {
    return `"${family}_max_temp_file_size" must be equal to zero to disable temporary files usage or must be equal to or greater than ${maximum()}`;
  }
  return undefined;
}
