import { type Compared, type Difference, differencesOf } from './differences.js';
import type { Rule } from './rule.js';
import { between } from './rules-between.js';
import { beside } from './rules-nginx.js';

export const rules: readonly Rule[] = [...between, ...beside];

/** The rule that explains a difference; undefined for one without a name. */
export const ruleOf = (difference: Difference, compared: Compared): Rule | undefined =>
  rules.find(
    (rule) => (rule.axes?.includes(compared.axis.name) ?? true) && rule.what.test(difference.what) && rule.when(compared, difference),
  );

/** A difference, and the rule that explains it; none for one without a name. */
export interface Judged {
  readonly difference: Difference;
  readonly rule: Rule | undefined;
}

const known = new WeakMap<Compared, readonly Judged[]>();

/** All that is different in a comparison, judged once. */
export function judged(one: Compared): readonly Judged[] {
  let all = known.get(one);
  if (all === undefined) {
    all = differencesOf(one).map((difference) => ({ difference, rule: ruleOf(difference, one) }));
    known.set(one, all);
  }
  return all;
}

/** What of a comparison has no name. */
export const unnamedOf = (one: Compared): Difference[] =>
  judged(one)
    .filter(({ rule }) => rule === undefined)
    .map(({ difference }) => difference);
