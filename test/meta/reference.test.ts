import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { contextNames } from '../../src/shared/config/context.js';
import type { Arity } from '../../src/shared/config/define.js';
import { parseConfig } from '../../src/shared/config/language/parser.js';
import { differenceOf } from '../../src/worker/migration/differences.js';
import { modules } from '../../src/worker/modules/index.js';
import { root } from './source-files.js';

// The pages of docs/reference are made of the modules' declarations (which directives there are, where they may stand, how many arguments
// they take) and of directives.tsv beside them, which has what a declaration does not say: NAME, SYNTAX, DEFAULT, EXAMPLE, with tabs between;
// several forms of the syntax are joined by " ¦ ". A name that means different things in two modules stands as MODULE/NAME for one of them.

const folder = `${root}docs/reference/`;
const table = new Map(
  readFileSync(`${folder}directives.tsv`, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [name = '', syntax = '', initial = '', example = ''] = line.split('\t');
      return [name, { syntax: syntax.split(' ¦ '), initial, example }] as const;
    }),
);
const theirs = new Set(
  readFileSync(`${root}test/meta/nginx-directives.tsv`, 'utf8')
    .split('\n')
    .map((line) => line.split('\t')[0]!),
);

interface Entry {
  readonly name: string;
  readonly args: Arity[];
  contexts: number;
}

/** The directives of one module, several scopes' rows of one name put together. */
function directivesOf(module: (typeof modules)[number]): Entry[] {
  const entries = new Map<string, Entry>();
  for (const scope of [module.process, module.main, module.server, module.location, module.upstream]) {
    for (const [name, row] of Object.entries(scope?.directives ?? {})) {
      const entry = entries.get(name) ?? { name, args: [], contexts: 0 };
      entry.args.push(row.args);
      entry.contexts |= row.in;
      entries.set(name, entry);
    }
  }
  return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function takes(arity: Arity, args: readonly string[]): boolean {
  if (arity === 'any') return true;
  if (arity === 'flag') return args.length === 1 && /^(on|off)$/.test(args[0]!);
  if (typeof arity === 'number') return args.length === arity;
  if ('min' in arity) return args.length >= arity.min && args.length <= (arity.max ?? 99);
  return arity.includes(args.length);
}

const pages = new Map(modules.map((module) => [module.name, directivesOf(module)] as const).filter(([, entries]) => entries.length > 0));
const rowOf = (page: string, name: string) => table.get(`${page}/${name}`) ?? table.get(name);

function section(page: string, { name, contexts }: Entry): string {
  const { syntax, initial, example } = rowOf(page, name) ?? { syntax: [''], initial: '', example: '' };
  const difference = differenceOf(name, []);
  const lines = [
    `## ${name}`,
    '',
    '```',
    ...syntax.map((form) => `Syntax:   ${form}`),
    `Default:  ${initial === '' ? '-' : initial}`,
    `Context:  ${contextNames(contexts)}`,
    `Example:  ${example}`,
    '```',
    '',
  ];
  if (difference !== undefined) {
    lines.push(
      `${difference.table === 'no-effect' ? 'Accepted without effect' : 'Differs from nginx'}: ${difference.difference.note}.`,
      '',
    );
  }
  lines.push(
    theirs.has(name) ? `Meaning: <https://nginx.org/r/${name}>` : "Not in today's nginx: see [compatibility](../compatibility.md).",
    '',
  );
  return lines.join('\n');
}

const page = (name: string, entries: readonly Entry[]): string =>
  `<!-- Made by test/meta/reference.test.ts -->\n# ${name}\n\n${entries.map((entry) => section(name, entry)).join('\n')}`;
const index = (): string => {
  const links = [...pages].flatMap(([page, entries]) => entries.map(({ name }) => `- [\`${name}\`](${page}.md#${name})\n`));
  return `<!-- Made by test/meta/reference.test.ts -->\n# Directives\n\n${links.sort().join('')}`;
};

t.test('docs/reference/directives.tsv has every directive, with an example that is one', async (t) => {
  for (const [page, entries] of pages) {
    for (const { name, args } of entries) {
      const row = rowOf(page, name);
      if (row === undefined || row.syntax[0] === '' || row.example === '') {
        t.fail(`${name} needs a line with its syntax, default and an example in docs/reference/directives.tsv`);
        continue;
      }
      for (const form of row.syntax) t.ok(form === `${name};` || form.startsWith(`${name} `), `${name}: ${form}`);
      const [node, ...rest] = parseConfig(`${row.example.replace(/\{ \.\.\. \}$/, '{ }')}\n`, 'example');
      if (node === undefined || 'syntaxError' in node) {
        t.fail(`${name}: ${row.example}`);
        continue;
      }
      t.ok(node.name === name && rest.length === 0 && args.some((arity) => takes(arity, node.args)), `${name}: ${row.example}`);
    }
  }
});

t.test('the pages are up to date', async (t) => {
  const wanted = new Map<string, string>([...pages].map(([name, entries]) => [`${name}.md`, page(name, entries)])).set(
    'README.md',
    index(),
  );
  if (process.env.UPDATE_DOCS === '1') {
    mkdirSync(folder, { recursive: true });
    for (const file of readdirSync(folder)) if (file.endsWith('.md') && !wanted.has(file)) rmSync(folder + file);
    for (const [file, text] of wanted) writeFileSync(folder + file, text);
    return;
  }
  const hint = 'UPDATE_DOCS=1 npx tap test/meta/reference.test.ts writes it anew';
  for (const [file, text] of wanted)
    t.equal(existsSync(folder + file) ? readFileSync(folder + file, 'utf8') : '', text, `${file}: ${hint}`);
  t.strictSame(
    readdirSync(folder)
      .filter((file) => file.endsWith('.md'))
      .sort(),
    [...wanted.keys()].sort(),
    hint,
  );
});
