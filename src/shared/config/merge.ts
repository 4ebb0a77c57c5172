import type { Subject } from '../value/value.js';
import type { Block } from './block.js';
import { In } from './context.js';
import { type Field, type LevelName, type MergePlace, takeOver } from './define.js';
import type { NumberedScope, Registry } from './registry.js';

const NAMELESS: number = In.SERVER_IF | In.LOCATION_IF | In.LIMIT_EXCEPT;

/** The levels whose settings a block of a context has. */
function levelsOf(context: number): readonly LevelName[] {
  if (context === In.MAIN) return ['process'];
  if (context === In.EVENTS) return [];
  if (context === In.HTTP || context === In.STREAM) return ['main', 'server', 'location'];
  if (context === In.SERVER || context === In.STREAM_SERVER) return ['server', 'location'];
  if (context === In.UPSTREAM || context === In.STREAM_UPSTREAM) return ['upstream'];
  return ['location'];
}

/** Computes the settings in force in every block, outermost first. nginx: the merge functions, ngx_http_merge_servers. */
export function mergeBlocks<R extends Subject>(registry: Registry<R>, block: Block, prefix: string): void {
  const place: MergePlace = { context: block.context, nameless: (block.context & NAMELESS) !== 0, block, prefix };
  for (const level of levelsOf(block.context)) {
    for (const numbered of registry.scopes) {
      if (numbered.level === level) mergeScope(numbered, block, place);
    }
  }
  for (const child of block.children) mergeBlocks(registry, child, prefix);
}

function mergeScope<R extends Subject>(numbered: NumberedScope<R>, block: Block, place: MergePlace): void {
  const { scope, number } = numbered;
  const parent = block.parent?.merged[number] as Record<string, unknown> | undefined;
  const child = block.written[number];
  // Most blocks say nothing of most modules: with thousands of locations, copies of the settings would take seconds and much memory.
  if (child === undefined && parent !== undefined && isTakenOver(scope)) {
    block.merged[number] = parent;
    return;
  }
  const merged: Record<string, unknown> = { ...numbered.blank };
  for (const name of Object.keys(scope.fields)) {
    const field = scope.fields[name] as Field<unknown>;
    merged[name] = field.merge(parent === undefined ? field.initial : parent[name], child?.[name]);
  }
  scope.finish?.(merged, parent, place);
  block.merged[number] = Object.freeze(merged);
}

const takenOver = new WeakMap<object, boolean>();

/** Whether a block in which nothing is written has the very settings of the block around it. */
function isTakenOver<R extends Subject>(scope: NumberedScope<R>['scope']): boolean {
  let known = takenOver.get(scope);
  if (known === undefined) {
    known = scope.finish === undefined && Object.values<Field<unknown>>(scope.fields).every(({ merge }) => merge === takeOver);
    takenOver.set(scope, known);
  }
  return known;
}

/** Runs every scope's cross-checks, in the order of the text. */
export function visitMerged<R extends Subject>(
  registry: Registry<R>,
  block: Block,
  prefix: string,
  visit: (numbered: NumberedScope<R>, conf: object, place: MergePlace) => void,
): void {
  const place: MergePlace = { context: block.context, nameless: (block.context & NAMELESS) !== 0, block, prefix };
  for (const numbered of registry.scopes) {
    const conf = block.merged[numbered.number];
    if (conf !== undefined && levelsOf(block.context).includes(numbered.level)) visit(numbered, conf, place);
  }
  for (const child of block.children) visitMerged(registry, child, prefix, visit);
}
