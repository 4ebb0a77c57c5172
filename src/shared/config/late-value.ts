import type { ComplexValue } from '../value/complex.js';
import { ComplexValueError, compileComplex } from '../value/complex.js';
import type { Subject } from '../value/subject.js';
import { In } from './context.js';
import type { ConfigContext, LinkContext, MergeContext } from './define.js';
import { ConfigError, mergeErrorPos } from './errors.js';
import type { Pos } from './language/ast.js';

const WHOLE: number = In.HTTP | In.STREAM;

/**
 * A text with variables that is compiled when the settings of the servers and locations that have it are complete, as nginx does
 * with `proxy_set_header`, `*_param` and `ssl_certificate`: what no server takes over may name variables that do not exist.
 */
export class LateValue<R extends Subject> {
  readonly text: string;
  readonly #pos: Pos;
  #compiled: ComplexValue<R> | undefined = undefined;

  constructor(text: string, ctx: Pick<ConfigContext<R>, 'node'>) {
    this.text = text;
    this.#pos = ctx.node.pos;
  }

  /** For `link`. Errors have the place where nginx merges, which is the end of the `http` block. */
  compile(ctx: LinkContext<R>, place: MergeContext): void {
    if ((place.context & WHOLE) !== 0 || this.#compiled !== undefined) {
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
  get value(): ComplexValue<R> {
    return this.#compiled!;
  }
}
