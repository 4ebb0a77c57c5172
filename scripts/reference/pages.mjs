// Makes the pages of docs/reference out of the modules' tables and their texts.

const MADE = '<!-- Made by `npm run docs` from the tables and the files reference.md in src/worker/: change those. -->\n';

/** Directives about JavaScript that njs does not have. */
const OUR_SCRIPTS = new Set(['js_block_timeout', 'js_inspect', 'js_isolation', 'js_timeout']);

/** What the language itself has, which stands in no table. */
const LANGUAGE = { module: 'process', name: 'include', contexts: 'any', args: [1] };

/** `theirs`: the names of nginx's own directives. Returns the pages by file name, and what is wrong with the texts. */
export function makePages({ modules, contextNames, parseConfig, differenceOf }, texts, theirs) {
  const problems = [];
  const used = new Set();
  const pages = new Map();
  const links = [];
  const variables = new Map();

  for (const module of modules) {
    const entries = directivesOf(module).map((entry) => ({ ...entry, contexts: contextNames(entry.contexts) }));
    if (module.name === LANGUAGE.module) {
      entries.push(LANGUAGE);
    }
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    const own = [...new Set([...(module.variables ?? []), ...(module.stream?.variables ?? [])].map(variableName))];
    for (const name of own) {
      variables.set(name, [...(variables.get(name) ?? []), module.name]);
    }
    if (entries.length === 0) {
      continue;
    }
    const file = `${module.name}.md`;
    const introduction = texts.introduction(module.name);
    if (introduction === undefined) {
      problems.push(`src/worker/modules/${module.name.replaceAll('_', '-')}/reference.md is missing`);
    }
    pages.set(
      file,
      [
        `${MADE}# ${module.name}\n`,
        ...(introduction ? [`${introduction}\n`] : []),
        ...entries.map((entry) => section(module.name, entry)),
        ...(own.length > 0 ? [`Variables: ${own.map((name) => `[\`$${name}\`](variables.md#${anchor(name)})`).join(', ')}.\n`] : []),
      ].join('\n'),
    );
    for (const { name } of entries) {
      links.push({ name, file, shown: module.name.startsWith('stream_') && name !== 'stream' ? `${name}\` of stream` : `${name}\`` });
    }
  }
  pages.set('variables.md', variablesPage());
  pages.set('README.md', index());
  for (const { name, file } of texts.names) {
    if (!used.has(name) && !name.startsWith('FAMILY_')) {
      problems.push(`${file}: nothing is called ${name}`);
    }
  }
  return { pages, problems };

  function section(module, { name, contexts, args }) {
    const text = texts.of(module, name);
    used.add(name);
    if (text === undefined) {
      problems.push(`${name}: no reference.md of ${module} has a section for it`);
      return `## ${name}\n`;
    }
    checkText(text, name, args);
    const difference = differenceOf(name, []);
    const lines = [
      `## ${name}\n`,
      '```',
      ...text.syntax,
      '```\n',
      `Default: ${text.initial === '' || text.initial === '-' ? 'none' : `\`${text.initial}\``}. Context: ${contexts}.\n`,
      ...(text.text === '' ? [] : [`${text.text}\n`]),
      ...(text.example === '' ? [] : ['Example:\n', '```nginx', text.example, '```\n']),
    ];
    if (difference !== undefined) {
      lines.push(
        `${difference.table === 'no-effect' ? 'Accepted without effect' : 'Differs from nginx'}: ${difference.difference.note}.\n`,
      );
    }
    if (!theirs.has(name) && name !== LANGUAGE.name) {
      lines.push(name.startsWith('js_') && !OUR_SCRIPTS.has(name) ? "Of nginx's module njs.\n" : 'Not in nginx.\n');
    }
    return lines.join('\n');
  }

  function checkText({ syntax, example, text, file }, name, args) {
    const wrong = (what) => problems.push(`${file}: ${name}: ${what}`);
    if (syntax.length === 0) {
      wrong('no Syntax');
    }
    for (const form of syntax) {
      if (!(form === `${name};` || form.startsWith(`${name} `))) {
        wrong(`the syntax is of another directive: ${form}`);
      }
    }
    if (!/[.:]$|```$/.test(text)) {
      wrong('no text, or one that does not end in a full stop');
    }
    if (example === '') {
      wrong('no Example');
      return;
    }
    const [node, ...rest] = parseConfig(`${example.replace(/\{ \.\.\. \}$/, '{ }')}\n`, 'example');
    const good = node !== undefined && !('syntaxError' in node) && node.name === name && rest.length === 0;
    if (!good || !args.some((arity) => takes(arity, node.args))) {
      wrong(`the example is not one: ${example}`);
    }
  }

  function variablesPage() {
    const parts = [`${MADE}# Variables\n`, 'A variable stands in a value as `$name` or `${name}`.\n'];
    for (const [name, modules] of [...variables].sort(([a], [b]) => (a < b ? -1 : 1))) {
      parts.push(`## $${name}\n`);
      used.add(`$${name}`);
      for (const module of modules) {
        const text = texts.of(module, `$${name}`);
        if (text === undefined || text.text === '') {
          problems.push(`$${name}: no reference.md of ${module} has a section for it`);
        }
        parts.push(`${text?.text ?? ''}\n`);
      }
    }
    return parts.join('\n');
  }

  function index() {
    links.sort((a, b) => (a.name < b.name ? -1 : 1));
    const lines = links.map(({ name, file, shown }) => `- [\`${shown}](${file}#${name})\n`);
    return `${MADE}# Directives\n\nEvery directive, in alphabetical order. The [variables](variables.md) have a page of their own.\n\n${lines.join('')}`;
  }
}

/** What links to a heading: Markdown leaves the dollar out. */
const anchor = (name) => name.toLowerCase();

const variableName = ({ name, prefix }) => (prefix ? `${name}NAME` : name);

/** The directives of a module, several scopes' rows of one name put together. */
function directivesOf(module) {
  const entries = new Map();
  for (const scope of [module.process, module.main, module.server, module.location, module.upstream]) {
    for (const [name, row] of Object.entries(scope?.directives ?? {})) {
      const entry = entries.get(name) ?? { name, args: [], contexts: 0 };
      entry.args.push(row.args);
      entry.contexts |= row.in;
      entries.set(name, entry);
    }
  }
  return [...entries.values()];
}

/** Whether a directive's arity allows these arguments. */
function takes(arity, args) {
  if (arity === 'any') {
    return true;
  }
  if (arity === 'flag') {
    return args.length === 1 && /^(on|off)$/.test(args[0]);
  }
  if (typeof arity === 'number') {
    return args.length === arity;
  }
  if ('min' in arity) {
    return args.length >= arity.min && args.length <= (arity.max ?? 99);
  }
  return arity.includes(args.length);
}
