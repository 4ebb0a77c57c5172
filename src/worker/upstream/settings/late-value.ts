import { In } from '../../../shared/config/context.js';
import type { LinkContext, MergeContext } from '../../../shared/config/define.js';
import { ConfigError, mergeErrorPos } from '../../../shared/config/errors.js';
import type { Pos } from '../../../shared/config/language/ast.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { ComplexValueError, compileComplex } from '../../../shared/value/complex.js';
import type { Request } from '../../http/request/request.js';
import type { Context } from '../../module.js';

/**
 * A text with variables that is compiled when the settings of the servers and locations that have it are complete, as nginx does
 * with `proxy_set_header` and `*_param`: what no server takes over may name variables that do not exist.
 */
export class LateValue {
  readonly text: string;
  readonly #pos: Pos;
  #compiled: ComplexValue<Request> | undefined = undefined;

  constructor(text: string, ctx: Context) {
    this.text = text;
    this.#pos = ctx.node.pos;
  }

  /** For `link`. Errors have the place where nginx merges, which is the end of the `http` block. */
  compile(ctx: LinkContext<Request>, place: MergeContext): void {
    if (place.context === In.HTTP || this.#compiled !== undefined) {
      return;
    }
    try {
      this.#compiled = compileComplex(this.text, ctx.variables, this.#pos);
    } catch (error) {
      if (!(error instanceof ComplexValueError)) {
        throw error;
      }
      const related = [{ pos: this.#pos, text: 'it stands here' }];
      throw new ConfigError(error.message, mergeErrorPos(place.block), { related });
    }
  }

  /** What {@link compile} made. */
  get value(): ComplexValue<Request> {
    return this.#compiled!;
  }
}
