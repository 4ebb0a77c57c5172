import type { DirectiveNode } from './ast.js';

/** Settings of one scope that are written in a block. */
interface Written {
  readonly scope: number;
  readonly settings: Record<string, unknown>;
  readonly next: Written | undefined;
}

/**
 * One `{ }` of the configuration: what was set in it, the blocks inside it, and, after merging, the settings in force.
 * The whole file is the root block, with the `main` context. There may be fifty thousand, so that what they hold is kept small.
 */
export class Block {
  readonly context: number;
  readonly parent: Block | undefined;
  readonly node: DirectiveNode | undefined;
  readonly children: Block[] = [];
  /** Settings in force, by scope number, those of outer levels too; filled by merging. */
  merged: readonly object[] = [];
  /** What the directive that opened the block knows about it (a location's name, an upstream's). */
  info: unknown;
  #written: Written | undefined = undefined;
  #seen: DirectiveNode[] | undefined = undefined;

  constructor(context: number, parent: Block | undefined, node: DirectiveNode | undefined, info: unknown) {
    this.context = context;
    this.parent = parent;
    this.node = node;
    this.info = info;
    parent?.children.push(this);
  }

  /** The settings of a scope that are written in this block, or undefined when there are none. */
  written(scope: number): Record<string, unknown> | undefined {
    let each = this.#written;
    while (each !== undefined && each.scope !== scope) each = each.next;
    return each?.settings;
  }

  /** Begins the settings of a scope that says something in this block. */
  write(scope: number): Record<string, unknown> {
    const settings = {};
    this.#written = { scope, settings, next: this.#written };
    return settings;
  }

  /** The first directive of a name in this block, for `is duplicate`. */
  seen(name: string): DirectiveNode | undefined {
    return this.#seen?.find((node) => node.name === name);
  }

  /** Notes that a directive stands in this block. */
  see(node: DirectiveNode): void {
    if (this.#seen === undefined) this.#seen = [node];
    else if (this.seen(node.name) === undefined) this.#seen.push(node);
  }
}
