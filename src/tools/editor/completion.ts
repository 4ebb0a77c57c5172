import { contextIn, ENTRIES } from './contexts.js';
import { keywordsOf, type Reference } from './reference.js';
import { type EditorCursor, nameOf } from './statements.js';
import type { SymbolKind } from './symbols.js';

/** One thing that may be written at the cursor; it takes the place of the bytes from `from` to the cursor. */
export interface Completion {
  readonly label: string;
  readonly kind: 'directive' | 'variable' | 'name' | 'keyword';
  readonly from: number;
  /** Markdown. */
  readonly text: string;
}

/** What completions are made of. */
export interface Known {
  readonly reference: Reference;
  /** Directives that may stand in a context. */
  directives(context: number): readonly string[];
  /** Variables of the server's own. */
  readonly variables: readonly string[];
  /** The names of one kind that the configuration defines. */
  names(kind: SymbolKind): readonly string[];
}

const PASSES = /^(?:proxy|grpc|fastcgi|uwsgi|scgi|memcached)_pass$/;

/** What may be written at a byte of a text, whose top is in the context `top`. */
export function completionsAt(text: string, at: number, cursor: EditorCursor, top: number, known: Known): readonly Completion[] {
  if (cursor.inComment) {
    return [];
  }
  const context = contextIn(cursor.block, top);
  if (cursor.index === 0) {
    return context === ENTRIES ? [] : directives(context, cursor.word?.start ?? at, known);
  }
  const before = text.slice(cursor.word?.start ?? at, at);
  const variable = /\$\{?(\w*)$/.exec(before);
  if (variable !== null) {
    const names = new Set([...known.names('variable'), ...known.variables]);
    const from = at - variable[1]!.length;
    return [...names].map((name) => ({ label: name, kind: 'variable', from, text: known.reference.variables[name] ?? '' }));
  }
  return [...names(cursor, before, at, known), ...keywords(cursor, before, at, known)];
}

function directives(context: number, from: number, known: Known): Completion[] {
  return known
    .directives(context)
    .map((label) => ({ label, kind: 'directive', from, text: (known.reference.directives[label] ?? []).join('\n\n---\n\n') }));
}

/** Names of the configuration's own that fit the directive. */
function names({ statement, index }: EditorCursor, before: string, at: number, known: Known): Completion[] {
  const directive = statement === undefined ? '' : nameOf(statement);
  const offer = (kind: SymbolKind, from = at - before.length): Completion[] =>
    known.names(kind).map((label) => ({ label, kind: 'name', from, text: kind }));
  const zone = /^zone=/.test(before) ? at - before.length + 'zone='.length : undefined;
  if (directive === 'limit_req' && zone !== undefined) {
    return offer('request zone', zone);
  }
  if (directive === 'limit_conn' && index === 1) {
    return offer('connection zone');
  }
  if (/_cache$/.test(directive) && index === 1) {
    return offer('cache zone');
  }
  if (directive === 'access_log' && index === 2) {
    return offer('format');
  }
  if (PASSES.test(directive) && index === 1) {
    const scheme = /^[a-z]+:\/\//.exec(before)?.[0].length ?? 0;
    return offer('upstream', at - before.length + scheme);
  }
  return before.startsWith('@') || directive === 'error_page' || directive === 'try_files' ? offer('location') : [];
}

function keywords({ statement }: EditorCursor, before: string, at: number, known: Known): Completion[] {
  const sections = known.reference.directives[statement === undefined ? '' : nameOf(statement)] ?? [];
  const words = new Set(sections.flatMap(keywordsOf));
  return [...words].map((label) => ({ label, kind: 'keyword', from: at - before.length, text: '' }));
}
