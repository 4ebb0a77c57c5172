import { compileComplex } from '../../../shared/value/complex.js';
import type { ComplexValue, VariableTable } from '../../../shared/value/value.js';
import type { Request } from '../../http/request.js';
import type { Context } from '../../module.js';

/** One `fastcgi_param` line, or that of a kindred protocol. */
export interface ParamSource {
  readonly name: string;
  readonly value: ComplexValue<Request>;
  readonly ifNotEmpty: boolean;
}

/** Reads a `*_param` line. nginx: ngx_http_upstream_param_set_slot. */
export function readParam(ctx: Context): ParamSource {
  const [name, value, condition] = ctx.node.args as [string, string, string | undefined];
  if (condition !== undefined && condition !== 'if_not_empty') ctx.fail(`invalid parameter "${condition}"`, { arg: 2 });
  return { name, value: ctx.complex(value), ifNotEmpty: condition !== undefined };
}

/** The parameters a location sends, compiled. */
export interface CompiledParams {
  readonly params: readonly ParamSource[];
  /** Client headers (lower case, `_` for `-`) that a parameter `HTTP_…` stands for, or hides with an empty value. */
  readonly replaced: ReadonlySet<string>;
}

const HTTP_HOST = '$host$is_request_port$request_port';

/** Compiles a location's parameters, with nginx's own defaults behind them. nginx: ngx_http_fastcgi_init_params. */
export function compileParams(
  sources: readonly ParamSource[],
  table: VariableTable<Request>,
  more: readonly (readonly [string, string])[] = [],
): CompiledParams {
  const params: ParamSource[] = [];
  const replaced = new Set<string>();
  for (const source of sources) {
    if (source.name.startsWith('HTTP_')) replaced.add(source.name.slice(5).toLowerCase());
    if (source.value.constant !== '') params.push(source);
    else if (!source.name.startsWith('HTTP_') && !source.ifNotEmpty) params.push(source);
  }
  for (const [name, text] of [['HTTP_HOST', HTTP_HOST] as const, ...more]) {
    const header = name.slice(5).toLowerCase();
    if (replaced.has(header)) continue;
    replaced.add(header);
    if (text !== '') params.push({ name, value: compileComplex(text, table), ifNotEmpty: true });
  }
  return { params, replaced };
}

/** Slots that {@link compileParams} will use, named while the configuration is read. */
export function nameDefaultVariables(table: VariableTable<Request>): void {
  compileComplex(HTTP_HOST, table);
}

/** Calls `add` with every parameter of a request, then with its headers as `HTTP_…`. */
export function eachParam(r: Request, compiled: CompiledParams, headers: boolean, add: (name: string, value: string) => void): void {
  const { params, replaced } = compiled;
  for (let i = 0; i < params.length; i++) {
    const { name, value, ifNotEmpty } = params[i]!;
    const text = value.eval(r);
    if (text !== '' || !ifNotEmpty) add(name, text);
  }
  if (!headers) return;
  const { names, headers: lines } = r.head;
  let seen: Set<string> | undefined;
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const key = name.includes('-') ? name.replaceAll('-', '_') : name;
    if (replaced.has(key) || seen?.has(name)) continue;
    let value = lines[2 * i + 1]!;
    if (names.indexOf(name, i + 1) !== -1) {
      value = r.head.joined(name, name === 'cookie' ? '; ' : ', ')!;
      seen ??= new Set();
      seen.add(name);
    }
    add(`HTTP_${key.toUpperCase()}`, value);
  }
}
