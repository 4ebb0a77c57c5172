import type { Subject } from '../value/subject.js';
import type { Block } from './block.js';
import { In } from './context.js';
import type { LevelName, MergeContext } from './define.js';
import type { NumberedScope, Registry } from './registry.js';

/** More than there are scopes. */
const SCOPES = 1000;
const NAMELESS: number = In.SERVER_IF | In.LOCATION_IF | In.LIMIT_EXCEPT;

/** The levels whose settings a block of a context has. */
function levelsOf(context: number): readonly LevelName[] {
  if (context === In.MAIN) {
    return ['process'];
  }
  if (context === In.EVENTS) {
    return [];
  }
  if (context === In.HTTP || context === In.STREAM) {
    return ['main', 'server', 'location'];
  }
  if (context === In.SERVER || context === In.STREAM_SERVER) {
    return ['server', 'location'];
  }
  if (context === In.UPSTREAM || context === In.STREAM_UPSTREAM) {
    return ['upstream'];
  }
  return ['location'];
}

/** Computes the settings in force in every block, outermost first. nginx: the merge functions, ngx_http_merge_servers. */
export function mergeBlocks<R extends Subject>(registry: Registry<R>, root: Block, prefix: string): void {
  new Merging(registry, prefix).mergeBlock(root, new Map());
}

/** What blocks of one context inside the same block have in common. */
interface Common<R extends Subject> {
  /** The settings of a block that says nothing, by scope number. */
  readonly settings: readonly object[];
  /** Scopes that begin with these blocks: there is nothing around them that they could share. */
  readonly begun: readonly NumberedScope<R>[];
}

/**
 * One run over all blocks. There may be fifty thousand, most of which set something in two or three of a hundred scopes; only those
 * scopes cost a block time or memory.
 */
class Merging<R extends Subject> {
  readonly #registry: Registry<R>;
  readonly #prefix: string;
  /**
   * Merged settings of blocks that set nothing in a scope, by context and scope number, and by the settings of the outer block. Such
   * blocks share them: with thousands of locations, a copy for each would take seconds and much memory.
   */
  readonly #silent = new Map<number, Map<object, object>>();
  /** The scopes whose settings blocks of a context have. */
  readonly #scopes = new Map<number, readonly NumberedScope<R>[]>();

  constructor(registry: Registry<R>, prefix: string) {
    this.#registry = registry;
    this.#prefix = prefix;
  }

  /** Merges a block and the blocks inside it. `siblings`: settings that blocks of one context inside the same outer block share. */
  mergeBlock(block: Block, siblings: Map<number, Common<R>>): void {
    const { context, parent } = block;
    const place: MergeContext = { context, nameless: (context & NAMELESS) !== 0, block, prefix: this.#prefix };
    let common = siblings.get(context);
    if (common === undefined) {
      common = this.#commonOf(parent, place);
      siblings.set(context, common);
    }
    block.common = common.settings;
    const levels = levelsOf(context);
    for (let own = block.own; own !== undefined; own = own.next) {
      const numbered = this.#registry.scopes[own.scope]!;
      if (!levels.includes(numbered.level) || (numbered.contexts & context) === 0) {
        continue;
      }
      own.merged = merge(numbered, parent?.merged(own.scope) as Record<string, unknown> | undefined, own.written, place);
    }
    for (const numbered of common.begun) {
      if (block.merged(numbered.number) === undefined) {
        block.add(numbered.number, merge(numbered, undefined, undefined, place));
      }
    }
    if (block.children.length > 0) {
      const inside = new Map<number, Common<R>>();
      for (const child of block.children) {
        this.mergeBlock(child, inside);
      }
    }
  }

  #commonOf(parent: Block | undefined, place: MergeContext): Common<R> {
    const settings: object[] = parent?.common.slice() ?? [];
    for (let own = parent?.own; own !== undefined; own = own.next) {
      if (own.merged !== undefined) {
        settings[own.scope] = own.merged;
      }
    }
    const begun: NumberedScope<R>[] = [];
    const scopes = this.#scopesOf(place.context);
    for (let i = 0; i < scopes.length; i++) {
      const numbered = scopes[i]!;
      const around = settings[numbered.number] as Record<string, unknown> | undefined;
      if (around === undefined) {
        begun.push(numbered);
      } else if (!numbered.takenOver) {
        settings[numbered.number] = this.#mergeSilent(numbered, around, place);
      }
    }
    return { settings, begun };
  }

  #scopesOf(context: number): readonly NumberedScope<R>[] {
    let scopes = this.#scopes.get(context);
    if (scopes === undefined) {
      scopes = levelsOf(context).flatMap((level) => this.#registry.at(level).filter(({ contexts }) => (contexts & context) !== 0));
      this.#scopes.set(context, scopes);
    }
    return scopes;
  }

  #mergeSilent(numbered: NumberedScope<R>, around: Record<string, unknown>, place: MergeContext): object {
    const key = place.context * SCOPES + numbered.number;
    let known = this.#silent.get(key);
    if (known === undefined) {
      known = new Map();
      this.#silent.set(key, known);
    }
    let merged = known.get(around);
    if (merged === undefined) {
      merged = merge(numbered, around, undefined, place);
      known.set(around, merged);
    }
    return merged;
  }
}

function merge<R extends Subject>(
  { scope, initial, inherited, rules }: NumberedScope<R>,
  parent: Record<string, unknown> | undefined,
  child: Record<string, unknown> | undefined,
  place: MergeContext,
): object {
  // A copy of the whole, since most settings are the outer block's: name by name it takes four times as long. V8 copies by `assign` at once
  // what it would spread name by name, with an array of names after each third, since objects of more than four forms come by here.
  const around = parent ?? initial;
  const merged: Record<string, unknown> = Object.assign({}, around);
  for (const name in child) {
    if (child[name] !== undefined && inherited.has(name)) {
      merged[name] = child[name];
    }
  }
  for (const [name, field] of rules) {
    merged[name] = field.merge(around[name], child?.[name]);
  }
  scope.finish?.(merged, parent, place);
  return Object.freeze(merged);
}

/** Gives each block, in the order of the text, with the scopes that check something of it in a step. */
export function visitMerged<R extends Subject>(
  registry: Registry<R>,
  root: Block,
  prefix: string,
  step: 'link' | 'linkLast',
  visit: (scopes: readonly NumberedScope<R>[], place: MergeContext) => void,
): void {
  const checked = new Map<number, readonly NumberedScope<R>[]>();
  const visitBlock = (block: Block): void => {
    const { context } = block;
    let scopes = checked.get(context);
    if (scopes === undefined) {
      const levels = levelsOf(context);
      scopes = registry.scopes.filter(
        ({ scope, level, contexts }) => scope[step] !== undefined && levels.includes(level) && (contexts & context) !== 0,
      );
      checked.set(context, scopes);
    }
    if (scopes.length > 0) {
      visit(scopes, { context, nameless: (context & NAMELESS) !== 0, block, prefix });
    }
    for (const child of block.children) {
      visitBlock(child);
    }
  };
  visitBlock(root);
}
