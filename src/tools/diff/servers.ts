import type { Block } from '../../shared/config/block.js';
import { In } from '../../shared/config/context.js';
import type { LocationInfo } from '../../worker/http/request/location-info.js';
import { type SettingsComparison, unique } from './settings.js';
import type { ServerSide } from './side.js';
import { type Difference, written } from './words.js';

/** A difference with the location that has it; none for the server itself, or for all of it. */
export interface Placed {
  readonly location: string | undefined;
  readonly difference: Difference;
}

/** What is different about one server. */
export interface ServerDifferences {
  /** In all its locations. */
  readonly everywhere: readonly Difference[];
  readonly placed: readonly Placed[];
}

const LOCATIONS: number = In.LOCATION | In.LOCATION_IF | In.SERVER_IF | In.LIMIT_EXCEPT;
/** How many directives of a new location are told. */
const SHOWN = 6;
/** What a server does with requests before it looks for a location, or when it finds none. */
const OF_SERVER = new Set(['if', 'set', 'rewrite', 'return', 'break', 'error_page', 'access_log', 'error_log']);

/** Pairs servers: those with the same names and addresses, then with a name in common, then with an address. */
export function pairServers(before: readonly ServerSide[], after: readonly ServerSide[]): [ServerSide, ServerSide][] {
  const left = new Set(before);
  const right = new Set(after);
  const pairs: [ServerSide, ServerSide][] = [];
  const addresses = ({ listens }: ServerSide): string[] => [...listens.keys()];
  const rules: ((a: ServerSide, b: ServerSide) => boolean)[] = [
    (a, b) => sameSet(a.names, b.names) && sameSet(addresses(a), addresses(b)),
    (a, b) => a.names[0] === b.names[0] && a.names.length > 0 && meet(addresses(a), addresses(b)),
    (a, b) => meet(a.names, b.names) && meet(addresses(a), addresses(b)),
    (a, b) => meet(a.names, b.names),
    (a, b) => meet(addresses(a), addresses(b)) && a.names.length === 0 && b.names.length === 0,
  ];
  for (const rule of rules) {
    for (const a of left) {
      const b = [...right].find((other) => other.protocol === a.protocol && rule(a, other));
      if (b !== undefined) {
        pairs.push([a, b]);
        left.delete(a);
        right.delete(b);
      }
    }
  }
  return pairs;
}

const sameSet = (a: readonly string[], b: readonly string[]): boolean => [...a].sort().join(' ') === [...b].sort().join(' ');
const meet = (a: readonly string[], b: readonly string[]): boolean => a.some((each) => b.includes(each));

/** What a person calls a server. */
export function serverTitle({ protocol, names, listens }: ServerSide): string {
  const of = protocol === 'stream' ? 'stream server' : 'server';
  return names.length > 0 ? `${of} ${names[0]} (${[...listens.keys()].join(', ')})` : `${of} ${[...listens.keys()].join(', ')}`;
}

/** Compares one server with what it was. */
export function compareServers(settings: SettingsComparison, before: ServerSide, after: ServerSide): ServerDifferences {
  const pair = { before: before.block, after: after.block };
  const own = [
    ...identity('server_name', 'name', before.names, after.names),
    ...identity('listen', 'address', shownListens(before), shownListens(after)),
    ...settings.inForce(pair, ['server']),
  ];
  const tree = locationTree(settings, before.block, after.block, undefined);
  const { common, placed } = spread(tree);
  return { everywhere: unique(common), placed: [...own.map((difference) => ({ location: undefined, difference })), ...placed] };
}

const shownListens = ({ listens }: ServerSide): string[] => [...listens].map(([key, words]) => (words === '' ? key : `${key} ${words}`));

function identity(name: string, what: string, before: readonly string[], after: readonly string[]): Difference[] {
  const gone = before.filter((each) => !after.includes(each));
  const fresh = after.filter((each) => !before.includes(each));
  return [
    ...gone.map((from): Difference => ({ mark: '-', name, from, to: undefined, text: `${what} is gone: ${from}` })),
    ...fresh.map((to): Difference => ({ mark: '+', name, from: undefined, to, text: `${what} is new: ${to}` })),
  ];
}

/** A location of both configurations with all that is inside it. */
interface Tree {
  readonly label: string | undefined;
  /** Settings that blocks inside take over. */
  readonly taken: readonly Difference[];
  /** What concerns this block alone. */
  readonly own: readonly Difference[];
  /** Requests end here, and not always in a block inside. */
  readonly live: boolean;
  readonly inside: readonly Tree[];
}

