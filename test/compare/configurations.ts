import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { Random } from './random.js';

/** A configuration as somebody wrote it. */
export interface Original {
  readonly name: string;
  readonly text: string;
}

/**
 * Configurations at a path: all files of a folder that end in `.conf`, or a file; one that ends in `.jsonl` has an object with `conf` in
 * each line.
 */
export function originals(path: string): Original[] {
  if (statSync(path).isDirectory()) {
    const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.conf'));
    return names.sort().map((name) => ({ name, text: whole(readFileSync(`${path}/${name}`, 'latin1')) }));
  }
  if (!path.endsWith('.jsonl')) {
    return [{ name: path, text: whole(readFileSync(path, 'latin1')) }];
  }
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line, i) => {
      const { id, conf } = JSON.parse(line) as { id?: string; conf: string };
      return { name: id ?? String(i + 1), text: whole(Buffer.from(conf).toString('latin1')) };
    });
}

/** A text with the blocks around it that it lacks. */
function whole(text: string): string {
  if (/^\s*(http|stream|mail|events)\s*\{/m.test(text)) {
    return text;
  }
  return `events {}\nhttp {\n${text}\n}\n`;
}

/** The words, marks and comments of a configuration, and the white space between them: joined they are the text. */
const pieces = (text: string): string[] =>
  text.match(/#[^\n]*|\s+|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[;{}]|(?:\\.|\$\{[^}]*\}|[^\s;{}])+/g) ?? [];

const isWord = (piece: string): boolean => !/^[\s;{}#]/.test(piece);

/** Places of the words that begin a directive, among the pieces. */
function beginnings(list: readonly string[]): number[] {
  const found: number[] = [];
  let fresh = true;
  for (const [i, piece] of list.entries()) {
    if (/^[;{}]$/.test(piece)) {
      fresh = true;
    } else if (fresh && isWord(piece)) {
      found.push(i);
      fresh = false;
    }
  }
  return found;
}

/** The piece behind a directive that begins at one: behind its `;`, or behind its block. */
function endOf(list: readonly string[], from: number): number {
  let depth = 0;
  for (let i = from; i < list.length; i++) {
    if (list[i] === '{') {
      depth++;
    } else if (list[i] === '}') {
      depth--;
      if (depth <= 0) {
        return i + 1;
      }
    } else if (list[i] === ';' && depth === 0) {
      return i + 1;
    }
  }
  return list.length;
}

/** What may stand in the place of an argument. */
const ODD = [
  '""',
  '-1',
  '0',
  '1',
  '99999999999999999999',
  'on',
  'off',
  'default',
  'none',
  'auto',
  '10m',
  '1x',
  '1.5s',
  '5s',
  '1h30m',
  '$nothing',
  '$host',
  '${host}x',
  '$',
  '"a b"',
  '"open',
  'a;b',
  '~(',
  '~*\\.php$',
  '^~',
  '=',
  '@x',
  '/',
  '/path',
  'http://127.0.0.1',
  'http://127.0.0.1:99999',
  'https://[::1]:80/x',
  'unix:/x',
  '127.0.0.1:0',
  '[::]:80',
  '*:80',
  'zone=a:1m',
  'zone=a',
  'keys_zone=b:10m',
  'rate=1r/s',
  'weight=0',
  'max_fails=x',
  'any',
  'all',
  '10.0.0.0/33',
  '2001:db8::/32',
  '404',
  '=200',
  '1k',
  'always',
  'last',
  'if=$x',
];

/** Something else with such a value is not for each machine: files that are opened, and users. */
const LEFT_OUT =
  /^(pid|user|lock_file|load_module|working_directory|include|daemon|master_process|env|worker_rlimit_core|ssl_engine|js_import|js_path)$/;

/** Statements that are put into others' configurations: all simple ones of these. */
export function statementsOf(all: readonly Original[]): string[] {
  const seen = new Map<string, string[]>();
  for (const { text } of all) {
    const list = pieces(text);
    for (const from of beginnings(list)) {
      const end = endOf(list, from);
      const statement = list.slice(from, end).join('');
      const name = list[from]!;
      const known = seen.get(name) ?? [];
      if (!LEFT_OUT.test(name) && !statement.includes('{') && statement.length < 200 && known.length < 20 && !known.includes(statement)) {
        seen.set(name, [...known, statement]);
      }
    }
  }
  return [...seen.values()].flat();
}

/** A configuration after some changes by chance. `statements`: what is put in. */
export function mutated(text: string, random: Random, statements: readonly string[]): string {
  let list = pieces(text);
  for (let changes = 1 + random.below(3); changes > 0; changes--) {
    list = change(list, random, statements);
  }
  return list.join('');
}

function change(list: readonly string[], random: Random, statements: readonly string[]): string[] {
  const starts = beginnings(list);
  if (starts.length === 0) {
    return [...list];
  }
  const from = random.oneOf(starts);
  const end = endOf(list, from);
  const args = list.flatMap((piece, i) => (i > from && i < end && isWord(piece) && !starts.includes(i) ? [i] : []));
  const put = (at: number, remove: number, ...fresh: string[]): string[] => [...list.slice(0, at), ...fresh, ...list.slice(at + remove)];
  const arg = args.length === 0 ? from : random.oneOf(args);
  const other = random.oneOf(starts);
  switch (random.below(12)) {
    case 0:
      return put(from, end - from);
    case 1:
      return put(end, 0, '\n', ...list.slice(from, end), '\n');
    case 2:
    case 3:
    case 4:
      return put(other, 0, random.oneOf(statements), '\n');
    case 5:
    case 6:
      return put(arg, 1, arg === from ? list[arg]! : random.oneOf(ODD));
    case 7:
      return put(arg, 1, ...(arg === from ? [list[arg]!] : []));
    case 8:
      return put(arg, 1, list[arg]!, ' ', random.oneOf(ODD));
    case 9:
      return put(other, 0, ...list.slice(from, end), '\n');
    case 10:
      return changedLetter(list, random.below(list.length), random);
    default: {
      const marks = list.flatMap((piece, i) => (/^[;{}]$/.test(piece) ? [i] : []));
      const mark = marks.length === 0 ? 0 : random.oneOf(marks);
      return put(mark, random.below(2), ...(random.once(2) ? [random.oneOf([';', '{', '}', '"', "'", '#'])] : []));
    }
  }
}

function changedLetter(list: readonly string[], at: number, random: Random): string[] {
  const piece = list[at]!;
  const i = random.below(piece.length);
  const fresh = random.oneOf(['', piece[i]! + piece[i]!, 'x', '$', '"', '\\', ' ', ':', '/', '0']);
  return [...list.slice(0, at), piece.slice(0, i) + fresh + piece.slice(i + 1), ...list.slice(at + 1)];
}

/** A text with its places made those of this run: its files are below a folder, hosts have addresses, and a certificate is there. */
export function atHome(text: string, { cert, key }: { readonly cert: string; readonly key: string }): string {
  const groups = new Set([...text.matchAll(/\bupstream\s+([^\s{]+)/g)].map(([, name]) => name!));
  return text
    .replace(/^\s*(load_module|user|pid|lock_file|working_directory)\s[^;]*;/gm, '')
    .replace(/(?<=[\s"'])\/(?:usr\/local\/|usr\/local\/etc\/|etc\/)?nginx\/(?:conf\/)?/g, '%%DIR%%/')
    .replace(/\b((?:proxy_|grpc_|uwsgi_)?ssl_(?:client_|trusted_)?certificate)\s+[^\s;$]+\s*;/g, `$1 ${cert};`)
    .replace(/\b((?:proxy_|grpc_|uwsgi_)?ssl_certificate_key)\s+[^\s;$]+\s*;/g, `$1 ${key};`)
    .replace(/\b(server\s+)([A-Za-z][\w.-]*)((?::\d+)?(?:\s[^;{}]*)?;)/g, '$1127.0.0.1$3')
    .replace(/\b(\w+_pass\s+(?:\w+:\/\/)?)([A-Za-z][\w.-]*)(?=[:/;\s])/g, (all, before: string, host: string) =>
      groups.has(host) || /^unix$/.test(host) ? all : `${before}127.0.0.1`,
    );
}

/** Texts that lack some lines of another. */
export function* shorter(text: string): Generator<string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^\s*#/.test(line));
  for (let size = Math.ceil(lines.length / 2); ; size = Math.ceil(size / 2)) {
    for (let at = 0; at < lines.length; at += size) {
      yield [...lines.slice(0, at), ...lines.slice(at + size)].join('\n');
    }
    if (size === 1) {
      return;
    }
  }
}
