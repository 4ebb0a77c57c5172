import type { ComplexValue } from '../../../shared/value/value.js';
import type { OpenFileCache } from '../files/open-file-cache.js';
import type { Request } from './request.js';

/** Which symbolic links in a file's path are refused. */
export type SymlinkCheck = 'off' | 'on' | 'if_not_owner';

/** How a location's files are opened and read. */
export interface FileSettings {
  disableSymlinks: SymlinkCheck;
  /** The part of the path that is not checked. */
  disableSymlinksFrom: ComplexValue<Request> | undefined;
  openFileCache: OpenFileCache | undefined;
  /** Seconds. */
  openFileCacheValid: number;
  openFileCacheMinUses: number;
  openFileCacheErrors: boolean;
  /** Files of at least this size are not kept in memory; Infinity for off. */
  directio: number;
  /** Large files are read in threads. */
  aio: boolean;
  /** How much of a large file is read at a time, and how much for a client that takes it quickly. */
  readSize: number;
  maxReadSize: number;
}
