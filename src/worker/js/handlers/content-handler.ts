import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { ScriptFunction, Scripts } from '../scripts.js';
import { type FetchFunction, fetchHandler } from './fetch-handler.js';
import type { HandlerPlan } from './handler-run.js';
import { nodeFunction, nodeHandler } from './node-handler.js';
import { nodeHttp } from './node-http.js';

/** What a directive wants a content handler to be called as: with njs's `r`, with a Request, or with the two objects of `node:http`. */
export type ContentKind = 'r' | 'fetch' | 'node';

/** A content handler by what it is called as. */
export type ContentHandler =
  | { readonly kind: 'r'; readonly run: ScriptFunction }
  | { readonly kind: 'fetch'; readonly run: FetchFunction }
  | { readonly kind: 'node'; readonly run: NonNullable<ReturnType<typeof nodeFunction>> };

/**
 * The content handler that a name stands for; undefined when there is none. An object with a method `fetch`, as the applications of
 * frameworks are, is called with a Request whatever the directive says, since nothing else could be meant.
 */
export function findHandler(scripts: Scripts, name: string, kind: ContentKind): ContentHandler | undefined {
  if (kind === 'node') {
    // Before the application may change it.
    nodeHttp();
  }
  const found = scripts.value(name);
  const value = found?.value;
  if (kind === 'node') {
    const run = nodeFunction(value);
    return run === undefined ? undefined : { kind, run };
  }
  if (typeof value === 'function') {
    const run = value.bind(found!.owner) as ScriptFunction;
    return kind === 'r' ? { kind, run } : { kind, run };
  }
  const app = value as { readonly fetch?: unknown } | null | undefined;
  return typeof app?.fetch === 'function' ? { kind: 'fetch', run: app.fetch.bind(app) as FetchFunction } : undefined;
}

/** The phase's handler for a function of the web's or of Node's kind. */
export const webHandler = (handler: Exclude<ContentHandler, { readonly kind: 'r' }>, plan: HandlerPlan): PhaseHandler =>
  handler.kind === 'fetch' ? fetchHandler(plan, handler.run) : nodeHandler(plan, handler.run);
