import type { Request } from '../http/request/request.js';
import type { Wish } from './purge.js';
import { readTags } from './tags.js';

/** Headers of purging requests that name tags: those that responses have them in, and those of Varnish's xkey. */
const TAG_HEADERS = ['cache-tag', 'surrogate-key', 'xkey', 'xkey-purge'];
const SOFT_TAG_HEADER = 'xkey-softpurge';
/** Headers that make a purge soft, unless their value is 0 or empty. */
const SOFT_HEADERS = ['soft-purge', 'fastly-soft-purge'];

/** What a purging request asks for: the tags that its headers name, or else its key. undefined: tags that cannot be. */
export function readWishes(r: Request, key: string, wildcards: boolean): readonly Wish[] | undefined {
  let named = false;
  let soft = false;
  const hard: string[] = [];
  const softly: string[] = [];
  const { names, headers } = r.head;
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const value = headers[i * 2 + 1]!;
    if (name === SOFT_TAG_HEADER) {
      named = true;
      softly.push(value);
    } else if (TAG_HEADERS.includes(name)) {
      named = true;
      hard.push(value);
    } else if (SOFT_HEADERS.includes(name)) {
      soft ||= value !== '' && value !== '0';
    }
  }
  if (!named) {
    return wildcards && key.endsWith('*') ? [{ what: 'prefix', text: key.slice(0, -1), soft }] : [{ what: 'key', text: key, soft }];
  }
  const wishes: Wish[] = [];
  for (const [texts, isSoft] of [
    [hard, soft],
    [softly, true],
  ] as const) {
    const { tags, dropped } = readTags(texts);
    if (dropped > 0) {
      return undefined;
    }
    for (const text of tags) {
      wishes.push({ what: 'tag', text, soft: isSoft });
    }
  }
  return wishes.length === 0 ? undefined : wishes;
}

/** A purge as people read it. */
export const wishText = ({ what, text, soft }: Wish): string => `${what} "${text}"${soft ? ', softly' : ''}`;

/** Several in one line, the first few by name. */
export function wishesText(wishes: readonly Wish[]): string {
  const named = wishes.slice(0, 8).map(wishText).join('; ');
  return wishes.length > 8 ? `${named} and ${wishes.length - 8} more` : named;
}
