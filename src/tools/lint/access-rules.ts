import type { Rule } from './rule.js';
import { everything, type LintedDirective, ownDirectives } from './tree.js';

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

/** Directives of the preaccess and access phases, which come behind the phase of `return`. */
const LATE: ReadonlySet<string> = new Set([
  'allow',
  'deny',
  'auth_basic',
  'auth_request',
  'auth_jwt',
  'auth_api_key',
  'auth_signature',
  'auth_oidc',
  'auth_require',
  'auth_delay',
  'limit_req',
  'limit_conn',
  'js_access',
  'satisfy',
]);
/** With these values they restrict nobody. */
const HARMLESS: Readonly<Record<string, string>> = {
  auth_basic: 'off',
  auth_request: 'off',
  auth_jwt: 'off',
  auth_api_key: 'off',
  auth_signature: 'off',
  auth_oidc: 'off',
  allow: 'all',
  satisfy: 'all',
};

/** `return` belongs to the rewrite phase: it answers before access is checked, wherever in the block it stands. */
export const returnBeforeAccess: Rule = {
  name: 'return-before-access',
  about: '`deny`, `auth_basic`, `limit_req` and the like beside a `return`, which answers before they are looked at',
  *check(top) {
    for (const block of everything(top)) {
      if (block.name !== 'location' && block.name !== 'server') {
        continue;
      }
      const ending = answersAlways(block);
      const late = ending && block.inside.find(({ name, args }) => LATE.has(name) && HARMLESS[name] !== args[0]);
      if (ending && late) {
        yield {
          at: late,
          problem: `the \`return\` on line ${ending.node.pos.line} answers every request before \`${late.name}\` is looked at`,
          remedy: 'put the answer where it comes later: `try_files /none =404;`, a file, or `js_content`',
        };
      }
    }
  },
};

/** The `return` that nothing in its block keeps from answering; undefined where there is none. */
function answersAlways(block: LintedDirective): LintedDirective | undefined {
  const ending = ownDirectives(block, 'return')[0];
  const before = block.inside.slice(0, ending === undefined ? 0 : block.inside.indexOf(ending));
  return before.some(({ name }) => name === 'break' || name === 'rewrite') ? undefined : ending;
}
