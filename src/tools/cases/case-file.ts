import { readFileSync } from 'node:fs';
import type { DirectiveNode, Node, Pos } from '../../shared/config/language/ast.js';
import { parseConfig } from '../../shared/config/language/parser.js';
import { resolvePath } from '../../shared/config/paths.js';
import { parseWords, type RequestParts } from '../explain/explain-request.js';
import type { StubAnswer } from '../rehearsal/stub-backend.js';

/** How a text is compared: it is the same, it matches or does not, or there is none. */
export type Operator = '=' | '~' | '~*' | '!~' | '!~*';

/** One thing that is expected of a request. Texts are latin1. */
export interface Expectation {
  /** What is looked at, as the directive is called. */
  readonly what: string;
  /** The header's name, or the zone. */
  readonly name?: string | undefined;
  /** The field is expected not to be there. */
  readonly absent?: true;
  readonly operator: Operator;
  readonly value: string;
  readonly pattern?: RegExp;
  /** Of the request that a backend gets. */
  readonly ofBackend: boolean;
  readonly pos: Pos;
}

/** What one backend answers, or all that have no answer of their own. */
interface StubSpec {
  readonly peer: string | undefined;
  readonly answer: StubAnswer;
}

/** A request, and what is expected of it. */
export interface Case {
  readonly name: string;
  readonly pos: Pos;
  /** The file of the configuration that it is for; undefined: the one that the command line means. */
  readonly configuration: string | undefined;
  readonly request: RequestParts;
  /** Milliseconds since 1970. */
  readonly now: number | undefined;
  /** How often the request is sent; what is expected is about the last time. */
  readonly repeat: number;
  readonly stubs: readonly StubSpec[];
  readonly expectations: readonly Expectation[];
}

/** A file of cases is wrong at a place. */
export class CaseError extends Error {
  readonly pos: Pos;

  constructor(message: string, pos: Pos) {
    super(message);
    this.pos = pos;
  }
}

/** More of them are a mistake. */
const MOST_REPEATS = 10_000;

/** Request settings that stand outside of cases are for all that follow in the file. */
interface Setting {
  request: RequestParts;
  /** Stands before paths. */
  base: string;
  now: number | undefined;
  stubs: readonly StubSpec[];
}

/** Reads a file of cases. Throws {@link CaseError}, and what reading throws. */
export function readCases(file: string): Case[] {
  return parseCases(readFileSync(file, 'latin1'), file);
}

/** Reads the cases of a text. `file`: its name in messages. */
export function parseCases(text: string, file: string): Case[] {
  const cases: Case[] = [];
  const names = new Set<string>();
  const common: Setting = { request: { headers: [] }, base: '', now: undefined, stubs: [] };
  let configuration: string | undefined;
  for (const node of nodesOf(parseConfig(text, file))) {
    if (node.name === 'configuration') {
      if (configuration !== undefined || cases.length > 0) {
        throw new CaseError('"configuration" stands once, before all cases', node.pos);
      }
      configuration = resolvePath(argsOf(node, 1)[0]!, file.slice(0, file.lastIndexOf('/') + 1));
      continue;
    }
    if (node.name !== 'case') {
      setRequest(common, node);
      continue;
    }
    const one = { ...caseOf(node, common), configuration };
    if (names.has(one.name)) {
      throw new CaseError(`there is another case "${one.name}"`, one.pos);
    }
    names.add(one.name);
    cases.push(one);
  }
  return cases;
}

function nodesOf(nodes: readonly Node[]): readonly DirectiveNode[] {
  for (const node of nodes) {
    if ('syntaxError' in node) {
      throw new CaseError(node.syntaxError, node.pos);
    }
  }
  return nodes as readonly DirectiveNode[];
}

function blockOf(node: DirectiveNode): readonly DirectiveNode[] {
  if (node.block === undefined) {
    throw new CaseError(`"${node.name}" has no block: write "{ ... }" behind it`, node.pos);
  }
  return nodesOf(node.block);
}

/** The arguments of a directive that takes so many. */
function argsOf(node: DirectiveNode, least: number, most = least): readonly string[] {
  if (node.block !== undefined && node.name !== 'backend') {
    throw new CaseError(`"${node.name}" has no block: write ";" in place of "{"`, node.pos);
  }
  if (node.args.length < least || node.args.length > most) {
    const number = least === most ? `${least}` : `${least} to ${most}`;
    throw new CaseError(`"${node.name}" takes ${number} argument${most === 1 ? '' : 's'}`, node.pos);
  }
  return node.args;
}

