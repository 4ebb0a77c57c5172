import type { DirectiveNode } from '../../shared/config/language/ast.js';

/** One thing that is different, without saying where. Texts are latin1. */
export interface Difference {
  /** `+`: there is more; `-`: there is less; `~`: it is another. */
  readonly mark: '+' | '-' | '~';
  /** The directive that says it; a word of ours for what no single directive does, such as `location`. */
  readonly name: string;
  /** What was, and what is to be, as a configuration writes it; undefined for nothing. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** The difference in words. */
  readonly text: string;
}

/** What the lines of directives are called that may stand several times, each for a thing of its own. */
const THINGS: Readonly<Record<string, string>> = {
  add_header: 'response header',
  add_trailer: 'response trailer',
  proxy_set_header: 'header for the backend',
  grpc_set_header: 'header for the backend',
  fastcgi_param: 'parameter for the backend',
  scgi_param: 'parameter for the backend',
  uwsgi_param: 'parameter for the backend',
  proxy_hide_header: 'header that is hidden',
  allow: 'access rule',
  deny: 'access rule',
  rewrite: 'step',
  return: 'step',
  set: 'step',
  if: 'step',
  break: 'step',
  error_page: 'error page',
  limit_req: 'limit of requests',
  limit_conn: 'limit of connections',
  access_log: 'log',
  error_log: 'log',
  server: 'server',
  limit_req_zone: 'zone for limits of requests',
  limit_conn_zone: 'zone for limits of connections',
  proxy_cache_path: 'cache',
  fastcgi_cache_path: 'cache',
  uwsgi_cache_path: 'cache',
  scgi_cache_path: 'cache',
  log_format: 'format of logs',
  ssl_certificate: 'certificate',
  ssl_certificate_key: 'key of a certificate',
  env: 'environment variable',
  set_real_ip_from: 'trusted proxy',
  js_import: 'JavaScript module',
  js_set: 'variable by JavaScript',
  sub_filter: 'replacement in responses',
};

/** Of these the order counts, even if one block has lines of several names. */
const ORDERED = new Set([
  'if',
  'set',
  'rewrite',
  'return',
  'break',
  'allow',
  'deny',
  'proxy_redirect',
  'proxy_cookie_domain',
  'proxy_cookie_path',
  'proxy_cookie_flags',
  'sub_filter',
  'try_files',
]);

/** The name is shown beside the thing, since several directives are called alike. */
const NAMED = new Set(['allow', 'deny', 'rewrite', 'return', 'set', 'if', 'break', 'access_log', 'error_log']);

/** A directive in one line, as a configuration writes it. */
export const written = (node: DirectiveNode): string => [node.name, ...node.args.map(quoted)].join(' ');

/** The arguments of a directive. */
const argsOf = (node: DirectiveNode): string => node.args.map(quoted).join(' ');

