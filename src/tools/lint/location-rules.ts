import type { Found, Rule } from './rule.js';
import { everything, isPrefix, type LintedDirective, type LocationMatch, locationMatch, ownDirectives } from './tree.js';

/** `location /a` with `alias /b/` lets `/a../c` out of the folder; `location /a/` with `alias /b` reads `/bfile`. */
export const aliasSlash: Rule = {
  name: 'alias-slash',
  about: 'an alias and its location where only one ends in a slash',
  *check(top) {
    for (const location of everything(top)) {
      const match = locationMatch(location);
      const alias = ownDirectives(location, 'alias')[0];
      const path = alias?.args[0];
      if (!isPrefix(match) || alias === undefined || path === undefined || /\$\w+\}?$/.test(path)) {
        continue;
      }
      const { pattern } = match;
      if (!pattern.endsWith('/') && path.endsWith('/')) {
        yield {
          at: location,
          problem: `a request for "${pattern}../x" leaves the folder "${path}", since the location does not end in a slash`,
          remedy: `location ${match.modifier === '' ? '' : `${match.modifier} `}${pattern}/ { alias ${path}; }`,
        };
      } else if (pattern.endsWith('/') && !path.endsWith('/')) {
        yield {
          at: alias,
          arg: 0,
          problem: `"${pattern}x" is looked for at "${path}x", since the alias does not end in a slash`,
          remedy: `alias ${path}/;`,
        };
      }
    }
  },
};

/** Directives of an `if` that do what they say: the rewrite module runs them in the order of the text. */
const SAFE_IN_IF = new Set([
  'return',
  'rewrite',
  'set',
  'break',
  'access_log',
  'limit_rate',
  'limit_rate_after',
  'uninitialized_variable_warn',
]);

/** An `if` in a location is a location of its own: what matches last wins, and others' settings are lost. */
export const evilIf: Rule = {
  name: 'evil-if',
  about: 'an `if` in a location that holds more than rewriting, so that other settings of the location get lost',
  *check(top) {
    for (const directive of everything(top)) {
      if (directive.name !== 'if' || directive.parent?.name !== 'location') {
        continue;
      }
      const unsafe = directive.inside.find(({ name }) => !SAFE_IN_IF.has(name));
      const lost = lostBy(directive, directive.parent);
      if (unsafe !== undefined && lost !== undefined) {
        yield {
          at: unsafe,
          problem: `when this \`if\` matches it takes the place of the location, and ${lost} has no effect`,
          remedy: 'choose the value with `map`, or send the request to a location of its own',
        };
      }
    }
  },
};

/** What of a location an `if` that matches puts out of force; undefined when there is nothing. */
function lostBy(condition: LintedDirective, location: LintedDirective): string | undefined {
  const files = ownDirectives(location, 'try_files')[0];
  if (files !== undefined) {
    return `the \`try_files\` on line ${files.node.pos.line}`;
  }
  const conditions = ownDirectives(location, 'if');
  const before = conditions
    .slice(0, conditions.indexOf(condition))
    .find(
      (other) =>
        other.inside.some(({ name }) => !SAFE_IN_IF.has(name)) &&
        ownDirectives(other, 'return').length === 0 &&
        !excludeEachOther(other, condition),
    );
  return before === undefined ? undefined : `what the \`if\` on line ${before.node.pos.line} sets`;
}

/** Both ask whether one variable has a value, and not the same. */
function excludeEachOther(one: LintedDirective, other: LintedDirective): boolean {
  const [a, b] = [one, other].map(({ args }) => /^\( ?(\$\w+) = (.*?) ?\)$/.exec(args.join(' ')));
  return a != null && b != null && a[1] === b[1] && a[2] !== b[2];
}

/** Tests for files that `try_files` makes shorter, and in one look at the disk. */
export const ifFile: Rule = {
  name: 'if-file',
  about: '`if (-f ...)` or `if (!-e $request_filename)` in place of try_files',
  *check(top) {
    for (const directive of everything(top)) {
      const [rewrite, more] = directive.inside;
      const condition = directive.args.join(' ');
      if (directive.name !== 'if' || rewrite?.name !== 'rewrite' || more !== undefined || !ABSENT.test(condition)) {
        continue;
      }
      const [pattern = '', target = ''] = rewrite.args;
      if (WHOLE_PATH.test(pattern) && target.startsWith('/')) {
        const [path, args] = target.replace(/\$1/g, '$uri').replace('/$uri', '$uri').split('?');
        yield {
          at: directive,
          problem: 'this asks the disk on every request before a location is chosen, and again for the file itself',
          remedy: `try_files $uri $uri/ ${path}?${args === undefined ? '' : `${args}&`}$args;`,
        };
      }
    }
  },
};

