import {
  type Dictionary,
  type Item,
  parseDictionary,
  parseItem,
  parseList,
  writeBare,
  writeDictionary,
  writeItem,
  writeList,
  writeMember,
} from '../../http/syntax/structured-fields.js';
import { isBlank, trimmed } from '../../text/trimmed.js';
import { queryOf, type SignedMessage, targetPath } from './message.js';

/** Names of fields: those of components that are none begin with `@`. */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/** Derived components of requests without parameters. RFC 9421, section 2.2. */
const DERIVED: ReadonlyMap<string, (message: SignedMessage) => string> = new Map([
  ['@method', ({ method }) => method],
  [
    '@target-uri',
    ({ scheme, authority, target }) => `${scheme}://${authority}${targetPath(target)}${target.includes('?') ? queryOf(target) : ''}`,
  ],
  ['@authority', ({ authority }) => authority],
  ['@scheme', ({ scheme }) => scheme],
  ['@request-target', ({ requestTarget }) => requestTarget],
  ['@path', ({ target }) => targetPath(target)],
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

/**
 * Gives the values of components of one request. What a header or the query says is read once, however many parts of it signatures name:
 * whoever knows the name of a key can send signatures that name many.
 */
export class ComponentValues {
  readonly #message: SignedMessage;
  readonly #dictionaries = new Map<string, Dictionary | undefined>();
  #query: ReadonlyMap<string, string | undefined> | undefined;

  constructor(message: SignedMessage) {
    this.#message = message;
  }

  /** The value of a component; undefined for one that is not there, or that is not known. RFC 9421, section 2. */
  get({ bare, parameters }: Item): string | undefined {
    const name = bare.value as string;
    if (name === '@query-param') {
      return this.#queryParameter(parameters);
    }
    if (name.startsWith('@')) {
      return parameters.size === 0 ? DERIVED.get(name)?.(this.#message) : undefined;
    }
    return FIELD_NAME.test(name) ? this.#field(name, parameters) : undefined;
  }

  #field(name: string, parameters: Item['parameters']): string | undefined {
    const lines = this.#message.field(name);
    // Parameters that are not known, such as those of responses and trailers, mean another value.
    if (lines.length === 0 || parameters.size > 1) {
      return undefined;
    }
    for (const [parameter, said] of parameters) {
      const flag = said.type === 'boolean' && said.value;
      switch (parameter) {
        case 'bs':
          return flag
            ? lines.map((line) => writeBare({ type: 'bytes', value: Buffer.from(trimmed(line, isBlank), 'latin1') })).join(', ')
            : undefined;
        case 'sf':
          return flag ? structured(name, lines.join(', ')) : undefined;
        case 'key': {
          const member = said.type === 'string' ? this.#dictionary(name, lines)?.get(said.value) : undefined;
          return member && writeMember(member);
        }
        default:
          return undefined;
      }
    }
    return lines.map((line) => trimmed(line, isBlank)).join(', ');
  }

  #dictionary(name: string, lines: readonly string[]): Dictionary | undefined {
    if (!this.#dictionaries.has(name)) {
      this.#dictionaries.set(name, parseDictionary(lines.join(', ')));
    }
    return this.#dictionaries.get(name);
  }

  /** One parameter of the query, which must not be there twice. RFC 9421, section 2.2.8. */
  #queryParameter(parameters: Item['parameters']): string | undefined {
    const name = parameters.get('name');
    if (name?.type !== 'string' || parameters.size > 1) {
      return undefined;
    }
    this.#query ??= queryParameters(this.#message.target);
    return this.#query.get(name.value);
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
      return value && writeItem(value);
    }
    default:
      return undefined;
  }
}

/** Characters that forms encode, and `encodeURIComponent` does not. */
const LEFT_PLAIN = /[!'()~]/g;
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(LEFT_PLAIN, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** The parameters of a query by their names, both encoded; undefined for one that is there twice. */
function queryParameters(target: string): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  for (const [key, value] of new URLSearchParams(queryOf(target).slice(1))) {
    // Bytes that are no UTF-8 all look the same.
    const unclear = key.includes('\ufffd') || value.includes('\ufffd');
    const name = encoded(key);
    found.set(name, unclear || found.has(name) ? undefined : encoded(value));
  }
  return found;
}
