import { commandLine, type DirectiveNode, type Node, type Pos, type RelatedPosition, type SyntaxErrorNode } from './ast.js';
import { End, Lexer } from './lexer.js';
import { directiveOf, LinesDirective, SimpleLines } from './simple-lines.js';
import { unclosedBlock } from './unclosed.js';

/** Blocks of which real configurations have some with a hundred thousand lines. */
const LARGE_BLOCKS: ReadonlySet<string> = new Set(['geo', 'map']);

/** Deeper nesting than this is an error, so that code which walks the tree by recursion cannot run out of stack. nginx has no limit. */
const maxDepth = 256;

interface OpenBlock {
  readonly node: Mutable<DirectiveNode>;
  readonly siblings: Node[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Turns configuration text (latin1) into a tree. It never throws: where the text stops making sense the tree ends in a SyntaxErrorNode
 * with nginx's message. With `file` being `commandLine` the text is that of `-g`, which may have no blocks. nginx: ngx_conf_parse
 */
export function parseConfig(text: string, file: string): readonly Node[] {
  const isFile = file !== commandLine;
  const lexer = new Lexer(text, isFile);
  const root: Node[] = [];
  const open: OpenBlock[] = [];
  let nodes = root;
  for (;;) {
    const end = lexer.next();
    switch (end) {
      case End.SEMICOLON:
        nodes.push(directiveOf(lexer, file));
        continue;
      case End.OPENING_BRACE: {
        const node: Mutable<DirectiveNode> = directiveOf(lexer, file);
        if (!isFile) {
          nodes.push(syntaxError('block directives are not supported in -g option', node.pos));
          return root;
        }
        if (open.length === maxDepth) {
          nodes.push(syntaxError(`blocks are nested deeper than ${maxDepth} levels`, { file, line: lexer.line, column: lexer.column }));
          return root;
        }
        const lines = LARGE_BLOCKS.has(node.name) ? SimpleLines.ofBlock(text, file, lexer.place) : undefined;
        if (lines !== undefined) {
          nodes.push(new LinesDirective(node, lines));
          lexer.place = lines.end;
          continue;
        }
        const block: Node[] = [];
        node.block = block;
        nodes.push(node);
        open.push({ node, siblings: nodes });
        nodes = block;
        continue;
      }
      case End.CLOSING_BRACE: {
        const closed = open.pop();
        if (closed === undefined) {
          nodes.push(
            syntaxError(
              'unexpected "}"',
              { file, line: lexer.line, column: lexer.column },
              { hint: 'no block is open here; is one "}" too many above?' },
            ),
          );
          return root;
        }
        closed.node.closeLine = lexer.line;
        // Without the room that it was left to grow.
        closed.node.block = nodes.slice();
        nodes = closed.siblings;
        continue;
      }
      case End.TEXT: {
        const unclosed = open.at(-1)?.node;
        if (unclosed !== undefined) {
          const related = [unclosedPlace(text, file) ?? { pos: unclosed.pos, text: `the block of "${unclosed.name}" starts here` }];
          nodes.push(
            syntaxError('unexpected end of file, expecting "}"', { file, line: lexer.line, column: lexer.column + 1 }, { related }),
          );
        }
        return root;
      }
      case End.ERROR:
        nodes.push(lexicalError(lexer, file));
        return root;
    }
  }
}

/** The block that lacks its `}`, as far as the indentation tells. */
function unclosedPlace(text: string, file: string): RelatedPosition | undefined {
  const found = unclosedBlock(text);
  if (found === undefined) {
    return undefined;
  }
  const { name, line, column, takenLine, of } = found;
  return {
    pos: { file, line, column },
    text: `is the "}" of "${name}" missing? the one on line ${takenLine} stands where that of "${of}" would`,
  };
}

function lexicalError(lexer: Lexer, file: string): SyntaxErrorNode {
  const pos = { file, line: lexer.errorLine, column: lexer.errorColumn };
  if (lexer.quoteLine !== 0) {
    const quoted = { file, line: lexer.quoteLine, column: lexer.quoteColumn };
    return syntaxError(lexer.error, pos, { related: [{ pos: quoted, text: 'the quote starts here; is its end missing?' }] });
  }
  if (lexer.name === undefined) {
    return syntaxError(lexer.error, pos);
  }
  const started = { file, line: lexer.nameLine, column: lexer.nameColumn };
  return syntaxError(lexer.error, pos, { related: [{ pos: started, text: `"${lexer.name}" starts here; is its ";" missing?` }] });
}

function syntaxError(message: string, pos: Pos, more: { hint?: string; related?: readonly RelatedPosition[] } = {}): SyntaxErrorNode {
  return { syntaxError: message, pos, ...more };
}
