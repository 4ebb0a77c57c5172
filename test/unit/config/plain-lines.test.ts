import t from 'tap';
import { argPosition, type DirectiveNode, type Node } from '../../../src/shared/config/language/ast.js';
import { parseConfig } from '../../../src/shared/config/language/parser.js';
import { LinesDirective, SimpleLines } from '../../../src/shared/config/language/simple-lines.js';

/** What can be asked of a line. */
function shown(node: Node): unknown {
  if ('syntaxError' in node) {
    return node.syntaxError;
  }
  const { name, args, pos, endLine } = node;
  return { name, args, pos, endLine, places: args.map((_, i) => argPosition(node, i)), block: node.block?.map(shown) };
}

function linesOf(lines: SimpleLines): DirectiveNode[] {
  const found: DirectiveNode[] = [];
  lines.each((line) => found.push(line));
  return found;
}

t.test('plain lines are what the parser makes of the same lines', async (t) => {
  for (const body of [
    '',
    ' ',
    'a b;',
    '\n  a b;\n\tc\td;\r\n',
    'a;b c d e;\n\n\nf\n g\n ;',
    '# comment; } { "\n a b; # another } \\ \n c # inside\n d; #',
    'a\'b c"d; e}f }g}; h#i j#;',
    'default x;\n10.0.0.0/8 y;\ndelete 10.0.0.0/8;\ninclude nets.conf;\n',
    ' x$y $z;',
  ]) {
    const end = body.endsWith('#') || body.endsWith('}g};') ? '\n}' : '}';
    const plain = parseConfig(`x;\n geo $y {${body}${end} after z;`, '/f');
    const eager = parseConfig(`x;\n gex $y {${body}${end} after z;`, '/f');
    const [, block, ...rest] = plain;
    t.equal(JSON.stringify(plain.map(shown)).replace('"geo"', '"gex"'), JSON.stringify(eager.map(shown)), JSON.stringify(body));
    if (!(block instanceof LinesDirective)) {
      t.match(body, '}g}', 'a word that begins with a brace is left to the lexer');
      continue;
    }
    t.same(
      linesOf(block.lines).map(shown),
      eager.flatMap((node) => ('block' in node ? node.block!.map(shown) : [])),
      'one by one',
    );
    t.equal(block.closeLine, (eager[1] as DirectiveNode).closeLine);
    t.equal(rest.length, 1);
    const file = SimpleLines.ofFile(body, '/f');
    t.same(file === undefined ? undefined : linesOf(file).map(shown), parseConfig(body, '/f').map(shown), 'as a file');
  }
});

t.test('what is not plain, or wrong, is left to the parser', async (t) => {
  for (const body of [
    '"a" b;',
    "a 'b';",
    'a \\b;',
    'a ${b};',
    'a { b; }',
    'a b',
    'a b; c',
    'a b;;',
    'a b; # c\n ; d e;',
    ';',
    ' # x\n;',
    `a ${'b'.repeat(5000)};`,
    `# ${'b'.repeat(5000)}\na b;`,
  ]) {
    const [block] = parseConfig(`geo $y {${body}\n}`, '/f');
    t.notOk(block instanceof LinesDirective, body.slice(0, 40));
    t.equal(SimpleLines.ofFile(body, '/f'), undefined, `as a file: ${body.slice(0, 40)}`);
  }
  for (const text of ['geo $y { a b;', 'geo $y { a b; \n#}']) {
    const [block] = parseConfig(text, '/f');
    t.match((block as DirectiveNode).block?.at(-1), { syntaxError: 'unexpected end of file, expecting "}"' });
  }
  t.equal(SimpleLines.ofFile('a b; }', '/f'), undefined);
});
