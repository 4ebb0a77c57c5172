import { In } from '../../shared/config/context.js';
import { nameOf, path, type Statement } from './statements.js';

/** Inside blocks whose lines are entries, no directive may stand. */
export const ENTRIES = 0;

const BLOCKS: Readonly<Record<string, readonly (readonly [outer: number, inner: number])[]>> = {
  events: [[In.MAIN, In.EVENTS]],
  http: [[In.MAIN, In.HTTP]],
  stream: [[In.MAIN, In.STREAM]],
  server: [
    [In.HTTP, In.SERVER],
    [In.STREAM, In.STREAM_SERVER],
  ],
  location: [
    [In.SERVER, In.LOCATION],
    [In.LOCATION, In.LOCATION],
  ],
  if: [
    [In.SERVER, In.SERVER_IF],
    [In.LOCATION, In.LOCATION_IF],
  ],
  limit_except: [[In.LOCATION, In.LIMIT_EXCEPT]],
  upstream: [
    [In.HTTP, In.UPSTREAM],
    [In.STREAM, In.STREAM_UPSTREAM],
  ],
};

/** The context inside a block of this name that stands in `outer`. */
export function contextInside(outer: number, name: string): number {
  return BLOCKS[name]?.find(([context]) => (context & outer) !== 0)?.[1] ?? ENTRIES;
}

/** The context inside a block of a file, whose top is in the context `top`. */
export function contextIn(block: Statement | undefined, top: number): number {
  return path(block).reduce((context, outer) => contextInside(context, nameOf(outer)), top);
}

/** What the top of a file must be in that no other file includes: the context that allows most of the directives that stand there. */
export function guessedContext(statements: readonly Statement[], allowed: (name: string) => number): number {
  const names = statements.filter(({ parent }) => parent === undefined).map(nameOf);
  let best: number = In.MAIN;
  let most = 0;
  for (const context of [In.MAIN, In.HTTP, In.SERVER, In.LOCATION, In.STREAM, In.STREAM_SERVER, In.UPSTREAM]) {
    const fitting = names.filter((name) => (allowed(name) & context) !== 0).length;
    if (fitting > most) {
      most = fitting;
      best = context;
    }
  }
  return best;
}
