import type { NameNode } from './node.js';

/** Seconds that an answer is kept after its last use. nginx: r->expire. */
const KEEP = 30;
/** How many names one answer may push out, so that no answer pays for many. nginx: ngx_resolver_expire. */
const EXPIRED_AT_ONCE = 2;
/** Among how many questions the one of an error without a name is looked for. nginx: ngx_resolver_process_response. */
const MAX_SEARCH = 100;

/** The names that a resolver knows or asks for. nginx: name_rbtree with name_resend_queue and name_expire_queue. */
export class Names {
  readonly #nodes = new Map<string, NameNode>();
  readonly #asked = new Set<NameNode>();
  /** Names with an answer, in the order of their last use, so that those to be forgotten stand in front. */
  readonly #answered = new Set<NameNode>();

  get size(): number {
    return this.#nodes.size;
  }

  get(name: string): NameNode | undefined {
    return this.#nodes.get(name);
  }

  /** Takes a name in that is being asked for. */
  ask(node: NameNode): void {
    this.#nodes.set(node.name, node);
    this.#asked.add(node);
  }

  /** An answer has come or was used again. `now` in seconds. */
  use(node: NameNode, now: number): void {
    node.keepUntil = now + KEEP;
    this.#asked.delete(node);
    this.#answered.delete(node);
    this.#answered.add(node);
  }

  forget(node: NameNode): void {
    clearTimeout(node.resend);
    if (this.#nodes.get(node.name) === node) {
      this.#nodes.delete(node.name);
    }
    this.#asked.delete(node);
    this.#answered.delete(node);
  }

  /** Forgets answers that nobody has used in a while. */
  expire(now: number): void {
    let left = EXPIRED_AT_ONCE;
    for (const node of this.#answered) {
      if (left-- === 0 || node.keepUntil >= now) {
        return;
      }
      this.forget(node);
    }
  }

  /** The name that was asked for with this number. */
  askedAs(id: number): NameNode | undefined {
    let left = MAX_SEARCH;
    for (const node of this.#asked) {
      if (left-- === 0) {
        return undefined;
      }
      if (node.id === id || node.id6 === id) {
        return node;
      }
    }
    return undefined;
  }

  /** Ends the waiting for answers. */
  close(): void {
    for (const node of this.#asked) {
      clearTimeout(node.resend);
    }
  }
}
