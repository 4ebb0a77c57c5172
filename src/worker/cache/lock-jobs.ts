import { DEBUG, INFO } from '../../shared/log/level.js';
import type { ZoneJob } from '../../shared/zone/kind.js';
import { enter, leave } from '../task/at-work.js';
import { AGAIN, DECLINED, DONE, type Result } from '../task/codes.js';
import type { UpstreamRequest } from '../upstream/exchange/upstream-request.js';
import { FailureType } from '../upstream/settings/failure.js';
import type { LocationCache } from './location-cache.js';
import type { LockWaiter } from './lock-waiters.js';
import type { CacheSettings } from './settings.js';
import { type CacheUse, latestUse } from './use.js';

/**
 * The lock of a refresh lasts as long as its holder lives (its death gives it back); this bounds it (milliseconds) where
 * nobody notices.
 */
const REFRESH_AGE = 600_000;

/** What asks for the lock of an entry, and goes on once it is known who has it. */
abstract class LockJob implements ZoneJob {
  readonly cache: LocationCache;
  readonly u: UpstreamRequest;
  readonly use: CacheUse;
  /** The lock, 0 when somebody else has it. */
  id = 0;

  constructor(cache: LocationCache, u: UpstreamRequest, use: CacheUse) {
    this.cache = cache;
    this.u = u;
    this.use = use;
  }

  abstract work(): void;

  /** Goes on with a request that still waits. */
  abstract goOn(): void;

  after(): void {
    const { u, use } = this;
    const before = enter(u.r);
    use.lockId = this.id;
    if (gone(u)) {
      use.unlock();
    } else {
      this.goOn();
    }
    leave(before);
  }
}

/**
 * A request for an entry that is not there: counted, and perhaps the one that fills it. nginx: ngx_http_file_cache_exists,
 * ngx_http_file_cache_lock.
 */
export class FillJob extends LockJob implements LockWaiter {
  #counts = false;
  #uses = 0;

  get hash(): string {
    return this.use.lockHash;
  }

  get deadline(): number {
    return this.use.lockDeadline;
  }

  start(counts: boolean): Result {
    this.#counts = counts;
    this.use.disk!.index.sql.submit(this);
    return AGAIN;
  }

  override work(): void {
    const { index } = this.use.disk!;
    const { conf } = this.cache;
    this.id = 0;
    if (this.#counts) {
      this.#uses = index.countUse(this.use.hash, this.use.key, Date.now());
      if (this.#uses < conf.cacheMinUses) {
        return;
      }
    }
    if (conf.cacheLock) {
      this.id = index.lock(this.hash, conf.cacheLockAge);
    }
  }

  override goOn(): void {
    const { cache, use } = this;
    use.counted = true;
    if (this.#counts && this.#uses < cache.conf.cacheMinUses) {
      this.#passUncached(`min_uses ${this.#uses}/${cache.conf.cacheMinUses}`);
    } else if (!cache.conf.cacheLock) {
      this.#fill();
    } else if (use.lockId !== 0) {
      // Another process may have filled the entry since this one looked.
      if (!use.looked && use.disk!.exists(use.hash)) {
        this.#lookAgain();
      } else {
        this.#fill();
      }
    } else if (use.lockTimeout === 0) {
      this.#passUncached('lock timeout');
    } else {
      this.#wait();
    }
  }

  /** Looks once more, and asks for the lock again when the file that is there turns out to be of no use. */
  #lookAgain(): void {
    const use = this.use;
    const id = use.lockId;
    use.lockId = 0;
    use.disk!.unlock(use.lockHash, id);
    use.looked = true;
    this.cache.again(this.u, use);
  }

  #fill(): void {
    this.cache.checkRange(this.u);
    this.u.proceed();
  }

  #passUncached(reason: string): void {
    this.u.allowCaching(false);
    this.use.reason = reason;
    this.u.proceed();
  }

  #wait(): void {
    const use = this.use;
    if (use.lockDeadline === 0) {
      use.lockDeadline = performance.now() + use.lockTimeout;
    }
    const { r } = this.u;
    if (r.debugging) {
      r.log(DEBUG, `http file cache lock u:0 wt:${Math.max(0, Math.round(use.lockDeadline - performance.now()))}`);
    }
    use.disk!.waiters.add(this);
  }

  wake(timedOut: boolean): void {
    const u = this.u;
    if (gone(u)) {
      return;
    }
    const before = enter(u.r);
    this.use.looked = false;
    if (timedOut) {
      u.r.log(INFO, 'cache lock timeout');
      this.use.lockTimeout = 0;
    }
    this.cache.again(u, this.use);
    leave(before);
  }
}

/**
 * A request for an entry that is too old: it refreshes it, or gets it as it is because somebody else does. nginx: the end of
 * ngx_http_file_cache_read.
 */
export class RefreshJob extends LockJob {
  start(): Result {
    const u = this.u;
    const use = this.use;
    // The refresh that a request has started behind its back takes over its lock.
    const parent = u.r.background && u.r.parent !== null ? latestUse(u.r.parent) : null;
    if (parent !== null && parent.lockId !== 0 && parent.lockHash === use.lockHash) {
      use.lockId = parent.lockId;
      parent.lockId = 0;
      this.cache.expire(u, use);
      return DECLINED;
    }
    use.disk!.index.sql.submit(this);
    return AGAIN;
  }

  override work(): void {
    this.id = this.use.disk!.index.lock(this.use.lockHash, REFRESH_AGE);
  }

  override goOn(): void {
    const { cache, u, use } = this;
    const behind = servesWhileUpdating(cache.conf, use) && !u.r.background;
    if (use.lockId === 0) {
      if (behind) {
        this.#serveAs('UPDATING');
        return;
      }
    } else if (behind && cache.conf.cacheBackgroundUpdate) {
      if (cache.refreshBehind(u, use)) {
        this.#serveAs('STALE');
      } else {
        use.unlock();
        cache.answer(u, 500);
      }
      return;
    }
    cache.expire(u, use);
    u.proceed();
  }

  #serveAs(status: 'UPDATING' | 'STALE'): void {
    this.use.status = status;
    const code = this.cache.serve(this.u, this.use, this.use.entry!);
    if (code !== DONE) {
      this.cache.answer(this.u, code);
    }
  }
}

/** Whether stale entries may be served while somebody refreshes them. */
const servesWhileUpdating = (conf: Readonly<CacheSettings>, use: CacheUse): boolean =>
  (conf.cacheUseStale & FailureType.UPDATING) !== 0 || use.staleUpdating;

/** Nobody waits for the request any more. */
const gone = (u: UpstreamRequest): boolean => u.r.finished || (u.r.main.finished && !u.r.background) || u.done;
