/** What a stream counts among others unless somebody says otherwise. */
const DEFAULT_WEIGHT = 16;
/** Streams that are not open, and whose place is still known. */
const CLOSED_NODES = 32;

/** A stream's place: those of lower rank come first, and of one rank those of higher weight. */
export interface Dependency {
  readonly rank: number;
  readonly weight: number;
}

/** The place of streams of which nothing was said. */
export const DEFAULT_DEPENDENCY: Dependency = { rank: 1, weight: DEFAULT_WEIGHT / 256 };

class Node implements Dependency {
  readonly id: number;
  own = DEFAULT_WEIGHT;
  rank = 1;
  weight = DEFAULT_WEIGHT / 256;
  parent: Node | null = null;
  readonly children = new Set<Node>();
  open = false;

  constructor(id: number) {
    this.id = id;
  }
}

/**
 * The priorities of RFC 7540, 5.3: streams that depend on others, with weights. RFC 9113 lets servers ignore them; nginx follows them,
 * and clients send them still. Made when a client uses it.
 */
export class DependencyTree {
  readonly #nodes = new Map<number, Node>();
  readonly #top = new Set<Node>();
  /** Nodes of streams that are not open, the oldest first. */
  readonly #closed = new Set<Node>();

  /** How many streams it knows. */
  get size(): number {
    return this.#nodes.size;
  }

  /** Where a stream is. */
  place(id: number): Dependency {
    return this.#nodes.get(id) ?? DEFAULT_DEPENDENCY;
  }

  /** Makes a stream depend on another, 0 for none; `exclusive`: the others that depend on that one depend on this from now on. */
  depend(id: number, on: number, exclusive: boolean, weight: number): void {
    const node = this.#nodes.get(id) ?? this.#add(id);
    if (!node.open) {
      this.#touch(node);
    }
    node.own = weight;
    let parent = on === 0 ? null : (this.#nodes.get(on) ?? null);
    for (let at = parent; at !== null; at = at.parent) {
      if (at !== node) {
        continue;
      }
      // What it shall depend on depends on it: that takes its place first.
      this.#move(parent as Node, node.parent);
      break;
    }
    if (parent === node) {
      parent = node.parent;
    }
    this.#move(node, parent);
    if (exclusive && (on === 0 || parent !== null)) {
      for (const sibling of [...this.#children(parent)]) {
        if (sibling !== node) {
          this.#move(sibling, node);
        }
      }
    }
    this.#settle(node);
  }

  /** A stream is opened: its place is kept. */
  opened(id: number): void {
    const node = this.#nodes.get(id);
    if (node === undefined) {
      return;
    }
    node.open = true;
    this.#closed.delete(node);
  }

  /** A stream is over: its place is kept for a while, for those that depend on it. */
  closed(id: number): void {
    const node = this.#nodes.get(id);
    if (node === undefined) {
      return;
    }
    node.open = false;
    this.#touch(node);
  }

  #add(id: number): Node {
    const node = new Node(id);
    this.#nodes.set(id, node);
    this.#top.add(node);
    return node;
  }

  #touch(node: Node): void {
    this.#closed.delete(node);
    this.#closed.add(node);
    if (this.#closed.size <= CLOSED_NODES) {
      return;
    }
    for (const oldest of this.#closed) {
      this.#remove(oldest);
      return;
    }
  }

  /** Takes a node out: what depends on it shares its weight from now on. */
  #remove(node: Node): void {
    this.#closed.delete(node);
    this.#nodes.delete(node.id);
    let sum = 0;
    for (const child of node.children) {
      sum += child.own;
    }
    for (const child of [...node.children]) {
      child.own = Math.max(1, Math.floor((node.own * child.own) / sum));
      this.#move(child, node.parent);
      this.#settle(child);
    }
    this.#children(node.parent).delete(node);
  }

  #children(parent: Node | null): Set<Node> {
    return parent === null ? this.#top : parent.children;
  }

  #move(node: Node, parent: Node | null): void {
    this.#children(node.parent).delete(node);
    node.parent = parent;
    this.#children(parent).add(node);
    this.#settle(node);
  }

  /** Works out the places of a stream and of all that depend on it. */
  #settle(from: Node): void {
    const todo = [from];
    for (let node = todo.pop(); node !== undefined; node = todo.pop()) {
      const { parent } = node;
      node.rank = parent === null ? 1 : parent.rank + 1;
      node.weight = ((parent === null ? 1 : parent.weight) * node.own) / 256;
      for (const child of node.children) {
        todo.push(child);
      }
    }
  }
}
