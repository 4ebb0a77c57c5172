import type { Rule } from './rule.js';
import { around, everything, type LintedDirective, ownDirectives } from './tree.js';

/** Lists that a block inherits only when it has none of its own. */
const LISTS = ['add_header', 'proxy_set_header', 'grpc_set_header', 'fastcgi_param', 'uwsgi_param', 'scgi_param'] as const;

/** An `add_header` of a location puts all those of the server out of force. */
export const lostHeaders: Rule = {
  name: 'lost-headers',
  about: 'headers or parameters of an outer block that an inner block loses by having some of its own',
  *check(top) {
    for (const block of everything(top)) {
      for (const list of block.node.block === undefined ? [] : LISTS) {
        const mine = ownDirectives(block, list);
        const outer = mine.length === 0 || merges(block, list) ? undefined : inherited(block, list);
        const kept = new Set(mine.map(({ args }) => args[0]?.toLowerCase()));
        const lost = (outer ?? []).filter(({ args }) => !kept.has(args[0]?.toLowerCase()));
        if (lost.length > 0) {
          const names = [...new Set(lost.map(({ args }) => args[0]))];
          yield {
            at: mine[0]!,
            problem: `this block loses ${names.slice(0, 4).join(', ')}${names.length > 4 ? ` and ${names.length - 4} more` : ''} of line ${lost[0]!.node.pos.line}: a block with a \`${list}\` of its own inherits none`,
            remedy:
              list === 'add_header'
                ? '`add_header_inherit merge;` in this block, or put the common ones in a file that both include'
                : 'repeat them here, or put the common ones in a file that both include',
          };
        }
      }
    }
  },
};

function inherited(block: LintedDirective, list: string): readonly LintedDirective[] | undefined {
  for (const level of around(block)) {
    const found = ownDirectives(level, list);
    if (found.length > 0) {
      return found;
    }
  }
  return undefined;
}

/** Whether `add_header_inherit` adds the outer ones, or says that they are not wanted. */
function merges(block: LintedDirective, list: string): boolean {
  if (list !== 'add_header') {
    return false;
  }
  const setting = [block, ...around(block)].flatMap((level) => ownDirectives(level, 'add_header_inherit'))[0];
  return setting?.args[0] === 'merge' || setting?.args[0] === 'off';
}

/** `expires` writes a Cache-Control header of its own. */
export const twoCacheControls: Rule = {
  name: 'two-cache-controls',
  about: '`expires` beside `add_header Cache-Control` with a max-age, so that a response has two that contradict each other',
  *check(top) {
    for (const block of everything(top)) {
      const header = ownDirectives(block, 'add_header').find(({ args }) => args[0]?.toLowerCase() === 'cache-control');
      const expires = ownDirectives(block, 'expires').find(({ args }) => args[0] !== 'off');
      if (header !== undefined && expires !== undefined && /max-age|no-cache|no-store/i.test(header.args[1] ?? '')) {
        yield {
          at: header,
          problem: `the response has two Cache-Control headers: this one, and that of \`expires\` on line ${expires.node.pos.line}`,
          remedy: 'keep the `add_header`, and take `expires` out',
        };
      }
    }
  },
};
