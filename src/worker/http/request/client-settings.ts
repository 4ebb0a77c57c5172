import type { ComplexValue } from '../../../shared/value/complex.js';
import { LocationSlot, ServerSlot } from '../../task/settings-slot.js';
import type { HeadLimits } from '../syntax/head-parser.js';
import type { Request } from './request.js';

/** How a server's requests are read. Times are in milliseconds. */
export interface HeadSettings {
  readonly headLimits: HeadLimits;
  readonly clientHeaderTimeout: number;
  /** `client_body_early_read`: a request's body is read before its phases begin if one of these is true. */
  readonly bodyEarlyRead: readonly ComplexValue<Request>[];
}

export const headSlot = new ServerSlot<HeadSettings>();

/** How a location takes bodies, sends answers and keeps connections. Times are in milliseconds. */
export interface ClientSettings {
  clientMaxBodySize: number;
  clientBodyBufferSize: number;
  clientBodyTimeout: number;
  clientBodyTempPath: TempPath;
  clientBodyInFileOnly: 'off' | 'on' | 'clean';
  clientBodyInSingleBuffer: boolean;
  sendTimeout: number;
  keepaliveTimeout: number;
  /** Seconds in the `Keep-Alive` header; 0 for none. */
  keepaliveHeader: number;
  keepaliveRequests: number;
  keepaliveTime: number;
  keepaliveMinTimeout: number;
  /** Bit 1: MSIE 6, bit 2: Safari. */
  keepaliveDisable: number;
  lingeringClose: 'off' | 'on' | 'always';
  lingeringTime: number;
  lingeringTimeout: number;
  resetTimedoutConnection: boolean;
  chunkedTransferEncoding: boolean;
  tcpNodelay: boolean;
}

export const clientSlot = new LocationSlot<Readonly<ClientSettings>>();

/** A folder for temporary files with nginx's hashed sub-folders. */
export interface TempPath {
  readonly path: string;
  readonly levels: readonly number[];
}
