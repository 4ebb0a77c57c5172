import type { Block } from '../shared/config/block.js';
import { HTTP_CONTEXTS } from '../shared/config/context.js';
import type { DirectiveNode } from '../shared/config/language/ast.js';

/** The first node that `of` gives for a block of `http`, in the order of the text. */
export function firstNode(block: Block, of: (block: Block) => DirectiveNode | undefined): DirectiveNode | undefined {
  const own = (block.context & HTTP_CONTEXTS) === 0 ? undefined : of(block);
  if (own !== undefined) {
    return own;
  }
  for (const child of block.children) {
    const found = firstNode(child, of);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}
