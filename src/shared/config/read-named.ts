import { errnoCode } from '../system/errno.js';
import type { Subject } from '../value/subject.js';
import type { ConfigContext } from './define.js';
import { withErrno } from './errors.js';

/** Reads a file whose lines are at most so long. */
export function readNamedLines<R extends Subject>(path: string, longest: number, ctx: ConfigContext<R>): string {
  let text: string;
  try {
    text = ctx.named.read(path);
  } catch (error) {
    // A folder can be opened, and not read.
    return ctx.fail(withErrno(`${errnoCode(error) === 'EISDIR' ? 'read' : 'open'}() "${path}" failed`, error), { arg: 0 });
  }
  return text.split('\n').some(({ length }) => length > longest) ? ctx.fail(`too long line in "${path}"`, { arg: 0 }) : text;
}

/** Reads a file that the first argument of a directive names. `problem`: the message where it cannot be read, less the system's error. */
export function readNamed<R extends Subject>(path: string, ctx: ConfigContext<R>, problem = `open() "${path}" failed`): string {
  try {
    return ctx.named.read(path);
  } catch (error) {
    return ctx.fail(withErrno(problem, error), { arg: 0 });
  }
}
