import { In } from '../../../shared/config/context.js';
import { inherit, own, type Scope } from '../../../shared/config/define.js';
import { msec } from '../../../shared/config/slots.js';
import { balancerScope, mainLookup } from '../../js/balancer-scope.js';
import { linkScripts, type ScriptSettings, STREAM_ANYWHERE, scriptDirectives, scriptFields } from '../../js/directives.js';
import { handshakeFunctions } from '../../js/handshake-scope.js';
import { startInits } from '../../js/init.js';
import { startPeriodics } from '../../js/periodic.js';
import { functionMissing, installScripts, placeOf, valueFunction } from '../../js/script-place.js';
import { SessionContent } from '../../js/session-content.js';
import { sessionScripts } from '../../js/session-object.js';
import { bytesOf } from '../../js/text.js';
import { tryFunctions, tryModules } from '../../js/trial.js';
import { claimContent, defineModule, defineSharedScope, type SharedContext } from '../../module.js';
import type { SessionHandler, StreamServer } from '../../stream/session/runtime.js';
import type { StreamSession } from '../../stream/session/session.js';
import type { ClientTask } from '../../task/client-task.js';
import { DECLINED, FAILED } from '../../task/codes.js';

interface Settings extends ScriptSettings {
  content: string | undefined;
  /** Milliseconds in which nothing moves while a content function waits for its client, and for which a phase may wait; 0: for ever. */
  timeout: number;
  access: string | undefined;
  preread: string | undefined;
  filter: string | undefined;
  log: string | undefined;
}

/** Stores the name of a function, which a block gives once. */
const once =
  (field: 'content' | 'access' | 'preread' | 'filter' | 'log') =>
  (conf: Partial<Settings>, node: SharedContext['node'], ctx: SharedContext): void => {
    if (conf[field] !== undefined) {
      ctx.reject('is duplicate');
    }
    conf[field] = node.args[0]!;
  };

const scope = defineSharedScope<Settings>({
  fields: {
    ...scriptFields,
    content: own<string | undefined>(undefined),
    timeout: inherit(600_000),
    access: inherit<string | undefined>(undefined),
    preread: inherit<string | undefined>(undefined),
    filter: inherit<string | undefined>(undefined),
    log: inherit<string | undefined>(undefined),
  },
  directives: {
    ...scriptDirectives({
      anywhere: STREAM_ANYWHERE,
      periodic: In.STREAM_SERVER,
      main: In.STREAM,
      server: In.STREAM_SERVER,
      protocol: 'stream',
      evaluate: callForValue,
    }),
    js_content: {
      in: In.STREAM_SERVER,
      args: 1,
      set(conf, node, ctx) {
        once('content')(conf, node, ctx);
        claimContent(ctx, 'stream_js');
      },
    },
    js_timeout: { in: STREAM_ANYWHERE, args: 1, set: msec('timeout') },
    js_access: { in: STREAM_ANYWHERE, args: 1, set: once('access') },
    js_preread: { in: STREAM_ANYWHERE, args: 1, set: once('preread') },
    js_filter: { in: STREAM_ANYWHERE, args: 1, set: once('filter') },
    js_log: { in: STREAM_ANYWHERE, args: 1, set: once('log') },
  },
  link(conf, ctx, place) {
    const handshakes = place.context === In.STREAM_SERVER ? handshakeFunctions(ctx, place) : [];
    const loadable = linkScripts(conf, ctx, [
      ['js_content', conf.content],
      ['js_access', conf.access],
      ['js_preread', conf.preread],
      ['js_filter', conf.filter],
      ['js_log', conf.log],
      ...handshakes,
    ]);
    const scripts = ctx.testing && loadable && conf.imports.length > 0 ? tryModules(conf, ctx, 'stream') : undefined;
    if (scripts !== undefined) {
      tryFunctions(
        scripts,
        conf,
        [conf.content, conf.access, conf.preread, conf.filter, conf.log, ...handshakes.map(([, name]) => name)],
        ctx,
      );
    }
  },
});

function phase(name: string | undefined, timeout: number, server: StreamServer, preread: boolean): SessionHandler | undefined {
  if (name === undefined) {
    return undefined;
  }
  const limit = { name, timeout };
  const run = placeOf(server)?.scripts?.find(name);
  return (s) => {
    if (run === undefined) {
      functionMissing(s, name);
      return FAILED;
    }
    return sessionScripts(s).runPhase(run, preread ? s.preread : null, limit);
  };
}

/** The value of a variable of `js_set`. nginx: ngx_stream_js_variable_set. */
function callForValue(task: ClientTask, name: string): string | undefined {
  const s = task as StreamSession;
  const run = valueFunction(s, s.server, name);
  return run === undefined ? undefined : sessionScripts(s).value(run, name);
}

/** Runs JavaScript in sessions. nginx: ngx_stream_js_module. */
export const streamJsModule = defineModule({
  name: 'stream_js',
  location: scope,
  upstream: balancerScope(
    In.STREAM_UPSTREAM,
    'stream',
    () => scope as unknown as Scope<ScriptSettings, ClientTask>,
    (s, run, choice, name) => sessionScripts(s as StreamSession).choose(run, choice, name),
  ),
  stream: {
    phases: {
      access: ({ access, timeout }, _env, server) => phase(access, timeout, server, false),
      preread: ({ preread, timeout }, _env, server) => phase(preread, timeout, server, true),
      log({ log: name }, _env, server) {
        if (name === undefined) {
          return undefined;
        }
        const run = placeOf(server)?.scripts?.find(name);
        return (s) => {
          if (run === undefined) {
            functionMissing(s, name);
          } else {
            sessionScripts(s).observe(run);
          }
          return DECLINED;
        };
      },
    },
    handler({ content, timeout }, _env, server) {
      if (content === undefined) {
        return undefined;
      }
      const run = placeOf(server)?.scripts?.find(content);
      return (s) => {
        if (run === undefined) {
          functionMissing(s, content);
          return FAILED;
        }
        return new SessionContent(s, timeout).run(run);
      };
    },
    installMain(_conf, stream, env) {
      const conf = stream.mainSettings(scope);
      if (conf.inits.length > 0) {
        startInits(conf, env, mainLookup(stream, env), 'stream');
      }
    },
    installLocation(conf, server, env) {
      if (conf.imports.length === 0 && conf.periodics.length === 0) {
        return;
      }
      const { scripts, fetchScope } = installScripts(server, conf, env, 'stream');
      const { filter, periodics } = conf;
      startPeriodics(
        periodics,
        {
          protocol: server.stream,
          log: { log: (level, message) => server.log.log(level, bytesOf(message)) },
          fetchScope,
          scripts,
          kind: 'stream',
          shape: { stream: server.stream, server },
        },
        env,
      );
      if (filter !== undefined) {
        const run = scripts?.find(filter);
        server.makeFilter = (s, output) => sessionScripts(s).startFilter(run, filter, output);
      }
    },
  },
});
