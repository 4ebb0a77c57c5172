import { Lru } from '../../../shared/collection/lru.js';
import { ALERT, ERROR } from '../../../shared/log/level.js';
import { type CompiledRegex, compileRegex, matchFailure } from '../../../shared/regex/compile.js';
import type { Request } from '../../http/request/request.js';
import { evaluate, type SharedState } from './evaluate.js';

/** Bytes of patterns whose compiled forms are kept. */
const KEPT_PATTERNS = 64 * 1024;

const compiled = new Lru<CompiledRegex>(KEPT_PATTERNS);

/** Decides an `if` or `elif`. Returns undefined, with a log line, for a malformed expression. nginx: ngx_http_ssi_if. */
export function isTrue(r: Request, shared: SharedState, text: string): boolean | undefined {
  const [, subject = '', , operator, operand = ''] = /^([A-Za-z0-9${}_"']*)( *)(=|!=|)([\s\S]*)$/.exec(text)!;
  const left = evaluate(r, shared, subject.toLowerCase());
  if (left === undefined) {
    return undefined;
  }
  if (operator === '') {
    if (operand === '') {
      return left !== '';
    }
    return invalid(r, subject.toLowerCase() + text.slice(subject.length));
  }
  const negated = operator === '!=';
  const right = operand.replace(/^ +/, '');
  if (right.startsWith('/') && right.length > 1) {
    if (!right.endsWith('/')) {
      return invalid(r, subject.toLowerCase() + text.slice(subject.length));
    }
    const pattern = evaluate(r, shared, right.slice(1, -1));
    const found = pattern === undefined ? undefined : matches(r, shared, pattern, left);
    return found === undefined ? undefined : found !== negated;
  }
  const other = evaluate(r, shared, right.startsWith('\\/') ? right.slice(1) : right);
  return other === undefined ? undefined : (left === other) !== negated;
}

function invalid(r: Request, expression: string): undefined {
  r.log(ERROR, `invalid expression in "${expression}"`);
  return undefined;
}

// nginx: ngx_http_ssi_regex_match.
function matches(r: Request, shared: SharedState, pattern: string, text: string): boolean | undefined {
  let regex = compiled.get(pattern);
  if (regex === undefined) {
    try {
      regex = compileRegex(pattern, { caseless: false });
    } catch (error) {
      r.log(ERROR, (error as Error).message);
      return undefined;
    }
    compiled.set(pattern, regex, pattern.length + 1);
  }
  const found = regex.exec(text, r);
  if (found === null) {
    if (regex.error === 0) {
      return false;
    }
    r.log(ALERT, matchFailure(regex, text));
    return undefined;
  }
  let count = found.length;
  while (found[count - 1] === undefined) {
    count--;
  }
  shared.captures = found.slice(0, count);
  for (const { name, index } of regex.names) {
    shared.variables.set(name.toLowerCase(), found[index] ?? '');
  }
  return true;
}
