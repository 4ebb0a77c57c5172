import type { ComplexValue } from '../../../shared/value/complex.js';
import type { FileInfo } from '../../files/file-info.js';
import { LocationSlot } from '../../task/settings-slot.js';
import type { Request } from './request.js';

/** Which symbolic links in a file's path are refused. */
export type SymlinkCheck = 'off' | 'on' | 'if_not_owner';

/** Which symbolic links count in one path. */
export interface SymlinkRule {
  /** Links are followed when link and target have the same owner. */
  readonly ownerOnly: boolean;
  /** How many characters at the start of the path are not checked. */
  readonly from: number;
}

/** Remembers what the file system said of paths. */
export interface FileCache {
  /** What a path leads to; `open`: its file is wanted for sending. */
  find(r: Request, path: string, open: boolean, settings: FileSettings, rule: SymlinkRule | undefined): FileInfo;
}

/** How a location's files are opened and read. */
export interface FileSettings {
  disableSymlinks: SymlinkCheck;
  /** The part of the path that is not checked. */
  disableSymlinksFrom: ComplexValue<Request> | undefined;
  openFileCache: FileCache | undefined;
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
  /** How much of a subrequest's response is kept in memory where it is wanted there. */
  subrequestOutputBufferSize: number;
}

export const fileSlot = new LocationSlot<Readonly<FileSettings>>();
