import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';
import { fsPath } from '../../../shared/files/fs-path.js';
import { ELOOP, FileInfo } from '../../files/file-info.js';
import type { FileSettings, SymlinkRule } from '../request/file-settings.js';
import type { Request } from '../request/request.js';

/** The rule for a path under a location's `disable_symlinks`; undefined when nothing is checked. nginx: ngx_http_set_disable_symlinks. */
export function symlinkRule(r: Request, settings: FileSettings, path: string): SymlinkRule | undefined {
  const ownerOnly = settings.disableSymlinks === 'if_not_owner';
  const from = settings.disableSymlinksFrom?.eval(r) ?? '';
  if (from === '' || !path.startsWith(from)) {
    return { ownerOnly, from: 0 };
  }
  if (from.length === path.length) {
    return undefined;
  }
  if (path[from.length] === '/') {
    return { ownerOnly, from: from.length };
  }
  return { ownerOnly, from: from.endsWith('/') ? from.length - 1 : 0 };
}

const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW, O_DIRECTORY } = constants;
/** Linux's O_PATH, which node:fs does not name: a descriptor to go on from, for which search permission is enough. */
const O_PATH = 0o10000000;
const SEARCH = O_PATH | O_RDONLY | O_DIRECTORY | O_NONBLOCK;
const READ = O_RDONLY | O_NONBLOCK;

/**
 * Opens a full path part by part, so that no symbolic link on the way is followed, or only such as belong to the owner
 * of their target. Each part is opened relative to the descriptor of the one before, hence nobody can slip in a link
 * between check and use. Returns a descriptor, or why there is none. nginx: ngx_open_file_wrapper.
 */
export function openGuarded(path: string, rule: SymlinkRule): number | FileInfo {
  let at = open(rule.from === 0 ? '/' : path.slice(0, rule.from), SEARCH);
  if (at < 0) {
    return new FileInfo(null, -at, rule.from === 0 ? 'openat()' : 'open()');
  }
  const parts = path.slice(rule.from + 1).split('/');
  const last = parts.length - 1;
  for (let i = 0; i < last && at >= 0; i++) {
    if (parts[i] === '') {
      continue;
    }
    const next = openAt(at, parts[i]!, SEARCH, rule.ownerOnly);
    closeSync(at);
    at = next;
  }
  if (at < 0) {
    return new FileInfo(null, -at, 'openat()');
  }
  // A path that ends in a slash names the folder reached so far.
  const name = parts[last]!;
  const fd = name === '' ? open(`/proc/self/fd/${at}/.`, READ) : openAt(at, name, READ, rule.ownerOnly);
  closeSync(at);
  return fd < 0 ? new FileInfo(null, -fd, 'openat()') : fd;
}

/** Returns a negative system error instead of a descriptor when it fails, and so do the functions below. */
function open(path: string, flags: number): number {
  try {
    return openSync(fsPath(path), flags);
  } catch (error) {
    return (error as NodeJS.ErrnoException).errno ?? -ELOOP;
  }
}

/** openat(), by way of the name that Linux gives every descriptor. */
function openAt(at: number, name: string, flags: number, ownerOnly: boolean): number {
  const path = `/proc/self/fd/${at}/${name}`;
  return ownerOnly ? openIfSameOwner(path, flags) : open(path, flags | O_NOFOLLOW);
}

/**
 * Opens whatever the name leads to, and gives it up if the name itself belongs to someone else. Both are compared even
 * if the name is no link now, since it may have been one when it was opened. nginx: ngx_openat_file_owner.
 */
function openIfSameOwner(path: string, flags: number): number {
  const fd = open(path, flags);
  if (fd < 0) {
    return fd;
  }
  let failure = 0;
  try {
    if (fstatSync(fd).uid !== lstatSync(fsPath(path)).uid) {
      failure = -ELOOP;
    }
  } catch (error) {
    failure = (error as NodeJS.ErrnoException).errno ?? -ELOOP;
  }
  if (failure === 0) {
    return fd;
  }
  closeSync(fd);
  return failure;
}
