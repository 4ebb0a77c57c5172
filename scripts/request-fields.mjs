// Makes docs/request-fields.md: which rooms set and which read each field of a request. It goes by the text: a request is called `r`,
// `request`, `main` or `parent` throughout.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const home = 'worker/http/request/request.ts';
const page = 'docs/request-fields.md';

const REQUEST = /(?<![\w.#])(?:[\w#]+\.)*?#?(?:r|sr|request|main|parent|subrequest)/.source;
/** What changes a field by its form: an assignment of any kind, and a step. */
const SETS = /\s*(?:(?:[-+*/|&^]|\?\?|\|\||&&|<<|>>>?)?=(?![=>])|\+\+|--)/.source;
const ACCESS = new RegExp(`(\\+\\+|--)?${REQUEST}(?:\\.(?:main|parent|r))*[!?]?\\.(\\w+)(${SETS})?`, 'g');
const OWN = new RegExp(`(\\+\\+|--)?this\\.(\\w+)(${SETS})?`, 'g');
const TAKEN_APART = new RegExp(`\\{([^{}]+)\\} = ${REQUEST};`, 'g');

/** A file that has to do with requests names their type, or imports what gives it one. */
const KNOWS = /\bRequest\b|from '[^']*(?:http\/request|exchange|upstream-request|\/module)[^']*'/;

/** The room of a file: its folder, below `src/worker/`. */
const roomOf = (file) => dirname(file).replace(/^worker\//, '');

/** The fields in their order, each with its group and with the rooms that set and read it. */
export function requestFields() {
  const fields = new Map();
  let group = '';
  let within = false;
  for (const line of readFileSync(`${root}src/${home}`, 'utf8').split('\n')) {
    within = line.startsWith('export class Request ') || (within && !line.startsWith('  constructor('));
    const [, named] = /^ {2}\/\/ --- (.+)$/.exec(line) ?? [];
    const [, field] = (within && /^ {2}(?:readonly )?(\w+)(?::| =)/.exec(line)) || [];
    group = named ?? group;
    if (field !== undefined) {
      fields.set(field, { name: field, group, set: new Set(), read: new Set() });
    }
  }
  const files = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((file) => /^(worker|master)\/.*\.ts$/.test(file));
  for (const file of files) {
    const text = readFileSync(`${root}src/${file}`, 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
    if (!KNOWS.test(text)) {
      continue;
    }
    const note = (field, set) => fields.get(field)?.[set ? 'set' : 'read'].add(roomOf(file));
    for (const [, before, field, after] of text.matchAll(file === home ? OWN : ACCESS)) {
      note(field, before !== undefined || after !== undefined);
    }
    for (const [, names] of text.matchAll(TAKEN_APART)) {
      for (const name of names.split(',')) {
        note(name.split(':')[0].trim(), false);
      }
    }
  }
  return [...fields.values()];
}

const rooms = (set) => [...set].sort().join(', ') || '-';

/** The page's text. */
function makePage() {
  const lines = [
    '# The fields of a request',
    '',
    'Which rooms of `src/worker/` set and which read each field of `Request` (`src/worker/http/request/request.ts`), in its groups. `npm run docs` makes',
    'this page, and `test/meta/request-fields.test.ts` compares it: a new hand on a field is seen.',
  ];
  let group = '';
  for (const field of requestFields()) {
    if (field.group !== group) {
      group = field.group;
      lines.push('', `## ${group[0].toUpperCase()}${group.slice(1)}`, '', '| Field | Set by | Read by |', '|---|---|---|');
    }
    lines.push(`| \`${field.name}\` | ${rooms(field.set)} | ${rooms(field.read)} |`);
  }
  return `${lines.join('\n')}\n`;
}

/** The page as a path and a text. */
export const fieldsPage = () => [page, makePage()];
