import { rawTokens } from '../../shared/config/language/raw-tokens.js';

/** A comment that silences rules: `# lint-ignore RULE[, RULE ...]: REASON`. */
export interface Silence {
  readonly rules: readonly string[];
  /** Empty when none is given: such a comment silences nothing. */
  readonly reason: string;
  /** The line it stands on, from 1. */
  readonly line: number;
}

/** The silencing comments of a text, by the line of the directive that they are for: the one on their line, else the next one. */
export function silences(text: string): ReadonlyMap<number, readonly Silence[]> {
  const found = new Map<number, Silence[]>();
  let line = 1;
  let scanned = 0;
  let wordLine = 0;
  let waiting: Silence[] = [];
  for (const token of rawTokens(text)) {
    line += lineFeeds(text, scanned, token.start);
    scanned = token.start;
    if (token.kind === 'comment') {
      const parts = /^#\s*lint-ignore\s+([\w-]+(?:\s*,\s*[\w-]+)*)\s*(?::\s*(.*?))?\s*$/.exec(token.text);
      if (parts === null) {
        continue;
      }
      const silence = { rules: parts[1]!.split(/\s*,\s*/), reason: parts[2] ?? '', line };
      if (wordLine === line) {
        found.set(line, [...(found.get(line) ?? []), silence]);
      } else {
        waiting.push(silence);
      }
    } else if (token.kind === 'word') {
      wordLine = line;
      if (waiting.length > 0) {
        found.set(line, [...(found.get(line) ?? []), ...waiting]);
        waiting = [];
      }
    }
  }
  return found;
}

function lineFeeds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) {
    count++;
  }
  return count;
}
