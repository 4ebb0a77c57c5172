import type { Pos } from '../../shared/config/language/ast.js';
import { parseTime } from '../../shared/config/language/units.js';
import type { SharedContext } from '../module.js';

/** One `js_init`: a function that each worker calls once, before it serves. */
export interface Init {
  readonly name: string;
  /** Milliseconds that it may take. */
  readonly timeout: number;
  readonly pos: Pos;
}

const USUAL_TIMEOUT = 60_000;

/** Reads a `js_init` line. */
export function readInit(ctx: SharedContext): Init {
  const { args, pos } = ctx.node;
  const [name = '', given] = args;
  let timeout = USUAL_TIMEOUT;
  if (given !== undefined) {
    const text = /^timeout=(.+)$/.exec(given)?.[1];
    if (text === undefined) {
      ctx.fail(`invalid parameter "${given}"`, { arg: 1 });
    }
    timeout = parseTime(text, 'ms') ?? 0;
    if (timeout <= 0) {
      ctx.fail(`invalid timeout value "${text}"`, { arg: 1 });
    }
  }
  return { name, timeout, pos };
}
