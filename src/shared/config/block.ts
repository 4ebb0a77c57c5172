import { append } from '../collection/append.js';
import type { DirectiveNode } from './language/ast.js';

/** Settings of one scope that are a block's own. */
export interface OwnSettings {
  readonly scope: number;
  /** What is written in the block; undefined when nothing is. */
  readonly written: Record<string, unknown> | undefined;
  /** What is in force; filled by merging. */
  merged: object | undefined;
  readonly next: OwnSettings | undefined;
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
  /**
   * Merged settings by scope number, for the scopes in which the block sets nothing. All blocks of one context inside the same block share
   * them.
   * Merging fills them in.
   */
  common: readonly object[] = [];
  /** What the directive that opened the block knows about it (a location's name, an upstream's). */
  info: unknown;
  #own: OwnSettings | undefined = undefined;
  #seen: DirectiveNode[] | undefined = undefined;

  constructor(context: number, parent: Block | undefined, node: DirectiveNode | undefined, info: unknown) {
    this.context = context;
    this.parent = parent;
    this.node = node;
    this.info = info;
    parent?.children.push(this);
  }

  /** All settings of the block's own. */
  get own(): OwnSettings | undefined {
    return this.#own;
  }

  /** The settings of a scope that are written in this block, or undefined when there are none. */
  written(scope: number): Record<string, unknown> | undefined {
    return this.#find(scope)?.written;
  }

  /** Begins the settings of a scope that says something in this block. */
  write(scope: number): Record<string, unknown> {
    const written = {};
    this.#own = { scope, written, merged: undefined, next: this.#own };
    return written;
  }

  /** The settings of a scope in force, after merging. */
  merged(scope: number): object | undefined {
    return this.#find(scope)?.merged ?? this.common[scope];
  }

  /** Puts settings in force of which nothing is written here. */
  add(scope: number, merged: object): void {
    this.#own = { scope, written: undefined, merged, next: this.#own };
  }

  #find(scope: number): OwnSettings | undefined {
    let each = this.#own;
    while (each !== undefined && each.scope !== scope) {
      each = each.next;
    }
    return each;
  }

  /** The first directive of a name in this block, for `is duplicate`. */
  seen(name: string): DirectiveNode | undefined {
    const seen = this.#seen;
    if (seen !== undefined) {
      for (let i = 0; i < seen.length; i++) {
        if (seen[i]!.name === name) {
          return seen[i];
        }
      }
    }
    return undefined;
  }

  /** Notes that a directive stands in this block. */
  see(node: DirectiveNode): void {
    if (this.#seen === undefined) {
      this.#seen = [node];
    } else if (this.seen(node.name) === undefined) {
      this.#seen = append(this.#seen, node);
    }
  }
}
