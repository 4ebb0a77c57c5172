import { escapeDefault, escapeJson } from './escape.js';

/** `escape=` of `log_format`. */
export type LogEscape = 'default' | 'json' | 'none';

/** One stretch of a log format: text as it is, or a variable's name. */
export type FormatPart = { readonly text: string } | { readonly variable: string };

/** Says how to read one variable while a line is made. */
export interface FormatVariable<R> {
  /** The value, or undefined when there is none. */
  readonly get: (r: R) => string | undefined;
  /** True when the value can hold nothing to escape (a number, a time), so that it is not searched. */
  readonly verbatim: boolean;
}

/**
 * Splits the text of a `log_format` into its parts. `fail` receives nginx's message and does not return.
 * nginx: ngx_http_log_compile_format.
 */
export function parseFormat(template: string, fail: (message: string) => never): FormatPart[] {
  const parts: FormatPart[] = [];
  let at = 0;
  while (at < template.length) {
    const dollar = template.indexOf('$', at);
    if (dollar !== at) {
      const end = dollar < 0 ? template.length : dollar;
      parts.push({ text: template.slice(at, end) });
      at = end;
      continue;
    }
    const bracket = template[at + 1] === '{';
    const start = at + (bracket ? 2 : 1);
    const end = start + (/^\w*/.exec(template.slice(start))?.[0].length ?? 0);
    if (start >= template.length) {
      fail(`invalid parameter "${template.slice(at)}"`);
    }
    if (bracket && template[end] !== '}') {
      fail(`the closing bracket in "${template.slice(start, end)}" variable is missing`);
    }
    if (end === start) {
      fail(`invalid parameter "${template.slice(at)}"`);
    }
    parts.push({ variable: template.slice(start, end) });
    at = end + (bracket ? 1 : 0);
  }
  return parts;
}

/**
 * Makes the function that renders one line, without its line feed. A variable without a value shows as `-`, and as nothing when the format
 * is escaped otherwise than by default.
 */
export function compileFormat<R>(
  parts: readonly FormatPart[],
  escaping: LogEscape,
  lookup: (variable: string) => FormatVariable<R>,
): (r: R) => string {
  const missing = escaping === 'default' ? '-' : '';
  const escapeValue = { default: escapeDefault, json: escapeJson, none: undefined }[escaping];
  const getters: ((r: R) => string | undefined)[] = [];
  const escaped: boolean[] = [];
  /** The text before each variable, and after the last one. */
  const texts: string[] = [''];
  for (const part of parts) {
    if ('text' in part) {
      texts.push(texts.pop() + part.text);
    } else {
      const variable = lookup(part.variable);
      getters.push(variable.get);
      escaped.push(!variable.verbatim && escapeValue !== undefined);
      texts.push('');
    }
  }
  const count = getters.length;
  const tail = texts[count] as string;
  return (r) => {
    let line = '';
    for (let i = 0; i < count; i++) {
      const value = (getters[i] as (r: R) => string | undefined)(r);
      line += texts[i];
      line += value === undefined ? missing : escaped[i] ? (escapeValue as (value: string) => string)(value) : value;
    }
    return line + tail;
  };
}
