import { closeSync, readFileSync } from 'node:fs';
import { Lru } from '../../../shared/collection/lru.js';
import { resolvePath } from '../../../shared/config/paths.js';
import { CRIT, ERROR, WARN } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { ENOENT, type FileInfo } from '../../files/file-info.js';
import { freshFile, whyMissing } from '../../http/files/open-file.js';
import { climbsByVariables } from '../../http/request/map-path.js';
import type { Request } from '../../http/request/request.js';
import { type KeySet, readKeySet } from '../../jose/key-set.js';
import type { Status } from '../../task/codes.js';
import type { KeySource } from './key-source.js';
import type { KeyFile } from './settings.js';

/** Longer files are no sets of keys. */
const MAX_BYTES = 1024 * 1024;
/** How many files are kept for `auth_jwt_key_cache`, where their names have variables. */
const MAX_CACHED = 64;

/** What files that are kept in memory say, by version of the file. */
const parsed = new WeakMap<FileInfo, KeySet | string>();

interface Cached {
  readonly keys: KeySet;
  /** Milliseconds of the wall clock. */
  readonly until: number;
}

/** Keys of a file, which is looked at for each request unless `auth_jwt_key_cache` says otherwise. */
export class FileSource implements KeySource {
  readonly #file: KeyFile;
  /** The path where it is the same for all requests. */
  readonly #path: string | undefined;
  /** Milliseconds. */
  readonly #cacheTime: number;
  readonly #cached = new Lru<Cached>(MAX_CACHED);

  constructor(file: KeyFile, cacheTime: number) {
    this.#file = file;
    this.#path = file.value.constant === undefined ? undefined : resolvePath(file.value.constant, file.folder);
    this.#cacheTime = cacheTime;
  }

  now(r: Request): KeySet | Status {
    const { value, folder } = this.#file;
    const path = this.#path ?? resolvePath(value.eval(r), folder);
    if (this.#cacheTime > 0) {
      const cached = this.#cached.get(path);
      if (cached !== undefined && Date.now() < cached.until) {
        return cached.keys;
      }
    }
    if (this.#path === undefined && climbsByVariables(value, path)) {
      r.log(ERROR, `"${path}" leads out of "${value.text}"`);
      return 403;
    }
    const keys = readKeys(r, path);
    if (typeof keys !== 'number' && this.#cacheTime > 0) {
      this.#cached.set(path, { keys, until: Date.now() + this.#cacheTime });
    }
    return keys;
  }

  recent(r: Request): KeySet | undefined {
    const keys = this.now(r);
    return typeof keys === 'number' ? undefined : keys;
  }

  /** There is nothing to wait for. */
  fetch(): Status {
    return 500;
  }
}

function readKeys(r: Request, path: string): KeySet | Status {
  const info = freshFile(r, path, true, r.location.settings.files, undefined);
  const errno = info.errno === ENOENT ? whyMissing(path) : info.errno;
  if (errno !== 0) {
    r.log(errno === ENOENT ? ERROR : CRIT, `open() "${path}" failed (${errnoText(errno)})`);
    return 500;
  }
  const known = parsed.get(info);
  const keys = known ?? parse(r, path, info);
  if (typeof keys === 'string') {
    r.log(ERROR, `JSON Web Key Set "${path}" cannot be used: ${keys}`);
    return 500;
  }
  return keys;
}

function parse(r: Request, path: string, info: FileInfo): KeySet | string {
  let keys: KeySet | string;
  if (info.fd === -1) {
    keys = info.body === null ? 'it is no file' : readKeySet(info.body);
    parsed.set(info, keys);
  } else {
    try {
      keys = info.size > MAX_BYTES ? 'it is too long' : readKeySet(readFileSync(info.fd));
    } finally {
      closeSync(info.fd);
    }
  }
  if (typeof keys !== 'string') {
    for (const complaint of keys.complaints) {
      r.log(WARN, `JSON Web Key Set "${path}": ${complaint}`);
    }
  }
  return keys;
}
