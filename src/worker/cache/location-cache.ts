// Longer than most: what a location's cache does at each step of a request, which all work on one use of the cache.

import { CRIT, DEBUG } from '../../shared/log/level.js';
import { nowSeconds } from '../../shared/time/unix-time.js';
import { preciseMs } from '../../shared/zone/monotonic.js';
import { md5Hex } from '../digest/md5.js';
import type { WorkerEnv } from '../env.js';
import type { HttpRuntime } from '../http/request/http-runtime.js';
import { firstTrue } from '../http/request/predicates.js';
import type { Request } from '../http/request/request.js';
import { bufferSource, respond } from '../http/request/respond.js';
import { startSubrequest } from '../http/request/subrequest.js';
import type { Trace } from '../http/request/trace.js';
import { HeaderSlot } from '../http/syntax/header-names.js';
import { METHOD } from '../http/syntax/method.js';
import { AGAIN, asStatus, DECLINED, DONE, FAILED, type Result } from '../task/codes.js';
import { heedHead, processHead } from '../upstream/exchange/process-head.js';
import type { ResponseCache } from '../upstream/exchange/response-cache.js';
import type { UpstreamRequest } from '../upstream/exchange/upstream-request.js';
import { openBody } from './block-source.js';
import { type CacheChooser, cacheChooser } from './cache-chooser.js';
import { countUse } from './count-use.js';
import type { CacheEntry } from './entry.js';
import { keepResponse, startFill, storeError } from './fill.js';
import { readFreshness } from './freshness.js';
import type { CacheFamily } from './index-zone.js';
import { FillJob, RefreshJob } from './lock-jobs.js';
import { type PurgeAnswer, purgeAndAnswer, tracePurge } from './purge-answer.js';
import { testPurge } from './purge-rule.js';
import { type CacheSettings, validSeconds } from './settings.js';
import { CacheUse, useOf } from './use.js';
import { variantHash, varyText } from './vary.js';

/** What a location's cache needs to know of the worker. */
export interface CacheContext {
  readonly disk: CacheChooser;
  /** The request's key. */
  key(u: UpstreamRequest): string;
}

/** The cache of one location: when it is asked, what it answers, and what it keeps. nginx: the cache part of ngx_http_upstream.c. */
export class LocationCache implements ResponseCache {
  readonly conf: Readonly<CacheSettings>;
  readonly #context: CacheContext;

  constructor(conf: Readonly<CacheSettings>, context: CacheContext) {
    this.conf = conf;
    this.#context = context;
  }

  // nginx: ngx_http_upstream_cache.
  lookup(u: UpstreamRequest): Result {
    const { r } = u;
    const { conf } = this;
    const purge = conf.cachePurge === null || r.purged ? 'no' : testPurge(r, conf.cachePurge);
    if (purge === 'forbidden') {
      return 403;
    }
    if (purge === 'no' && (r.methodBit & conf.cacheMethods) === 0) {
      const unasked = new CacheUse(undefined, '');
      unasked.reason = `method ${r.method}`;
      u.cacheUse = unasked;
      return DECLINED;
    }
    const disk = this.#context.disk(r);
    if (disk === null) {
      return FAILED;
    }
    if (disk === undefined) {
      return purge === 'method' ? 404 : DECLINED;
    }
    if (r.methodBit === METHOD.HEAD && conf.cacheConvertHead) {
      u.askWith('GET');
    }
    const use = new CacheUse(disk, this.#context.key(u));
    if (r.debugging) {
      r.log(DEBUG, `http cache key: "${use.key}"`);
    }
    u.cacheUse = use;
    if (purge !== 'no') {
      return this.#purge(u, use, purge === 'method' ? 'page' : 'status');
    }
    u.allowCaching(true);
    const bypass = firstTrue(r, conf.cacheBypass);
    if (bypass !== undefined) {
      use.status = 'BYPASS';
      use.reason = `bypass: ${bypass.text}`;
      use.askedAt = preciseMs();
      return DECLINED;
    }
    use.lockTimeout = conf.cacheLockTimeout;
    use.revalidates = conf.cacheRevalidate;
    use.status = 'MISS';
    return this.open(u, use);
  }

  asked(u: UpstreamRequest): boolean {
    return useOf(u)?.disk !== undefined;
  }

  trace(u: UpstreamRequest, trace: Trace): void {
    const { r } = u;
    const use = useOf(u);
    const where = { in: r.location, directive: `${r.location.info.handler ?? 'proxy'}_cache` };
    if (use?.disk === undefined) {
      trace.add(r, 'cache', `the cache is not asked${use === null ? '' : `: ${use.reason}`}`, where, { status: '' });
      return;
    }
    const { disk, key, entry, reason } = use;
    const path = entry?.path ?? disk.pathOf(md5Hex(key));
    const status = use.status === 'MISS' && entry !== undefined ? 'EXPIRED' : use.status;
    const why = reason === '' ? '' : ` (${reason})`;
    const life = entry === undefined ? '' : `, good until ${new Date(entry.header.validUntil * 1000).toISOString()}`;
    trace.add(r, 'cache', `cache ${disk.name}, key "${key}": ${status}${why}; ${path}${life}`, where, {
      zone: disk.name,
      key,
      status,
      path,
      reason,
    });
  }

  #purge(u: UpstreamRequest, use: CacheUse, answer: PurgeAnswer): Result {
    if (u.r.trace !== null) {
      tracePurge(u.r, u.r.trace, use, answer);
    }
    return purgeAndAnswer(u.r, use.disk!, use.key, answer, (code) => {
      if (!u.done) {
        this.answer(u, code);
      }
    });
  }

