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

/** Parameters of requests whose responses are cached: what asks for a part, or for a change, asks for the whole. nginx: ngx_http_fastcgi_cache_headers. */
export const CACHE_PARAMS: readonly (readonly [string, string])[] = [
  ['HTTP_IF_MODIFIED_SINCE', '$upstream_cache_last_modified'],
  ['HTTP_IF_UNMODIFIED_SINCE', ''],
  ['HTTP_IF_NONE_MATCH', '$upstream_cache_etag'],
  ['HTTP_IF_MATCH', ''],
  ['HTTP_RANGE', ''],
  ['HTTP_IF_RANGE', ''],
];

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
    const header = source.name.length > 5 && source.name.startsWith('HTTP_');
    if (header) replaced.add(source.name.slice(5).toLowerCase());
    if (source.value.constant !== '' || !(header || source.ifNotEmpty)) params.push(source);
  }
  for (const [name, text] of [['HTTP_HOST', HTTP_HOST] as const, ...more]) {
    if (sources.some((source) => source.name.toUpperCase() === name)) continue;
    replaced.add(name.slice(5).toLowerCase());
    if (text !== '') params.push({ name, value: compileComplex(text, table), ifNotEmpty: true });
  }
  return { params, replaced };
}

/** Slots that {@link compileParams} will use, named while the configuration is read. */
export function nameDefaultVariables(table: VariableTable<Request>): void {
  compileComplex(HTTP_HOST, table);
  for (const [, text] of CACHE_PARAMS) compileComplex(text, table);
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
