import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { variableName } from '../../lookup/variable-name.js';
import { defineModule, defineSharedScope } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';
import { DECLINED } from '../../task/codes.js';

interface Settings {
  assignments: readonly { readonly slot: number; readonly value: ComplexValue<ClientTask> }[];
}

const scope = defineSharedScope<Settings>({
  fields: { assignments: own<Settings['assignments']>([]) },
  directives: {
    // nginx: ngx_stream_set.
    set: {
      in: In.STREAM_SERVER,
      args: 2,
      set(conf, node, ctx) {
        const name = variableName(node.args[0]!, 0, ctx);
        if (!ctx.variables.define({ name, changeable: true, weak: true, get: () => '' })) {
          ctx.fail(`the duplicate "${name}" variable`, { arg: 0 });
        }
        const slot = ctx.variables.slot(name, node.pos);
        conf.assignments = append(conf.assignments, { slot, value: ctx.complex(node.args[1]!) });
      },
    },
  },
});

/** Assigns variables at a session's beginning. nginx: ngx_stream_set_module. */
export const streamSetModule = defineModule({
  name: 'stream_set',
  location: scope,
  stream: {
    phases: {
      // Before access rules, the TLS handshake and what is read ahead: sessions that are refused have the variables too.
      preaccess({ assignments }, _env, { stream: { variables } }) {
        if (assignments.length === 0) {
          return undefined;
        }
        return (s) => {
          for (let i = 0; i < assignments.length; i++) {
            const { slot, value } = assignments[i]!;
            variables.assign(s, slot, value.eval(s));
          }
          return DECLINED;
        };
      },
    },
  },
});
