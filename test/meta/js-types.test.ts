import { readFileSync } from 'node:fs';
import t from 'tap';
import ts from 'typescript';
import { root } from './source-files.js';

const reference = (module: string): string => readFileSync(`${root}src/worker/modules/${module}/reference.md`, 'utf8');

/** The names in backticks of the sentences between two pieces of a text. */
function namesBetween(text: string, from: string, to: string): string[] {
  const start = text.indexOf(from);
  const end = text.indexOf(to, start);
  t.ok(start >= 0 && end > start, `the reference has "${from} ... ${to}"`);
  return [...text.slice(start + from.length, end).matchAll(/`(\w+)(?:\([^`]*\))?`/g)].map(([, name]) => name!);
}

/** What the compiler says about a file that imports the published types. */
function problemsOf(source: string): string[] {
  const name = `${root}test/meta/documented-names.ts`;
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (file) => file === name || fileExists(file);
  host.readFile = (file) => (file === name ? source : readFile(file));
  host.getSourceFile = (file, version, ...rest) =>
    file === name ? ts.createSourceFile(file, source, version) : getSourceFile(file, version, ...rest);
  const program = ts.createProgram([name], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

t.test('every name that the reference documents is in the published types', async (t) => {
  const js = reference('js');
  const r = namesBetween(js, 'Handlers get the request as `r`:', '`ngx` has');
  const ngx = namesBetween(js, '`ngx` has', '; `njs` has');
  const njs = namesBetween(js, '; `njs` has', '`ngx.fetch(url');
  const [, options = ''] = /`ngx\.fetch\(url, \{([^}]*)\}\)`/.exec(js)!;
  t.ok(r.length > 25 && ngx.length > 5 && njs.length > 1, 'the lists are found');
  const uses = [
    ...r.map((name) => `r.${name};`),
    ...ngx.map((name) => `ngx.${name};`),
    ...njs.filter((name) => name !== 'console').map((name) => `njs.${name};`),
    "njs.on('exit', () => {});",
    ...options.split(', ').map((name) => `({} as NonNullable<Parameters<typeof ngx.fetch>[1]>).${name};`),
    "ngx.fetch('http://a/', { verify: false, buffer_size: 1, max_response_body_size: 1 });",
  ];
  const source = (lines: readonly string[]): string =>
    `import type { HttpRequest } from '../../types/index.js';\nexport function all(r: HttpRequest): void {\n${lines.join('\n')}\n}\n`;
  t.strictSame(problemsOf(source(uses)), []);
  t.match(problemsOf(source(['r.noSuchName;'])), [/noSuchName/], 'the compiler looks');
});
