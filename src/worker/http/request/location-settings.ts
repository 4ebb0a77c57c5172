import type { ComplexValue } from '../../../shared/value/complex.js';
import type { Resolver } from '../../resolver/resolver.js';
import type { ErrorPage } from './error-page.js';
import type { FileSettings } from './file-settings.js';
import type { Request } from './request.js';

/**
 * The settings of a location that the engine itself reads. Each field is filled by the module that declares its directive.
 * A class, since V8 makes a hash table of an object that gets so many fields one by one, and every request reads dozens.
 */
export class LocationSettings {
  clientMaxBodySize!: number;
  clientBodyBufferSize!: number;
  clientBodyTimeout!: number;
  clientBodyTempPath!: TempPath;
  clientBodyInFileOnly!: 'off' | 'on' | 'clean';
  clientBodyInSingleBuffer!: boolean;
  sendTimeout!: number;
  keepaliveTimeout!: number;
  /** Seconds in the `Keep-Alive` header; 0 for none. */
  keepaliveHeader!: number;
  keepaliveRequests!: number;
  keepaliveTime!: number;
  keepaliveMinTimeout!: number;
  /** Bit 1: MSIE 6, bit 2: Safari. */
  keepaliveDisable!: number;
  lingeringClose!: 'off' | 'on' | 'always';
  lingeringTime!: number;
  lingeringTimeout!: number;
  resetTimedoutConnection!: boolean;
  chunkedTransferEncoding!: boolean;
  msiePadding!: boolean;
  msieRefresh!: boolean;
  tcpNodelay!: boolean;
  root!: ComplexValue<Request>;
  /**
   * Not 0: `root` holds an `alias`, which replaces that many characters at the start of the URI instead of standing
   * before it; -1 in a regular expression's location: it replaces the whole URI.
   */
  alias!: number;
  files!: FileSettings;
  /** How much of a subrequest's response is kept in memory where it is wanted there. */
  subrequestOutputBufferSize!: number;
  types!: ReadonlyMap<string, string>;
  defaultType!: string;
  etag!: boolean;
  ifModifiedSince!: 'off' | 'exact' | 'before';
  internal!: boolean;
  satisfy!: 'all' | 'any';
  /** How long, in milliseconds, a 401 or 407 is held back. */
  authDelay!: number;
  errorPages!: readonly ErrorPage[];
  recursiveErrorPages!: boolean;
  serverTokens!: ComplexValue<Request>;
  serverNameInRedirect!: boolean;
  portInRedirect!: boolean;
  absoluteRedirect!: boolean;
  logNotFound!: boolean;
  logSubrequest!: boolean;
  uninitializedVariableWarn!: boolean;
  /** Looks names up at request time. */
  resolver: Resolver | undefined = undefined;
  /** Milliseconds. */
  resolverTimeout!: number;
}

/** A folder for temporary files with nginx's hashed sub-folders. */
export interface TempPath {
  readonly path: string;
  readonly levels: readonly number[];
}
