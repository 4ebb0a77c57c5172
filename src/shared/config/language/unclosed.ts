import { rawTokens } from './raw-tokens.js';

/** A block that may lack its `}`: the line of its first word, its name, and the line of the `}` that ended it in its place. */
export interface UnclosedBlock {
  readonly name: string;
  readonly line: number;
  readonly column: number;
  readonly takenLine: number;
  /** The block that this `}` seems to be of. */
  readonly of: string;
}

interface Opened {
  readonly name: string;
  readonly line: number;
  readonly column: number;
  readonly indentation: number;
}

/**
 * Looks by the indentation for the block whose `}` is missing, in a text that has too few: the first one that a `}` ends which begins a
 * line further left than the block does, and as far left as a block around it. Undefined when the indentation tells nothing.
 */
export function unclosedBlock(text: string): UnclosedBlock | undefined {
  const open: Opened[] = [];
  /** Open blocks by their indentation, the innermost last. */
  const indented = new Map<number, Opened[]>();
  let line = 1;
  /** Where the line begins, and what its indentation is. */
  let begin = 0;
  let indentation = indentationOf(text, 0);
  let scanned = 0;
  /** Where the token before ends. */
  let before = 0;
  let first: Opened | undefined;
  for (const { kind, text: word, start } of rawTokens(text)) {
    const was = line;
    for (; scanned < start; scanned++) {
      if (text[scanned] === '\n') {
        line++;
        begin = scanned + 1;
      }
    }
    if (line !== was) {
      indentation = indentationOf(text, begin);
    }
    const beginsLine = before <= begin;
    before = start + word.length;
    if (kind === 'word') {
      first ??= { name: word, line, column: start - begin + 1, indentation };
    } else if (kind === '{' && first !== undefined) {
      open.push(first);
      listOf(indented, first.indentation).push(first);
      first = undefined;
    } else if (kind === ';') {
      first = undefined;
    } else if (kind === '}') {
      first = undefined;
      const closed = open.pop();
      if (closed === undefined) {
        continue;
      }
      listOf(indented, closed.indentation).pop();
      if (closed.line === line || !beginsLine || indentation >= closed.indentation) {
        continue;
      }
      const owner = indented.get(indentation)?.at(-1);
      if (owner !== undefined) {
        return { name: closed.name, line: closed.line, column: closed.column, takenLine: line, of: owner.name };
      }
    }
  }
  return undefined;
}

function listOf<K, V>(lists: Map<K, V[]>, key: K): V[] {
  let list = lists.get(key);
  if (list === undefined) {
    lists.set(key, (list = []));
  }
  return list;
}

/** Columns before the first word of the line that begins there; a tab goes to the next multiple of eight. */
function indentationOf(text: string, begin: number): number {
  let columns = 0;
  for (let i = begin; ; i++) {
    if (text[i] === '\t') {
      columns += 8 - (columns % 8);
    } else if (text[i] === ' ') {
      columns++;
    } else {
      return columns;
    }
  }
}
