/** How many tags an entry has at most; the next two: how many bytes a tag has, and all of them. */
export const MAX_TAGS = 512;
export const MAX_TAG_LENGTH = 1024;
export const MAX_TAG_BYTES = 16 * 1024;

/** What texts have of tags: each tag once, in their order, as far as the limits go. */
export interface FoundTags {
  readonly tags: readonly string[];
  /** How many were beyond the limits. */
  readonly dropped: number;
}

const NONE: FoundTags = { tags: [], dropped: 0 };
const COMMA = 0x2c;

/** Whether a character stands between tags: a comma, white space, or another control character. */
const isSeparator = (c: number): boolean => c <= 0x20 || c === COMMA || c === 0x7f;

/** Reads the tags of texts as backends write them: `a, b` as well as `a b`. Capital letters and small ones are different. */
export function readTags(texts: readonly string[]): FoundTags {
  const found = new Set<string>();
  let dropped = 0;
  let bytes = 0;
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i]!;
    for (let at = 0; at < text.length; at++) {
      if (isSeparator(text.charCodeAt(at))) {
        continue;
      }
      const start = at;
      while (at < text.length && !isSeparator(text.charCodeAt(at))) {
        at++;
      }
      const length = at - start;
      const fits = length <= MAX_TAG_LENGTH && found.size < MAX_TAGS && bytes + length <= MAX_TAG_BYTES;
      if (!fits) {
        dropped++;
        continue;
      }
      const tag = text.slice(start, at);
      if (!found.has(tag)) {
        found.add(tag);
        bytes += length;
      }
    }
  }
  return found.size === 0 && dropped === 0 ? NONE : { tags: [...found], dropped };
}

/** Tags as the header of a cache file has them. */
export const joinTags = (tags: readonly string[]): string => tags.join(' ');

/** ... and back. */
export const splitTags = (text: string): readonly string[] => (text === '' ? NONE.tags : text.split(' '));

/** Whether the tags of a header have this one. */
export const hasTag = (text: string, tag: string): boolean => text !== '' && ` ${text} `.includes(` ${tag} `);

/** How many entries without tags would take the room in the index that these tags take. */
export function roomOf(tags: readonly string[]): number {
  let room = 0;
  for (const tag of tags) {
    room += Math.ceil((tag.length + 64) / 128);
  }
  return room;
}
