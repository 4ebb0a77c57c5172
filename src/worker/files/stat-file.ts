import { type Stats, statSync } from 'node:fs';
import type { FileStat } from './file-info.js';

/** What is asked of node:fs's own binding, by versions that are known to have it so. */
interface FsBinding {
  /** Numbers in memory that the next call uses again; undefined where there is nothing. Throws other errors of the system. */
  stat(path: string | Buffer, bigint: false, request: undefined, throwIfNoEntry: false): Float64Array | undefined;
}

const QUIET = { throwIfNoEntry: false } as const;
/** Where the numbers stand in what the binding gives. */
const DEV = 0;
const MODE = 1;
const INO = 7;
const SIZE = 8;
const MTIME = 12;
const CTIME = 14;

function fsBinding(): FsBinding | undefined {
  const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
  if (major !== 20 || minor < 18) {
    return undefined;
  }
  try {
    const found = (process as unknown as { binding(name: string): Partial<FsBinding> }).binding('fs');
    return found.stat === undefined ? undefined : (found as FsBinding);
  } catch {
    return undefined;
  }
}

const binding = fsBinding();

/** Whether {@link numbers} gave what is in node:fs's object too. */
const agrees = (path: string): boolean => {
  const stat = statSync(path, QUIET);
  const found = numbers(path);
  return (
    stat !== undefined &&
    found !== undefined &&
    (['mode', 'size', 'mtimeMs', 'ctimeMs', 'ino', 'dev'] as const).every((field) => stat[field] === found[field])
  );
};

/** What `stat` found: the same object each time. */
const shared = { mode: 0, size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0, dev: 0 };

function numbers(path: string | Buffer): FileStat | undefined {
  const all = (binding as FsBinding).stat(path, false, undefined, false);
  if (all === undefined) {
    return undefined;
  }
  shared.mode = all[MODE]!;
  shared.size = all[SIZE]!;
  // As node:fs has it, to the last digit.
  shared.mtimeMs = all[MTIME]! * 1000 + all[MTIME + 1]! / 1_000_000;
  shared.ctimeMs = all[CTIME]! * 1000 + all[CTIME + 1]! / 1_000_000;
  shared.ino = all[INO]!;
  shared.dev = all[DEV]!;
  return shared;
}

/**
 * What the file system says of a path that node:fs took before, undefined when nothing is there any more; throws node:fs's errors. The
 * object is used again by the next call, and the path is not looked at: node:fs refuses those with a NUL.
 * node:fs makes four dates and an object of eighteen fields each time, which costs more than the system call.
 */
export const statFile: (path: string | Buffer) => FileStat | undefined =
  binding !== undefined && agrees(process.execPath) ? numbers : (path) => statSync(path, QUIET) as Stats | undefined;
