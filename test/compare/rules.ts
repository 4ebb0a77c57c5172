import type { Compared, Difference } from './differences.js';

/** A difference that is known and meant. */
export interface Rule {
  readonly name: string;
  /** Words of docs/compatibility.md that tell of it; for a difference between two ways of one server, why it may be. */
  readonly told: string;
  /** The axes on which it is met. */
  readonly axes: readonly string[];
  /** Whether the case is one of which it is told. */
  readonly when: (compared: Compared) => boolean;
  /** What may be different then. */
  readonly explains: (difference: Difference, compared: Compared) => boolean;
}

const anything = (): boolean => true;

export const rules: readonly Rule[] = [];

/** The rule that explains a difference; undefined for one without a name. */
export const ruleOf = (difference: Difference, compared: Compared): Rule | undefined =>
  rules.find((rule) => rule.axes.includes(compared.axis.name) && rule.when(compared) && rule.explains(difference, compared));

void anything;
