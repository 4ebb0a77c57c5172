import t from 'tap';
import {
  blockError,
  ConfigError,
  type Diagnostic,
  diagnosticDetail,
  directiveError,
  placedMessage,
  syntaxError,
  withErrno,
} from '../../../src/shared/config/errors.js';
import { commandLine, type DirectiveNode } from '../../../src/shared/config/language/ast.js';
import { parseConfig } from '../../../src/shared/config/language/parser.js';
import { suggest } from '../../../src/shared/config/suggest.js';

/** A diagnostic's one line and the lines of its detail, each of which must have a line feed. */
function render(diagnostic: Diagnostic, source?: string): string[] {
  const text = (file: string) => (file === '/f' || file === commandLine ? source : undefined);
  const lines = `${placedMessage(diagnostic)}\n${diagnosticDetail(diagnostic, text)}`;
  return `[${diagnostic.level}] ${lines}`.replace(/\n$/, '').split('\n');
}

function firstDirective(source: string): DirectiveNode {
  const [node] = parseConfig(source, '/f');
  if (node === undefined || 'syntaxError' in node) {
    throw new Error('no directive');
  }
  return node;
}

t.test('the first line is nginx’s', async (t) => {
  t.same(render(new ConfigError('no "events" section in configuration')), ['[emerg] no "events" section in configuration']);
  t.same(render({ level: 'warn', message: 'm', pos: { file: '/none', line: 7, column: 3 } }), ['[warn] m in /none:7']);
  t.equal(render(new ConfigError('m', { file: commandLine, line: 1, column: 1 }), 'x;')[0], '[emerg] m in command line');
  t.equal(render(new ConfigError('m', undefined, { level: 'crit' }))[0], '[crit] m');
  t.equal(placedMessage(new ConfigError('x'.repeat(2000), { file: '/f', line: 1, column: 1 })), `${'x'.repeat(1024)} in /f:1`);
});

t.test('a directive over several lines', async (t) => {
  const source = '\n  listen  80\n\t"a b" c\n;';
  const node = firstDirective(source);
  t.same(render(directiveError(node, 'bad'), source), ['[emerg] bad in /f:4', '    2 |   listen  80', '      |   ^^^^^^']);
  t.same(render(directiveError(node, 'bad', { arg: 1, hint: 'try again' }), source), [
    '[emerg] bad in /f:4',
    '    3 |     "a b" c',
    '      |     ^^^^^',
    '    hint: try again',
  ]);
  t.same(render(directiveError(node, 'bad', { arg: 9 }), source), render(directiveError(node, 'bad'), source), 'no such argument');
});

t.test('an error after a block', async (t) => {
  const source = 'upstream u {\n\n}';
  t.same(render(blockError(firstDirective(source), 'no servers are inside upstream'), source), [
    '[emerg] no servers are inside upstream in /f:3',
    '    1 | upstream u {',
    '      | ^^^^^^^^',
  ]);
});

t.test('a syntax error with its related place', async (t) => {
  const source = 'http {\n';
  const [node] = firstDirective(source).block ?? [];
  t.ok(node !== undefined && 'syntaxError' in node);
  if (node !== undefined && 'syntaxError' in node) {
    t.same(render(syntaxError(node), source), [
      '[emerg] unexpected end of file, expecting "}" in /f:2',
      '    note: the block of "http" starts here, in /f:1',
      '    1 | http {',
      '      | ^^^^',
    ]);
  }
});

t.test('excerpts', async (t) => {
  const excerpt = (source: string, column: number) => render(new ConfigError('m', { file: '/f', line: 1, column }), source).slice(1);
  t.same(excerpt('ab;\r\n', 3), ['    1 | ab;', '      |   ^']);
  t.same(excerpt('ab', 9), ['    1 | ab', '      |   ^'], 'a column beyond the end');
  t.same(excerpt('', 1), [], 'no such line');
  t.same(excerpt('a\0\x1b\x7f\xff b', 7), ['    1 | a\\x00\\x1b\\x7f\\xff b', '      |                   ^']);
  const utf8 = Buffer.from('añ€ b', 'utf8').toString('latin1');
  t.same(excerpt(utf8, 8), [`    1 | ${utf8}`, '      |     ^'], 'columns are characters');
  t.same(excerpt(utf8, 3), [`    1 | ${utf8}`, '      |  ^^'], 'the caret goes to the start of a character');
  const long = excerpt(`${'x'.repeat(5e6)} here ${'y'.repeat(5e6)}`, 5e6 + 2);
  t.same(long, [`    1 | ...${'x'.repeat(59)} here ${'y'.repeat(55)}...`, `      | ${' '.repeat(63)}^^^^`]);
  t.equal(excerpt(`"${'\\"'.repeat(5e6)}`, 1)[0]?.length, 131);
});

t.test('every line ends in a line feed', async (t) => {
  const error = new ConfigError('m', { file: '/f', line: 1, column: 1 }, { hint: 'h' });
  t.equal(
    diagnosticDetail(error, () => 'a;'),
    '    1 | a;\n      | ^\n    hint: h\n',
  );
  t.equal(
    diagnosticDetail(new ConfigError('m'), () => 'a;'),
    '',
  );
});

t.test('withErrno', async (t) => {
  t.equal(withErrno('open() "F" failed', -2), 'open() "F" failed (2: No such file or directory)');
  t.equal(withErrno('x'.repeat(974), 13), `${'x'.repeat(974)} (13: Permission denied)`);
  t.equal(withErrno('x'.repeat(975), 13), `${'x'.repeat(974)}... (13: Permission denied)`);
});

t.test('suggest', async (t) => {
  const names = [
    'listen',
    'server',
    'server_name',
    'server_tokens',
    'proxy_pass',
    'proxy_set_header',
    'client_max_body_size',
    'gzip',
    'if',
  ];
  const cases: [string, string | undefined][] = [
    ['listn', 'listen'],
    ['lisetn', 'listen'],
    ['Listen', 'listen'],
    ['sever', 'server'],
    ['server_nam', 'server_name'],
    ['servername', 'server_name'],
    ['proxypass', 'proxy_pass'],
    ['proxy-pass', 'proxy_pass'],
    ['client_max_bodysize', 'client_max_body_size'],
    ['gzp', 'gzip'],
    ['IF', 'if'],
    ['fi', undefined],
    ['foo', undefined],
    ['', undefined],
    ['completely_different', undefined],
    ['x'.repeat(100_000), undefined],
  ];
  for (const [word, expected] of cases) {
    t.equal(suggest(word, names), expected, word.slice(0, 30));
  }
  t.equal(suggest('proxy_foo', ['grpcy_foo', 'proxy_fob']), 'proxy_fob', 'the nearest');
  t.equal(suggest('abcdef', ['xbcdef', 'abcdex']), 'abcdex', 'of two equally near the one with the same start');
});
