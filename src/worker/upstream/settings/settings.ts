import type { ComplexValue } from '../../../shared/value/complex.js';
import type { TempPath } from '../../http/request/client-settings.js';
import type { Request } from '../../http/request/request.js';

/** `*_bind`: the local address of connections to backends. */
export interface LocalAddress {
  readonly value: ComplexValue<Request>;
  /** The local address need not be one of this machine. */
  readonly transparent: boolean;
}

/** `*_store`: where responses are kept as files. */
export interface ResponseFileSettings {
  /** The file's path; undefined: as `root` and `alias` map the URI. */
  readonly path: ComplexValue<Request> | undefined;
}

/** The settings that all protocols to backends share. nginx: ngx_http_upstream_conf_t. */
export interface UpstreamSettings {
  /** Milliseconds. */
  connectTimeout: number;
  sendTimeout: number;
  readTimeout: number;
  /** 0: no limit. */
  nextUpstreamTimeout: number;
  nextUpstreamTries: number;
  /** Bits of `FT`. */
  nextUpstream: number;
  bufferSize: number;
  buffers: { readonly number: number; readonly size: number };
  /** -1: made from the buffers' sizes. */
  busyBuffersSize: number;
  /** -1: a gigabyte. */
  maxTempFileSize: number;
  /** -1: as busyBuffersSize. */
  tempFileWriteSize: number;
  /** undefined: the protocol's folder under the prefix. */
  tempPath: TempPath | undefined;
  buffering: boolean;
  requestBuffering: boolean;
  ignoreClientAbort: boolean;
  interceptErrors: boolean;
  forceRanges: boolean;
  passRequestHeaders: boolean;
  passRequestBody: boolean;
  passTrailers: boolean;
  /** Bits of `IGNORE`. */
  ignoreHeaders: number;
  hideHeaders: readonly string[];
  passHeaders: readonly string[];
  bind: LocalAddress | null;
  socketKeepalive: boolean;
  /** Bytes; 0: as the system has it. */
  socketRcvbuf: number;
  socketSndbuf: number;
  limitRate: ComplexValue<Request> | undefined;
  store: ResponseFileSettings | null;
  /** Permission bits of stored files. */
  storeAccess: number;
}

/** {@link UpstreamSettings} with every default filled in. */
export interface CompleteSettings extends UpstreamSettings {
  tempPath: TempPath;
}
