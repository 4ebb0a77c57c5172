import { constantValue } from '../../../shared/value/complex.js';
import type { Request } from '../../http/request/request.js';
import type { ProxyPass, Rewrite } from './settings.js';

/** What a value becomes by the first rule that fits from `prefix` on; undefined when none does. nginx: ngx_http_proxy_rewrite_redirect. */
export function rewriteValue(r: Request, rules: readonly Rewrite[], value: string, prefix: number): string | undefined {
  for (let i = 0; i < rules.length; i++) {
    const changed = applyRule(r, rules[i]!, value, prefix);
    if (changed !== undefined) {
      return changed;
    }
  }
  return undefined;
}

function applyRule(r: Request, rule: Rewrite, value: string, prefix: number): string | undefined {
  const rest = prefix === 0 ? value : value.slice(prefix);
  if (rule.kind === 'regex') {
    if (!rule.regex!.exec(r, rest)) {
      return undefined;
    }
    return value.slice(0, prefix) + rule.replacement.eval(r);
  }
  const pattern = rule.pattern!.eval(r);
  if (rule.kind === 'prefix') {
    if (!rest.startsWith(pattern)) {
      return undefined;
    }
    return value.slice(0, prefix) + rule.replacement.eval(r) + rest.slice(pattern.length);
  }
  const dotted = rest.startsWith('.');
  const domain = dotted ? rest.slice(1) : rest;
  if (domain.toLowerCase() !== pattern.toLowerCase()) {
    return undefined;
  }
  return value.slice(0, dotted ? prefix + 1 : prefix) + rule.replacement.eval(r);
}

/** The rule that turns the backend's own URL into the location's. */
export function defaultRedirect({ fixed, location }: ProxyPass): Rewrite | undefined {
  if (fixed === undefined) {
    return undefined;
  }
  const [from, to] = fixed.vars.uri === '' ? [`${fixed.url}/`, '/'] : [fixed.url, location];
  return { kind: 'prefix', pattern: constantValue(from), regex: undefined, replacement: constantValue(to) };
}
