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
  let line = 1;
  let scanned = 0;
  let first: Opened | undefined;
  for (const { kind, text: word, start } of rawTokens(text)) {
    line += lineFeeds(text, scanned, start);
    scanned = start;
    if (kind === 'word') {
      first ??= { name: word, line, column: start - lineStart(text, start) + 1, indentation: indentationOf(text, start) };
    } else if (kind === '{' && first !== undefined) {
      open.push(first);
      first = undefined;
    } else if (kind === ';') {
      first = undefined;
    } else if (kind === '}') {
      const closed = open.pop();
      first = undefined;
      const begin = lineStart(text, start);
      const indentation = indentationOf(text, start);
      if (closed === undefined || closed.line === line || text.slice(begin, start).trim() !== '' || indentation >= closed.indentation) {
        continue;
      }
      const owner = open.findLast((block) => block.indentation === indentation);
      if (owner !== undefined) {
        return { name: closed.name, line: closed.line, column: closed.column, takenLine: line, of: owner.name };
      }
    }
  }
  return undefined;
}

function lineFeeds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) {
    count++;
  }
  return count;
}

const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;

/** Columns before the first word of a line; a tab goes to the next multiple of eight. */
function indentationOf(text: string, at: number): number {
  let columns = 0;
  for (let i = lineStart(text, at); ; i++) {
    if (text[i] === '\t') {
      columns += 8 - (columns % 8);
    } else if (text[i] === ' ') {
      columns++;
    } else {
      return columns;
    }
  }
}
