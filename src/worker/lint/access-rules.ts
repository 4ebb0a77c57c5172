import type { Rule } from './rule.js';
import { everything } from './tree.js';

/** Access rules are tried in order, and `all` ends them. */
export const deadAccessRule: Rule = {
  name: 'dead-access-rule',
  about: 'an `allow` or `deny` behind one for `all`, which is never looked at',
  *check(top) {
    for (const block of everything(top)) {
      const rules = block.inside.filter(({ name }) => name === 'allow' || name === 'deny');
      const ending = rules.findIndex(({ args }) => args[0] === 'all');
      const dead = ending < 0 ? undefined : rules[ending + 1];
      if (dead !== undefined) {
        yield {
          at: dead,
          problem: `\`${rules[ending]!.name} all\` on line ${rules[ending]!.node.pos.line} decides for everybody before this line is looked at`,
          remedy: `put \`${rules[ending]!.name} all;\` last`,
        };
      }
    }
  },
};

/** `error_log off` writes into a file called "off". */
export const errorLogOff: Rule = {
  name: 'error-log-off',
  about: '`error_log off`, which writes into a file called "off"',
  *check(top) {
    for (const directive of everything(top)) {
      if (directive.name === 'error_log' && directive.args[0] === 'off') {
        yield {
          at: directive,
          arg: 0,
          problem: '`off` is a file name here: errors are written to a file that is called so',
          remedy: '`error_log /dev/null crit;`, or leave the line out',
        };
      }
    }
  },
};
