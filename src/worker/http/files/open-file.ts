import { closeSync, constants, fstatSync, openSync, type Stats, statSync } from 'node:fs';
import { fsPath } from '../../../shared/files/fs-path.js';
import { readFull } from '../../../shared/files/read-full.js';
import { ENOENT, FileInfo, type FileStat, isFileOrFolder } from '../../files/file-info.js';
import { statFile } from '../../files/stat-file.js';
import type { FileSettings, SymlinkRule } from '../request/file-settings.js';
import { fileSlot } from '../request/file-settings.js';
import type { Request } from '../request/request.js';
import { openGuarded, symlinkRule } from './symlinks.js';

/** Files up to this size are read at once, and kept in memory. */
const WHOLE = 128 * 1024;
const QUIET = { throwIfNoEntry: false } as const;
/** Does not wait for the other end of a FIFO. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Looks at a file without opening it. What is found may be a file, a folder, something else, or an error in `errno`.
 * nginx: ngx_open_cached_file with test_only.
 */
export function testFile(r: Request, path: string): FileInfo {
  return findFile(r, path, false);
}

/**
 * Gets a file ready to be sent: a small one is in `body` afterwards, a large one open as `fd`, which the caller must
 * close. The result is shared between requests unless it has an `fd`. nginx: ngx_open_cached_file.
 */
export function openFile(r: Request, path: string): FileInfo {
  return findFile(r, path, true);
}

/** Lets go of a file that was opened and is not sent after all. */
export function closeFile(info: FileInfo): void {
  if (info.fd !== -1) {
    closeSync(info.fd);
  }
}

function findFile(r: Request, path: string, open: boolean): FileInfo {
  const settings = r.location.conf(fileSlot);
  const rule = settings.disableSymlinks === 'off' ? undefined : symlinkRule(r, settings, path);
  const cache = settings.openFileCache;
  return cache === undefined ? freshFile(r, path, open, settings, rule) : cache.find(r, path, open, settings, rule);
}

/** What the file system says now. */
export function freshFile(r: Request, path: string, open: boolean, settings: FileSettings, rule: SymlinkRule | undefined): FileInfo {
  try {
    if (rule !== undefined) {
      return guardedFile(r, path, open, settings, rule);
    }
    const hot = r.http.hotFiles;
    const known = open ? hot.get(path) : undefined;
    if (known !== undefined && hot.isConfirmed(known, r.startTime)) {
      return known;
    }
    const file = known?.file ?? fsPath(path);
    const stat = known === undefined ? (statSync(file, QUIET) as Stats | undefined) : statFile(file);
    if (stat === undefined) {
      return new FileInfo(null, ENOENT, open ? 'open()' : 'stat()');
    }
    if (!open) {
      return new FileInfo(stat, 0, '');
    }
    if (known?.sameVersion(stat)) {
      hot.confirm(known, r.startTime);
      return known;
    }
    if (!isFileOrFolder(stat.mode)) {
      return new FileInfo(stat, 0, '');
    }
    return takeFile(r, path, openSync(file, READ), settings);
  } catch (error) {
    const { errno, syscall } = error as NodeJS.ErrnoException;
    // A path that is no path for the system (with a NUL in it) has no number.
    return new FileInfo(null, -(errno ?? -ENOENT), syscall === 'read' ? 'pread()' : open ? 'open()' : 'stat()');
  }
}

function guardedFile(r: Request, path: string, open: boolean, settings: FileSettings, rule: SymlinkRule): FileInfo {
  const fd = openGuarded(path, rule);
  if (typeof fd !== 'number') {
    return fd;
  }
  if (open) {
    return takeFile(r, path, fd, settings);
  }
  const info = new FileInfo(fstatSync(fd), 0, '');
  closeSync(fd);
  return info;
}

/** Reads a small file whole and closes it; leaves a large one open. */
function takeFile(r: Request, path: string, fd: number, settings: FileSettings): FileInfo {
  const hot = r.http.hotFiles;
  let keptOpen = false;
  try {
    const stat = fstatSync(fd);
    const info = new FileInfo(stat, 0, '');
    if (!info.isFile) {
      return info;
    }
    const known = hot.get(path);
    if (known?.sameVersion(stat)) {
      return known;
    }
    if (info.size > WHOLE || info.size >= settings.directio) {
      info.fd = fd;
      keptOpen = true;
      return info;
    }
    const body = readWhole(fd, info.size);
    if (body.length !== info.size) {
      return withBody(new FileInfo(resized(stat, body.length), 0, ''), body);
    }
    info.file = fsPath(path);
    hot.keep(path, withBody(info, body));
    return info;
  } finally {
    if (!keptOpen) {
      closeSync(fd);
    }
  }
}

function withBody(info: FileInfo, body: Buffer): FileInfo {
  info.body = body;
  return info;
}

/** A file that shrank between fstat() and read(). */
const resized = ({ mode, mtimeMs, ctimeMs, ino, dev }: Stats, size: number): FileStat => ({ mode, size, mtimeMs, ctimeMs, ino, dev });

function readWhole(fd: number, size: number): Buffer {
  const buffer = Buffer.allocUnsafeSlow(size);
  const length = readFull(fd, buffer);
  return length < size ? buffer.subarray(0, length) : buffer;
}

/**
 * Tells which of the two errors that mean "not there" a path gives: ENOENT or ENOTDIR. The look at the file itself does
 * not tell them apart, since it costs several times as much to have node:fs throw an error.
 */
export function whyMissing(path: string): number {
  try {
    statSync(fsPath(path));
  } catch (error) {
    const errno = (error as NodeJS.ErrnoException).errno;
    if (errno !== undefined) {
      return -errno;
    }
  }
  return ENOENT;
}
