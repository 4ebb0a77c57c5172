import { ownValue } from '../../shared/collection/own-value.js';
import type { RawToken } from '../../shared/config/language/raw-tokens.js';
import { nameOf, type Statement, statementsOf } from './statements.js';

/** What a name is a name of. Names of different kinds do not meet. */
export type SymbolKind = 'upstream' | 'variable' | 'location' | 'format' | 'request zone' | 'connection zone' | 'cache zone';

/** One place where a name stands: bytes of a file's text. */
export interface Occurrence {
  readonly kind: SymbolKind;
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** The name is given here. */
  readonly defines: boolean;
  /** The directive that it stands in. */
  readonly statement: Statement;
}

const PASSES = /^(?:proxy|grpc|fastcgi|uwsgi|scgi|memcached|tunnel)_pass$/;
const CACHES = /^(?:proxy|fastcgi|uwsgi|scgi|grpc)_cache$/;
const CACHE_PATHS = /^(?:proxy|fastcgi|uwsgi|scgi|grpc)_cache_path$/;
/** Which argument of a directive names the variable that it makes; -1: the last before the block. */
const MAKES_VARIABLE: Readonly<Record<string, number>> = {
  set: 1,
  auth_request_set: 1,
  map: 2,
  split_clients: 2,
  geo: -1,
  perl_set: 1,
  js_set: 1,
  js_var: 1,
};

/** Every name of the user's in a text, in the order of the text. */
export function occurrences(text: string): readonly Occurrence[] {
  return statementsOf(text).flatMap((statement) => [...ofStatement(statement)]);
}

function* ofStatement(statement: Statement): Generator<Occurrence> {
  const name = nameOf(statement);
  const [, first, second] = statement.words;
  const found = (kind: SymbolKind, token: RawToken, pattern: RegExp, defines: boolean): Occurrence[] => {
    const match = pattern.exec(token.text);
    const word = match?.groups?.name;
    if (match === null || word === undefined) {
      return [];
    }
    const start = token.start + match.index + match[0].indexOf(word, match[0].length - word.length - (match.groups?.rest?.length ?? 0));
    return [{ kind, name: word, start, end: start + word.length, defines, statement }];
  };
  if (name === 'upstream' && first !== undefined) {
    yield* found('upstream', first, /^["']?(?<name>[^"']+)(?<rest>["']?)$/, true);
  } else if (PASSES.test(name) && first !== undefined) {
    yield* found('upstream', first, /^["']?(?:[a-z]+:\/\/)?(?<name>[\w.-]+)(?<rest>(?:[:/"'].*)?)$/, false);
  } else if (name === 'log_format' && first !== undefined) {
    yield* found('format', first, /^(?<name>\S+)$/, true);
  } else if (name === 'access_log' && second !== undefined) {
    yield* found('format', second, /^(?<name>[^=\s]+)$/, false);
  } else if (CACHES.test(name) && first !== undefined && first.text !== 'off') {
    yield* found('cache zone', first, /^(?<name>[\w-]+)$/, false);
  } else if (name === 'limit_conn' && first !== undefined) {
    yield* found('connection zone', first, /^(?<name>[\w-]+)$/, false);
  }
  for (const [index, token] of statement.words.entries()) {
    if (index > 0 && /^limit_(?:req|conn)(?:_zone)?$/.test(name)) {
      const kind = name.startsWith('limit_req') ? 'request zone' : 'connection zone';
      yield* found(kind, token, /^zone=(?<name>[^:=\s]+)(?<rest>(?::.*)?)$/, name.endsWith('_zone'));
    } else if (index > 0 && CACHE_PATHS.test(name)) {
      yield* found('cache zone', token, /^keys_zone=(?<name>[^:=\s]+)(?<rest>(?::.*)?)$/, true);
    }
    if (/^=?["']?@/.test(token.text)) {
      yield* found('location', token, /^=?["']?(?<name>@[^"'\s]+)(?<rest>["']?)$/, name === 'location');
    }
    yield* variables(statement, token, index, name);
  }
}

function* variables(statement: Statement, token: RawToken, index: number, name: string): Generator<Occurrence> {
  const made = ownValue(MAKES_VARIABLE, name);
  const definesAll = made !== undefined && (made === -1 ? statement.words.length - 1 : made) === index;
  for (const match of token.text.matchAll(/\$(?:\{(\w+)\}|([A-Za-z_]\w*))|\(\?P?<([A-Za-z_]\w*)>/g)) {
    const word = match[1] ?? match[2] ?? match[3]!;
    const start = token.start + match.index + match[0].indexOf(word);
    const defines = match[3] !== undefined || (definesAll && match[0] === token.text);
    yield { kind: 'variable', name: word, start, end: start + word.length, defines, statement };
  }
}

/** The name that stands at a byte of the text. */
export function occurrenceAt(text: string, at: number): Occurrence | undefined {
  return occurrences(text).find(({ start, end }) => start <= at && at <= end);
}
