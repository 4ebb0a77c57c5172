import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import type { Context } from '../../module.js';

/** A directive that newer versions of nginx do without. nginx: ngx_http_v2_obsolete. */
export const obsolete = (where: number, instead?: string, args: 1 | 'flag' = 1) => ({
  in: where,
  args,
  set(_conf: object, node: DirectiveNode, ctx: Context): void {
    ctx.warn(
      instead === undefined
        ? `the "${node.name}" directive is obsolete, ignored`
        : `the "${node.name}" directive is obsolete, use the "${instead}" directive instead`,
    );
  },
});
