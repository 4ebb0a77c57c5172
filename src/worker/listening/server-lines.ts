import { append } from '../../shared/collection/append.js';
import type { DirectiveNode } from '../../shared/config/language/ast.js';
import type { SharedContext } from '../module.js';
import { type Listen, parseListen } from './listen.js';
import type { AddressBook, Reports } from './listeners.js';
import { parseServerName, type ServerName } from './server-name.js';

/** What the `http` or `stream` block knows while it is read: listens are compared with those before them as each is read, as nginx does. */
export interface ListenersInfo {
  readonly book: AddressBook;
}

/** Reads a `listen` line of a server. */
export function takeListen(conf: { listens?: readonly Listen[] }, node: DirectiveNode, ctx: SharedContext): void {
  const listen = parseListen(node, ctx);
  conf.listens = append(conf.listens, listen);
  // Names have no addresses yet; those are looked at with all others once everything is read.
  if (listen.host === undefined) {
    const { book } = ctx.block.parent!.info as ListenersInfo;
    const fail: Reports['fail'] = (message, _pos, related = []) => ctx.fail(message, { related });
    book.add({ block: ctx.block, listens: [], names: [] }, listen, { fail, warn: () => {} });
  }
}

/** Reads a `server_name` line; returns all names that the server has by then. */
export function takeNames(conf: { names?: readonly ServerName[] }, node: DirectiveNode, ctx: SharedContext): readonly ServerName[] {
  conf.names = [...(conf.names ?? []), ...node.args.map((name, i) => parseServerName(name, i, ctx))];
  return conf.names;
}
