import { LateValue } from '../../shared/config/late-value.js';
import { ownText } from '../../shared/text/own-text.js';
import type { ComplexValue } from '../../shared/value/complex.js';
import { compileComplex, parseTemplate } from '../../shared/value/complex.js';
import type { VariableTable } from '../../shared/value/variables.js';
import type { Request } from '../http/request/request.js';
import type { Context } from '../module.js';

/** One `fastcgi_param` line, or that of a kindred protocol. */
export interface ParamSource {
  readonly name: string;
  readonly value: LateValue<Request>;
  readonly ifNotEmpty: boolean;
}

/** Reads a `*_param` line. nginx: ngx_http_upstream_param_set_slot. */
export function readParam(ctx: Context): ParamSource {
  const [name, value, condition] = ctx.node.args as [string, string, string | undefined];
  if (condition !== undefined && condition !== 'if_not_empty') {
    ctx.fail(`invalid parameter "${condition}"`, { arg: 2 });
  }
  return { name, value: new LateValue(value, ctx), ifNotEmpty: condition !== undefined };
}

/** How a protocol writes a parameter. */
export interface ParamEncoding {
  /** What stands before a value of a length. */
  before(name: string, valueLength: number): string;
  /** What stands behind it. */
  readonly after: string;
}

/** For values up to this length, the bytes before the value are kept and reused. */
const SHORT_VALUE = 127;

/** A parameter that a location sends. */
class CompiledParam {
  readonly value: ComplexValue<Request>;
  readonly ifNotEmpty: boolean;
  /** The whole of it when it is always the same. */
  readonly encoded: string | undefined;
  readonly #name: string;
  readonly #encoding: ParamEncoding;
  readonly #before: (string | undefined)[] = [];

  constructor(name: string, value: ComplexValue<Request>, ifNotEmpty: boolean, encoding: ParamEncoding) {
    this.value = value;
    this.ifNotEmpty = ifNotEmpty;
    this.#name = name;
    this.#encoding = encoding;
    const { constant } = value;
    this.encoded = constant === undefined ? undefined : encoding.before(name, constant.length) + constant + encoding.after;
  }

  /** What stands before a value of a length. */
  before(length: number): string {
    const known = this.#before[length];
    if (known !== undefined) {
      return known;
    }
    const made = ownText(this.#encoding.before(this.#name, length));
    if (length <= SHORT_VALUE) {
      this.#before[length] = made;
    }
    return made;
  }
}

/** The parameters a location sends, compiled. */
export interface CompiledParams {
  readonly params: readonly CompiledParam[];
  /** Client headers (lower case, `_` for `-`) that a parameter `HTTP_…` stands for, or hides with an empty value. */
  readonly replaced: ReadonlySet<string>;
}

/**
 * Parameters of requests whose responses are cached: what asks for a part, or for a change, asks for the whole. nginx:
 * ngx_http_fastcgi_cache_headers.
 */
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
  encoding: ParamEncoding,
  more: readonly (readonly [string, string])[] = [],
): CompiledParams {
  const params: CompiledParam[] = [];
  const add = (name: string, value: ComplexValue<Request>, ifNotEmpty: boolean): void => {
    params.push(new CompiledParam(name, value, ifNotEmpty, encoding));
  };
  const replaced = new Set<string>();
  for (const source of sources) {
    const header = source.name.length > 5 && source.name.startsWith('HTTP_');
    if (header) {
      replaced.add(source.name.slice(5).toLowerCase());
    }
    const { value } = source.value;
    if (value.constant !== '' || !(header || source.ifNotEmpty)) {
      add(source.name, value, source.ifNotEmpty);
    }
  }
  for (const [name, text] of [['HTTP_HOST', HTTP_HOST] as const, ...more]) {
    if (sources.some((source) => source.name.toUpperCase() === name)) {
      continue;
    }
    replaced.add(name.slice(5).toLowerCase());
    if (text !== '') {
      add(name, compileComplex(text, table), true);
    }
  }
  return { params, replaced };
}

/** Slots that {@link compileParams} will use, named while the configuration is read. */
export function nameDefaultVariables(table: VariableTable<Request>): void {
  for (const name of DEFAULT_VARIABLES) {
    table.slot(name);
  }
}

const DEFAULT_VARIABLES: readonly string[] = [HTTP_HOST, ...CACHE_PARAMS.map(([, text]) => text)]
  .flatMap(parseTemplate)
  .flatMap((part) => (typeof part === 'object' && 'variable' in part ? [part.variable] : []));

/** A client's header as a parameter. */
interface HeaderName {
  /** In lower case, `_` for `-`. */
  readonly key: string;
  /** `HTTP_…`. */
  readonly param: string;
}

/** Names of headers seen before; clients can make up as many as they like. */
const headerNames = new Map<string, HeaderName>();
const MOST_HEADER_NAMES = 500;

/** `name` is in lower case. */
function headerName(name: string): HeaderName {
  const known = headerNames.get(name);
  if (known !== undefined) {
    return known;
  }
  const key = name.replaceAll('-', '_');
  const made = { key, param: `HTTP_${key.toUpperCase()}` };
  if (headerNames.size < MOST_HEADER_NAMES) {
    headerNames.set(name, made);
  }
  return made;
}

/** Writes every parameter of a request, then its headers as `HTTP_…`. */
export function encodeParams(r: Request, compiled: CompiledParams, headers: boolean, encoding: ParamEncoding): string {
  const { params, replaced } = compiled;
  const { after } = encoding;
  let out = '';
  for (let i = 0; i < params.length; i++) {
    const param = params[i]!;
    if (param.encoded !== undefined) {
      out += param.encoded;
      continue;
    }
    const text = param.value.eval(r);
    if (text === '' && param.ifNotEmpty) {
      continue;
    }
    out += param.before(text.length);
    out += text;
    out += after;
  }
  if (!headers) {
    return out;
  }
  const { names, headers: lines } = r.head;
  let seen: Set<string> | undefined;
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const { key, param } = headerName(name);
    if (replaced.has(key) || seen?.has(name)) {
      continue;
    }
    let value = lines[2 * i + 1]!;
    if (names.indexOf(name, i + 1) !== -1) {
      value = r.head.joined(name, name === 'cookie' ? '; ' : ', ')!;
      seen ??= new Set();
      seen.add(name);
    }
    out += encoding.before(param, value.length);
    out += value;
    out += after;
  }
  return out;
}
