import { type ConfigContext, own, type Scope } from '../../../shared/config/define.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import type { Subject } from '../../../shared/value/subject.js';

/** What a `match` block says, which takes its own lines. */
interface Reader<R extends Subject> {
  read(line: DirectiveNode, ctx: ConfigContext<R>): void;
}

/** The `match` blocks of `http` or of `stream`, by their names. */
export const matchScope = <R extends Subject, M extends Reader<R>>(
  place: number,
  make: () => M,
): Scope<{ all: ReadonlyMap<string, M> }, R> => ({
  fields: { all: own<ReadonlyMap<string, M>>(new Map()) },
  directives: {
    // NGINX Plus. Syntax: match name { ... }
    match: {
      in: place,
      args: 1,
      block: 'entries',
      set(conf, node, ctx) {
        const name = node.args[0]!;
        if (conf.all?.has(name)) {
          ctx.fail(`duplicate match "${name}"`, { arg: 0 });
        }
        const match = make();
        ctx.entries(node, (line, lineCtx) => match.read(line, lineCtx));
        conf.all = new Map([...(conf.all ?? []), [name, match]]);
      },
    },
  },
});
