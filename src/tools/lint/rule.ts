import type { Sources } from '../../shared/config/sources.js';
import type { LintedDirective } from './tree.js';

/** What a rule found. All texts are sentences without their full stop. */
export interface Found {
  readonly at: LintedDirective;
  /** Which argument the caret points at, from 0; the directive's name unless given. */
  readonly arg?: number;
  /** What happens as it stands. */
  readonly problem: string;
  /** What to write. */
  readonly remedy: string;
}

/** One thing that is often wrong in configurations that `-t` accepts. */
export interface Rule {
  /** In lower case with hyphens: the word that silences it. */
  readonly name: string;
  /** What it looks for, in half a sentence. */
  readonly about: string;
  check(top: readonly LintedDirective[], sources: Sources): Iterable<Found>;
}
