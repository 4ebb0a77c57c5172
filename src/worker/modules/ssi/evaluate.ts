import { ERROR } from '../../../shared/log/level.js';
import type { Request } from '../../http/request/request.js';

/** A `block`: the text to show when an included page is empty or fails. */
export interface SsiBlock {
  readonly name: string;
  readonly pieces: Buffer[];
}

/** What all pages that make up one response share. nginx: the ngx_http_ssi_ctx_t of the main request. */
export class SharedState {
  readonly variables = new Map<string, string>();
  /** Of the latest regular expression that matched, as far as groups are set. */
  captures: readonly (string | undefined)[] = [];
  readonly blocks: SsiBlock[] = [];
}

/** The value of one of the pages' own variables or captures, else of the configuration's. nginx: ngx_http_ssi_get_variable. */
export function variable(r: Request, shared: SharedState, name: string): string | undefined {
  const key = name.toLowerCase();
  return ownVariable(shared, key) ?? r.http.variables.named(r, key);
}

function ownVariable(shared: SharedState, key: string): string | undefined {
  if (key.length === 1 && key >= '0' && key <= '9' && Number(key) < shared.captures.length) {
    return shared.captures[Number(key)] ?? '';
  }
  return shared.variables.get(key);
}

/**
 * Puts variables into text and takes backslashes off. Returns undefined, with a log line, for malformed text. nginx:
 * ngx_http_ssi_evaluate_string.
 */
export function evaluate(r: Request, shared: SharedState, text: string): string | undefined {
  let out = '';
  let i = 0;
  while (i < text.length) {
    if (text[i] === '$') {
      const found = /^(?:\{([A-Za-z0-9_]*)(\}?)|([A-Za-z0-9_]*))/.exec(text.slice(i + 1))!;
      const name = found[1] ?? found[3]!;
      const braced = found[1] !== undefined;
      if (braced && found[2] === '' && i + 2 < text.length) {
        r.log(ERROR, `the closing bracket in "${name}" variable is missing`);
        return undefined;
      }
      if (name === '') {
        r.log(ERROR, `invalid variable name in "${text}"`);
        return undefined;
      }
      out += variable(r, shared, name) ?? '';
      i += 1 + found[0].length;
      continue;
    }
    const start = i;
    while (i < text.length && text[i] !== '$') {
      i += text[i] === '\\' ? 2 : 1;
    }
    out += withoutBackslashes(text.slice(start, i));
  }
  return out;
}

/** A backslash goes before a quote, a dollar sign or another backslash, and at the very end. */
const withoutBackslashes = (text: string): string =>
  text.includes('\\') ? text.replace(/\\([\s\S]?)/g, (pair, next: string) => (/^[\\'"$]?$/.test(next) ? next : pair)) : text;

/** As {@link evaluate}; a relative path begins in the folder of the request's URI. */
export function evaluatePath(r: Request, shared: SharedState, text: string): string | undefined {
  const path = evaluate(r, shared, text);
  if (path === undefined || path.startsWith('/') || (path === '' && text !== '')) {
    return path;
  }
  return r.uri.slice(0, r.uri.lastIndexOf('/') + 1) + path;
}