function caseOf(node: DirectiveNode, common: Setting): Omit<Case, 'configuration'> {
  const [name] = node.args.length === 1 ? node.args : ([] as string[]);
  if (name === undefined) {
    throw new CaseError('"case" takes one argument, its name', node.pos);
  }
  const own: Setting = { ...common, request: { ...common.request, url: undefined }, stubs: [] };
  const expectations: Expectation[] = [];
  let repeat = 1;
  for (const child of blockOf(node)) {
    if (child.name === 'expect') {
      expectations.push(...expectationsOf(child));
    } else if (child.name === 'repeat') {
      repeat = numberOf(child, 1, MOST_REPEATS);
    } else {
      setRequest(own, child);
    }
  }
  if (own.request.url === undefined) {
    throw new CaseError(`the case "${name}" lacks a "request"`, node.pos);
  }
  if (expectations.length === 0) {
    throw new CaseError(`the case "${name}" expects nothing: give it an "expect" block`, node.pos);
  }
  return { name, pos: node.pos, request: own.request, now: own.now, repeat, stubs: [...own.stubs, ...common.stubs], expectations };
}

function numberOf(node: DirectiveNode, least: number, most: number): number {
  const [text] = argsOf(node, 1);
  const number = Number(text);
  if (!/^\d+$/.test(text!) || number < least || number > most) {
    throw new CaseError(`"${node.name}" is a number from ${least} to ${most}`, node.pos);
  }
  return number;
}

function flagOf(node: DirectiveNode): boolean {
  const [text] = argsOf(node, 1);
  if (text !== 'on' && text !== 'off') {
    throw new CaseError(`"${node.name}" is "on" or "off"`, node.pos);
  }
  return text === 'on';
}

/** A header takes the place of those of its name that stand outside of the case. */
function withHeader(request: RequestParts, name: string, value: string, own: Set<string>): RequestParts {
  const lower = name.toLowerCase();
  const kept = own.has(lower) ? request.headers : withoutHeader(request.headers, lower);
  own.add(lower);
  return { ...request, headers: [...kept, [name, value]] };
}

type Headers = RequestParts['headers'];

const withoutHeader = (headers: Headers, lower: string): Headers => headers.filter(([each]) => each.toLowerCase() !== lower);

const ownHeaders = new WeakMap<Setting, Set<string>>();

function setRequest(setting: Setting, node: DirectiveNode): void {
  const { request } = setting;
  const own = ownHeaders.get(setting) ?? new Set<string>();
  ownHeaders.set(setting, own);
  switch (node.name) {
    case 'request': {
      const { method = request.method, url = '/' } = wordsOf(node);
      const whole = url.startsWith('/') ? setting.base + url : url;
      // The host of a URL counts more than one that stands outside of the case.
      const headers = whole === url && !url.startsWith('/') && !own.has('host') ? withoutHeader(request.headers, 'host') : request.headers;
      setting.request = { ...request, method, url: whole, headers };
      break;
    }
    case 'base':
      setting.base = baseOf(node);
      break;
    case 'header': {
      const [name, value] = argsOf(node, 2);
      setting.request = withHeader(request, name!, value!, own);
      break;
    }
    case 'host':
      setting.request = withHeader(request, 'Host', argsOf(node, 1)[0]!, own);
      break;
    case 'body':
      setting.request = { ...request, body: argsOf(node, 1)[0] };
      break;
    case 'address':
      setting.request = { ...request, address: argsOf(node, 1)[0] };
      break;
    case 'tls':
      setting.request = { ...request, tls: flagOf(node) };
      break;
    case 'http':
      setting.request = { ...request, version: versionOf(node) };
      break;
    case 'now':
      setting.now = timeOf(node);
      break;
    case 'backend':
      setting.stubs = [...setting.stubs, stubOf(node)];
      break;
    default:
      throw new CaseError(`unknown directive "${node.name}"`, node.pos);
  }
}

function wordsOf(node: DirectiveNode): RequestParts {
  try {
    return parseWords(argsOf(node, 1, 2));
  } catch (error) {
    throw error instanceof CaseError ? error : new CaseError((error as Error).message, node.pos);
  }
}

function baseOf(node: DirectiveNode): string {
  const [text] = argsOf(node, 1);
  if (!/^https?:\/\/[^/]+$/.test(text!)) {
    throw new CaseError('"base" is a URL without a path, such as https://www.example.com', node.pos);
  }
  return text!;
}