  /** Looks for the entry and serves it, or says who asks the backend. nginx: ngx_http_file_cache_open. */
  open(u: UpstreamRequest, use: CacheUse): Result {
    const now = nowSeconds();
    const entry = this.#find(u.r, use);
    if (u.r.debugging) {
      logLookup(u.r, entry);
    }
    if (entry === undefined) {
      // There is no point in looking at such a file again once the lock is had.
      if (use.disk!.foundUseless) {
        use.looked = true;
      }
      return this.#missing(u, use);
    }
    const { header } = entry;
    if (header.error !== 0) {
      if (header.validUntil < now) {
        return this.#missing(u, use);
      }
      use.status = 'HIT';
      use.entry = entry;
      use.disk!.noteUse(entry, now);
      this.traceStatus(u);
      return asStatus(header.error);
    }
    use.entry = entry;
    use.validUntil = header.validUntil;
    use.updating = header.updating;
    use.onError = header.onError;
    use.disk!.noteUse(entry, now);
    if (header.validUntil >= now) {
      use.status = 'HIT';
      return this.serve(u, use, entry);
    }
    use.staleUpdating = header.validUntil + header.updating >= now;
    use.staleOnError = header.validUntil + header.onError >= now;
    use.lockHash = entry.path.slice(-32);
    return new RefreshJob(this, u, use).start();
  }

