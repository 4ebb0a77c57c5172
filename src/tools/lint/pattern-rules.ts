import type { RegexNode, RepeatNode } from '../../shared/regex/ast.js';
import { hasByte } from '../../shared/regex/byte-set.js';
import { stepsOf } from '../../shared/regex/cost.js';
import { parseRegex } from '../../shared/regex/parse.js';
import { nullable, some } from '../../shared/regex/tree.js';
import type { Rule } from './rule.js';
import { everything, type LintedDirective, locationMatch } from './tree.js';

/** `~ .php$` matches `/xphp`, too. */
export const bareDot: Rule = {
  name: 'bare-dot',
  about: 'a dot in a regular expression for file names that matches any character',
  *check(top) {
    for (const location of everything(top)) {
      const match = locationMatch(location);
      const bare =
        match !== undefined && /^~/.test(match.modifier) && /(?:^|[^\\])\.(?:\((?:\?:)?[a-z][\w|?]*\)|[a-z]\w{1,4})\$$/.exec(match.pattern);
      if (match !== undefined && bare) {
        const example = match.pattern.includes('php') ? '/xphp' : '/a-png';
        yield {
          at: location,
          arg: location.args.length - 1,
          problem: `the dot stands for any character, so that names without an extension match, too (such as "${example}" for one that ends so)`,
          remedy: `location ${match.modifier} ${match.pattern.replace(/\.(?=(?:\((?:\?:)?[a-z][\w|?]*\)|[a-z]\w{1,4})\$$)/, '\\.')}`,
        };
      }
    }
  },
};

/** Patterns with which a request can hold a backtracking matcher up. */
export const slowPattern: Rule = {
  name: 'slow-pattern',
  about: 'a regular expression whose work grows exponentially with the length of what it is matched with',
  *check(top) {
    for (const directive of everything(top)) {
      for (const { pattern, arg } of patternsOf(directive)) {
        if (explodes(pattern)) {
          yield {
            at: directive,
            arg,
            problem: 'a repeated group whose inside repeats, too, can match in so many ways that one request is stopped with 500',
            remedy: 'take one of the two repetitions out, for example `(\\w+)` or `(?:\\w+/)*` in place of `(\\w+)*`',
          };
        }
      }
    }
  },
};

/** Behind the end of the subject nothing can match. */
export const endInside: Rule = {
  name: 'end-inside',
  about: 'a `$` in a regular expression with more behind it, which nothing matches; variables have no value there',
  *check(top) {
    for (const directive of everything(top)) {
      for (const { pattern, arg } of [...patternsOf(directive), ...conditionPatterns(directive)]) {
        if (hasEndInside(pattern)) {
          yield {
            at: directive,
            arg,
            problem: '`$` stands for the end of the text in a regular expression, so that nothing matches what comes behind it',
            remedy: 'leave the `$` out, or put it last; compare variables with a `map`',
          };
        }
      }
    }
  },
};

function* conditionPatterns({ name, args }: LintedDirective): Generator<{ readonly pattern: string; readonly arg: number }> {
  const operator = name === 'if' ? args.findIndex((word) => /^!?~\*?$/.test(word)) : -1;
  const pattern = args[operator + 1];
  if (operator > 0 && pattern !== undefined) {
    yield { pattern: operator + 2 === args.length ? pattern.replace(/\)$/, '') : pattern, arg: operator + 1 };
  }
}

function hasEndInside(pattern: string): boolean {
  try {
    return some(parseRegex(pattern, false).root, (node) => node.t === 'sequence' && endsInside(node.items));
  } catch {
    // Not a pattern: -t says so.
    return false;
  }
}

function endsInside(items: readonly RegexNode[]): boolean {
  const end = items.findIndex((item) => item.t === 'assert' && (item.kind === 'endOrNewline' || item.kind === 'end'));
  return end >= 0 && items.slice(end + 1).some((item) => !nullable(item) && !(item.t === 'set' && hasByte(item.set, LINE_FEED)));
}

/** `$` also matches before a line feed at the end. */
const LINE_FEED = 10;

function* patternsOf(directive: LintedDirective): Generator<{ readonly pattern: string; readonly arg: number }> {
  const match = locationMatch(directive);
  if (match !== undefined && /^~/.test(match.modifier)) {
    yield { pattern: match.pattern, arg: directive.args.length - 1 };
  } else if (directive.name === 'rewrite') {
    yield { pattern: directive.args[0] ?? '', arg: 0 };
  } else if (directive.parent?.name === 'map' && directive.name.startsWith('~')) {
    yield { pattern: directive.name.replace(/^~\*?/, ''), arg: -1 };
  }
}

/** A subject of this length is enough to tell exponential work from other work. */
const LENGTH = 100;

function explodes(pattern: string): boolean {
  try {
    const { root } = parseRegex(pattern, false);
    return stepsOf(root, LENGTH) === Number.POSITIVE_INFINITY && some(root, isRepeatOfRepeats);
  } catch {
    // Not a pattern: -t says so.
    return false;
  }
}

/** A loop over a body that can match the same text in several ways. The bound of stepsOf is too high for bodies such as `/?`. */
const isRepeatOfRepeats = (node: RegexNode): boolean =>
  isLoop(node) && some(node.body, (inner) => isLoop(inner) || inner.t === 'alternatives');

const isLoop = (node: RegexNode): node is RepeatNode => node.t === 'repeat' && node.max === Number.POSITIVE_INFINITY;
