import type { Node, RepeatNode } from './ast.js';
import { type ByteSet, emptySet, fullSet, intersects, setOf, union } from './byte-set.js';

/**
 * What a backtracking matcher may have to do for a node, as upper bounds for a subject of a given length: in how many
 * ways it can match from one place, and how many steps it takes to go through all of them.
 */
export interface Cost {
  readonly paths: number;
  readonly steps: number;
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
export interface Follow {
  readonly set: ByteSet;
  readonly entry: number;
}

const any = fullSet();
const none = emptySet();
const newline = setOf('\n');
const nothing: Follow = { set: none, entry: 1 };

/**
 * Bounds the work of a backtracking matcher. A quantifier whose own bytes cannot start what follows has one way to match,
 * since giving back fails at once; one whose bytes can has as many ways as the subject has bytes, and ways multiply along
 * a sequence. A loop over a body with several ways is exponential: Infinity. Back references are not bounded.
 */
export function costOf(node: Node, length: number, follow: Follow = nothing): Cost {
  switch (node.t) {
    case 'set':
      return { paths: 1, steps: 1, first: node.set, passes: false, entry: 1, far: false };
    case 'sequence':
      return sequenceCost(node.items, length, follow);
    case 'alternatives':
      return alternativesCost(node.items, length, follow);
    case 'capture':
      return costOf(node.body, length, follow);
    case 'repeat':
      return repeatCost(node, length, follow);
    case 'look':
    case 'atomic': {
      const body = costOf(node.body, length);
      const first = node.t === 'atomic' ? body.first : any;
      return { paths: 1, steps: body.steps, first, passes: node.t === 'look' || body.passes, entry: body.steps, far: true };
    }
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
      return { paths: 1, steps: Number.POSITIVE_INFINITY, first: any, passes: true, entry: Number.POSITIVE_INFINITY, far: true };
  }
}

function assertion(first: ByteSet, passes: boolean): Cost {
  return { paths: 1, steps: 1, first, passes, entry: 1, far: false };
}

function sequenceCost(items: readonly Node[], length: number, follow: Follow): Cost {
  const costs: Cost[] = [];
  let next = follow;
  let first = none;
  let entry = 0;
  let passes = true;
  let far = false;
  for (let i = items.length - 1; i >= 0; i--) {
    const cost = costOf(items[i]!, length, next);
    costs.push(cost);
    next = cost.passes ? { set: union(cost.first, next.set), entry: cost.entry + next.entry } : { set: cost.first, entry: cost.entry };
    first = cost.passes ? union(cost.first, first) : cost.first;
    entry = cost.passes ? cost.entry + entry : cost.entry;
    passes &&= cost.passes;
    far ||= cost.far;
  }
  let paths = 1;
  let steps = 1;
  for (const cost of costs.reverse()) {
    steps += paths * cost.steps;
    paths *= cost.paths;
  }
  return { paths, steps, first, passes, entry, far };
}

function alternativesCost(items: readonly Node[], length: number, follow: Follow): Cost {
  let first = none;
  let exclusive = true;
  let sum = 0;
  let most = 0;
  let steps = 0;
  let entry = 0;
  let passes = false;
  let far = false;
  for (const item of items) {
    const cost = costOf(item, length, follow);
    exclusive &&= !cost.passes && !intersects(first, cost.first);
    first = union(first, cost.first);
    sum += cost.paths;
    most = Math.max(most, cost.paths);
    steps += cost.steps;
    entry += cost.entry;
    passes ||= cost.passes;
    far ||= cost.far;
  }
  return { paths: exclusive ? most : sum, steps, first, passes, entry, far };
}

function repeatCost(node: RepeatNode, length: number, follow: Follow): Cost {
  const turns = Math.min(node.max, length);
  const single = costOf(node.body, length, follow);
  const again: Follow = node.max > 1 ? { set: union(follow.set, single.first), entry: follow.entry + single.entry } : follow;
  const body = node.max > 1 ? costOf(node.body, length, again) : single;
  const decided = !body.passes && !intersects(body.first, follow.set);
  const common = { first: body.first, passes: node.min === 0 || body.passes, entry: body.entry, far: body.far };
  if (body.paths === 1 && !body.passes) {
    const paths = decided ? 1 : Math.max(1, turns - node.min + 1);
    const scan = body.far ? turns * body.steps : body.steps + turns * body.entry;
    return { ...common, paths, steps: scan + (decided ? turns * follow.entry : 0) };
  }
  if (node.max <= 1) {
    return { ...common, paths: decided ? body.paths : body.paths + 1, steps: body.steps };
  }
  if (node.max === Number.POSITIVE_INFINITY) {
    return { ...common, paths: Number.POSITIVE_INFINITY, steps: Number.POSITIVE_INFINITY };
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
  return { ...common, paths, steps };
}
