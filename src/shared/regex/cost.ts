import type { RegexNode, RepeatNode } from './ast.js';
import { type ByteSet, emptySet, fullSet, intersects, setOf, union } from './byte-set.js';

/**
 * What a backtracking matcher may have to do for a node, as upper bounds for a subject of a given length: in how many
 * ways it can match from one place, and how many steps it takes to go through all of them.
 */
interface Cost {
  readonly paths: number;
  readonly steps: number;
}

/** What the costs of a node's neighbours depend on; it depends on the node alone, not on what follows. */
interface Outline {
  /** The bytes that may come next where the node starts; all of them when unsure. */
  readonly first: ByteSet;
  /** Whether what follows the node may start where the node does. */
  readonly passes: boolean;
  /** How many first bytes are compared at most before one is consumed. */
  readonly entry: number;
  /** Whether it may look ahead over text it does not consume. */
  readonly far: boolean;
}

/** What can come after a node: the next byte, or the end of the pattern, which is success and ends all backtracking. */
interface Follow {
  readonly set: ByteSet;
  readonly entry: number;
}

const any = fullSet();
const none = emptySet();
const newline = setOf('\n');
const nothing: Follow = { set: none, entry: 1 };
const unbounded: Cost = { paths: Number.POSITIVE_INFINITY, steps: Number.POSITIVE_INFINITY };

/**
 * Bounds the steps of a backtracking matcher over a subject of a given length. A quantifier whose own bytes cannot start what
 * follows has one way to match, since giving back fails at once; one whose bytes can has as many ways as the subject has bytes,
 * and ways multiply along a sequence. A loop over a body with several ways is exponential: Infinity. Back references are not bounded.
 */
export function stepsOf(node: RegexNode, length: number): number {
  return new Estimate(length).cost(node, nothing).steps;
}

/** Returns the bytes with which a match may begin, for a node that does not match the empty string; all of them when unsure. */
export function firstBytes(node: RegexNode): ByteSet {
  return new Estimate(1).outline(node).first;
}

/** Looks at each node twice, whatever the nesting: for its outline, and, when it is known what follows, for its cost. */
class Estimate {
  readonly #length: number;
  readonly #outlines = new Map<RegexNode, Outline>();

  constructor(length: number) {
    this.#length = length;
  }

  cost(node: RegexNode, follow: Follow): Cost {
    switch (node.t) {
      case 'set':
      case 'assert':
        return { paths: 1, steps: 1 };
      case 'sequence':
        return this.#sequenceCost(node.items, follow);
      case 'alternatives':
        return this.#alternativesCost(node.items, follow);
      case 'capture':
        return this.cost(node.body, follow);
      case 'repeat':
        return this.#repeatCost(node, follow);
      case 'look':
      case 'atomic':
        return { paths: 1, steps: this.outline(node).entry };
      default:
        return unbounded;
    }
  }

  #sequenceCost(items: readonly RegexNode[], follow: Follow): Cost {
    const costs: Cost[] = [];
    let next = follow;
    for (let i = items.length - 1; i >= 0; i--) {
      costs.push(this.cost(items[i]!, next));
      const { first, entry, passes } = this.outline(items[i]!);
      next = passes ? { set: union(first, next.set), entry: entry + next.entry } : { set: first, entry };
    }
    let paths = 1;
    let steps = 1;
    for (const cost of costs.reverse()) {
      steps += paths * cost.steps;
      paths *= cost.paths;
    }
    return { paths, steps };
  }

  #alternativesCost(items: readonly RegexNode[], follow: Follow): Cost {
    let first = none;
    let exclusive = true;
    let sum = 0;
    let most = 0;
    let steps = 0;
    for (const item of items) {
      const cost = this.cost(item, follow);
      const outline = this.outline(item);
      exclusive &&= !outline.passes && !intersects(first, outline.first);
      first = union(first, outline.first);
      sum += cost.paths;
      most = Math.max(most, cost.paths);
      steps += cost.steps;
    }
    return { paths: exclusive ? most : sum, steps };
  }

  #repeatCost(node: RepeatNode, follow: Follow): Cost {
    const turns = Math.min(node.max, this.#length);
    const { first, passes, entry, far } = this.outline(node.body);
    const again: Follow = node.max > 1 ? { set: union(follow.set, first), entry: follow.entry + entry } : follow;
    const body = this.cost(node.body, again);
    const decided = !passes && !intersects(first, follow.set);
    if (body.paths === 1 && !passes) {
      const paths = decided ? 1 : Math.max(1, turns - node.min + 1);
      const scan = far ? turns * body.steps : body.steps + turns * entry;
      return { paths, steps: scan + (decided ? turns * follow.entry : 0) };
    }
    if (node.max <= 1) {
      return { paths: decided ? body.paths : body.paths + 1, steps: body.steps };
    }
    if (node.max === Number.POSITIVE_INFINITY) {
      return unbounded;
    }
    let paths = node.min === 0 ? 1 : 0;
    let steps = 0;
    let ways = 1;
    for (let turn = 1; turn <= node.max && steps < Number.POSITIVE_INFINITY; turn++) {
      steps += ways * body.steps;
      ways *= body.paths;
      if (turn >= node.min) {
        paths += ways;
      }
    }
    return { paths, steps };
  }

  outline(node: RegexNode): Outline {
    let outline = this.#outlines.get(node);
    if (outline === undefined) {
      outline = this.#makeOutline(node);
      this.#outlines.set(node, outline);
    }
    return outline;
  }

  #makeOutline(node: RegexNode): Outline {
    switch (node.t) {
      case 'set':
        return { first: node.set, passes: false, entry: 1, far: false };
      case 'sequence':
        return this.#sequenceOutline(node.items);
      case 'alternatives':
        return this.#alternativesOutline(node.items);
      case 'capture':
        return this.outline(node.body);
      case 'repeat': {
        const body = this.outline(node.body);
        return { ...body, passes: node.min === 0 || body.passes };
      }
      case 'look':
        return { first: any, passes: true, entry: this.cost(node.body, nothing).steps, far: true };
      case 'atomic':
        return { ...this.outline(node.body), entry: this.cost(node.body, nothing).steps, far: true };
      case 'assert':
        switch (node.kind) {
          case 'end':
            return assertion(none, false);
          case 'endOrNewline':
          case 'lineEnd':
            return assertion(newline, false);
          default:
            return assertion(any, true);
        }
      default:
        return { first: any, passes: true, entry: Number.POSITIVE_INFINITY, far: true };
    }
  }

  #sequenceOutline(items: readonly RegexNode[]): Outline {
    let first = none;
    let entry = 0;
    let passes = true;
    let far = false;
    for (let i = items.length - 1; i >= 0; i--) {
      const item = this.outline(items[i]!);
      first = item.passes ? union(item.first, first) : item.first;
      entry = item.passes ? item.entry + entry : item.entry;
      passes &&= item.passes;
      far ||= item.far;
    }
    return { first, passes, entry, far };
  }

  #alternativesOutline(items: readonly RegexNode[]): Outline {
    let first = none;
    let entry = 0;
    let passes = false;
    let far = false;
    for (const item of items) {
      const outline = this.outline(item);
      first = union(first, outline.first);
      entry += outline.entry;
      passes ||= outline.passes;
      far ||= outline.far;
    }
    return { first, passes, entry, far };
  }
}

function assertion(first: ByteSet, passes: boolean): Outline {
  return { first, passes, entry: 1, far: false };
}
