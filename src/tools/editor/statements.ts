import { type RawToken, rawTokens } from '../../shared/config/language/raw-tokens.js';

/** A directive as it stands in a text that may be incomplete. */
export interface Statement {
  /** The statement's words, quotes included, in order. */
  readonly words: RawToken[];
  /** The block that it stands in; undefined at the top of the file. */
  readonly parent: Statement | undefined;
  /** The statement opened a block. */
  block: boolean;
  /** Where it starts, and the first byte behind its `;` or `{`; for one that is not complete, the end of the text. */
  readonly start: number;
  end: number;
  /** The first byte behind the `}` of its block. */
  blockEnd: number;
}

/** What a cursor points at. */
export interface EditorCursor {
  /** The directive that the cursor stands in; undefined between two. */
  readonly statement: Statement | undefined;
  /** The block around that. */
  readonly block: Statement | undefined;
  /** Which word of the directive: 0 is its name. The one after the last when the cursor stands behind a space. */
  readonly index: number;
  /** The word under the cursor; undefined when there is none. */
  readonly word: RawToken | undefined;
  readonly inComment: boolean;
}

/** The directives of a text in their order, however much of the text is missing. */
export function statementsOf(text: string): readonly Statement[] {
  const statements: Statement[] = [];
  const open: Statement[] = [];
  let current: Statement | undefined;
  for (const token of rawTokens(text)) {
    const end = token.start + token.text.length;
    switch (token.kind) {
      case 'comment':
        break;
      case 'word':
        if (current === undefined) {
          current = { words: [], parent: open.at(-1), block: false, start: token.start, end: text.length, blockEnd: text.length };
          statements.push(current);
        }
        current.words.push(token);
        break;
      case ';':
        if (current !== undefined) {
          current.end = end;
          current = undefined;
        }
        break;
      case '{':
        if (current !== undefined) {
          current.end = end;
          current.block = true;
          open.push(current);
          current = undefined;
        }
        break;
      case '}': {
        const closed = open.pop();
        if (closed !== undefined) {
          closed.blockEnd = end;
        }
        current = undefined;
      }
    }
  }
  return statements;
}

/** What stands at a byte of the text. A word that ends at the cursor counts, since it may be being written. */
export function cursorAt(text: string, at: number): EditorCursor {
  const statements = statementsOf(text);
  const inComment = rawTokens(text).some(({ kind, start, text: token }) => kind === 'comment' && start < at && at <= start + token.length);
  let block: Statement | undefined;
  let statement: Statement | undefined;
  for (const candidate of statements) {
    if (candidate.start <= at && (at < candidate.end || (at === candidate.end && !ended(text, candidate)))) {
      statement = candidate;
    }
    if (candidate.block && candidate.end <= at && at < candidate.blockEnd) {
      block = candidate;
    }
  }
  if (statement === undefined) {
    return { statement, block, index: 0, word: undefined, inComment };
  }
  const index = statement.words.findIndex(({ start, text: word }) => start <= at && at <= start + word.length);
  if (index >= 0) {
    return { statement, block: statement.parent, index, word: statement.words[index], inComment };
  }
  const before = statement.words.filter(({ start }) => start < at).length;
  return { statement, block: statement.parent, index: before, word: undefined, inComment };
}

/** The directive ends in `;`, `{` or `}`: what follows is another one. */
const ended = (text: string, { end }: Statement): boolean => /[;{}]/.test(text.charAt(end - 1));

/** The blocks around, from the outermost to the innermost. */
export function path(block: Statement | undefined): readonly Statement[] {
  return block === undefined ? [] : [...path(block.parent), block];
}

/** A word without its quotes. */
export const bare = (word: string): string => word.replace(/^(["'])([\s\S]*)\1$/, '$2');

/** The name of a directive. */
export const nameOf = ({ words }: Statement): string => bare(words[0]?.text ?? '');
