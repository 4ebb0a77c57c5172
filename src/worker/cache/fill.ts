import { WARN } from '../../shared/log/level.js';
import { nowSeconds } from '../../shared/time/unix-time.js';
import { md5Hex } from '../digest/md5.js';
import { firstTrue } from '../http/request/predicates.js';
import { parseHttpDate } from '../text/http-date.js';
import type { UpstreamRequest } from '../upstream/exchange/upstream-request.js';
import { HeaderKind } from '../upstream/response/header-kinds.js';
import { diskSize } from './disk-cache.js';
import { type CacheSettings, validSeconds } from './settings.js';
import { joinTags, MAX_TAG_BYTES, MAX_TAG_LENGTH, MAX_TAGS, readTags } from './tags.js';
import type { CacheUse } from './use.js';
import { variantHash, varyText } from './vary.js';
import { CacheWriter, type HeaderStart } from './writer.js';

/**
 * Decides, with the head of a response at hand, whether its body is kept, and starts its file. nginx: the cache part of
 * ngx_http_upstream_send_response.
 */
export function startFill(u: UpstreamRequest, use: CacheUse, conf: Readonly<CacheSettings>): void {
  const { r, head } = u;
  const refusing = firstTrue(r, conf.noCache);
  if (refusing !== undefined) {
    u.allowCaching(false);
    use.reason = `no_cache: ${refusing.text}`;
  }
  if (u.cacheable && head.status !== 0) {
    const now = nowSeconds();
    if (use.validUntil === 0) {
      const seconds = validSeconds(conf.cacheValid, head.status);
      if (seconds !== 0) {
        use.validUntil = now + seconds;
      }
    }
    if (use.validUntil !== 0 && r.http.env.rehearsing) {
      // It would be kept: that much is to be seen, and no file is made.
      use.foreseen = true;
      chooseTags(u, use, conf);
      u.allowCaching(false);
      use.free();
      return;
    }
    if (use.validUntil !== 0) {
      use.writer = makeWriter(u, use, conf, now);
      u.copyBodyTo(use.writer);
      return;
    }
    use.reason = 'no lifetime';
  }
  u.allowCaching(false);
  use.free();
}

function makeWriter(u: UpstreamRequest, use: CacheUse, conf: Readonly<CacheSettings>, now: number): CacheWriter {
  const { r, head } = u;
  chooseFile(u, use);
  chooseTags(u, use, conf);
  const validators = head.status === 200 || head.status === 206;
  const modified = validators ? head.value(HeaderKind.LAST_MODIFIED) : undefined;
  const lines: string[] = [];
  for (const { kind, name, value } of head.headers) {
    if (kind !== HeaderKind.DROPPED) {
      lines.push(name, value);
    }
  }
  return writerOf(u, use, {
    key: use.key,
    validUntil: use.validUntil,
    updating: use.updating,
    onError: use.onError,
    lastModified: modified === undefined ? -1 : parseHttpDate(modified),
    date: now,
    contentLength: head.contentLength,
    status: head.status,
    error: 0,
    vary: use.vary,
    variant: use.vary === '' ? '' : variantHash(use.main, varyText(r, use.vary)),
    etag: (validators ? head.value(HeaderKind.ETAG) : undefined) ?? '',
    reason: head.statusText,
    lines,
    tags: joinTags(use.tags),
  });
}

/** What `*_cache_tag` gives the response at hand. */
export function chooseTags({ r }: UpstreamRequest, use: CacheUse, { cacheTag }: Readonly<CacheSettings>): void {
  if (cacheTag.length === 0) {
    return;
  }
  const { tags, dropped } = readTags(cacheTag.map((value) => value.eval(r)));
  use.tags = tags;
  if (dropped > 0) {
    r.log(
      WARN,
      `${dropped} cache tags are beyond the limits of ${MAX_TAGS} tags and ${MAX_TAG_BYTES} bytes, or longer than ${MAX_TAG_LENGTH}, and are left out, key "${use.key}"`,
    );
  }
}

/** A variant stays in its file only while the response varies by the same. nginx: ngx_http_file_cache_update_variant. */
function chooseFile(u: UpstreamRequest, use: CacheUse): void {
  if (use.main === '') {
    use.main = md5Hex(use.key);
  }
  if (use.hash === '') {
    use.hash = use.main;
  }
  if (!use.secondary) {
    use.hash = use.main;
    return;
  }
  if (use.vary === '' || variantHash(use.main, varyText(u.r, use.vary)) !== use.hash) {
    use.hash = use.main;
  }
}

function writerOf(u: UpstreamRequest, use: CacheUse, header: HeaderStart): CacheWriter {
  const disk = use.disk!;
  const folder = disk.index.def.useTempPath ? u.conf.settings.tempPath.path : undefined;
  return new CacheWriter(u.r, use.hash, disk.pathOf(use.hash), folder, header);
}

/** Remembers that requests for this key are answered with an error, if that status has a lifetime. */
export function storeError(u: UpstreamRequest, use: CacheUse, conf: Readonly<CacheSettings>, status: number): void {
  const now = nowSeconds();
  if (use.validUntil === 0) {
    const seconds = validSeconds(conf.cacheValid, status);
    if (seconds === 0) {
      return;
    }
    use.validUntil = now + seconds;
  }
  chooseFile(u, use);
  chooseTags(u, use, conf);
  if (u.r.http.env.rehearsing) {
    use.foreseen = true;
    return;
  }
  const writer = writerOf(u, use, {
    key: use.key,
    validUntil: use.validUntil,
    updating: 0,
    onError: 0,
    lastModified: -1,
    date: now,
    contentLength: -1,
    status,
    error: status,
    vary: '',
    variant: '',
    etag: '',
    reason: undefined,
    lines: [],
    tags: joinTags(use.tags),
  });
  keepResponse(use, writer);
}

/**
 * Ends the writing of a response: its file gets its place, and the index hears of it, unless it was purged meanwhile. The lock is given
 * back once the file is written. Returns whether the response is kept, or may be where that shows at the end of the tick.
 */
export function keepResponse(use: CacheUse, writer: CacheWriter): boolean {
  const { hash, key, tags, askedAt, lockHash, lockId } = use;
  const disk = use.disk!;
  const purged = disk.purgedSince(key, tags, askedAt);
  if (purged !== 'no') {
    use.reason = 'purged meanwhile';
  }
  const size = writer.complete(purged, disk.madeAt(askedAt));
  if (size === 0) {
    return false;
  }
  const main = hash === use.main ? null : use.main;
  const row = { hash, key, main, size: diskSize(size), tags };
  let moved = false;
  use.lockId = 0;
  const atOnce = disk.index.marks.unlessPurged(key, tags, askedAt, purged, {
    work() {
      moved = writer.move();
    },
    // Whoever purges by a tag or a prefix looks for the file there.
    note() {
      if (moved) {
        disk.index.put(row, Date.now());
      }
    },
    after() {
      if (moved) {
        disk.stored(row, askedAt, lockHash, lockId);
        return;
      }
      writer.abort();
      if (lockId !== 0) {
        disk.unlock(lockHash, lockId);
      }
    },
  });
  use.stored = moved || !atOnce;
  return use.stored;
}
