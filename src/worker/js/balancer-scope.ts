import { type LinkContext, own, type Scope } from '../../shared/config/define.js';
import type { WorkerEnv } from '../env.js';
import { defineSharedScope } from '../module.js';
import { resolverScope } from '../resolver/directive/resolver-settings.js';
import { resolverOf } from '../resolver/directive/resolvers.js';
import type { ClientTask } from '../task/client-task.js';
import type { ProtocolRuntime } from '../task/protocol-runtime.js';
import { groupScope } from '../upstream/group/group-config.js';
import type { ScriptSettings } from './directives.js';
import type { Lookup } from './fetch-settings.js';
import type { ScriptProtocol } from './ngx-object.js';
import { type CallBalancer, ScriptBalancer } from './peer-choice.js';
import { makeScriptPlace } from './script-place.js';
import { tryModules } from './trial.js';

/** How names are looked up where no location or server says otherwise. */
export function mainLookup(runtime: ProtocolRuntime, env: WorkerEnv): Lookup {
  const { resolver, resolverTimeout } = runtime.mainSettings(resolverScope);
  return { resolver: resolver === undefined ? undefined : resolverOf(resolver, runtime, env), resolverTimeout };
}

/** What an `upstream` block says about scripts. */
interface BalancerSettings {
  balancer: string | undefined;
}

/** `js_balancer`, with the modules of the whole `http` or `stream` block. */
export function balancerScope(
  context: number,
  protocol: ScriptProtocol,
  scripts: () => Scope<ScriptSettings, ClientTask>,
  call: CallBalancer,
): Scope<BalancerSettings, ClientTask> {
  return defineSharedScope<BalancerSettings>({
    fields: { balancer: own<string | undefined>(undefined) },
    directives: {
      js_balancer: {
        in: context,
        args: 1,
        set(conf, node, ctx) {
          if (conf.balancer !== undefined) {
            ctx.reject('is duplicate');
          }
          const name = node.args[0]!;
          conf.balancer = name;
          ctx.conf(groupScope).chooser = (inner, set, runtime, env) => {
            const settings = runtime.mainSettings(scripts());
            const run = makeScriptPlace(settings, env, mainLookup(runtime, env), protocol).scripts?.find(name);
            const missing = (): never => {
              throw new Error(`js function "${name}" not found`);
            };
            return new ScriptBalancer(inner, set, name, run ?? missing, call);
          };
        },
      },
    },
    link({ balancer }, ctx: LinkContext<ClientTask>, { block, context: at }) {
      if (balancer === undefined || at !== context) {
        return;
      }
      if (ctx.settings(groupScope, block).affinity !== undefined) {
        ctx.fail('"js_balancer" cannot be together with "sticky"');
      }
      const settings = ctx.settings(scripts(), block.parent!);
      if (settings.imports.length === 0) {
        ctx.fail(`no imports defined for "js_balancer" "${balancer}", use "js_import" directive`);
      }
      if (ctx.testing && tryModules(settings, ctx, protocol)?.find(balancer) === undefined) {
        ctx.warn(`js function "${balancer}" not found`);
      }
    },
  });
}
