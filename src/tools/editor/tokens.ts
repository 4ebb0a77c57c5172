import { rawTokens } from '../../shared/config/language/raw-tokens.js';

/** What an editor colours, in the order of the protocol's legend. */
export const TOKEN_TYPES = ['keyword', 'comment', 'string', 'number', 'variable', 'regexp', 'enumMember'] as const;
export type ColourType = (typeof TOKEN_TYPES)[number];

/** A coloured piece of a text; bytes. No piece goes over the end of a line, and none lies in another. */
export interface ColouredToken {
  readonly start: number;
  readonly end: number;
  readonly type: ColourType;
}

/** What numbers look like, with units, and what switches are. */
const NUMBER = /^-?\d+(?:\.\d+)?(?:[kmg]|ms|[smhdwMy]|r\/[sm]|%)?$/i;
const SWITCH = /^(?:on|off|any|none|default)$/;
/** Directives whose word behind `~` is a pattern; for others `~` begins one, too. */
const PATTERN_NEXT = /^~\*?$/;

/** The coloured pieces of a text, in its order. */
export function tokensOf(text: string): readonly ColouredToken[] {
  const tokens: ColouredToken[] = [];
  let index = 0;
  let before = '';
  for (const { kind, text: word, start } of rawTokens(text)) {
    if (kind === 'comment') {
      tokens.push({ start, end: start + word.length, type: 'comment' });
      continue;
    }
    if (kind !== 'word') {
      index = 0;
      before = '';
      continue;
    }
    addWord(tokens, word, start, typeOf(word, index, before));
    before = word;
    index++;
  }
  return tokens;
}

function typeOf(word: string, index: number, before: string): ColourType | undefined {
  if (index === 0) {
    return 'keyword';
  }
  if (PATTERN_NEXT.test(before) || /^["']?~/.test(word)) {
    return 'regexp';
  }
  return /^["']/.test(word) ? 'string' : NUMBER.test(word) ? 'number' : SWITCH.test(word) ? 'enumMember' : undefined;
}

/** Variables stand out of the word that they are in; in a pattern, `$` is no variable. */
function addWord(tokens: ColouredToken[], word: string, start: number, type: ColourType | undefined): void {
  let at = 0;
  if (type !== 'regexp') {
    for (const found of word.matchAll(/\$(?:\{\w+\}|\w+)/g)) {
      addLines(tokens, word, start, at, found.index, type);
      at = found.index + found[0].length;
      addLines(tokens, word, start, found.index, at, 'variable');
    }
  }
  addLines(tokens, word, start, at, word.length, type);
}

/** A quoted word may have line feeds in it. */
function addLines(tokens: ColouredToken[], word: string, start: number, from: number, to: number, type: ColourType | undefined): void {
  if (type === undefined) {
    return;
  }
  for (let at = from; at < to; ) {
    const feed = word.indexOf('\n', at);
    const end = feed < 0 || feed > to ? to : feed;
    if (end > at) {
      tokens.push({ start: start + at, end: start + end, type });
    }
    at = end + 1;
  }
}
