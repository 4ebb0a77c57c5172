import type { Block } from './block.js';
import type { DirectiveNode } from './language/ast.js';

/** What identifies a setting within a block: the number of its scope and the name of its field. */
export const settingKey = (scope: number, field: string): string => `${scope} ${field}`;

/** One directive while its `set` runs. */
interface Running {
  readonly node: DirectiveNode;
  readonly block: Block;
  wrote: boolean;
  /** Settings that hold objects and were looked at: what `set` changes in place shows nowhere else. */
  readonly looked: (() => void)[];
}

/** What is written in one block. */
interface Written {
  readonly settings: Map<string, DirectiveNode[]>;
  /** Directives whose effect is in no setting of the block, such as `limit_req_zone`. */
  readonly others: DirectiveNode[];
}

/**
 * Learns, while a configuration is read, which directives wrote each setting of each block, by watching what their `set` functions do.
 * Nothing but comparing configurations needs that, so that a server which starts has none.
 */
export class Provenance {
  readonly #blocks = new WeakMap<Block, Written>();
  readonly #watched = new WeakMap<object, object>();
  readonly #running: Running[] = [];

  /** Runs `set` of a directive that stands in a block. */
  during(node: DirectiveNode, block: Block, { set }: { readonly set: { readonly name: string } }, work: () => void): void {
    const running: Running = { node, block, wrote: false, looked: [] };
    this.#running.push(running);
    try {
      work();
    } finally {
      this.#running.pop();
    }
    if (!running.wrote) {
      for (const note of running.looked) {
        note();
      }
    }
    // What slots.ts makes for directives that are only checked.
    if (!running.wrote && set.name !== 'withoutEffect') {
      this.#of(block).others.push(node);
    }
  }

  /** Settings whose changes are seen. One object is always watched by the same other one. */
  watch<C extends object>(block: Block, scope: number, conf: C): C {
    const known = this.#watched.get(conf);
    if (known !== undefined) {
      return known as C;
    }
    const watched = new Proxy(conf, {
      set: (target, field, value) => {
        this.#note(this.#running.at(-1), block, scope, field);
        return Reflect.set(target, field, value);
      },
      get: (target, field) => {
        const value: unknown = Reflect.get(target, field);
        const running = this.#running.at(-1);
        if (typeof value === 'object' && value !== null) {
          running?.looked.push(() => this.#note(running, block, scope, field));
        }
        return value;
      },
    });
    this.#watched.set(conf, watched);
    return watched;
  }

  /** The directives of a block that wrote its settings, by {@link settingKey}. */
  settings(block: Block): ReadonlyMap<string, readonly DirectiveNode[]> {
    return this.#blocks.get(block)?.settings ?? NONE;
  }

  /** The directives of a block that wrote none of its settings, but do something. */
  others(block: Block): readonly DirectiveNode[] {
    return this.#blocks.get(block)?.others ?? [];
  }

  #note(running: Running | undefined, block: Block, scope: number, field: string | symbol): void {
    if (running === undefined || typeof field === 'symbol') {
      return;
    }
    running.wrote = true;
    const { settings } = this.#of(block);
    const key = settingKey(scope, field);
    const nodes = settings.get(key);
    if (nodes === undefined) {
      settings.set(key, [running.node]);
    } else if (nodes.at(-1) !== running.node) {
      nodes.push(running.node);
    }
  }

  #of(block: Block): Written {
    let written = this.#blocks.get(block);
    if (written === undefined) {
      written = { settings: new Map(), others: [] };
      this.#blocks.set(block, written);
    }
    return written;
  }
}

const NONE: ReadonlyMap<string, readonly DirectiveNode[]> = new Map();
