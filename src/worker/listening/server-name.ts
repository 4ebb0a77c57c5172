import { hostname } from 'node:os';
import type { Pos } from '../../shared/config/language/ast.js';
import { argPosition } from '../../shared/config/language/ast.js';
import type { RegexValue } from '../../shared/value/regex-value.js';
import type { SharedContext } from '../module.js';
import type { ClientTask } from '../task/client-task.js';

/** One argument of `server_name`. */
export interface ServerName {
  readonly kind: 'exact' | 'wildcard' | 'regex';
  /** As `$server_name` shows it. */
  readonly text: string;
  /** Lower case; a wildcard as `*.x`, `.x` or `x.*`. */
  readonly name: string;
  readonly regex?: RegexValue<ClientTask>;
  /** Where it is written. */
  readonly pos?: Pos;
}

/** Reads a server name. nginx: ngx_http_core_server_name. */
export function parseServerName(given: string, arg: number, ctx: SharedContext): ServerName {
  const dot = given.startsWith('.');
  const [line, column] = argPosition(ctx.node, arg)!;
  const pos = { file: ctx.node.pos.file, line, column };
  if ((given.startsWith('*') && (given.length < 3 || given[1] !== '.')) || (dot && given.length < 2)) {
    ctx.fail(`server name "${given}" is invalid`, { arg });
  }
  if (given.includes('/')) {
    ctx.warn(`server name "${given}" has suspicious symbols`, { arg });
  }
  if (given.startsWith('~')) {
    if (given.length === 1) {
      ctx.fail(`empty regex in server name "${given}"`, { arg });
    }
    // A capital letter would never match, since host names are compared in lower case.
    const caseless = /[A-Z]/.test(given);
    const pattern = given.slice(1);
    return { kind: 'regex', text: given, name: pattern, regex: ctx.regex(pattern, caseless), pos };
  }
  const name = (given.toLowerCase() === '$hostname' ? hostname() : given).toLowerCase();
  const wildcard = name.startsWith('*.') || name.startsWith('.') || name.endsWith('.*');
  return { kind: wildcard ? 'wildcard' : 'exact', text: dot ? name.slice(1) : name, name, pos };
}
