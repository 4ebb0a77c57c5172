import type { Subject } from '../value/subject.js';
import type { ConfigContext } from './define.js';
import { withErrno } from './errors.js';

/** Reads a file that the first argument of a directive names. `problem`: the message where it cannot be read, less the system's error. */
export function readNamed<R extends Subject>(path: string, ctx: ConfigContext<R>, problem = `open() "${path}" failed`): string {
  try {
    return ctx.named.read(path);
  } catch (error) {
    return ctx.fail(withErrno(problem, error), { arg: 0 });
  }
}
