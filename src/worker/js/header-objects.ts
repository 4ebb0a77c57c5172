import { nativeText } from '../../shared/text/native-text.js';
import type { HeadersOut } from '../http/request/headers-out.js';
import type { Request } from '../http/request/request.js';
import { removeHeader, replaceHeader } from './response-head.js';

/** Headers of which a request has one, whatever the client sends. nginx: ngx_http_js_headers_in. */
const SINGLE_IN = new Set([
  'content-type',
  'etag',
  'expect',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'max-forwards',
  'referer',
  'proxy-authorization',
  'user-agent',
  'content-length',
  'authorization',
  'transfer-encoding',
  'connection',
  'range',
]);
/** Headers of which a response has one. */
const SINGLE_OUT = new Set([
  'age',
  'content-encoding',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'location',
  'retry-after',
  'server',
  'date',
]);

/** `r.headersIn`: read only. Values of repeated headers are joined, Cookie's by `; `. */
export function headersIn(r: Request): object {
  const get = (name: string): string | undefined => {
    const lower = name.toLowerCase();
    const value = SINGLE_IN.has(lower) ? r.head.header(lower) : r.head.joined(lower, lower === 'cookie' ? '; ' : ', ');
    return value === undefined ? undefined : nativeText(value);
  };
  // Whoever asks for the names asks for all values next, one by one.
  let all: Map<string, string> | undefined;
  return namedValues(
    (name) => (all === undefined ? get(name) : (all.get(name) ?? get(name))),
    () => {
      all ??= allIn(r);
      return [...all.keys()];
    },
  );
}

/** All headers under the names that the client has first written. */
function allIn(r: Request): Map<string, string> {
  const { headers } = r.head;
  const names = new Map<string, string>();
  const values = new Map<string, string>();
  for (let i = 0; i < headers.length; i += 2) {
    const lower = headers[i]!.toLowerCase();
    const name = names.get(lower);
    if (name === undefined) {
      const own = nativeText(headers[i]!);
      names.set(lower, own);
      values.set(own, headers[i + 1]!);
    } else if (!SINGLE_IN.has(lower)) {
      values.set(name, `${values.get(name)!}${lower === 'cookie' ? '; ' : ', '}${headers[i + 1]!}`);
    }
  }
  for (const [name, value] of values) {
    values.set(name, nativeText(value));
  }
  return values;
}

/** `r.headersOut`. Assigning and deleting change the response's head until it is sent. */
export function headersOut(r: Request): object {
  const out = r.out;
  return namedValues(
    (name) => readOut(out, name.toLowerCase()),
    () => namesOut(out),
    (name, value) => replaceHeader(r, name, value),
    undefined,
    (name) => removeHeader(r, name),
  );
}

function readOut(out: HeadersOut, lower: string): string | readonly string[] | undefined {
  if (lower === 'content-length') {
    return out.contentLength === -1 ? undefined : String(out.contentLength);
  }
  if (lower === 'content-type') {
    return out.contentTypeLine === '' ? undefined : nativeText(out.contentTypeLine);
  }
  const values = out.list
    .filter(({ name }) => name.length === lower.length && name.toLowerCase() === lower)
    .map(({ value }) => nativeText(value));
  if (values.length === 0) {
    return undefined;
  }
  return lower === 'set-cookie' ? values : SINGLE_OUT.has(lower) ? values[0] : values.join(', ');
}

function namesOut(out: HeadersOut): string[] {
  const names = [
    ...(out.contentTypeLine === '' ? [] : ['Content-Type']),
    ...(out.contentLength === -1 || out.lengthPlace !== null ? [] : ['Content-Length']),
    ...out.list.flatMap((header) =>
      header.name !== '' ? [nativeText(header.name)] : header === out.lengthPlace && out.contentLength !== -1 ? ['Content-Length'] : [],
    ),
  ];
  const seen = new Set<string>();
  return names.filter((name) => !seen.has(name.toLowerCase()) && seen.add(name.toLowerCase()));
}

/** What such an object has of all objects, whatever a client calls its headers. */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

const unlisted = (): string[] => [];

/** What such an object is as a text. */
const plainText = (): string => '[object Object]';

/**
 * An object whose properties are looked up by name when they are asked for. `names`: those that are found by going through it. `tag`: its
 * kind, for `Object.prototype.toString`. `remove`: what `delete` does, where there is something that it can do.
 */
export function namedValues(
  get: (name: string) => unknown,
  names: (() => string[]) | undefined,
  set?: (name: string, value: unknown) => void,
  tag?: string,
  remove?: (name: string) => void,
): object {
  const enumerable = names !== undefined;
  return new Proxy(
    {},
    {
      get: (target, name) =>
        typeof name !== 'string'
          ? name === Symbol.toPrimitive
            ? plainText
            : name === Symbol.toStringTag
              ? tag
              : undefined
          : INHERITED.has(name)
            ? (Reflect.get(target, name) as unknown)
            : get(name),
      has: (_target, name) => typeof name === 'string' && (INHERITED.has(name) || get(name) !== undefined),
      ownKeys: names ?? unlisted,
      getOwnPropertyDescriptor(_target, name) {
        const value = typeof name === 'string' ? get(name) : undefined;
        return value === undefined ? undefined : { value, enumerable, configurable: true, writable: set !== undefined };
      },
      set(_target, name, value) {
        if (set === undefined || typeof name !== 'string') {
          return false;
        }
        set(name, value);
        return true;
      },
      defineProperty(_target, name, { value }) {
        if (set === undefined || typeof name !== 'string') {
          return false;
        }
        set(name, value);
        return true;
      },
      deleteProperty(_target, name) {
        if (remove === undefined || typeof name !== 'string') {
          throw new TypeError(`Cannot delete property "${String(name)}" of object`);
        }
        remove(name);
        return true;
      },
    },
  );
}
