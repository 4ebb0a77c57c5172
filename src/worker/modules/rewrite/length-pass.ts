import { type ComplexValue, parseTemplate } from '../../../shared/value/complex.js';
import type { Request } from '../../http/request/request.js';
import type { Context } from '../../module.js';

/**
 * nginx evaluates what `set` assigns and `rewrite` puts in place of the URI twice, for its length and for its bytes, and each variable in
 * it on its own. Only variables show it whose evaluations have effects, as those of `js_set` with `nocache`.
 * nginx: ngx_http_script_complex_value_code.
 */
export class LengthPass {
  readonly #slots: readonly number[];
  readonly #variables: Context['variables'];
  /** Undefined until the first request, when all variables are known. */
  #needed: boolean | undefined = undefined;

  constructor(text: string, ctx: Context) {
    this.#variables = ctx.variables;
    this.#slots = parseTemplate(text).flatMap((part) =>
      typeof part === 'object' && 'variable' in part ? [ctx.variables.slot(part.variable, ctx.node.pos)] : [],
    );
  }

  /** Evaluates the variables for the length, if that can be seen. Returns whether it can. */
  run(r: Request): boolean {
    this.#needed ??= this.#slots.some((slot) => this.#variables.hasEffects(slot));
    if (this.#needed) {
      for (const slot of this.#slots) {
        this.#variables.fresh(r, slot);
      }
    }
    return this.#needed;
  }
}

/** A value that is evaluated as nginx does it for `set`. */
export function scriptValue(text: string, ctx: Context): ComplexValue<Request> {
  const value = ctx.complex(text);
  if (value.constant !== undefined) {
    return value;
  }
  const lengths = new LengthPass(text, ctx);
  const parts = parseTemplate(text).map((part) =>
    typeof part === 'string' ? part : ctx.complex('capture' in part ? `$${part.capture}` : `\${${part.variable}}`),
  );
  return {
    text,
    constant: undefined,
    eval(r) {
      if (!lengths.run(r)) {
        return value.eval(r);
      }
      return parts.map((part) => (typeof part === 'string' ? part : part.eval(r))).join('');
    },
  };
}
