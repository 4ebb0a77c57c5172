import type { Part } from './case.js';
import type { Random } from './random.js';

/** Makes parts of a configuration; those of one group exclude each other. */
export interface Feature {
  readonly group: string;
  readonly make: (random: Random) => Part;
}

export const feature = (group: string, make: (random: Random) => Omit<Part, 'name'>): Feature => ({
  group,
  make: (random) => ({ name: group, ...make(random) }),
});

/** One that nginx does not have: its cases are not played there. */
export const ourFeature = (group: string, make: (random: Random) => Omit<Part, 'name'>): Feature => ({
  group,
  make: (random) => ({ name: group, ours: true, ...make(random) }),
});
