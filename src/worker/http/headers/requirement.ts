import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { Context } from '../../module.js';
import type { Request } from '../request/request.js';

/** Values that must all say yes: none is empty or "0". NGINX Plus: auth_require, auth_jwt_require. */
export interface Requirement {
  readonly values: readonly ComplexValue<Request>[];
  /** What is answered otherwise. */
  readonly status: number;
}

/** Reads `$value ... [error=CODE]`. `codes`: the statuses that may be chosen. */
export function parseRequirement(node: DirectiveNode, ctx: Context, status: number, codes: RegExp): Requirement {
  const values: ComplexValue<Request>[] = [];
  let chosen: string | undefined;
  for (const [i, text] of node.args.entries()) {
    if (text.startsWith('error=')) {
      if (chosen !== undefined || !codes.test(text.slice('error='.length))) {
        ctx.fail(`invalid parameter "${text}"`, { arg: i });
      }
      chosen = text.slice('error='.length);
    } else if (text.startsWith('$')) {
      values.push(ctx.complex(text));
    } else {
      ctx.fail(`invalid value "${text}"`, { arg: i, hint: 'a value begins with a variable' });
    }
  }
  if (values.length === 0) {
    ctx.reject('must have a value');
  }
  return { values, status: chosen === undefined ? status : Number(chosen) };
}

/** The value that says no, of the first requirement that is not met; undefined when all are. */
export function unmet(r: Request, requirements: readonly Requirement[]): { readonly status: number; readonly text: string } | undefined {
  for (const { values, status } of requirements) {
    for (const value of values) {
      const said = value.eval(r);
      if (said === '' || said === '0') {
        return { status, text: value.text };
      }
    }
  }
  return undefined;
}
