import type { RequestParts } from '../explain/explain-request.js';
import type { Rehearsed } from '../rehearsal/rehearsal.js';

/** Header fields of answers that say nothing about the configuration, or differ from one time to the next. */
const NOT_RECORDED = new Set([
  'accept-ranges',
  'connection',
  'content-length',
  'date',
  'etag',
  'keep-alive',
  'last-modified',
  'server',
  'transfer-encoding',
]);

/** Bodies up to so many bytes are recorded, if they are text. */
const SHORT_BODY = 80;

/** A time as `Expires` and cookies have it: it is another one a second later. */
const DATE = /\d\d:\d\d:\d\d GMT/;

/** Writes a case of what has come of a request at a time (milliseconds since 1970). Texts are latin1. */
export function recordCase(name: string, parts: RequestParts, now: number, outcome: Rehearsed): string {
  const lines = [`case ${quoted(name)} {`];
  const add = (depth: number, ...words: string[]): void => void lines.push(`${'    '.repeat(depth)}${words.join(' ')};`);
  add(1, 'request', ...(parts.method === undefined || parts.method === 'GET' ? [] : [parts.method]), quoted(parts.url ?? '/'));
  for (const [header, value] of parts.headers) {
    add(1, 'header', quoted(header), quoted(value));
  }
  if (parts.body !== undefined) {
    add(1, 'body', quoted(parts.body));
  }
  if (parts.address !== undefined) {
    add(1, 'address', parts.address);
  }
  if (parts.tls !== undefined) {
    add(1, 'tls', parts.tls ? 'on' : 'off');
  }
  if (parts.version === '1.0') {
    add(1, 'http', '1.0');
  }
  const headers = outcome.response.headers.filter(([header]) => !NOT_RECORDED.has(header.toLowerCase()));
  if (headers.some(([, value]) => DATE.test(value))) {
    add(1, 'now', new Date(now).toISOString());
  }
  lines.push('    expect {');
  add(2, 'status', `${outcome.response.status}`);
  if (outcome.location !== undefined && outcome.location !== '') {
    add(2, 'location', quoted(outcome.location));
  }
  for (const [header, value] of headers) {
    add(2, 'header', quoted(header), quoted(value));
  }
  const body = outcome.response.body.toString('latin1');
  if (outcome.upstreamRequests.length === 0 && body !== '' && body.length <= SHORT_BODY && /^[\x20-\x7e\n]*$/.test(body)) {
    add(2, 'body', quoted(body));
  }
  if (outcome.upstream?.group !== undefined) {
    add(2, 'upstream', quoted(outcome.upstream.group));
  }
  const backend = outcome.upstreamRequests.at(-1);
  if (backend !== undefined) {
    lines.push('        backend {');
    add(3, 'uri', quoted(backend.uri));
    lines.push('        }');
  }
  if (outcome.cacheKey !== undefined) {
    add(2, 'cache_key', quoted(outcome.cacheKey));
  }
  for (const { zone, key } of outcome.limitKeys) {
    add(2, 'limit_key', quoted(zone), quoted(key));
  }
  lines.push('    }', '}', '');
  return lines.join('\n');
}

/** A word as the configuration's language writes it. */
function quoted(text: string): string {
  if (/^[\w./:?&=%+,*@~^-]+$/.test(text) && !/^[~*]/.test(text)) {
    return text;
  }
  return `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')}"`;
}
