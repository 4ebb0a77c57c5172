import {
  type Item,
  isInnerList,
  parseDictionary,
  parseItem,
  parseList,
  writeBare,
  writeDictionary,
  writeItem,
  writeList,
  writeMember,
} from '../../http/syntax/structured-fields.js';
import { pathOf, queryOf, type SignedMessage } from './message.js';

/** Names of fields: those of components that are none begin with `@`. */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/** Derived components of requests without parameters. RFC 9421, section 2.2. */
const DERIVED: ReadonlyMap<string, (message: SignedMessage) => string> = new Map([
  ['@method', ({ method }) => method],
  [
    '@target-uri',
    ({ scheme, authority, target }) => `${scheme}://${authority}${pathOf(target)}${target.includes('?') ? queryOf(target) : ''}`,
  ],
  ['@authority', ({ authority }) => authority],
  ['@scheme', ({ scheme }) => scheme],
  ['@request-target', ({ requestTarget }) => requestTarget],
  ['@path', ({ target }) => pathOf(target)],
  ['@query', ({ target }) => queryOf(target)],
]);

/** Other components that say as much. */
const SAME: ReadonlyMap<string, readonly string[]> = new Map([
  ['@authority', ['@target-uri']],
  ['@scheme', ['@target-uri']],
  ['@path', ['@target-uri', '@request-target']],
  ['@query', ['@target-uri', '@request-target']],
]);

/** Fields that are known to be structured, for components with `sf`. */
const STRUCTURED: ReadonlyMap<string, 'dictionary' | 'list' | 'item'> = new Map([
  ...['accept-signature', 'cdn-cache-control', 'content-digest', 'priority', 'repr-digest', 'signature', 'signature-input'].map(
    (name) => [name, 'dictionary'] as const,
  ),
  ...['want-content-digest', 'want-repr-digest'].map((name) => [name, 'dictionary'] as const),
  ...['cache-status', 'client-cert-chain', 'proxy-status'].map((name) => [name, 'list'] as const),
  ...['client-cert', 'sec-fetch-dest', 'sec-fetch-mode', 'sec-fetch-site', 'sec-fetch-user'].map((name) => [name, 'item'] as const),
]);

/** Whether a configuration may ask for a component. */
export const canBeAsked = (name: string): boolean => DERIVED.has(name) || FIELD_NAME.test(name);

/** Whether a component is covered, by itself or by one that says as much. Those with parameters are parts, and do not count. */
export function covers(components: readonly Item[], name: string): boolean {
  const names = [name, ...(SAME.get(name) ?? [])];
  return components.some(({ bare, parameters }) => parameters.size === 0 && names.includes(bare.value as string));
}

/** The one name of a component: the order of its parameters says nothing. */
export function identityOf({ bare, parameters }: Item): string {
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : 1));
  return writeItem({ bare, parameters: new Map(sorted) });
}

/** The value of a component in a request; undefined for one that is not there, or that is not known. RFC 9421, section 2. */
export function componentValue(message: SignedMessage, { bare, parameters }: Item): string | undefined {
  const name = bare.value as string;
  if (name.startsWith('@')) {
    if (name === '@query-param') {
      return queryParameter(message.target, parameters);
    }
    return parameters.size === 0 ? DERIVED.get(name)?.(message) : undefined;
  }
  return FIELD_NAME.test(name) ? fieldValue(message.field(name), name, parameters) : undefined;
}

const trimmed = (value: string): string => value.replace(/^[ \t]+|[ \t]+$/g, '');

function fieldValue(lines: readonly string[], name: string, parameters: Item['parameters']): string | undefined {
  if (lines.length === 0) {
    return undefined;
  }
  if (parameters.size === 0) {
    return lines.map(trimmed).join(', ');
  }
  // Parameters that are not known, such as those of responses and trailers, mean another value.
  const [parameter, said] = [...parameters][0]!;
  if (parameters.size > 1) {
    return undefined;
  }
  const flag = said.type === 'boolean' && said.value;
  switch (parameter) {
    case 'bs':
      return flag ? lines.map((line) => writeBare({ type: 'bytes', value: Buffer.from(trimmed(line), 'latin1') })).join(', ') : undefined;
    case 'sf':
      return flag ? structured(name, lines.join(', ')) : undefined;
    case 'key': {
      const member = said.type === 'string' ? parseDictionary(lines.join(', '))?.get(said.value) : undefined;
      return member && writeMember(member);
    }
    default:
      return undefined;
  }
}

function structured(name: string, text: string): string | undefined {
  switch (STRUCTURED.get(name)) {
    case 'dictionary': {
      const value = parseDictionary(text);
      return value && writeDictionary(value);
    }
    case 'list': {
      const value = parseList(text);
      return value && writeList(value);
    }
    case 'item': {
      const value = parseItem(text);
      return value && !isInnerList(value) ? writeItem(value) : undefined;
    }
    default:
      return undefined;
  }
}

/** Characters that forms encode, and `encodeURIComponent` does not. */
const LEFT_PLAIN = /[!'()~]/g;
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(LEFT_PLAIN, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** One parameter of the query, which must not be there twice. RFC 9421, section 2.2.8. */
function queryParameter(target: string, parameters: Item['parameters']): string | undefined {
  const name = parameters.get('name');
  if (name?.type !== 'string' || parameters.size > 1) {
    return undefined;
  }
  let found: string | undefined;
  for (const [key, value] of new URLSearchParams(queryOf(target).slice(1))) {
    if (encoded(key) === name.value) {
      // Bytes that are no UTF-8 all look the same.
      if (found !== undefined || name.value.includes('%EF%BF%BD') || value.includes('\ufffd')) {
        return undefined;
      }
      found = encoded(value);
    }
  }
  return found;
}
