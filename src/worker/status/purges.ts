import { byteText, nativeText } from '../../shared/text/native-text.js';
import type { DiskCache } from '../cache/disk-cache.js';
import { purge, type Wish } from '../cache/purge.js';
import { wishesText } from '../cache/purge-question.js';
import { readTags } from '../cache/tags.js';
import { type Answer, ApiRefusal, type Question } from './api-question.js';
import { takeCaches } from './service.js';
import type { StatusSource } from './source.js';

const PATH = /^\d+\/http\/caches\/([^/]*)\/purge$/;

/** Whether the API is asked to purge a cache. */
export const isPurge = ({ path }: Question): boolean => PATH.test(path);

/** What is said of a purge in JSON: one of the first four, and whether it is soft. */
export interface SaidPurge {
  readonly key?: unknown;
  readonly prefix?: unknown;
  readonly tag?: unknown;
  readonly tags?: unknown;
  readonly soft?: unknown;
}

/** What is meant by it; a string says what is wrong. */
export function wishesOf({ key, prefix, tag, tags, soft = false }: SaidPurge): readonly Wish[] | string {
  const given = [key, prefix, tag, tags].filter((value) => value !== undefined);
  if (given.length !== 1) {
    return 'one of "key", "prefix", "tag" and "tags" is needed';
  }
  if (typeof soft !== 'boolean') {
    return 'invalid "soft"';
  }
  const texts: unknown = tags ?? given;
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === 'string')) {
    return 'invalid text';
  }
  if (key !== undefined || prefix !== undefined) {
    return [{ what: key === undefined ? 'prefix' : 'key', text: byteText(texts[0]!), soft }];
  }
  const found = readTags(texts.map(byteText));
  if (found.dropped > 0 || found.tags.length === 0) {
    return 'the tags are too many or too long, or there are none';
  }
  return found.tags.map((text) => ({ what: 'tag', text, soft }));
}

/** The cache of a name, where this process works with it; `null`: no location uses it. */
export function cacheNamed(source: StatusSource, name: unknown): DiskCache | null | undefined {
  const found = takeCaches(source).find((cache) => nativeText(cache.name) === name);
  return found === undefined ? undefined : (found.index.disk ?? null);
}

/** Makes the purge that `POST http/caches/NAME/purge` asks for, and calls back with the answer. */
export function answerPurge(source: StatusSource, { method, write, path, body }: Question, done: (answer: Answer) => void): void {
  if (method !== 'POST' || !write) {
    throw new ApiRefusal(405, 'MethodDisabled', 'method disabled');
  }
  const disk = cacheNamed(source, PATH.exec(path)![1]);
  if (disk === undefined) {
    throw new ApiRefusal(404, 'CacheNotFound', 'cache not found');
  }
  if (disk === null) {
    throw new ApiRefusal(400, 'CacheUnused', 'no location uses the cache');
  }
  const wishes = wishesOf(saidIn(body));
  if (typeof wishes === 'string') {
    throw new ApiRefusal(400, 'PurgeFormatError', wishes);
  }
  purge(disk, wishes, (entries) => {
    done({ status: 200, body: { entries }, did: `purges cache "${disk.name}" by ${wishesText(wishes)}: ${entries} entries` });
  });
}

function saidIn(body: string | undefined): SaidPurge {
  let said: unknown;
  try {
    said = JSON.parse(body ?? '');
  } catch {
    throw new ApiRefusal(415, 'JsonError', 'JSON error');
  }
  if (typeof said !== 'object' || said === null || Array.isArray(said)) {
    throw new ApiRefusal(400, 'PurgeFormatError', 'invalid JSON');
  }
  const unknown = Object.keys(said).find((name) => !['key', 'prefix', 'tag', 'tags', 'soft'].includes(name));
  if (unknown !== undefined) {
    throw new ApiRefusal(400, 'PurgeFormatError', `unknown parameter "${unknown}"`);
  }
  return said;
}
