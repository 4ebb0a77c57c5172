import { ownValue } from '../collection/own-value.js';

/** What [:name:] stands for in the C locale, as the inside of a regular expression's brackets. */
const classes: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  blank: ' \\t',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t-\\r ',
  upper: 'A-Z',
  xdigit: '0-9A-Fa-f',
};

/**
 * The regular expression that matches what one part of a path with `*`, `?` or `[...]` matches, or undefined if the part has none of
 * them and so stands for one name. A leading dot must be matched by a dot. glibc: fnmatch with FNM_PERIOD, in the C locale
 */
export function wildcardRegExp(part: string): RegExp | undefined {
  let source = part.startsWith('*') || part.startsWith('?') || part.startsWith('[') ? '^(?!\\.)' : '^';
  let wild = false;
  for (let i = 0; i < part.length; i++) {
    const ch = part.charAt(i);
    if (ch === '*') {
      wild = true;
      source += source.endsWith('.*') ? '' : '.*';
    } else if (ch === '?') {
      wild = true;
      source += '.';
    } else if (ch === '[') {
      const bracket = bracketExpression(part, i);
      if (bracket === undefined) {
        source += '\\[';
      } else {
        wild = true;
        source += bracket.source;
        i = bracket.last;
      }
    } else if (ch === '\\' && i + 1 < part.length) {
      i++;
      source += literal(part.charAt(i));
    } else {
      source += literal(ch);
    }
  }
  return wild ? new RegExp(`${source}$`, 's') : undefined;
}

/** Matches nothing; stands for an impossible bracket expression. */
const never = '(?!)';

/** Reads `[...]` that opens at `from`. Undefined if it is never closed, and so is a plain `[`. */
function bracketExpression(part: string, from: number): { source: string; last: number } | undefined {
  let i = from + 1;
  const negated = part.charAt(i) === '!' || part.charAt(i) === '^';
  if (negated) {
    i++;
  }
  let set = '';
  let impossible = false;
  for (let first = true; first || part.charAt(i) !== ']'; first = false) {
    const named = /\[:([a-z]+):\]/y;
    named.lastIndex = i;
    const name = named.exec(part)?.[1];
    if (name !== undefined) {
      set += ownValue(classes, name) ?? '';
      impossible ||= !Object.hasOwn(classes, name);
      i = named.lastIndex;
      continue;
    }
    const low = member(part, i);
    if (low === undefined) {
      return undefined;
    }
    i = low.next;
    let high = low;
    if (part.charAt(i) === '-' && part.charAt(i + 1) !== ']') {
      const end = member(part, i + 1);
      if (end === undefined) {
        return undefined;
      }
      high = end;
      i = high.next;
    }
    if (low.ch === '' || high.ch === '') {
      impossible = true;
    } else if (low.ch <= high.ch) {
      set += `${literal(low.ch)}-${literal(high.ch)}`;
    }
  }
  if (impossible || (set === '' && !negated)) {
    return { source: never, last: i };
  }
  return { source: `[${negated ? '^' : ''}${set}]`, last: i };
}

/**
 * One character of a bracket expression: itself, escaped by a backslash, or written `[.x.]` or `[=x=]`. It is '' for a `[.` that names
 * no single character; undefined where the part ends.
 */
function member(part: string, at: number): { ch: string; next: number } | undefined {
  if (at >= part.length) {
    return undefined;
  }
  const ch = part.charAt(at);
  if (ch === '[' && part.charAt(at + 1) === '.') {
    const close = part.indexOf('.]', at + 2);
    return close < 0 ? { ch: '', next: at + 2 } : { ch: close === at + 3 ? part.charAt(at + 2) : '', next: close + 2 };
  }
  if (ch === '[' && part.charAt(at + 1) === '=' && part.startsWith('=]', at + 3)) {
    return { ch: part.charAt(at + 2), next: at + 5 };
  }
  if (ch === '\\') {
    return at + 1 < part.length ? { ch: part.charAt(at + 1), next: at + 2 } : undefined;
  }
  return { ch, next: at + 1 };
}

/** A character as it stands for itself in a regular expression, inside brackets or out. */
function literal(ch: string): string {
  return /[0-9A-Za-z_]/.test(ch) ? ch : `\\x${ch.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
