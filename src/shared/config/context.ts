/** Where a directive may stand: a bit set. */
export const In = {
  MAIN: 1,
  EVENTS: 2,
  HTTP: 4,
  SERVER: 8,
  LOCATION: 16,
  UPSTREAM: 32,
  SERVER_IF: 64,
  LOCATION_IF: 128,
  LIMIT_EXCEPT: 256,
  STREAM: 512,
  STREAM_SERVER: 1024,
  STREAM_UPSTREAM: 2048,
} as const;

/** The contexts inside `stream`, that block included. */
export const STREAM_CONTEXTS: number = In.STREAM | In.STREAM_SERVER | In.STREAM_UPSTREAM;
/** The contexts inside `http`. */
export const HTTP_CONTEXTS: number = In.HTTP | In.SERVER | In.LOCATION | In.UPSTREAM | In.SERVER_IF | In.LOCATION_IF | In.LIMIT_EXCEPT;

const NAMES: readonly (readonly [number, string])[] = [
  [In.MAIN, 'main'],
  [In.EVENTS, 'events'],
  [In.HTTP, 'http'],
  [In.SERVER, 'server'],
  [In.LOCATION, 'location'],
  [In.UPSTREAM, 'upstream'],
  [In.SERVER_IF, 'if in server'],
  [In.LOCATION_IF, 'if in location'],
  [In.LIMIT_EXCEPT, 'limit_except'],
  [In.STREAM, 'stream'],
  [In.STREAM_SERVER, 'server in stream'],
  [In.STREAM_UPSTREAM, 'upstream in stream'],
];

/** The contexts of a bit set in words, in nesting order, for messages: `http, server or location`. */
export function contextNames(bits: number): string {
  const names = NAMES.filter(([bit]) => (bits & bit) !== 0).map(([, name]) => name);
  const last = names.pop() ?? 'nowhere';
  return names.length === 0 ? last : `${names.join(', ')} or ${last}`;
}
