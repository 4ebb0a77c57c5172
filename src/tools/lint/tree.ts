import { applyInclude } from '../../shared/config/apply.js';
import { unlessConfigError } from '../../shared/config/errors.js';
import type { DirectiveNode, Node } from '../../shared/config/language/ast.js';
import { commandLine } from '../../shared/config/language/ast.js';
import type { Sources } from '../../shared/config/sources.js';

/** One directive of the whole configuration, with what its `include`s bring in their place. */
export interface LintedDirective {
  readonly node: DirectiveNode;
  readonly name: string;
  readonly args: readonly string[];
  /** The block that it stands in; undefined at the top. */
  readonly parent: LintedDirective | undefined;
  /** The directives inside, for a block; empty for others. */
  readonly inside: readonly LintedDirective[];
}

/** Blocks whose lines are entries and no directives. */
const TABLES = new Set(['types', 'map', 'geo', 'split_clients', 'charset_map']);

/** The configuration as one tree. What cannot be read or parsed is left out: `-t` tells it. */
export function directivesOf(sources: Sources): readonly LintedDirective[] {
  const top: LintedDirective[] = [];
  const add = (nodes: readonly Node[], parent: LintedDirective | undefined, siblings: LintedDirective[]): void => {
    for (const node of nodes) {
      if ('syntaxError' in node) {
        continue;
      }
      if (node.name === 'include' && (parent === undefined || !TABLES.has(parent.name))) {
        unlessConfigError(() => applyInclude(node, (included) => add(included, parent, siblings), sources));
        continue;
      }
      const inside: LintedDirective[] = [];
      const directive = { node, name: node.name, args: node.args, parent, inside };
      siblings.push(directive);
      add(node.block ?? [], directive, inside);
    }
  };
  unlessConfigError(() => add(sources.parse(commandLine), undefined, top));
  unlessConfigError(() => add(sources.parse(sources.entry), undefined, top));
  return top;
}

/** Every directive below these, and these, in the order of the text. */
export function* everything(directives: readonly LintedDirective[]): Generator<LintedDirective> {
  for (const directive of directives) {
    yield directive;
    yield* everything(directive.inside);
  }
}

/** The blocks around a directive, from the innermost on. */
export function* around({ parent }: LintedDirective): Generator<LintedDirective> {
  for (let block = parent; block !== undefined; block = block.parent) {
    yield block;
  }
}

/** The block of this name that a directive stands in. */
export function enclosing(directive: LintedDirective, name: string): LintedDirective | undefined {
  for (const block of around(directive)) {
    if (block.name === name) {
      return block;
    }
  }
  return undefined;
}

/** The directives of one name that hold in a block: its own, or those of the nearest block around it that has some. */
export function effective(block: LintedDirective, name: string): readonly LintedDirective[] {
  for (let level: LintedDirective | undefined = block; level !== undefined; level = level.parent) {
    const found = ownDirectives(level, name);
    if (found.length > 0) {
      return found;
    }
  }
  return [];
}

/** A block's own directives of one name. */
export const ownDirectives = (block: LintedDirective, name: string): readonly LintedDirective[] =>
  block.inside.filter((directive) => directive.name === name);

/** How a location chooses: its modifier (empty for a prefix) and its pattern. */
export interface LocationMatch {
  readonly modifier: '' | '=' | '^~' | '~' | '~*' | '@';
  readonly pattern: string;
}

/** What a `location` matches; undefined for another directive. `location ~^/x` and `location = /x` are written in several ways. */
export function locationMatch({ name, args }: LintedDirective): LocationMatch | undefined {
  const [first = '', second] = args;
  if (name !== 'location') {
    return undefined;
  }
  if (second !== undefined) {
    return { modifier: first as LocationMatch['modifier'], pattern: second };
  }
  for (const modifier of ['~*', '~', '^~', '=', '@'] as const) {
    if (first.startsWith(modifier)) {
      return { modifier, pattern: first.slice(modifier === '@' ? 0 : modifier.length) };
    }
  }
  return { modifier: '', pattern: first };
}

/** Whether a location chooses by the beginning of the path. */
export const isPrefix = (match: LocationMatch | undefined): match is LocationMatch =>
  match !== undefined && (match.modifier === '' || match.modifier === '^~');