const quoted = (word: string): string => (word === '' || /[\s;{}"']/.test(word) ? `"${word.replace(/["\\]/g, '\\$&')}"` : word);

/** Whether two lists of directives say the same. */
export function sameLines(before: readonly DirectiveNode[], after: readonly DirectiveNode[]): boolean {
  if (before.length !== after.length) {
    return false;
  }
  const lines = (nodes: readonly DirectiveNode[]): string[] => {
    const all = nodes.map(written);
    return nodes.some(({ name }) => ORDERED.has(name)) ? all : all.sort();
  };
  return lines(before).join('\n') === lines(after).join('\n');
}

/** What of the directives that make up one setting has become different. `defaultOf`: what the reference says. */
export function differences(
  before: readonly DirectiveNode[],
  after: readonly DirectiveNode[],
  defaultOf: (name: string) => string | undefined,
): Difference[] {
  const name = after[0]?.name ?? before[0]!.name;
  if (before.length <= 1 && after.length <= 1 && (THINGS[name] === undefined || isAnswer(before, after))) {
    const [from, to] = [before[0], after[0]];
    if (from === undefined || to === undefined || from.name === to.name) {
      return [single(name, from, to, defaultOf(name))];
    }
  }
  return things(before, after);
}

/** Another answer in place of the one before. */
const isAnswer = (before: readonly DirectiveNode[], after: readonly DirectiveNode[]): boolean =>
  before[0]?.name === 'return' && after[0]?.name === 'return';

function single(name: string, from: DirectiveNode | undefined, to: DirectiveNode | undefined, byDefault: string | undefined): Difference {
  const usual = byDefault === undefined ? 'the default' : `the default (${byDefault})`;
  const value = (node: DirectiveNode): string => (node.args.length === 0 ? 'set' : argsOf(node));
  const base = { name, from: from && written(from), to: to && written(to) };
  if (from === undefined) {
    return { ...base, mark: '+', text: `${name}: ${value(to!)} instead of ${usual}` };
  }
  if (to === undefined) {
    return { ...base, mark: '-', text: `${name}: ${usual} instead of ${value(from)}` };
  }
  return { ...base, mark: '~', text: `${name}: ${value(from)} becomes ${value(to)}` };
}

/** Differences of lists: what is in both counts as the same, what has the same first word as changed. */
function things(before: readonly DirectiveNode[], after: readonly DirectiveNode[]): Difference[] {
  const gone = without(before, after);
  const fresh = without(after, before);
  const found: Difference[] = [];
  for (const node of gone) {
    const at = fresh.findIndex((other) => keyOf(other) === keyOf(node) && keyIsAlone(node, before) && keyIsAlone(other, after));
    if (at < 0) {
      found.push({ mark: '-', name: node.name, from: written(node), to: undefined, text: `${thing(node)} is gone: ${shown(node)}` });
      continue;
    }
    const [to] = fresh.splice(at, 1) as [DirectiveNode];
    const rest = ({ name, args }: DirectiveNode): string =>
      args
        .filter((word) => word !== keyWord(name, args))
        .map(quoted)
        .join(' ') || 'nothing';
    const both = [rest(node), rest(to)];
    const subject = `${thing(node)} ${NAMED.has(node.name) ? `${node.name} ` : ''}${quoted(keyWord(node.name, node.args))}`;
    found.push({ mark: '~', name: node.name, from: written(node), to: written(to), text: `${subject}: ${both[0]} becomes ${both[1]}` });
  }
  for (const node of fresh) {
    found.push({ mark: '+', name: node.name, from: undefined, to: written(node), text: `${thing(node)} is new: ${shown(node)}` });
  }
  if (found.length === 0) {
    const lines = (nodes: readonly DirectiveNode[]): string => nodes.map(written).join('; ');
    const what = `${thing(after[0]!)}s`;
    found.push({
      mark: '~',
      name: after[0]!.name,
      from: lines(before),
      to: lines(after),
      text: `the order of ${what} is now: ${lines(after)}`,
    });
  }
  return found;
}

/** The word that says which of several things a line is about: of zones their name, else the first. */
const keyWord = (name: string, args: readonly string[]): string =>
  (name.endsWith('_zone') ? args.find((word) => word.startsWith('zone=')) : undefined) ?? args[0] ?? '';
const keyOf = ({ name, args }: DirectiveNode): string =>
  `${name} ${keyWord(name, args)
    .replace(/(^zone=[^:]*):.*/, '$1')
    .toLowerCase()}`;
const keyIsAlone = (node: DirectiveNode, among: readonly DirectiveNode[]): boolean =>
  node.args.length > 1 && among.filter((other) => keyOf(other) === keyOf(node)).length === 1;

/** What things of this name are called. */
const thing = ({ name }: DirectiveNode): string => THINGS[name] ?? name;
const shown = (node: DirectiveNode): string => (NAMED.has(node.name) ? written(node) : argsOf(node) || 'set');

/** The directives of one list that the other one lacks, as often as it lacks them. */
function without(list: readonly DirectiveNode[], other: readonly DirectiveNode[]): DirectiveNode[] {
  const rest = other.map(written);
  return list.filter((node) => {
    const at = rest.indexOf(written(node));
    if (at >= 0) {
      rest.splice(at, 1);
    }
    return at < 0;
  });
}

/** Differences between two tables such as `map`: by the first word of each line; lines that begin with `~` are tried in their order. */
export function tableDifferences(
  name: string,
  title: string,
  before: readonly DirectiveNode[],
  after: readonly DirectiveNode[],
): Difference[] {
  const old = new Map(before.map((line) => [line.name, argsOf(line)]));
  const now = new Map(after.map((line) => [line.name, argsOf(line)]));
  const found: Difference[] = [];
  const say = (mark: Difference['mark'], from: string | undefined, to: string | undefined, text: string): void =>
    void found.push({ mark, name, from, to, text: `${title}: ${text}` });
  for (const [key, value] of old) {
    const to = now.get(key);
    if (to === undefined) {
      say('-', `${key} ${value}`, undefined, `no line for ${key} any more (it gave ${value})`);
    } else if (to !== value) {
      say('~', `${key} ${value}`, `${key} ${to}`, `${key} gives ${to} instead of ${value}`);
    }
  }
  for (const [key, value] of now) {
    if (!old.has(key)) {
      say('+', undefined, `${key} ${value}`, `${key} gives ${value}`);
    }
  }
  const patterns = (lines: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string =>
    [...lines.keys()].filter((key) => key.startsWith('~') && other.has(key)).join(' ');
  if (patterns(old, now) !== patterns(now, old)) {
    say('~', patterns(old, now), patterns(now, old), `its patterns are tried in another order: ${patterns(now, old)}`);
  }
  return found;
}