function locationTree(settings: SettingsComparison, before: Block, after: Block, label: string | undefined): Tree {
  const pair = { before, after };
  const old = blocksIn(before);
  const now = blocksIn(after);
  const own = settings.others(pair);
  for (const [key, block] of old) {
    if (!now.has(key)) {
      own.push({ mark: '-', name: block.node!.name, from: key, to: undefined, text: `${key} is gone` });
    }
  }
  const inside: Tree[] = [];
  for (const [key, block] of now) {
    const was = old.get(key);
    if (was === undefined) {
      own.push({ mark: '+', name: block.node!.name, from: undefined, to: key, text: `${key} is new${contents(settings, block)}` });
    } else {
      inside.push(locationTree(settings, was, block, label === undefined ? key : `${label} > ${key}`));
    }
  }
  own.push(...orderOfPatterns(old, now));
  const all = settings.inForce(pair, ['location']);
  const covered = [old, now].every((blocks) => blocks.has('location /'));
  const alone = all.filter(({ name }) => OF_SERVER.has(name));
  return {
    label,
    own: label === undefined ? [...own, ...alone] : own,
    taken: label === undefined ? all.filter(({ name }) => !OF_SERVER.has(name)) : all,
    live: label !== undefined || !covered,
    inside,
  };
}

/** The blocks inside another, by what a person calls them. Of equal conditions the second is told from the first. */
function blocksIn(block: Block): Map<string, Block> {
  const found = new Map<string, Block>();
  for (const inner of block.children) {
    if ((inner.context & LOCATIONS) === 0) {
      continue;
    }
    const title = locationTitle(inner);
    let key = title;
    for (let n = 2; found.has(key); n++) {
      key = `${title} #${n}`;
    }
    found.set(key, inner);
  }
  return found;
}

function locationTitle({ context, info, node }: Block): string {
  if (context !== In.LOCATION) {
    return written(node!);
  }
  const { kind, name } = info as LocationInfo;
  const signs = { exact: '= ', 'prefix-final': '^~ ', regex: node!.args[0]!.startsWith('~*') ? '~* ' : '~ ' };
  return `location ${signs[kind as keyof typeof signs] ?? ''}${name}`;
}

function contents(settings: SettingsComparison, block: Block): string {
  const lines = settings.after.own(block).map(written);
  const more = lines.length > SHOWN ? `, and ${lines.length - SHOWN} more` : '';
  return lines.length === 0 ? '' : `: ${lines.slice(0, SHOWN).join('; ')}${more}`;
}

/** Locations with regular expressions are tried in their order. */
function orderOfPatterns(before: ReadonlyMap<string, Block>, after: ReadonlyMap<string, Block>): Difference[] {
  const patterns = (blocks: ReadonlyMap<string, Block>, others: ReadonlyMap<string, Block>): string =>
    [...blocks.keys()].filter((key) => /^location ~\*? /.test(key) && others.has(key)).join(', ');
  const [from, to] = [patterns(before, after), patterns(after, before)];
  return from === to ? [] : [{ mark: '~', name: 'location', from, to, text: `patterns are tried in another order: ${to}` }];
}

/** Takes together what is different in a block and in all blocks inside it, so that it is told once. */
function spread({ label, taken, own, live, inside }: Tree): { common: readonly Difference[]; placed: readonly Placed[] } {
  const results = inside.map(spread);
  const placed: Placed[] = own.map((difference) => ({ location: label, difference }));
  const candidates = live || results.length === 0 ? taken : results[0]!.common;
  const common = candidates.filter(({ text }) => results.every((result) => result.common.some((each) => each.text === text)));
  const told = new Set(common.map(({ text }) => text));
  if (live) {
    placed.push(...candidates.filter(({ text }) => !told.has(text)).map((difference) => ({ location: label, difference })));
  }
  const here = new Set(live ? taken.map(({ text }) => text) : []);
  for (const [i, result] of results.entries()) {
    for (const difference of result.common) {
      // What the block around has too is told there already.
      if (!told.has(difference.text) && !(label !== undefined && here.has(difference.text))) {
        placed.push({ location: inside[i]!.label, difference });
      }
    }
    placed.push(...result.placed);
  }
  return { common, placed };
}
