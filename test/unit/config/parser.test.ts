import t from 'tap';
import { argPosition, commandLine, type DirectiveNode, type Node } from '../../../src/shared/config/language/ast.js';
import { parseConfig } from '../../../src/shared/config/language/parser.js';

/** A tree as text: `name(arg|arg)`, `{...}` for blocks, `!line: message` for a syntax error. */
function show(nodes: readonly Node[]): string {
  return nodes
    .map((node) => {
      if ('syntaxError' in node) {
        return `!${node.pos.line}: ${node.syntaxError}`;
      }
      return `${node.name}(${node.args.join('|')})${node.block ? `{${show(node.block)}}` : ''}`;
    })
    .join(' ');
}

const x = (count: number) => 'x'.repeat(count);

// [text, tree], each as nginx 1.31.5 reads it.
const files: [string, string][] = [
  ['', ''],
  ['# nothing but a comment', ''],
  ['a;', 'a()'],
  ['a b\tc\rd\ne;', 'a(b|c|d|e)'],
  ['a b; # x\n#y;\nc;', 'a(b) c()'],
  ['a b#c;', 'a(b#c)'],
  ['a { b { } } c;', 'a(){b(){}} c()'],
  ['a b{c;}d;', 'a(b){c()} d()'],
  [`a \${b}c;`, `a(\${b}c)`],
  ['a ${{;', 'a(${{)'],
  ['a $ {b;}', 'a($){b()}'],
  ['a b$\\{ c;', 'a(b$\\{|c)'],
  ['a b};', 'a(b})'],
  ['a ""  \'\';', 'a(|)'],
  ['a "b;c{}#d" \'e"f\';', 'a(b;c{}#d|e"f)'],
  ['a b"c;', 'a(b"c)'],
  ['a "b\\"c" \'d\\\'e\' \\"f;', 'a(b"c|d\'e|"f)'],
  ['a "\\t\\r\\n\\\\n\\d";', 'a(\t\r\n\\n\\d)'],
  ['a b\\ c\\;d;', 'a(b\\ c\\;d)'],
  ['a "b")c;', 'a(b|)c)'],
  ['a "b"{}', 'a(b){}'],
  ['"a" "b";', 'a(b)'],
  ['a\r\nb;\r\n', 'a(b)'],
  ['\xef\xbb\xbfa;', '\xef\xbb\xbfa()'],
  ['a b\0c;', 'a(b\0c)'],
  ['a "b\nc"\nd\n;}', 'a(b\nc|d) !4: unexpected "}"'],

  [';', '!1: unexpected ";"'],
  ['\n{', '!2: unexpected "{"'],
  ['}', '!1: unexpected "}"'],
  ['a b }', '!1: unexpected "}"'],
  ['a {\n}}', 'a(){} !2: unexpected "}"'],
  ['a {;', 'a(){!1: unexpected ";"}'],
  ['a', '!1: unexpected end of file, expecting ";" or "}"'],
  ['a;\nb "c', 'a() !2: unexpected end of file, expecting ";" or "}"'],
  ['a "c\n"', '!2: unexpected end of file, expecting ";" or "}"'],
  ['a \\', '!1: unexpected end of file, expecting ";" or "}"'],
  ['a {\nb;\n', 'a(){b() !3: unexpected end of file, expecting "}"}'],
  ['a {{', 'a(){!1: unexpected "{"}'],
  ['a "b"c;', '!1: unexpected "c"'],
  ['a "b"\'c\';', '!1: unexpected "\'"'],
  ['a "b"#c\n;', '!1: unexpected "#"'],
  ['a "b"}', '!1: unexpected "}"'],
  ['a { b "c"\0; } d;', 'a(){!1: unexpected "\0"}'],

  [`a ${x(4095)};`, `a(${x(4095)})`],
  [`a ${x(4096)};`, '!1: too long parameter "xxxxxxxxxx..." started'],
  [`a ${x(4094)} ;`, `a(${x(4094)})`],
  [`a ${x(4095)} ;`, '!1: too long parameter "xxxxxxxxxx..." started'],
  [`a "${x(4094)}";`, `a(${x(4094)})`],
  [`a "${x(4095)}";`, '!1: too long parameter "xxxxxxxxxx..." started'],
  [`a\n"${x(4096)}\n";`, '!2: too long parameter, probably missing terminating """ character'],
  [`a\n'${x(4096)}\n';`, '!2: too long parameter, probably missing terminating "\'" character'],
  [`a ${x(4096)}`, '!1: unexpected end of file, expecting ";" or "}"'],
  [`#${x(4094)}\na;`, 'a()'],
  [`\n#${x(4095)}\na;`, '!2: too long parameter "#xxxxxxxxx..." started'],
  [`#${x(4095)}`, ''],
  [`${' '.repeat(10_000)}a;`, 'a()'],
];

for (const [text, tree] of files) {
  t.equal(show(parseConfig(text, '/f')), tree, JSON.stringify(text).slice(0, 60));
}

const params: [string, string][] = [
  ['daemon off;', 'daemon(off)'],
  ['daemon off', '!1: unexpected end of parameter, expecting ";"'],
  ['a; }', 'a() !1: unexpected "}"'],
  ['a; events { }', 'a() !1: block directives are not supported in -g option'],
  [`a ${x(10_000)};`, `a(${x(10_000)})`],
];

for (const [text, tree] of params) {
  t.equal(show(parseConfig(text, commandLine)), tree, `-g ${text.slice(0, 60)}`);
}

t.test('places', async (t) => {
  const [node, last] = parseConfig('\n  location\n\t~ "x\n" {\n a;\n }\n}', '/f');
  t.match(node, {
    name: 'location',
    pos: { file: '/f', line: 2, column: 3 },
    endLine: 4,
    closeLine: 6,
    block: [{ pos: { line: 5, column: 2 }, endLine: 5 }],
  });
  t.same(
    [0, 1, 2].map((arg) => argPosition(node as DirectiveNode, arg)),
    [[3, 2], [3, 4], undefined],
  );
  t.match(last, { pos: { file: '/f', line: 7, column: 1 } });
});

t.test('what a syntax error refers to', async (t) => {
  t.match(parseConfig('http {\n server {\n', '/f'), [
    {
      block: [
        { block: [{ pos: { line: 3, column: 1 }, related: [{ pos: { line: 2, column: 2 }, text: 'the block of "server" starts here' }] }] },
      ],
    },
  ]);
  t.match(parseConfig('server {\n listen 80\n}', '/f'), [
    {
      block: [
        { pos: { line: 3, column: 1 }, related: [{ pos: { line: 2, column: 2 }, text: '"listen" starts here; is its ";" missing?' }] },
      ],
    },
  ]);
});

t.test('nesting is bounded', async (t) => {
  let nodes = parseConfig('a {\n'.repeat(10_000), '/f');
  let depth = 0;
  while (nodes[0] !== undefined && !('syntaxError' in nodes[0])) {
    nodes = nodes[0].block ?? [];
    depth++;
  }
  t.equal(depth, 256);
  t.match(nodes, [{ syntaxError: 'blocks are nested deeper than 256 levels', pos: { line: 257, column: 3 } }]);
  t.notMatch(JSON.stringify(parseConfig('a {'.repeat(256) + '}'.repeat(256), '/f')), 'syntaxError');
});
