import { In } from '../../../shared/config/context.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { parseInteger } from '../../../shared/config/slots.js';
import type { Context } from '../../module.js';

const HTTP_SERVER = In.HTTP | In.SERVER;

type Check = (node: DirectiveNode, ctx: Context) => void;

const anything: Check = () => {};
const number: Check = (node, ctx) => void parseInteger(node.args[0]!, ctx);

/** A setting of a protocol that is not spoken here. */
const idle = (where: number, args: 'flag' | 1 | 2, check: Check = anything) => ({
  in: where,
  args,
  set(_conf: object, node: DirectiveNode, ctx: Context): void {
    if (node.args[0]!.toLowerCase() === 'off' && args === 'flag') {
      return;
    }
    check(node, ctx);
    ctx.warn(`the "${node.name}" directive has no effect: HTTP/3 is not supported yet, clients use HTTP/1.1 or HTTP/2`);
  },
});

/** The directives of QUIC: checked, and answered with a warning. */
export const quicDirectives = {
  quic_retry: idle(HTTP_SERVER, 'flag'),
  quic_gso: idle(HTTP_SERVER, 'flag'),
  quic_host_key: idle(HTTP_SERVER, 1),
  quic_active_connection_id_limit: idle(HTTP_SERVER, 1, number),
};

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
