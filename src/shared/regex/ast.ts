import type { ByteSet } from './byte-set.js';

/** Whether a repetition takes as much as it can, as little as it can, or all without giving back. */
export type RepeatMode = 'greedy' | 'lazy' | 'possessive';

/**
 * Zero-width tests of the position: the subject's start, its very end (\z), its end or before a final newline (\Z and `$`),
 * a line's start and end (`^` and `$` under (?m)), a word boundary or none.
 */
export type AssertKind = 'start' | 'end' | 'endOrNewline' | 'lineStart' | 'lineEnd' | 'boundary' | 'notBoundary';

/** One byte out of a set; a literal character is a set of one, or of two under caseless matching. */
export interface SetNode {
  readonly t: 'set';
  readonly set: ByteSet;
}

/** One node after the other. */
export interface SequenceNode {
  readonly t: 'sequence';
  readonly items: readonly RegexNode[];
}

/** The first of several nodes with which the rest matches too. */
export interface AlternativesNode {
  readonly t: 'alternatives';
  readonly items: readonly RegexNode[];
}

/** A capturing group. */
export interface CaptureNode {
  readonly t: 'capture';
  readonly index: number;
  readonly body: RegexNode;
}

/** A body that, once matched, is not tried in another way: `(?>...)`. */
export interface AtomicNode {
  readonly t: 'atomic';
  readonly body: RegexNode;
}

/** A lookaround; in a lookbehind every alternative of the body has a fixed length. */
export interface LookNode {
  readonly t: 'look';
  readonly behind: boolean;
  readonly negative: boolean;
  readonly body: RegexNode;
}

/** A repetition of a body. */
export interface RepeatNode {
  readonly t: 'repeat';
  readonly body: RegexNode;
  readonly min: number;
  /** Infinity when there is no upper bound. */
  readonly max: number;
  readonly mode: RepeatMode;
}

/** A test of the position that consumes nothing. */
export interface AssertNode {
  readonly t: 'assert';
  readonly kind: AssertKind;
}

/** A back reference; several groups may bear one name, and the first that is set counts. */
export interface BackReferenceNode {
  readonly t: 'backReference';
  readonly groups: readonly number[];
  readonly caseless: boolean;
}

/** `(?(test)yes|no)`: the test is a lookaround, or whether any of some groups is set. */
export interface ConditionNode {
  readonly t: 'condition';
  readonly test: LookNode | readonly number[];
  readonly yes: RegexNode;
  readonly no: RegexNode;
}

/** \K: what is matched so far is not part of the match. */
export interface KeepNode {
  readonly t: 'keep';
}

/** A parsed regular expression, after options such as caseless were worked into its sets. */
export type RegexNode =
  | SetNode
  | SequenceNode
  | AlternativesNode
  | CaptureNode
  | AtomicNode
  | LookNode
  | RepeatNode
  | AssertNode
  | BackReferenceNode
  | ConditionNode
  | KeepNode;

/** Matches the empty string. */
export const emptyNode: SequenceNode = { t: 'sequence', items: [] };

/** A named group. */
export interface GroupName {
  readonly name: string;
  readonly index: number;
}

/** Returns the length in bytes that a node always matches, or undefined when it varies. */
export function fixedLength(node: RegexNode): number | undefined {
  switch (node.t) {
    case 'set':
      return 1;
    case 'sequence': {
      let total = 0;
      for (const item of node.items) {
        const length = fixedLength(item);
        if (length === undefined) {
          return undefined;
        }
        total += length;
      }
      return total;
    }
    case 'alternatives':
      return commonLength(node.items);
    case 'capture':
    case 'atomic':
      return fixedLength(node.body);
    case 'repeat': {
      const length = fixedLength(node.body);
      return node.min === node.max && length !== undefined ? length * node.min : undefined;
    }
    case 'condition':
      return commonLength([node.yes, node.no]);
    case 'backReference':
      return undefined;
    default:
      return 0;
  }
}

function commonLength(items: readonly RegexNode[]): number | undefined {
  const [first, ...others] = items.map(fixedLength);
  return others.every((length) => length === first) ? first : undefined;
}
