import type { Compared, Difference } from './differences.js';
import type { Rule } from './rule.js';
import { between } from './rules-between.js';
import { beside } from './rules-nginx.js';

export const rules: readonly Rule[] = [...between, ...beside];

/** The rule that explains a difference; undefined for one without a name. */
export const ruleOf = (difference: Difference, compared: Compared): Rule | undefined =>
  rules.find(
    (rule) => (rule.axes?.includes(compared.axis.name) ?? true) && rule.what.test(difference.what) && rule.when(compared, difference),
  );