function versionOf(node: DirectiveNode): '1.0' | '1.1' {
  const [text] = argsOf(node, 1);
  if (text !== '1.0' && text !== '1.1') {
    throw new CaseError('"http" is 1.0 or 1.1', node.pos);
  }
  return text;
}

function timeOf(node: DirectiveNode): number {
  const [text] = argsOf(node, 1);
  const time = Date.parse(text!);
  if (Number.isNaN(time)) {
    throw new CaseError('"now" is a time such as 2027-01-31T12:00:00Z', node.pos);
  }
  return time;
}

/** `backend [PEER] { ... }`: what it answers. */
function stubOf(node: DirectiveNode): StubSpec {
  const [peer] = argsOf(node, 0, 1);
  let status: number | undefined;
  let body: string | undefined;
  let fails: StubAnswer['fails'];
  const headers: (readonly [string, string])[] = [];
  for (const child of blockOf(node)) {
    switch (child.name) {
      case 'status':
        status = numberOf(child, 100, 999);
        break;
      case 'header': {
        const [name, value] = argsOf(child, 2);
        headers.push([name!, value!]);
        break;
      }
      case 'body':
        body = argsOf(child, 1)[0];
        break;
      case 'fails': {
        const [word] = argsOf(child, 1);
        if (word !== 'refused' && word !== 'timeout' && word !== 'reset') {
          throw new CaseError('"fails" is refused, timeout or reset', child.pos);
        }
        fails = word;
        break;
      }
      default:
        throw new CaseError(`unknown directive "${child.name}" in "backend"`, child.pos);
    }
  }
  return { peer, answer: { status, headers, body, fails } };
}

/** Directives of `expect`, and those of `backend` within it; true: the first argument is a name. */
const OF_RESPONSE: ReadonlyMap<string, boolean> = new Map([
  ['status', false],
  ['header', true],
  ['body', false],
  ['server', false],
  ['location', false],
  ['uri', false],
  ['args', false],
  ['upstream', false],
  ['peer', false],
  ['cache_key', false],
  ['cache_status', false],
  ['limit_key', true],
  ['limit', true],
  ['log', false],
  ['error', false],
]);
const OF_BACKEND: ReadonlyMap<string, boolean> = new Map([
  ['method', false],
  ['uri', false],
  ['header', true],
  ['body', false],
]);

function expectationsOf(node: DirectiveNode): Expectation[] {
  if (node.block === undefined) {
    // `expect status 404;` is short for a block with one line.
    const [name, ...args] = node.args;
    if (name === undefined) {
      throw new CaseError('"expect" says nothing', node.pos);
    }
    return [expectationOf({ ...node, name, args }, false)];
  }
  return nodesOf(node.block).flatMap((child) => (child.name === 'backend' ? backendExpectations(child) : [expectationOf(child, false)]));
}

function backendExpectations(node: DirectiveNode): Expectation[] {
  if (node.block === undefined && node.args.length === 1 && node.args[0] === 'none') {
    return [{ what: 'backend', absent: true, operator: '=', value: '', ofBackend: true, pos: node.pos }];
  }
  return blockOf(node).map((child) => expectationOf(child, true));
}

function expectationOf(node: DirectiveNode, ofBackend: boolean): Expectation {
  const absent = node.name === 'no_header';
  const what = absent ? 'header' : node.name;
  const named = (ofBackend ? OF_BACKEND : OF_RESPONSE).get(what);
  if (named === undefined) {
    throw new CaseError(`nothing can be expected of "${node.name}"${ofBackend ? ' in "backend"' : ''}`, node.pos);
  }
  const rest = [...argsOf(node, absent ? 1 : named ? 2 : 1, absent ? 1 : named ? 3 : 2)];
  const name = named ? rest.shift() : undefined;
  if (absent) {
    return { what, name, absent: true, operator: '=', value: '', ofBackend, pos: node.pos };
  }
  const operator = rest.length === 2 ? rest.shift()! : '=';
  const [value = ''] = rest;
  if (operator !== '=' && operator !== '~' && operator !== '~*' && operator !== '!~' && operator !== '!~*') {
    throw new CaseError(`"${operator}" is none of = ~ ~* !~ !~*`, node.pos);
  }
  return { what, name, operator, value, ...patternOf(operator, value, node.pos), ofBackend, pos: node.pos };
}

function patternOf(operator: Operator, value: string, pos: Pos): { pattern?: RegExp } {
  if (operator === '=') {
    return {};
  }
  try {
    return { pattern: new RegExp(value, operator.endsWith('*') ? 'i' : '') };
  } catch (error) {
    throw new CaseError((error as Error).message, pos);
  }
}
