import type { Context } from '../../module.js';
import type { TempPath } from '../request/client-settings.js';

/** Reads `path [level1 [level2 [level3]]]`. nginx: ngx_conf_set_path_slot. */
export function parseTempPath(ctx: Context): TempPath {
  const [path, ...levels] = ctx.node.args as [string, ...string[]];
  const numbers = levels.map((level, i) => (/^[1-9]$/.test(level) ? Number(level) : ctx.reject('invalid value', { arg: i + 1 })));
  return { path: ctx.path(path.replace(/\/+$/, '')), levels: numbers };
}
