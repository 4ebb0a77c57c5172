import type { DirectiveNode, Pos } from './ast.js';

/**
 * One `{ }` of the configuration: what was set in it, the blocks inside it, and, after merging, the settings in force.
 * The whole file is the root block, with the `main` context.
 */
export class Block {
  readonly context: number;
  readonly parent: Block | undefined;
  readonly node: DirectiveNode | undefined;
  readonly children: Block[] = [];
  /** Settings written in this block, by scope number; made on first use. */
  readonly written: (Record<string, unknown> | undefined)[] = [];
  /** Settings in force, by scope number; filled by merging. */
  readonly merged: object[] = [];
  /** Where each directive name was first seen in this block, for `is duplicate`. */
  readonly seen = new Map<string, Pos>();
  /** What the directive that opened the block knows about it (a location's name, an upstream's). */
  info: unknown;

  constructor(context: number, parent: Block | undefined, node: DirectiveNode | undefined, info: unknown) {
    this.context = context;
    this.parent = parent;
    this.node = node;
    this.info = info;
    parent?.children.push(this);
  }
}
