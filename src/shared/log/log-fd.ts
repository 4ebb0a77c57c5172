import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, readlinkSync, statSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fsPath } from '../files/fs-path.js';
import { openPastLinks } from '../files/others-link.js';
import { loadNative } from '../native/native.js';
import { errnoCode } from '../system/errno.js';
import { countLost, linesIn } from './lost-lines.js';

const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;

/** What one write to a pipe may hold and still arrive in one piece between those of other processes (PIPE_BUF on Linux). */
const PIPE_BUF = 4096;

/** An open log: a descriptor that appends, and what kind of thing it leads to. */
export interface LogFd {
  readonly fd: number;
  readonly kind: 'file' | 'pipe' | 'other';
  /** False for an inherited descriptor (1 or 2), which others use too and which is never closed. */
  readonly owned: boolean;
  /** Which file it is, whatever its name is by now. */
  readonly ino: number;
  readonly dev: number;
}

function describe(fd: number, owned: boolean): LogFd {
  const stat = fstatSync(fd);
  return { fd, owned, ino: stat.ino, dev: stat.dev, kind: stat.isFile() ? 'file' : stat.isFIFO() ? 'pipe' : 'other' };
}

/**
 * 1 or 2 when the path is one of the names of this process's standard output or standard error, or a symbolic link to one, as container
 * images have for their logs; else undefined.
 */
function standardDescriptor(path: string, links = 8): 1 | 2 | undefined {
  switch (path) {
    case '/dev/stdout':
    case '/dev/fd/1':
    case '/proc/self/fd/1':
      return 1;
    case '/dev/stderr':
    case '/dev/fd/2':
    case '/proc/self/fd/2':
      return 2;
    default:
      try {
        return links === 0 ? undefined : standardDescriptor(resolve(dirname(path), readlinkSync(fsPath(path), 'latin1')), links - 1);
      } catch {
        return undefined;
      }
  }
}

/**
 * Opens a log for appending, and creates it (mode 0644) when it is missing; throws node:fs's error. The descriptor does not block, so a
 * pipe whose reader stalls cannot stop the process; regular files are not affected by that.
 */
export function openLogFd(path: string): LogFd {
  try {
    return describe(openPastLinks(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o644), true);
  } catch (error) {
    const code = errnoCode(error);
    // A FIFO without a reader. nginx would wait for one; a FIFO opened for both directions holds the first lines until a reader comes.
    if (code === 'ENXIO' && statSync(fsPath(path)).isFIFO()) {
      return describe(openPastLinks(path, O_RDWR | O_APPEND | O_NONBLOCK), true);
    }
    // A socket (the journal's) has no file to open again, and a pipe of another user refuses: the inherited descriptor still leads there.
    const standard = standardDescriptor(path);
    if (standard !== undefined && (code === 'ENXIO' || code === 'EACCES')) {
      return inheritedLogFd(standard);
    }
    throw error;
  }
}

/** The descriptor for `error_log stderr`. */
export function stderrLogFd(): LogFd {
  if (fstatSync(2).isFIFO()) {
    try {
      // Reopened, it can be non-blocking while the descriptor that other processes share stays as it is.
      return describe(openSync('/proc/self/fd/2', O_WRONLY | O_APPEND | O_NONBLOCK), true);
    } catch {
      // No /proc, no permission, or no reader: the descriptor itself has to do.
    }
  }
  return inheritedLogFd(2);
}

function inheritedLogFd(fd: 1 | 2): LogFd {
  const log = describe(fd, false);
  if (log.kind !== 'file') {
    // Node makes a standard pipe or socket non-blocking when it is first touched.
    void (fd === 1 ? process.stdout : process.stderr).writable;
  }
  return log;
}

/**
 * Opens the log at this path as descriptor 2, in place of the present one. When it cannot be opened, throws node:fs's error and changes
 * nothing. Without koffi there is no dup2(), so descriptor 2 is closed and the next file gets the lowest free number; no other thread may
 * open a descriptor meanwhile.
 */
export function openAsStandardError(path: string): void {
  const first = openLogFd(path);
  const native = loadNative();
  if (typeof native === 'string' || native.duplicateTo(first.fd, 2) < 0) {
    closeSync(2);
    const second = openLogFd(path);
    if (second.fd !== 2) {
      closeLogFd(second);
    }
  }
  closeLogFd(first);
}

/** Closes a log's descriptor unless it is an inherited one. */
export function closeLogFd(log: LogFd): void {
  if (log.owned) {
    closeSync(log.fd);
  }
}

/**
 * Writes all of `data` (latin1) to a regular file or throws node:fs's error. A disk that fills up in the middle leaves no torn line: what
 * was written of the last line is taken off again, all of `data` when it is not made of lines. When another process has written behind it
 * meanwhile, it stays, since its line would go. Lines that are not written are counted.
 */
export function appendWhole(log: LogFd, data: string, lines: boolean): void {
  let written = 0;
  try {
    while (written < data.length) {
      written += writeSync(log.fd, written === 0 ? data : data.slice(written), null, 'latin1');
    }
  } catch (error) {
    if (lines) {
      countLost(linesIn(data.slice(data.lastIndexOf('\n', written - 1) + 1)));
    }
    const torn = written - (lines ? data.lastIndexOf('\n', written - 1) + 1 : 0);
    if (written > 0 && torn > 0 && log.kind === 'file') {
      const end = endOfLastWrite(log);
      if (end === fstatSync(log.fd).size) {
        ftruncateSync(log.fd, end - torn);
      }
    }
    throw error;
  }
}

/** Where in the file this process's last write ended; undefined when that cannot be known, as of a descriptor that others use too. */
function endOfLastWrite({ fd, owned }: LogFd): number | undefined {
  try {
    return owned ? Number(/^pos:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1]) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes as much of `data` (latin1) as a pipe takes now and returns the rest; throws on any other failure. Whole lines go in pieces that
 * the kernel does not mix with another process's.
 */
export function feedPipe(log: LogFd, data: string): string {
  let rest = data;
  while (rest !== '') {
    let piece = rest;
    if (log.kind === 'pipe' && rest.length > PIPE_BUF) {
      const end = rest.lastIndexOf('\n', PIPE_BUF - 1) + 1;
      // A line longer than that cannot be whole in any case.
      piece = rest.slice(0, end > 0 ? end : rest.indexOf('\n') + 1 || rest.length);
    }
    try {
      rest = rest.slice(writeSync(log.fd, piece, null, 'latin1'));
    } catch (error) {
      if (errnoCode(error) === 'EAGAIN') {
        return rest;
      }
      throw error;
    }
  }
  return rest;
}
