import { DEBUG, ERROR, NOTICE } from '../../shared/log/level.js';
import { md5Hex } from '../digest/md5.js';
import type { WorkerEnv } from '../env.js';
import { crossSite } from '../http/headers/cross-site.js';
import type { LocationRuntime } from '../http/request/http-runtime.js';
import type { PhaseHandler } from '../http/request/phase-handler.js';
import type { Request } from '../http/request/request.js';
import { discardBody } from '../http/request/request-body.js';
import { respondBuffer } from '../http/request/respond.js';
import type { Trace } from '../http/request/trace.js';
import { escapeHtml } from '../http/syntax/uri-escape.js';
import { enter, leave } from '../task/at-work.js';
import { AGAIN, OK, type Result } from '../task/codes.js';
import { cacheChooser } from './cache-chooser.js';
import type { DiskCache } from './disk-cache.js';
import type { CacheFamily } from './index-zone.js';
import { purge, type Wish } from './purge.js';
import { readWishes, wishesText } from './purge-question.js';
import type { PurgeTarget } from './purge-rule.js';
import type { CacheUse } from './use.js';

/** How a purge is answered: with a status alone, or with a page as ngx_cache_purge has it. */
export type PurgeAnswer = 'status' | 'page';

/**
 * Makes the purge that a request asks for. Returns AGAIN, and answers later, by `go`, with what a handler returns: 204 or the page, 404
 * when there was nothing. Tags that cannot be are a bad request at once.
 */
export function purgeAndAnswer(r: Request, disk: DiskCache, key: string, answer: PurgeAnswer, go: (code: Result) => void): Result {
  const wishes = readWishes(r, key, answer === 'status');
  if (wishes === undefined) {
    r.log(ERROR, 'the tags to purge are too many or too long, or there are none');
    return 400;
  }
  r.purged = true;
  if (r.debugging) {
    r.log(DEBUG, `http file cache purge: ${wishesText(wishes)}`);
  }
  purge(disk, wishes, (entries) => {
    const before = enter(r);
    tellPurge(r, disk, wishes, entries);
    if (!r.finished) {
      go(entries === 0 ? 404 : answer === 'status' ? 204 : sendPage(r, disk, wishes));
    }
    leave(before);
  });
  return AGAIN;
}

/** The line of the log. */
export function tellPurge(r: Request, disk: DiskCache, wishes: readonly Wish[], entries: number): void {
  r.log(NOTICE, `cache "${disk.name}" is purged by ${wishesText(wishes)}: ${entries} ${entries === 1 ? 'entry' : 'entries'}`);
}

/** Tells the trace of a request what it purges. */
export function tracePurge(r: Request, trace: Trace, { disk, key }: CacheUse, answer: PurgeAnswer): void {
  const wishes = readWishes(r, key, answer === 'status');
  const text = wishes === undefined ? 'tags that cannot be purged' : `cache ${disk!.name} is purged by ${wishesText(wishes)}`;
  const where = { in: r.location, directive: `${r.location.info.handler ?? 'proxy'}_cache_purge` };
  trace.add(r, 'cache', text, where, { zone: disk!.name, purge: true });
}

function sendPage(r: Request, disk: DiskCache, wishes: readonly Wish[]): Result {
  const lines = wishes.map(({ what, text }) =>
    what === 'key'
      ? `<br>Key : ${escapeHtml(text)}\n<br>Path: ${escapeHtml(disk.pathOf(md5Hex(text)))}\n`
      : `<br>Tag : ${escapeHtml(text)}\n`,
  );
  r.out.contentType = 'text/html';
  const page = `<html>
<head><title>Successful purge</title></head>
<body>
<center><h1>Successful purge</h1>
${lines.join('')}</center>
</body>
</html>
`;
  return respondBuffer(r, 200, Buffer.from(page, 'latin1'));
}

/** Makes the content handler of a location with `*_cache_purge ZONE KEY`; undefined for other locations. */
export function purgeHandler(
  family: CacheFamily,
  target: PurgeTarget | undefined,
  env: WorkerEnv,
  location: LocationRuntime,
): PhaseHandler | undefined {
  if (target === undefined) {
    return undefined;
  }
  const disk = cacheChooser(family, target.choice, location.server.http, env);
  return (r) => {
    // A picture in any page on the web would do, where the location is open to the browser's address.
    const foreign = r === r.main ? crossSite(r) : undefined;
    if (foreign !== undefined) {
      r.log(ERROR, `the cache is not purged: ${foreign}`);
      return 403;
    }
    const code = discardBody(r);
    if (code !== OK) {
      return code;
    }
    const chosen = disk(r);
    return chosen === undefined || chosen === null
      ? 500
      : purgeAndAnswer(r, chosen, target.key.eval(r), 'page', (result) => r.resume(result));
  };
}
