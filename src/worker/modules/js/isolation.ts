import { parseSize } from '../../../shared/config/language/units.js';
import type { Context } from '../../module.js';

/** `js_isolation thread`: how many threads, and how many MiB each may use. */
export interface Isolation {
  readonly threads: number;
  readonly memory: number;
}

/** Reads a `js_isolation` line. */
export function readIsolation(conf: { isolation?: Isolation | undefined }, node: Context['node'], ctx: Context): void {
  const [where, ...rest] = node.args;
  let threads = 2;
  let memory = 0;
  if ('isolation' in conf) {
    ctx.reject('is duplicate');
  }
  if (where !== 'thread' && where !== 'off') {
    ctx.fail(`invalid value "${where}"`, { arg: 0, hint: 'write `thread` or `off`' });
  }
  for (const [i, text] of rest.entries()) {
    const [name, value = ''] = text.split('=');
    if (name === 'threads' && /^[1-9]\d?$/.test(value)) {
      threads = Number(value);
    } else if (name === 'memory' && (parseSize(value) ?? 0) >= 16 * 1024 * 1024) {
      memory = Math.floor(parseSize(value)! / (1024 * 1024));
    } else {
      ctx.fail(`invalid parameter "${text}"`, { arg: i + 1 });
    }
  }
  conf.isolation = where === 'off' ? undefined : { threads, memory };
}
