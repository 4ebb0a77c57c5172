import type { Block } from '../../shared/config/block.js';
import type { LevelName } from '../../shared/config/define.js';
import type { DirectiveNode } from '../../shared/config/language/ast.js';
import { isTable, type Side } from './side.js';
import { type Difference, differences, sameLines, tableDifferences, written } from './words.js';

/** A block in the configuration of before and in that of after. */
export interface BlockPair {
  readonly before: Block;
  readonly after: Block;
}

/** Compares blocks of two configurations. */
export class SettingsComparison {
  readonly before: Side;
  readonly after: Side;
  readonly #defaultOf: (name: string) => string | undefined;

  /** `defaultOf`: the default value of a directive, for a person. */
  constructor(before: Side, after: Side, defaultOf: (name: string) => string | undefined) {
    this.before = before;
    this.after = after;
    this.#defaultOf = defaultOf;
  }

  /**
   * What is different about the settings of a block that are in force, of some levels. A setting is different when other directives stand
   * behind it and its value is another, so that neither a default that is written out nor a line that has moved counts.
   */
  inForce(pair: BlockPair, levels: readonly LevelName[]): Difference[] {
    const before = this.before.effective(pair.before);
    const after = this.after.effective(pair.after);
    const found: Difference[] = [];
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      const [number, field] = key.split(' ') as [string, string];
      const scope = Number(number);
      if (!levels.includes(this.after.scope(scope).level)) {
        continue;
      }
      const [from, to] = [before.get(key) ?? [], after.get(key) ?? []];
      if (sameLines(from, to) || this.#same(pair, scope, field)) {
        continue;
      }
      found.push(...differences(from, to, this.#defaultOf));
    }
    // A directive that sets several fields is told once.
    return unique(found);
  }

  #same(pair: BlockPair, scope: number, field: string): boolean {
    const before = this.before.value(pair.before, scope, field);
    const after = this.after.value(pair.after, scope, field);
    return !before.opaque && !after.opaque && before.text === after.text;
  }

  /** What is different about directives whose effect is in no setting. Their order does not count. */
  others(pair: BlockPair): Difference[] {
    const found: Difference[] = [];
    const before = byKey(this.before.others(pair.before));
    const after = byKey(this.after.others(pair.after));
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      const [from, to] = [before.get(key) ?? [], after.get(key) ?? []];
      if (from.length === 1 && to.length === 1 && isTable(to[0]!.name)) {
        found.push(...this.#table(from[0]!, to[0]!));
      } else if (!sameLines(from, to)) {
        found.push(...differences(from, to, () => 'none'));
      }
    }
    return found;
  }

  #table(from: DirectiveNode, to: DirectiveNode): Difference[] {
    const found = written(from) === written(to) ? [] : differences([from], [to], () => undefined);
    return [...found, ...tableDifferences(to.name, written(to), this.before.entries(from), this.after.entries(to))];
  }
}

/** Groups directives by what they define. A map defines its last word, most others the first. */
function byKey(nodes: readonly DirectiveNode[]): Map<string, DirectiveNode[]> {
  const groups = new Map<string, DirectiveNode[]>();
  for (const node of nodes) {
    const key = isTable(node.name) ? `${node.name} ${node.args.at(-1)}` : node.name;
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, [node]);
    } else {
      group.push(node);
    }
  }
  return groups;
}

/** Without those that say the same. */
export function unique(found: readonly Difference[]): Difference[] {
  const seen = new Set<string>();
  return found.filter(({ text }) => !seen.has(text) && seen.add(text));
}
