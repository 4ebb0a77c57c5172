import { createHash, type Hash, timingSafeEqual } from 'node:crypto';
import { readSync } from 'node:fs';
import { CRIT } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import type { Request } from '../../http/request/request.js';
import type { RequestBody } from '../../http/request/request-body.js';
import { isInnerList, parseDictionary } from '../../http/syntax/structured-fields.js';

/** The algorithms of RFC 9530 that are safe; others are passed over. */
const HASHES: ReadonlyMap<string, string> = new Map([
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
]);

/** A body in a file is read so many bytes at a time, with other requests in between. */
const PIECE = 256 * 1024;

/** The digests that a Content-Digest field has, by hash; a text says why it cannot be used. */
export function readDigests(lines: readonly string[]): ReadonlyMap<string, Buffer> | string {
  const said = parseDictionary(lines.join(', '));
  const digests = new Map<string, Buffer>();
  for (const [name, value] of said ?? []) {
    const hash = HASHES.get(name);
    if (hash !== undefined) {
      if (isInnerList(value) || value.bare.type !== 'bytes') {
        return 'the field "Content-Digest" is not well formed';
      }
      digests.set(hash, value.bare.value);
    }
  }
  if (said === undefined) {
    return 'the field "Content-Digest" is not well formed';
  }
  return digests.size === 0 ? 'the field "Content-Digest" has neither sha-256 nor sha-512' : digests;
}

/**
 * Compares a request's body with all digests of it. Calls back at once for one in memory, later for one in a file, and not at all once the
 * request has ended.
 */
export function checkDigests(r: Request, body: RequestBody, digests: ReadonlyMap<string, Buffer>, done: (right: boolean) => void): void {
  const hashes = [...digests.keys()].map((name) => createHash(name));
  const judge = (): void => {
    const expected = [...digests.values()];
    done(hashes.every((hash, i) => same(hash.digest(), expected[i]!)));
  };
  const bytes = body.inMemory();
  if (bytes !== undefined) {
    update(hashes, bytes);
    judge();
    return;
  }
  hashFile(r, body, hashes, 0, judge, () => done(false));
}

const same = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other);

function update(hashes: readonly Hash[], bytes: Buffer): void {
  for (const hash of hashes) {
    hash.update(bytes);
  }
}

function hashFile(r: Request, body: RequestBody, hashes: readonly Hash[], from: number, done: () => void, failed: () => void): void {
  const piece = Buffer.alloc(Math.min(PIECE, body.length - from));
  let count: number;
  try {
    count = readSync(body.file!.fd, piece, 0, piece.length, from);
  } catch (error) {
    r.log(CRIT, `read() "${body.file!.path}" failed (${errnoText(error)})`);
    failed();
    return;
  }
  update(hashes, piece.subarray(0, count));
  if (from + count === body.length) {
    done();
  } else if (count === 0) {
    failed();
  } else {
    // The file is closed with the request.
    setImmediate(() => r.finished || hashFile(r, body, hashes, from + count, done, failed));
  }
}
