import { nameOf, type Statement, statementsOf } from './statements.js';

/** A block of a file, and the blocks in it. Places are bytes of the text. */
export interface OutlineItem {
  /** The directive with its arguments, such as `location /api/`. */
  readonly name: string;
  /** What tells it from its neighbours, such as the names of a server. */
  readonly detail: string;
  readonly kind: 'server' | 'location' | 'upstream' | 'block';
  readonly start: number;
  readonly end: number;
  /** Where the directive's own words end. */
  readonly nameEnd: number;
  readonly children: OutlineItem[];
}

/** Longer names are cut. */
const LONGEST = 120;
const KINDS = new Set(['server', 'location', 'upstream']);

/** The blocks of a text as a tree. */
export function outlineOf(text: string): readonly OutlineItem[] {
  const top: OutlineItem[] = [];
  const items = new Map<Statement, OutlineItem>();
  const names = new Map<Statement, string[]>();
  const statements = statementsOf(text);
  for (const statement of statements) {
    const { parent, words } = statement;
    const directive = nameOf(statement);
    if (parent !== undefined && (directive === 'server_name' || directive === 'listen')) {
      const all = names.get(parent) ?? [];
      names.set(parent, all);
      // The names of a server come before its ports.
      all.splice(
        directive === 'server_name' ? 0 : all.length,
        0,
        words
          .slice(1, directive === 'listen' ? 2 : undefined)
          .map((word) => word.text)
          .join(' '),
      );
    }
  }
  for (const statement of statements) {
    if (!statement.block) {
      continue;
    }
    const { start, blockEnd, words, parent } = statement;
    const directive = nameOf(statement);
    const last = words.at(-1)!;
    const item: OutlineItem = {
      name: words
        .map((word) => word.text)
        .join(' ')
        .slice(0, LONGEST),
      detail: directive === 'server' ? (names.get(statement) ?? []).join(' ').slice(0, LONGEST) : '',
      kind: KINDS.has(directive) ? (directive as OutlineItem['kind']) : 'block',
      start,
      end: blockEnd,
      nameEnd: last.start + last.text.length,
      children: [],
    };
    items.set(statement, item);
    const around = parent === undefined ? undefined : items.get(parent);
    (around?.children ?? top).push(item);
  }
  return top;
}
