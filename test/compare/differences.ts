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

/** All that is different. */
export function differencesOf({ axis, left, right }: Compared): Difference[] {
  const found: Difference[] = [];
  for (const what of new Set([...left.keys(), ...right.keys()])) {
    if (!axis.compares(what)) {
      continue;
    }
    const common = axis.common ?? ((text: string) => text);
    const [a, b] = [common(left.get(what) ?? '', what), common(right.get(what) ?? '', what)];
    if (a !== b) {
      found.push({ what, left: a, right: b });
    }
  }
  return found;
}
