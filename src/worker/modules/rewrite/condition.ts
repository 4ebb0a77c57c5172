import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { CRIT, NOTICE } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { ENAMETOOLONG, ENOENT, ENOTDIR } from '../../files/file-info.js';
import { testFile } from '../../http/files/open-file.js';
import type { Request } from '../../http/request/request.js';
import type { Context } from '../../module.js';
import { scriptValue } from './length-pass.js';

/**
 * Decides whether an `if` block is entered; undefined when a regular expression gave up. `notices`: `rewrite_log` is on, or the
 * level is debug.
 */
export type Condition = (r: Request, notices: boolean) => boolean | undefined;

/** Reads what stands between the parentheses of `if`. nginx: ngx_http_rewrite_if_condition. */
export function parseCondition(node: DirectiveNode, ctx: Context): Condition {
  const words = [...node.args];
  const first = words[0]!;
  const last = words.length - 1;
  if (first.length < 1 || first[0] !== '(') {
    ctx.fail(`invalid condition "${first}"`, { arg: 0, hint: 'a condition stands in parentheses: `if ($x = y) { ... }`' });
  }
  if (first.length === 1) {
    words.shift();
  } else {
    words[0] = first.slice(1);
  }
  const end = words.length - 1;
  const closing = words[end] ?? '';
  if (!closing.endsWith(')')) {
    ctx.fail(`invalid condition "${words[end] ?? first}"`, { arg: last, hint: 'the closing parenthesis is missing' });
  }
  if (closing.length === 1) {
    words.pop();
  } else {
    words[end] = closing.slice(0, -1);
  }
  const [subject = '', operator, operand] = words;
  if (subject.startsWith('$')) {
    return variableCondition(words, subject, operator, operand, ctx);
  }
  if (/^!?-[fdex]$/.test(subject)) {
    if (words.length !== 2) {
      ctx.fail(`invalid condition "${subject}"`);
    }
    return fileCondition(subject, operator!, ctx);
  }
  return ctx.fail(`invalid condition "${subject}"`);
}

function variableCondition(
  words: readonly string[],
  subject: string,
  operator: string | undefined,
  operand: string | undefined,
  ctx: Context,
): Condition {
  if (!/^\$[A-Za-z0-9_]+$/.test(subject) && !/^\$\{[A-Za-z0-9_]+\}$/.test(subject)) {
    ctx.fail(`invalid condition "${subject}"`);
  }
  const value = ctx.complex(subject);
  if (operator === undefined) {
    return (r) => {
      const text = value.eval(r);
      return text !== '' && text !== '0';
    };
  }
  if (words.length !== 3 || operand === undefined) {
    return ctx.fail(`invalid condition "${subject}"`);
  }
  if (operator === '=' || operator === '!=') {
    const other = scriptValue(operand, ctx);
    return operator === '=' ? (r) => value.eval(r) === other.eval(r) : (r) => value.eval(r) !== other.eval(r);
  }
  if (operator === '~' || operator === '~*' || operator === '!~' || operator === '!~*') {
    const regex = ctx.regex(operand, operator.endsWith('*'));
    const negated = operator.startsWith('!');
    return (r, notices) => {
      const text = value.eval(r);
      const found = regex.exec(r, text);
      if (!found) {
        if (regex.failed) {
          return undefined;
        }
        r.captures = null;
      }
      if (notices) {
        r.log(NOTICE, `"${regex.pattern}" ${found ? 'matches' : 'does not match'} "${text}"`);
      }
      return found !== negated;
    };
  }
  const instead = operator === '==' || operator === '===' ? '=' : operator === '!==' ? '!=' : operator === '=~' ? '~' : undefined;
  const hint =
    instead === undefined
      ? 'a variable is compared with `=`, `!=`, `~`, `~*`, `!~` or `!~*`'
      : `write \`${subject} ${instead} ${operand}\``;
  return ctx.fail(`unexpected "${operator}" in condition`, { arg: ctx.node.args.indexOf(operator), hint });
}

// nginx: ngx_http_script_file_code.
function fileCondition(test: string, operand: string, ctx: Context): Condition {
  const path = scriptValue(operand.includes('$') ? operand : ctx.path(operand), ctx);
  const negated = test.startsWith('!');
  const kind = test[test.length - 1]!;
  return (r) => {
    const file = path.eval(r);
    const info = testFile(r, file);
    const { errno } = info;
    if (errno !== 0) {
      if (errno !== ENOENT && errno !== ENOTDIR && errno !== ENAMETOOLONG) {
        r.log(CRIT, `${info.failed} "${file}" failed (${errnoText(errno)})`);
      }
      return negated;
    }
    if (kind === 'f') {
      return info.isFile !== negated;
    }
    if (kind === 'd') {
      return info.isDirectory !== negated;
    }
    return (kind === 'e' || info.isExecutable) !== negated;
  };
}