/** The condition asks whether there is no such file. */
const ABSENT = /^\( ?!-[fe] "?\$(?:request_filename|document_root\$(?:fastcgi_script_name|uri))"? ?\)$/;
/** The rewrite takes the path whatever it is. */
const WHOLE_PATH = /^(?:\^|\.\*|\.|\^\.\*\$|\^?\/?\((?:\.[*+])\)\$?)$/;

/** A regular expression without `~` is a prefix like others, and no path begins with it. */
export const patternWithoutTilde: Rule = {
  name: 'pattern-without-tilde',
  about: 'a location that looks like a regular expression and has no `~`',
  *check(top) {
    for (const location of everything(top)) {
      const match = locationMatch(location);
      if (match === undefined || !['', '^~', '='].includes(match.modifier) || !LIKE_PATTERN.test(match.pattern)) {
        continue;
      }
      yield {
        at: location,
        arg: location.args.length - 1,
        problem: `without "~" this is the beginning of a path, letter by letter, and hardly any path has "${match.pattern}" in it`,
        remedy: `location ~ ${match.pattern}`,
      };
    }
  },
};

/** What begins as no path does, or has groups, classes, repetitions, escapes or an end. */
const LIKE_PATTERN = /^\(?[\^(]|\.[*+]|\\[.dwsb/]|\((?:\?|[^()]*\|)|\[[^\]]+\][*+?{]|[^/]\$$/;

/** Locations that no request can reach. */
export const unreachable: Rule = {
  name: 'unreachable-location',
  about: 'a location that no request reaches, behind a `return` of its server or an earlier regular expression',
  *check(top) {
    for (const server of everything(top)) {
      if (server.name !== 'server' || server.parent?.name !== 'http') {
        continue;
      }
      const locations = server.inside.filter(({ name }) => name === 'location');
      const ending = ownDirectives(server, 'return')[0];
      const first = locations.find((location) => locationMatch(location)?.modifier !== '@');
      if (ending !== undefined && first !== undefined) {
        yield {
          at: first,
          problem: `the \`return\` of the server answers every request before a location is looked for (line ${ending.node.pos.line})`,
          remedy: 'move the `return` into `location / { }`',
        };
        continue;
      }
      yield* hiddenPatterns(locations);
    }
  },
};

/** Regular expressions match in the order of the text: one that matches all that a later one matches hides it. */
function* hiddenPatterns(locations: readonly LintedDirective[]): Generator<Found> {
  const earlier: { readonly at: LintedDirective; readonly match: LocationMatch }[] = [];
  for (const location of locations) {
    const match = locationMatch(location);
    if (match === undefined || (match.modifier !== '~' && match.modifier !== '~*')) {
      continue;
    }
    const hiding = earlier.find((other) => hides(other.match, match));
    if (hiding === undefined) {
      earlier.push({ at: location, match });
      continue;
    }
    yield {
      at: location,
      problem: `"${hiding.match.pattern}" on line ${hiding.at.node.pos.line} matches everything that this one matches, and stands before it`,
      remedy: 'put the more exact regular expression first',
    };
  }
}

function hides(first: LocationMatch, second: LocationMatch): boolean {
  const wider = first.modifier === '~*' || second.modifier === '~';
  if (wider && (first.pattern === second.pattern || /^\^?(?:\/|\.\*\$?)?$/.test(first.pattern))) {
    return true;
  }
  const all = extensions(first.pattern);
  const some = extensions(second.pattern);
  return wider && all !== undefined && some !== undefined && isSubset(some, all);
}

const isSubset = (some: readonly string[], all: readonly string[]): boolean => some.every((word) => all.includes(word));

/** The endings that a pattern such as `\.(?:jpe?g|png)$` stands for; undefined for any other pattern. */
function extensions(pattern: string): readonly string[] | undefined {
  const list = /^\\\.\((?:\?:)?([\w|?]+)\)\$$/.exec(pattern)?.[1] ?? /^\\\.([\w?]+)\$$/.exec(pattern)?.[1];
  return list?.split('|').flatMap((word) => {
    const optional = /^(\w*)(\w)\?(\w*)$/.exec(word);
    return optional === null ? [word] : [`${optional[1]}${optional[3]}`, `${optional[1]}${optional[2]}${optional[3]}`];
  });
}