  /** The entry that fits the request; a response that varies may have several. */
  #find(r: Request, use: CacheUse): CacheEntry | undefined {
    const disk = use.disk!;
    use.secondary = false;
    const entry = disk.find(use.key);
    if (entry === undefined || entry.header.vary === '') {
      return entry;
    }
    const text = varyText(r, entry.header.vary);
    if (text !== entry.varyText) {
      use.main = md5Hex(use.key);
      entry.varyText = text;
      entry.varyHash = variantHash(use.main, text);
    }
    const hash = entry.varyHash;
    if (hash === entry.header.variant) {
      return entry;
    }
    use.secondary = true;
    use.hash = hash;
    const variant = disk.findVariant(hash, use.key);
    if (variant === undefined || variant.header.variant === hash) {
      return variant;
    }
    r.log(CRIT, `cache file "${variant.path}" has incorrect vary hash`);
    return undefined;
  }

  #missing(u: UpstreamRequest, use: CacheUse): Result {
    use.main = use.main === '' ? md5Hex(use.key) : use.main;
    if (!use.secondary) {
      use.hash = use.main;
    }
    use.lockHash = use.hash;
    use.askedAt = preciseMs();
    if (use.reason === '') {
      use.reason = 'not in cache';
    }
    const counts = this.conf.cacheMinUses > 1 && !use.counted;
    if (counts || this.conf.cacheLock) {
      return new FillJob(this, u, use).start(counts);
    }
    this.checkRange(u);
    return DECLINED;
  }

  /** Looks again after a wait. */
  again(u: UpstreamRequest, use: CacheUse): void {
    this.answer(u, this.open(u, use));
  }

  /** Goes on with what {@link open} returned. */
  answer(u: UpstreamRequest, code: Result): void {
    if (u.r.debugging) {
      u.r.log(DEBUG, `http upstream cache: ${code}`);
    }
    if (code === AGAIN || code === DONE) {
      return;
    }
    if (code === DECLINED) {
      u.proceed();
    } else {
      u.r.finalize(code === FAILED ? 500 : code);
    }
  }

  /** The entry is too old, and this request asks for a new one. */
  expire(u: UpstreamRequest, use: CacheUse): void {
    use.status = 'EXPIRED';
    use.reason = 'expired';
    use.validUntil = use.updating = use.onError = 0;
    use.askedAt = preciseMs();
    const { path, header } = use.entry!;
    use.hash = path.slice(-32);
    use.secondary = header.variant === use.hash;
    this.checkRange(u);
  }

  /**
   * Starts a request of our own that refreshes the entry while the client gets the old one. nginx:
   * ngx_http_upstream_cache_background_update.
   */
  refreshBehind(u: UpstreamRequest, use: CacheUse): boolean {
    const { r } = u;
    const sr = startSubrequest(r, {
      uri: r.uri,
      args: r.args,
      keepMethod: true,
      background: true,
      awaited: true,
      headerOnly: true,
      clone: true,
    });
    if (sr === undefined) {
      return false;
    }
    sr.onFinish(() => {
      countUse(sr);
      use.unlock();
    });
    return true;
  }

  /** A range that begins far into the body is passed on and not kept. nginx: ngx_http_upstream_cache_check_range. */
  checkRange(u: UpstreamRequest): void {
    const limit = this.conf.cacheMaxRangeOffset;
    const range = u.r.head.known(HeaderSlot.range);
    if (range === undefined || !u.cacheable || limit === Number.POSITIVE_INFINITY) {
      return;
    }
    let refused = limit === 0;
    if (!refused) {
      const found = /^bytes= *(-|\d*)/i.exec(range);
      refused = found !== null && range.length >= 7 && (found[1] === '-' || (found[1] !== '' && Number(found[1]) >= limit));
    }
    if (!refused) {
      return;
    }
    u.allowCaching(false);
    useOf(u)!.reason = 'range beyond max_range_offset';
  }

  /** Sends an entry. Returns DONE. nginx: ngx_http_upstream_cache_send. */
  serve(u: UpstreamRequest, use: CacheUse, entry: CacheEntry): Result {
    const { r } = u;
    const source = entry.body === undefined ? openBody(use.disk!, entry) : bufferSource(entry.body);
    if (source === undefined) {
      return this.#missing(u, use);
    }
    if (r.debugging) {
      r.log(DEBUG, `http file cache send: ${entry.path}`);
    }
    if (r.trace !== null) {
      this.trace(u, r.trace);
    }
    u.useCached(entry.head(u.conf.kinds));
    this.traceStatus(u);
    if (use.status === 'STALE' || use.status === 'REVALIDATED') {
      readFreshness(u, u.head, use, nowSeconds());
      if (use.noCache || use.expired) {
        u.allowCaching(false);
      }
    }
    heedHead(u);
    if (!processHead(u)) {
      source.abort(r);
      return DONE;
    }
    const code = respond(r, source);
    if (code !== DONE) {
      r.finalize(code);
    }
    return DONE;
  }

  traceStatus({ r, cacheUse }: UpstreamRequest): void {
    const use = cacheUse as CacheUse | null;
    if (use !== null && use.status !== '') {
      r.main.spans?.event('cache', use.status, use.reason);
    }
  }

  headRead(u: UpstreamRequest): void {
    const use = useOf(u);
    if (use?.disk === undefined) {
      return;
    }
    readFreshness(u, u.head, use, nowSeconds());
  }

  headAccepted(u: UpstreamRequest): void {
    const use = useOf(u);
    if (use !== null && (use.noCache || use.expired)) {
      u.allowCaching(false);
    }
    if (u.r.debugging) {
      u.r.log(DEBUG, `http cacheable: ${u.cacheable ? 1 : 0}`);
    }
  }

  // nginx: ngx_http_upstream_next and ngx_http_upstream_test_next.
  failed(u: UpstreamRequest, failure: number, answered: boolean): boolean {
    const use = useOf(u);
    if (use === null || use.status !== 'EXPIRED') {
      return false;
    }
    if ((this.conf.cacheUseStale & failure) === 0 && (answered || !use.staleOnError)) {
      return false;
    }
    use.status = 'STALE';
    this.#serveInstead(u, use);
    return true;
  }

  /** Ends the business with backends, and sends the entry that there is. */
  #serveInstead(u: UpstreamRequest, use: CacheUse): void {
    u.finalize(DECLINED);
    if (this.serve(u, use, use.entry!) !== DONE) {
      u.r.finalize(500);
    }
  }

  // nginx: the last part of ngx_http_upstream_test_next.
  notModified(u: UpstreamRequest): boolean {
    const use = useOf(u);
    if (use === null || use.status !== 'EXPIRED' || !this.conf.cacheRevalidate) {
      return false;
    }
    const entry = use.entry!;
    const now = nowSeconds();
    let { validUntil, updating, onError } = use;
    use.status = 'REVALIDATED';
    if (validUntil === 0) {
      readFreshness(u, entry.head(u.conf.kinds), use, now);
      ({ validUntil, updating, onError } = use);
    }
    if (validUntil === 0) {
      const seconds = validSeconds(this.conf.cacheValid, entry.header.status);
      if (seconds !== 0) {
        validUntil = now + seconds;
      }
    }
    if (validUntil !== 0 && u.r.http.env.rehearsing === undefined) {
      use.disk!.updateHeader(entry, { ...entry.header, validUntil, updating, onError, date: now }, use.askedAt);
    }
    this.#serveInstead(u, use);
    return true;
  }

  // nginx: the cache part of ngx_http_upstream_intercept_errors.
  intercepted(u: UpstreamRequest, status: number): void {
    const use = useOf(u);
    if (use?.disk === undefined) {
      return;
    }
    if (use.noCache || use.expired) {
      u.allowCaching(false);
    }
    if (u.cacheable) {
      storeError(u, use, this.conf, status);
    }
    use.free();
  }

  begin(u: UpstreamRequest): void {
    const use = useOf(u);
    if (use?.disk === undefined) {
      return;
    }
    startFill(u, use, this.conf);
    if (u.r.trace !== null) {
      const stores = use.writer !== null || use.foreseen;
      const tags = use.tags.length === 0 ? '' : `, with the tags ${use.tags.join(', ')}`;
      const text = stores
        ? `the response is stored, good until ${new Date(use.validUntil * 1000).toISOString()}${tags}`
        : `the response is not stored: ${storeReason(use)}`;
      const where = { in: u.r.location, directive: `${u.r.location.info.handler ?? 'proxy'}_cache_valid` };
      u.r.trace.add(u.r, 'cache', text, where, { stored: stores });
    }
  }

  passing(u: UpstreamRequest): void {
    useOf(u)?.free();
  }

  // nginx: the cache part of ngx_http_upstream_process_request, ngx_http_file_cache_update.
  commit(u: UpstreamRequest): void {
    const use = useOf(u);
    const writer = use?.writer ?? null;
    if (use === null || writer === null) {
      return;
    }
    const { contentLength } = u.head;
    if (u.exchange.endsWithConnection && contentLength !== -1 && contentLength !== writer.length) {
      use.free();
      return;
    }
    use.writer = null;
    use.settled = true;
    if (u.r.debugging) {
      u.r.log(DEBUG, `http file cache update: "${use.key}"`);
    }
    if (keepResponse(use, writer)) {
      use.written = writer.length;
    } else {
      use.unlock();
    }
  }

  // nginx: the cache part of ngx_http_upstream_finalize_request.
  finish(u: UpstreamRequest, code: number): void {
    const use = useOf(u);
    if (use?.disk === undefined || use.settled) {
      return;
    }
    if (u.cacheable && use.writer === null && (code === 502 || code === 504)) {
      storeError(u, use, this.conf, code);
    }
    use.free();
  }
}

