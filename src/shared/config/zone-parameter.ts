import type { Subject } from '../value/subject.js';
import type { ConfigContext } from './define.js';
import { parseSize } from './language/units.js';

/** The smallest zone: eight pages. */
const MIN_BYTES = 8 * 4096;

/** Reads `zone=NAME:SIZE`, argument number `arg`, with nginx's messages. */
export function parseZone<R extends Subject>(ctx: ConfigContext<R>, arg: number): { readonly name: string; readonly bytes: number } {
  const text = ctx.node.args[arg]!;
  const colon = text.indexOf(':');
  const bytes = colon === -1 ? undefined : parseSize(text.slice(colon + 1));
  if (bytes === undefined) {
    ctx.fail(`invalid zone size "${text}"`, { arg, hint: 'a zone is written as in `zone=name:10m`' });
  }
  if (bytes < MIN_BYTES) {
    ctx.fail(`zone "${text}" is too small`, { arg, hint: 'it needs at least 32k' });
  }
  return { name: text.slice('zone='.length, colon), bytes };
}
