import type { ComplexValue } from '../../../shared/value/complex.js';
import { constantValue } from '../../../shared/value/complex.js';
import { etagValue, lastModifiedValue } from '../../cache/validators.js';
import { foldedValue } from '../../http/request/line-text.js';
import type { Request } from '../../http/request/request.js';
import type { HeaderLineSource } from './settings.js';

/** What stands in a header that the configuration does not set. */
export type HeaderValue = ComplexValue<Request> | 'body-length' | 'chunked';

/** A header that requests to backends get. */
export interface CompiledHeader {
  /** `Name: ` */
  readonly before: string;
  readonly value: HeaderValue;
  /** The whole line when the value is always the same. */
  readonly line: string | undefined;
  /** The header says how long the body is. */
  readonly length: boolean;
}

/** The headers of requests to backends. nginx: ngx_http_proxy_headers_t. */
export interface CompiledHeaders {
  /** The value of `proxy_set_header Host`; undefined: the backend's own name. */
  readonly host: ComplexValue<Request> | undefined;
  readonly lines: readonly CompiledHeader[];
  /** Names (in lower case) of the client's headers that are not passed on. */
  readonly replaced: ReadonlySet<string>;
}

/** A header the server itself sets when the configuration does not; without a value it is only not passed on. */
export type DefaultHeader = readonly [name: string, value?: HeaderValue];

/** nginx: ngx_http_proxy_headers. `close`: as before nginx 1.29.7, where connections are not kept by default. */
export function defaultHeaders(close: boolean): readonly DefaultHeader[] {
  return [
    ['Host'],
    close ? ['Connection', constantValue('close')] : ['Connection'],
    ['Proxy-Connection'],
    ['Content-Length', 'body-length'],
    ['Transfer-Encoding', 'chunked'],
    ['TE'],
    ['Keep-Alive'],
    ['Expect'],
    ['Upgrade'],
  ];
}

/**
 * The defaults of requests whose responses are kept: what asks for a part, or for a change, asks for the whole. nginx:
 * ngx_http_proxy_cache_headers.
 */
export function cacheHeaders(close: boolean): readonly DefaultHeader[] {
  return [
    ...defaultHeaders(close),
    ['If-Modified-Since', lastModifiedValue],
    ['If-Unmodified-Since'],
    ['If-None-Match', etagValue],
    ['If-Match'],
    ['Range'],
    ['If-Range'],
  ];
}

/** Compiles the lines of `proxy_set_header` with the defaults behind them. nginx: ngx_http_proxy_init_headers. */
export function compileHeaders(sources: readonly HeaderLineSource[], defaults: readonly DefaultHeader[]): CompiledHeaders {
  let host: ComplexValue<Request> | undefined;
  const lines: CompiledHeader[] = [];
  const replaced = new Set<string>();
  const add = (name: string, given: HeaderValue): void => {
    const value = typeof given === 'string' ? given : foldedValue(given);
    const constant = typeof value === 'string' ? undefined : value.constant;
    if (constant === '') {
      return;
    }
    const before = `${name}: `;
    lines.push({
      before,
      value,
      line: constant === undefined ? undefined : `${before}${constant}\r\n`,
      length: name.toLowerCase() === 'content-length',
    });
  };
  for (const source of sources) {
    const { name } = source;
    const { value } = source.value;
    if (name.toLowerCase() === 'host') {
      host = foldedValue(value);
    } else {
      replaced.add(name.toLowerCase());
      add(name, value);
    }
  }
  for (const [name, value] of defaults) {
    const lower = name.toLowerCase();
    if (replaced.has(lower)) {
      continue;
    }
    replaced.add(lower);
    if (value !== undefined) {
      add(name, value);
    }
  }
  return { host, lines, replaced };
}
