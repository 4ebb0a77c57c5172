import type { RegexNode } from './ast.js';

/** Tells whether a node may match without consuming a byte. */
export function nullable(node: RegexNode): boolean {
  switch (node.t) {
    case 'set':
      return false;
    case 'sequence':
      return node.items.every(nullable);
    case 'alternatives':
      return node.items.some(nullable);
    case 'capture':
    case 'atomic':
      return nullable(node.body);
    case 'repeat':
      return node.min === 0 || nullable(node.body);
    case 'condition':
      return nullable(node.yes) || nullable(node.no);
    default:
      return true;
  }
}

/** Tells whether a node matches the empty string at every place, its last choice if not its first. */
export function alwaysNullable(node: RegexNode): boolean {
  switch (node.t) {
    case 'sequence':
      return node.items.every(alwaysNullable);
    case 'alternatives':
      return node.items.some(alwaysNullable);
    case 'capture':
      return alwaysNullable(node.body);
    case 'repeat':
      return node.mode !== 'possessive' && (node.min === 0 || alwaysNullable(node.body));
    default:
      return false;
  }
}

/** Returns the nodes directly below a node. */
export function childrenOf(node: RegexNode): readonly RegexNode[] {
  switch (node.t) {
    case 'sequence':
    case 'alternatives':
      return node.items;
    case 'capture':
    case 'atomic':
    case 'look':
    case 'repeat':
      return [node.body];
    case 'condition':
      return 't' in node.test ? [node.test, node.yes, node.no] : [node.yes, node.no];
    default:
      return [];
  }
}

/** Tells whether a node or one below it passes the test. */
export function some(node: RegexNode, test: (node: RegexNode) => boolean): boolean {
  return test(node) || childrenOf(node).some((child) => some(child, test));
}

/** Tells whether every match starts at the subject's start. */
export function isAnchored(node: RegexNode): boolean {
  switch (node.t) {
    case 'assert':
      return node.kind === 'start';
    case 'sequence':
      return node.items.length > 0 && isAnchored(node.items[0]!);
    case 'alternatives':
      return node.items.every(isAnchored);
    case 'capture':
    case 'atomic':
      return isAnchored(node.body);
    default:
      return false;
  }
}
