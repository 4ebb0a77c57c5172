import type { RegexNode, RepeatNode } from './ast.js';
import { type ByteSet, complement, hasByte, members } from './byte-set.js';
import { alwaysNullable, nullable, some } from './tree.js';

/**
 * Writes a tree as the source of a JavaScript RegExp without flags, or returns undefined when none means the same: for back
 * references (PCRE fails on an unset group, JavaScript goes on), atomic groups and possessive quantifiers, conditions, \K,
 * and where the two disagree about the captures of a repeated group or about an empty turn of a loop.
 * With `finalNewline` the source is for subjects that may end in a newline, before which `$` matches too.
 */
export function emitJs(root: RegexNode, finalNewline: boolean): string | undefined {
  const seen = new Set<number>();
  return isFaithful(root, seen) ? emit(root, finalNewline) : undefined;
}

function isFaithful(node: RegexNode, seen: Set<number>): boolean {
  switch (node.t) {
    case 'set':
    case 'assert':
      return true;
    case 'sequence':
    case 'alternatives':
      return node.items.every((item) => isFaithful(item, seen));
    case 'capture':
      // (?|...) gives one number to several groups.
      if (seen.has(node.index)) {
        return false;
      }
      seen.add(node.index);
      return isFaithful(node.body, seen);
    case 'look':
      return !(node.behind && hasCapture(node.body)) && isFaithful(node.body, seen);
    case 'repeat':
      return isFaithfulRepeat(node) && isFaithful(node.body, seen);
    default:
      return false;
  }
}

function isFaithfulRepeat(node: RepeatNode): boolean {
  if (node.mode === 'possessive') {
    return false;
  }
  if (nullable(node.body) && (node.max > 1 || hasCapture(node.body)) && !isPlainOptional(node)) {
    return false;
  }
  return node.max <= 1 || setsEveryCapture(node.body);
}

/** `(X)?` where X can be empty anyway: the same as X. */
function isPlainOptional(node: RepeatNode): boolean {
  return node.mode === 'greedy' && node.min === 0 && node.max === 1 && alwaysNullable(node.body);
}

function hasCapture(node: RegexNode): boolean {
  return some(node, (inner) => inner.t === 'capture');
}

/** JavaScript clears a loop's captures at each turn, PCRE keeps them: no difference where each turn sets all of them. */
function setsEveryCapture(node: RegexNode): boolean {
  switch (node.t) {
    case 'sequence':
      return node.items.every(setsEveryCapture);
    case 'capture':
      return setsEveryCapture(node.body);
    case 'repeat':
      return node.min > 0 ? setsEveryCapture(node.body) : !hasCapture(node);
    default:
      return !hasCapture(node);
  }
}

function emit(node: RegexNode, finalNewline: boolean): string {
  switch (node.t) {
    case 'set':
      return emitSet(node.set);
    case 'sequence':
      return node.items.map((item) => (item.t === 'alternatives' ? `(?:${emit(item, finalNewline)})` : emit(item, finalNewline))).join('');
    case 'alternatives':
      return node.items.map((item) => emit(item, finalNewline)).join('|');
    case 'capture':
      return `(${emit(node.body, finalNewline)})`;
    case 'look':
      return `(?${node.behind ? '<' : ''}${node.negative ? '!' : '='}${emit(node.body, finalNewline)})`;
    case 'repeat':
      if (isPlainOptional(node)) {
        return `(?:${emit(node.body, finalNewline)})`;
      }
      return emitOperand(node.body, finalNewline) + emitCounts(node) + (node.mode === 'lazy' ? '?' : '');
    case 'assert':
      switch (node.kind) {
        case 'start':
          return '^';
        case 'end':
          return '$';
        case 'endOrNewline':
          return finalNewline ? '(?=\\n?$)' : '$';
        case 'lineStart':
          return '(?:^|(?<=\\n)(?=[^]))';
        case 'lineEnd':
          return '(?![^\\n])';
        case 'boundary':
          return '\\b';
        default:
          return '\\B';
      }
    default:
      throw new Error(`no JavaScript for ${node.t}`);
  }
}

function emitOperand(node: RegexNode, finalNewline: boolean): string {
  const source = emit(node, finalNewline);
  return node.t === 'set' || node.t === 'capture' ? source : `(?:${source})`;
}

function emitCounts({ min, max }: RepeatNode): string {
  if (max === Number.POSITIVE_INFINITY) {
    return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  }
  if (min === 0 && max === 1) {
    return '?';
  }
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

function emitSet(set: ByteSet): string {
  const bytes = members(set);
  if (bytes.length === 1) {
    return emitByte(bytes[0]!);
  }
  return bytes.length > 128 ? `[^${emitRanges(complement(set))}]` : `[${emitRanges(set)}]`;
}

function emitRanges(set: ByteSet): string {
  let source = '';
  for (let c = 0; c < 256; c++) {
    if (!hasByte(set, c)) {
      continue;
    }
    const first = c;
    while (c < 255 && hasByte(set, c + 1)) {
      c++;
    }
    source += first === c ? emitByte(first) : `${emitByte(first)}-${emitByte(c)}`;
  }
  return source;
}

function emitByte(byte: number): string {
  const c = String.fromCharCode(byte);
  return /[0-9A-Za-z_]/.test(c) ? c : `\\x${byte.toString(16).padStart(2, '0')}`;
}
