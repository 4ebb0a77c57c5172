import { Lru } from '../../../shared/collection/lru.js';
import { resolvePath } from '../../../shared/config/paths.js';
import { ERROR } from '../../../shared/log/level.js';
import { climbsByVariables } from '../../http/request/map-path.js';
import type { Request } from '../../http/request/request.js';
import type { KeySet } from '../../jose/key-set.js';
import { readKeySetFile } from '../../jwks/key-file.js';
import type { Status } from '../../task/codes.js';
import type { KeySource } from './key-source.js';
import type { KeyFile } from './settings.js';

/** How many files are kept for `auth_jwt_key_cache`, where their names have variables. */
const MAX_CACHED = 64;

interface Cached {
  readonly keys: KeySet;
  /** Milliseconds of the wall clock. */
  readonly until: number;
}

/** Keys of a file, which is looked at for each request unless `auth_jwt_key_cache` says otherwise. */
export class FileKeySource implements KeySource {
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
    const keys = readKeySetFile(r, path);
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
