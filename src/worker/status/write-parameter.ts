import type { Context } from '../module.js';

/** Reads `write=on|off`, the only parameter of directives whose pages can change what they show. */
export function writeParameter(ctx: Context): boolean {
  const [parameter] = ctx.node.args;
  if (parameter !== undefined && !/^write=(on|off)$/.test(parameter)) {
    ctx.fail(`invalid parameter "${parameter}"`, { arg: 0 });
  }
  return parameter === 'write=on';
}
