import { byteText, nativeText } from '../text/native-text.js';

/** At most this many bytes of a line are shown, with at most `before` of them left of the caret. */
const width = 120;
const before = 60;

/**
 * A line of configuration text with a caret under one column, as indented lines ready to print (latin1). A long line is cut around the
 * caret; control characters and bytes that are not UTF-8 are escaped. Empty if there is no such line.
 */
export function sourceExcerpt(text: string | undefined, line: number, column: number): string[] {
  const source = text === undefined ? undefined : lineOf(text, line);
  if (source === undefined) {
    return [];
  }
  let at = Math.min(column - 1, source.length);
  while (at > 0 && isContinuation(source, at)) {
    at--;
  }
  let start = at > before ? at - before : 0;
  while (isContinuation(source, start)) {
    start++;
  }
  let end = Math.min(start + width, source.length);
  while (end < source.length && isContinuation(source, end)) {
    end++;
  }
  const left = (start > 0 ? '...' : '') + printable(source.slice(start, at));
  const shown = source.slice(at, end);
  const marked = printable(shown.slice(0, wordLength(shown)));
  const right = printable(shown) + (end < source.length ? '...' : '');
  const number = String(line);
  return [
    `    ${number} | ${toLatin1(left + right)}`,
    `    ${' '.repeat(number.length)} | ${' '.repeat(columns(left))}${'^'.repeat(Math.max(1, columns(marked)))}`,
  ];
}

/** Line `line` (from 1) without its line end; undefined if the text has fewer lines or nothing follows the last line feed. */
function lineOf(text: string, line: number): string | undefined {
  let start = 0;
  for (let i = 1; i < line; i++) {
    start = text.indexOf('\n', start) + 1;
    if (start === 0) {
      return undefined;
    }
  }
  const end = text.indexOf('\n', start);
  const source = text.slice(start, end < 0 ? text.length : end);
  return source === '' && end < 0 ? undefined : source.replace(/\r$/, '');
}

/** How much to underline: the word or quoted string that the text starts with, or one character. */
function wordLength(text: string): number {
  return /^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s;{}"']+)/.exec(text)?.[0].length ?? 1;
}

/** Whether the byte at `index` goes on a UTF-8 character rather than starting one. */
function isContinuation(source: string, index: number): boolean {
  return (source.charCodeAt(index) & 0xc0) === 0x80;
}

/** Bytes (latin1) as text a terminal can show: UTF-8 decoded, tabs widened, everything else that is not printable escaped. */
function printable(bytes: string): string {
  return bytes.replace(/[\x80-\xff]+/g, decoded).replace(/[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g, (ch) => {
    if (ch === '\t') {
      return '    ';
    }
    const code = ch.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, '0')}`;
  });
}

function decoded(bytes: string): string {
  const text = nativeText(bytes);
  return text.includes('\ufffd') ? bytes.replace(/./gs, (ch) => `\\x${ch.charCodeAt(0).toString(16)}`) : text;
}

function toLatin1(text: string): string {
  return byteText(text);
}

/** Terminal columns, taking every character for one. */
function columns(text: string): number {
  let count = 0;
  for (const _ of text) {
    count++;
  }
  return count;
}
