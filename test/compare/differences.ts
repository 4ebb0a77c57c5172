import type { Axis } from './axes.js';
import type { Case } from './case.js';
import type { Observation } from './observation.js';

/** What two runs of a case show otherwise. A side that has no such thing is empty. */
export interface Difference {
  readonly what: string;
  readonly left: string;
  readonly right: string;
}

/** A case that was compared on an axis. */
export interface Compared {
  readonly axis: Axis;
  readonly case: Case;
  readonly left: Observation;
  readonly right: Observation;
}

/** All that is different. Most of two observations is the same as it is: only the rest is looked at. */
export function differencesOf({ axis, left, right }: Compared): Difference[] {
  const found: Difference[] = [];
  const take = (what: string, one: string, other: string): void => {
    if (one === other || !axis.compares(what)) {
      return;
    }
    const [a, b] = axis.common === undefined ? [one, other] : [axis.common(one, what), axis.common(other, what)];
    if (a !== b) {
      found.push({ what, left: a, right: b });
    }
  };
  for (const [what, text] of left) {
    take(what, text, right.get(what) ?? '');
  }
  for (const [what, text] of right) {
    if (!left.has(what)) {
      take(what, '', text);
    }
  }
  return found;
}
