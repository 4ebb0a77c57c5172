import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import type { Node } from '../../../src/shared/config/language/ast.js';
import { parseConfig } from '../../../src/shared/config/language/parser.js';
import { formatConfig } from '../../../src/tools/format/format.js';
import { filesBelow, root } from '../../meta/source-files.js';

type Meaning = readonly (string | readonly [string, readonly string[], Meaning | undefined])[];

function meaning(nodes: readonly Node[]): Meaning {
  return nodes.map((node) =>
    'syntaxError' in node ? node.syntaxError : [node.name, node.args, node.block === undefined ? undefined : meaning(node.block)],
  );
}

/** Formats, and checks what holds for every text: the meaning is the same, and a second time changes nothing. */
function formatChecked(t: Test, text: string): string {
  const result = formatConfig(text);
  t.strictSame(meaning(parseConfig(result, '/f')), meaning(parseConfig(text, '/f')), 'same meaning');
  t.equal(formatConfig(result), result, 'formatting it again changes nothing');
  return result;
}

t.test('a directive a line, four columns a level', async (t) => {
  t.equal(
    formatChecked(t, 'events{}\nhttp\n{\n  server { listen  80;\n\troot\t/srv; }}\n'),
    'events {}\nhttp {\n    server {\n        listen 80;\n        root /srv;\n    }\n}\n',
  );
});

t.test('empty lines', async (t) => {
  t.equal(formatChecked(t, '\n\n\na b;\n\n\n\nc d;\ne {\n\n  f g;\n\n}\n\n'), 'a b;\n\nc d;\ne {\n    f g;\n}\n');
});

t.test('a block on one line with one directive stays on it, if it fits', async (t) => {
  t.equal(formatChecked(t, 'a { b; }\na { b; c; }\n'), 'a { b; }\na {\n    b;\n    c;\n}\n');
  const long = 'x'.repeat(120);
  t.equal(formatChecked(t, `a { b ${long}; }\n`), `a {\n    b ${long};\n}\n`);
  t.equal(formatChecked(t, 'a { # why\n}\na {}\na "#" { }'), 'a { # why\n}\na {}\na "#" {}\n');
});

t.test('comments stay where they are', async (t) => {
  t.equal(
    formatChecked(t, '# first\na b;   # of a \n  # alone\n\n# apart\nc {# of c\n# inside\n}# of the end\n# last'),
    '# first\na b; # of a\n# alone\n\n# apart\nc { # of c\n    # inside\n} # of the end\n# last\n',
  );
  t.equal(formatChecked(t, 'a b # one\n c # two\n ;\nd # three\n{ e f; }\n'), 'a b # one\n    c # two\n;\nd # three\n{ e f; }\n');
});

t.test('line breaks inside a directive and inside quotes stay', async (t) => {
  t.equal(formatChecked(t, "log_format a\n  'one '\n     'two';\n"), "log_format a\n    'one '\n    'two';\n");
  t.equal(formatChecked(t, 'a "one\n  two"   c;\n'), 'a "one\n  two" c;\n');
});

t.test('tables and neighbours of one name stand in columns', async (t) => {
  t.equal(
    formatChecked(t, 'map $a $b {\n default 0;\n "~^/long word" 1;\n\n c 2;\n # x\n long_key 3;\n volatile;\n}\n'),
    'map $a $b {\n    default        0;\n    "~^/long word" 1;\n\n    c 2;\n    # x\n    long_key 3;\n    volatile;\n}\n',
  );
  t.equal(
    formatChecked(t, 'proxy_set_header Host $host;\nproxy_set_header X-Real-IP $a;\nadd_header A b;\nset $x 1;\n'),
    'proxy_set_header Host      $host;\nproxy_set_header X-Real-IP $a;\nadd_header A b;\nset $x 1;\n',
  );
  const wide = 'y'.repeat(100);
  t.equal(formatChecked(t, `map $a $b {\n ${wide} 1;\n abc 2;\n d 3;\n}\n`), `map $a $b {\n    ${wide} 1;\n    abc 2;\n    d   3;\n}\n`);
});

t.test('words end where the parser ends them', async (t) => {
  t.equal(
    formatChecked(t, 'a ${b}c{d}#e;f \\; g\\{ ;if ($x = "a b") {g h;}}\n'),
    'a ${b}c {\n    d}#e;\n    f \\; g\\{;\n    if ($x = "a b") { g h; }\n}\n',
  );
});

t.test('line ends of other systems', async (t) => {
  t.equal(formatChecked(t, 'a b; # c\r\n\r\n\r\nd e;\r\n'), 'a b; # c\n\nd e;\n');
});

/** Others below `conf/` are for systemd, or no text. */
const isConfiguration = (file: string): boolean => /(\.conf|_params|mime\.types)$/.test(file) && !/^(sysusers|tmpfiles)\//.test(file);

t.test('the shipped configurations are in the style', async (t) => {
  for (const file of filesBelow('conf', '').filter(isConfiguration)) {
    const text = readFileSync(`${root}conf/${file}`, 'latin1');
    t.equal(formatChecked(t, text), text, file);
  }
});
