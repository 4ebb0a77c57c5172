import type { ConfigContext } from '../../shared/config/define.js';
import type { Subject } from '../../shared/value/subject.js';

/** Reads the `$name` of a variable that a directive makes; returns it without the `$` (nginx: ngx_http_add_variable). */
export function variableName<R extends Subject>(text: string, arg: number, ctx: ConfigContext<R>): string {
  if (!text.startsWith('$') || text === '$') {
    ctx.fail(`invalid variable name "${text}"`, { arg, hint: text.startsWith('$') ? 'a name is missing after `$`' : `write \`$${text}\`` });
  }
  return text.slice(1);
}

/** The name of a variable that a block is about to define: nginx refuses one that is taken before it reads the block. */
export function newVariable<R extends Subject>(text: string, arg: number, ctx: ConfigContext<R>): string {
  const name = variableName(text, arg, ctx);
  const known = ctx.variables.definition(name);
  if (known !== undefined && !known.changeable) {
    ctx.fail(`the duplicate "${name}" variable`, { arg });
  }
  return name;
}
