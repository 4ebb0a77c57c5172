import type { RegexNode } from './ast.js';
import { complement, fullSet, includesSet, setOf } from './byte-set.js';
import { stepsOf } from './cost.js';
import { isAnchored } from './tree.js';

/** Steps, of about 1 ns in machine code, that RegExp may be expected to need at most. */
const stepBudget = 16_000_000;

/** The budget for subjects shorter than 1000, for which V8 may still interpret its bytecode, ten times as slowly. */
const shortBudget = 4_000_000;

const notNewline = complement(setOf('\n'));

/**
 * A pattern that begins with `.*` matches at the start of a line or nowhere, since the run takes what precedes any other
 * place; knowing it saves trying every place in turn. 'subject' where the run takes newlines as well.
 */
export function leadingRun(root: RegexNode): 'line' | 'subject' | undefined {
  let node = root;
  while (node.t === 'capture' || (node.t === 'sequence' && node.items.length > 0)) {
    node = node.t === 'capture' ? node.body : node.items[0]!;
  }
  if (node.t !== 'repeat' || node.max !== Number.POSITIVE_INFINITY || node.mode === 'possessive' || node.body.t !== 'set') {
    return undefined;
  }
  return includesSet(node.body.set, fullSet()) ? 'subject' : includesSet(node.body.set, notNewline) ? 'line' : undefined;
}

/**
 * Returns the length up to which RegExp, which backtracks without a limit, is sure to finish in some milliseconds:
 * Infinity where its steps grow no faster than the subject, -1 where they are exponential.
 */
export function longestSafe(root: RegexNode, anchored: boolean): number {
  const everywhere = !anchored && !isAnchored(root);
  const steps = (length: number) => (everywhere ? length + 1 : 1) * (stepsOf(root, length) + 1);
  if (steps(8192) <= stepBudget && steps(65536) < 10 * steps(8192)) {
    return Number.POSITIVE_INFINITY;
  }
  for (let length = 65536; length > 16; length /= 2) {
    if (steps(length) <= (length < 1000 ? shortBudget : stepBudget)) {
      const between = 1.5 * length;
      return length < 1000 && steps(between) <= shortBudget ? between : length;
    }
  }
  return -1;
}