/** Why a response is not kept, as far as its head says so. */
const storeReason = (use: CacheUse): string =>
  use.noCache
    ? 'its headers forbid that'
    : use.expired
      ? 'it has expired'
      : use.reason === 'not in cache' || use.reason === ''
        ? 'nothing gives it a lifetime'
        : use.reason;

/** nginx: NGX_DECLINED where there is no entry. */
function logLookup(r: Request, entry: CacheEntry | undefined): void {
  r.log(DEBUG, `http file cache exists: ${entry === undefined ? DECLINED : 0} e:${entry === undefined ? 0 : 1}`);
  if (entry !== undefined) {
    r.log(DEBUG, `cache file: "${entry.path}"`);
  }
}

/** Makes the cache of a location; undefined where there is none. `key` makes a request's key unless `*_cache_key` gives it. */
export function makeLocationCache(
  family: CacheFamily,
  conf: Readonly<CacheSettings>,
  key: (u: UpstreamRequest) => string,
  http: HttpRuntime,
  env: WorkerEnv,
): LocationCache | undefined {
  const choice = conf.cache;
  const { cacheKey, cachePurge } = conf;
  const keyOf = cacheKey === undefined ? key : (u: UpstreamRequest): string => cacheKey.eval(u.r);
  if (choice !== null) {
    return new LocationCache(conf, { disk: cacheChooser(family, choice, http, env), key: keyOf });
  }
  // Purges are answered here even where nothing is kept: backends do not get to see them.
  const answersPurges = cachePurge !== null && 'method' in cachePurge;
  return answersPurges ? new LocationCache(conf, { disk: () => undefined, key: keyOf }) : undefined;
}
