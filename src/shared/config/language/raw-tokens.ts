/** What a token is. Comments are tokens; white space is told by `lineFeeds`. */
export type RawTokenKind = 'word' | ';' | '{' | '}' | 'comment';

/** One token as it stands in the text, quotes and escapes included. */
export interface RawToken {
  readonly kind: RawTokenKind;
  readonly text: string;
  /** Where it starts: an index into the text. */
  readonly start: number;
  /** How many line feeds stand between the token before and this one. */
  readonly lineFeeds: number;
}

/**
 * Splits configuration text into tokens without losing any: for tools that change or look at text, such as the formatter. Words end where
 * the {@link Lexer}'s end. A text that stops in the middle of a word gives the part that is there.
 */
export function rawTokens(text: string): RawToken[] {
  const tokens: RawToken[] = [];
  let lineFeeds = 0;
  let at = 0;
  while (at < text.length) {
    const ch = text[at]!;
    if (ch === '\n') {
      lineFeeds++;
      at++;
      continue;
    }
    if (isBlank(ch)) {
      at++;
      continue;
    }
    const end = tokenEnd(text, at);
    tokens.push({ kind: kindOf(ch), text: text.slice(at, end), start: at, lineFeeds });
    lineFeeds = 0;
    at = end;
  }
  return tokens;
}

const isBlank = (ch: string): boolean => ch === ' ' || ch === '\t' || ch === '\r';

function kindOf(first: string): RawTokenKind {
  return first === '#' ? 'comment' : first === ';' || first === '{' || first === '}' ? first : 'word';
}

function tokenEnd(text: string, start: number): number {
  const first = text[start]!;
  if (first === ';' || first === '{' || first === '}') {
    return start + 1;
  }
  if (first === '#') {
    const end = text.indexOf('\n', start);
    return end < 0 ? text.length : end;
  }
  return first === '"' || first === "'" ? quotedEnd(text, start, first) : plainEnd(text, start);
}

function quotedEnd(text: string, start: number, quote: string): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') {
      at++;
    } else if (text[at] === quote) {
      return at + 1;
    }
  }
  return text.length;
}

/** In a word without quotes, `${` opens no block, and `#`, `}` and quotes are characters like others. */
function plainEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const ch = text[at]!;
    if (ch === '\\') {
      at++;
    } else if (ch === ';' || ch === '\n' || isBlank(ch) || (ch === '{' && text[at - 1] !== '$')) {
      return at;
    }
  }
  return text.length;
}
