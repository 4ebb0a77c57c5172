// Over 400 lines: the directives of one module, each a few lines.
import { In } from '../../../shared/config/context.js';
import { inherit, type LinkContext, own, type Scope } from '../../../shared/config/define.js';
import { msec } from '../../../shared/config/slots.js';
import type { WorkerEnv } from '../../env.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { readBody } from '../../http/request/request-body.js';
import { RequestHead } from '../../http/syntax/request-head.js';
import { balancerScope, mainLookup } from '../../js/balancer-scope.js';
import { HTTP_ANYWHERE, linkScripts, type ScriptSettings, scriptDirectives, scriptFields } from '../../js/directives.js';
import { type ContentKind, findHandler, webHandler } from '../../js/handlers/content-handler.js';
import { openGlobals } from '../../js/handlers/fetch-handler.js';
import { IsolatePool } from '../../js/handlers/isolate-pool.js';
import { isolatedHandler } from '../../js/handlers/isolate-run.js';
import { Watchdog } from '../../js/handlers/watchdog.js';
import { type HandshakeSettings, handshakeFunctions, handshakeScope, type NamedFunction } from '../../js/handshake-scope.js';
import { HandshakeScripts, type ScriptedServer } from '../../js/handshake-scripts.js';
import { startInits } from '../../js/init.js';
import { openInspector } from '../../js/inspector.js';
import type { CallBalancer } from '../../js/peer-choice.js';
import { startPeriodics } from '../../js/periodic.js';
import { requestObject } from '../../js/request-object.js';
import { functionMissing, valueFunction } from '../../js/script-place.js';
import type { ScriptFunction, Scripts } from '../../js/scripts.js';
import { bytesOf } from '../../js/text.js';
import { tryFunctions, tryModules } from '../../js/trial.js';
import { type Context, claimContent, defineModule, defineScope } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';
import { AGAIN, DECLINED, FAILED, OK, type Result } from '../../task/codes.js';
import { tlsSlot } from '../../tls/server-tls.js';
import type { TlsServer } from '../../tls/tls-address.js';
import { NGINX_VERSION } from '../../version.js';
import { accessPhase } from './access.js';
import { JsBodyStage, MissingBodyStage } from './body-stage.js';
import { checkConfined, type Isolation, readIsolation } from './isolation.js';
import { limited, missing, placeFor, statsOf, watchdogs } from './location-scripts.js';
import { rewritePhase } from './rewrite.js';
import { type JsSettings, slot } from './settings.js';

/** Runs the modules, and looks for the functions of a block. */
function tryHandlers(conf: Readonly<JsSettings>, ctx: LinkContext<Request>, more: readonly (string | undefined)[]): void {
  const scripts = tryModules(conf, ctx as LinkContext<ClientTask>, 'http');
  if (scripts === undefined) {
    return;
  }
  const kind = conf.isolation === undefined ? conf.contentKind : 'fetch';
  if (conf.content !== undefined && findHandler(scripts, conf.content, kind) === undefined) {
    if (kind !== 'r') {
      ctx.fail(`js handler "${conf.content}" not found`);
    }
    ctx.warn(`js function "${conf.content}" not found`);
  }
  const names = [conf.rewrite, conf.access, conf.headerFilter, conf.bodyFilter, conf.log, ...more];
  tryFunctions(scripts, conf, names, ctx as LinkContext<ClientTask>);
}

/** Whether no directive names a function: so it is in nearly all of the thousands of blocks there may be. */
const namesNothing = ({ content, access, rewrite, headerFilter, bodyFilter, log }: Readonly<JsSettings>): boolean =>
  (content ?? access ?? rewrite ?? headerFilter ?? bodyFilter ?? log) === undefined;

const handlersOf = (conf: Readonly<JsSettings>): readonly NamedFunction[] => [
  [conf.contentKind === 'node' ? 'node_handler' : 'js_content', conf.content],
  ['js_access', conf.access],
  ['js_rewrite', conf.rewrite],
  ['js_header_filter', conf.headerFilter],
  ['js_log', conf.log],
  ['js_body_filter', conf.bodyFilter],
];

const NO_FUNCTIONS: readonly NamedFunction[] = [];

const HANDLERS = In.LOCATION | In.LOCATION_IF | In.LIMIT_EXCEPT;

type HandlerField = 'content' | 'access' | 'rewrite' | 'headerFilter' | 'bodyFilter' | 'log';

/** Stores the name of a function, which a block gives once. */
const once =
  (field: HandlerField) =>
  (conf: Partial<JsSettings>, node: Context['node'], ctx: Context): void => {
    if (conf[field] !== undefined) {
      ctx.reject('is duplicate');
    }
    conf[field] = node.args[0]!;
  };

const scope = defineScope<JsSettings>({
  fields: {
    ...scriptFields,
    content: inherit<string | undefined>(undefined),
    access: inherit<string | undefined>(undefined),
    rewrite: own<string | undefined>(undefined),
    headerFilter: inherit<string | undefined>(undefined),
    log: inherit<string | undefined>(undefined),
    bodyFilter: inherit<string | undefined>(undefined),
    bodyText: inherit(true),
    contentKind: inherit<ContentKind>('r'),
    timeout: inherit(60_000),
    isolation: inherit<Isolation | undefined>(undefined),
  },
  directives: {
    ...scriptDirectives({
      anywhere: HTTP_ANYWHERE,
      periodic: In.LOCATION,
      main: In.HTTP,
      server: In.SERVER,
      protocol: 'http',
      evaluate: callForValue,
    }),
    js_content: {
      in: HANDLERS,
      args: [1, 2],
      set(conf, node, ctx) {
        const kind = node.args[1];
        if (kind !== undefined && kind !== 'fetch') {
          ctx.fail(`unknown parameter "${kind}"`, { arg: 1 });
        }
        once('content')(conf, node, ctx);
        conf.contentKind = kind === undefined ? 'r' : 'fetch';
        claimContent(ctx, 'js');
      },
    },
    node_handler: {
      in: HANDLERS,
      args: 1,
      set(conf, node, ctx) {
        once('content')(conf, node, ctx);
        conf.contentKind = 'node';
        claimContent(ctx, 'js');
      },
    },
    js_isolation: { in: HTTP_ANYWHERE, args: { min: 1 }, set: readIsolation },
    js_timeout: { in: HTTP_ANYWHERE, args: 1, set: msec('timeout') },
    js_rewrite: { in: In.SERVER | In.LOCATION | In.LOCATION_IF, args: 1, set: once('rewrite') },
    js_access: { in: HANDLERS, args: 1, set: once('access') },
    js_header_filter: { in: HANDLERS, args: 1, set: once('headerFilter') },
    js_log: { in: HTTP_ANYWHERE, args: 1, set: once('log') },
    js_body_filter: {
      in: HANDLERS,
      args: [1, 2],
      set(conf, node, ctx) {
        const type = node.args[1] ?? 'buffer_type=string';
        if (type !== 'buffer_type=string' && type !== 'buffer_type=buffer') {
          ctx.fail(
            type.startsWith('buffer_type=')
              ? `invalid buffer_type value "${type}", it must be "string" or "buffer"`
              : `invalid parameter "${type}"`,
            { arg: 1 },
          );
        }
        once('bodyFilter')(conf, node, ctx);
        conf.bodyText = type === 'buffer_type=string';
      },
    },
  },
  link(conf, ctx, place) {
    const handshakes = place.context === In.SERVER ? handshakeFunctions(ctx as LinkContext<ClientTask>, place) : NO_FUNCTIONS;
    if (conf.isolation !== undefined && conf.content !== undefined && conf.contentKind === 'node') {
      ctx.fail(`"node_handler" cannot run with "js_isolation thread", which runs handlers of the kind "fetch"`);
    }
    const confined = checkConfined(conf, ctx);
    const loadable = linkScripts(conf, ctx, namesNothing(conf) ? handshakes : [...handlersOf(conf), ...handshakes]);
    // Code that is to have nothing but what is granted does not run in a process that has more.
    if (ctx.testing && loadable && conf.imports.length > 0 && !confined) {
      tryHandlers(
        conf,
        ctx,
        handshakes.map(([, name]) => name),
      );
    }
  },
});

/** Settings of the worker as a whole. */
interface MainSettings {
  /** Milliseconds for which JavaScript may hold a worker; 0: for ever. */
  blockTimeout: number;
  /** Port of the first worker for debuggers. */
  inspectPort: number | undefined;
}

const mainScope = defineScope<MainSettings>({
  fields: { blockTimeout: inherit(0), inspectPort: inherit<number | undefined>(undefined) },
  directives: {
    js_block_timeout: { in: In.HTTP, args: 1, set: msec('blockTimeout') },
    js_inspect: {
      in: In.HTTP,
      args: 1,
      set(conf, node, ctx) {
        if (conf.inspectPort !== undefined) {
          ctx.reject('is duplicate');
        }
        const port = /^(?:127\.0\.0\.1:)?(\d{1,5})$/.exec(node.args[0]!)?.[1];
        if (port === undefined || Number(port) < 1 || Number(port) > 65_535) {
          ctx.fail(`invalid port "${node.args[0]}" in "js_inspect" directive: debuggers connect to 127.0.0.1 alone`, { arg: 0 });
        }
        conf.inspectPort = Number(port);
      },
    },
  },
});

/** The threads of this worker, by what they load. */
const pools = new WeakMap<WorkerEnv, Map<string, IsolatePool>>();

function poolFor(conf: Readonly<JsSettings>, { threads, memory, grants }: Isolation, env: WorkerEnv): IsolatePool {
  let known = pools.get(env);
  if (known === undefined) {
    pools.set(env, (known = new Map()));
  }
  const folders = [env.confPrefix, ...conf.folders];
  const key = JSON.stringify([conf.imports, conf.preloads, folders, threads, memory, grants, conf.timeout]);
  let pool = known.get(key);
  if (pool === undefined) {
    const { prefix, confPrefix, confFile, slot } = env;
    const data = {
      imports: conf.imports,
      preloads: conf.preloads,
      folders,
      jsPath: conf.folders,
      grants,
      prefix,
      confPrefix,
      confFile,
      workerId: slot,
      version: NGINX_VERSION,
    };
    const own = new IsolatePool(
      { threads, memory, block: blockTimeouts.get(env) ?? conf.timeout, data },
      { log: (level, message) => env.log.log(level, bytesOf(message)) },
    );
    known.set(key, (pool = own));
    if (!env.rehearsing) {
      own.warm();
    }
    env.onClose(() => own.close());
  }
  return pool;
}

/** `js_block_timeout`, where it is set. */
const blockTimeouts = new WeakMap<WorkerEnv, number>();

/** The content handler, whatever it is called as. */
function contentHandler(conf: Readonly<JsSettings>, env: WorkerEnv, location: LocationRuntime, name: string): PhaseHandler {
  if (conf.isolation !== undefined) {
    return isolatedHandler({ name, timeout: conf.timeout, stats: statsOf(env, name) }, poolFor(conf, conf.isolation, env));
  }
  const { scripts } = placeFor(conf, env, location);
  const handler = scripts === undefined ? undefined : findHandler(scripts, name, conf.contentKind);
  if (handler === undefined) {
    return (r) => missing(r, name);
  }
  if (handler.kind === 'r') {
    return contentPhase(conf, env, scripts!, name);
  }
  return webHandler(handler, { name, timeout: conf.timeout, stats: statsOf(env, name) });
}

function contentPhase(conf: Readonly<JsSettings>, env: WorkerEnv, scripts: Scripts, name: string): PhaseHandler {
  const [run, limit] = limited(conf, env, name, scripts.find(name)!);
  /** Whose phase has not returned yet, and what it is to return: no request needs a function of its own. */
  let asking: Request | undefined;
  let answer: Result = AGAIN;
  const begin = (r: Request): void => {
    const code = requestObject(r).runPhase('content', run, limit);
    if (r === asking) {
      answer = code;
    } else if (code !== AGAIN) {
      r.resume(code);
    }
  };
  // As in nginx, the body is there before a content handler begins.
  return (r) => {
    const before = asking;
    const earlier = answer;
    asking = r;
    answer = AGAIN;
    try {
      readBody(r, begin);
      return answer;
    } finally {
      asking = before;
      answer = earlier;
    }
  };
}

/** The value of a variable of `js_set`. nginx: ngx_http_js_variable_set. */
function callForValue(task: ClientTask, name: string): string | undefined {
  const r = task as Request;
  const run = valueFunction(r, r.location, name);
  return run === undefined ? undefined : requestObject(r).value(run, name);
}

/** Has a function choose a peer for a request. */
const chooseForRequest: CallBalancer = (task, run, choice, name) => {
  const r = task as Request;
  const chosen = requestObject(r).choose(run, choice, name);
  if (r.trace !== null) {
    r.trace.add(r, 'upstream', `js_balancer calls ${name}${chosen === undefined ? ', which chooses nothing' : ''}`);
  }
  return chosen;
};

/** Has the handshakes of a server ask its scripts. */
function askScripts(conf: Readonly<HandshakeSettings>, server: ScriptedServer & TlsServer, env: WorkerEnv): void {
  if (conf.clientHello !== undefined || conf.certificate !== undefined) {
    const scripts = new HandshakeScripts(server, conf);
    server.conf(tlsSlot).hooks = scripts;
    env.onClose(() => scripts.close());
  }
}

function filterHead(r: Request, run: ScriptFunction): Result {
  return requestObject(r).filterHead(run) ? OK : FAILED;
}

/** Asks scripts whether a request may come in, before others do. nginx: ngx_http_js_access_handler. */
export const jsAccessModule = defineModule({
  name: 'js_access',
  phases: { access: (_conf, env, location) => accessPhase(env, location) },
});

/** Lets scripts change where a request goes: in a server before a location is chosen, in a location behind its `rewrite` lines. */
export const jsRewriteModule = defineModule({
  name: 'js_rewrite',
  phases: {
    serverRewrite: (_conf, env, location) => (location.info.kind === 'root' ? rewritePhase(env, location) : undefined),
    rewrite: (_conf, env, location) => (location.info.kind === 'root' ? undefined : rewritePhase(env, location)),
  },
});

/** Runs JavaScript in the server. nginx: ngx_http_js_module. */
export const jsModule = defineModule({
  name: 'js',
  main: mainScope,
  server: handshakeScope,
  installServer: (conf, server, env) => askScripts(conf, server, env),
  stream: { installServer: (conf, server, env) => askScripts(conf, server, env) },
  installMain({ blockTimeout, inspectPort }, http, env) {
    if (inspectPort !== undefined && !env.rehearsing) {
      openInspector(inspectPort + env.slot, env);
    }
    if (blockTimeout > 0 && !env.rehearsing) {
      const watchdog = new Watchdog(blockTimeout, env.log);
      blockTimeouts.set(env, blockTimeout);
      watchdogs.set(env, watchdog);
      env.onClose(() => watchdog.close());
    }
    const conf = http.mainSettings(scope);
    if (conf.inits.length > 0) {
      openGlobals();
      startInits(conf, env, mainLookup(http, env), 'http', (name, run) => statsOf(env, name).counted(run));
    }
  },
  location: scope,
  upstream: balancerScope(In.UPSTREAM, 'http', () => scope as unknown as Scope<ScriptSettings, ClientTask>, chooseForRequest),
  slot,
  installLocation(conf, location, env) {
    // What runs apart from the worker is not loaded into it.
    if (conf.imports.length > 0 && conf.isolation === undefined) {
      placeFor(conf, env, location);
    }
  },
  finishLocation(conf, location, env) {
    if (conf.periodics.length > 0) {
      const { scripts, fetchScope } = placeFor(conf, env, location);
      const { server } = location;
      startPeriodics(
        conf.periodics,
        {
          protocol: server.http,
          log: { log: (level, message) => location.log.log(level, bytesOf(message)) },
          fetchScope,
          scripts,
          kind: 'http',
          shape: {
            http: server.http,
            server,
            location,
            method: 'GET',
            uri: '/',
            uriUps: 0,
            unparsedUri: '/',
            head: new RequestHead(),
            out: { status: 0, contentLength: -1, contentTypeLine: '', contentType: '', list: [] },
          },
        },
        env,
      );
    }
  },
  handler: (conf, env, location) => (conf.content === undefined ? undefined : contentHandler(conf, env, location, conf.content)),
  phases: {
    log(conf, env, location) {
      const name = conf.log;
      if (name === undefined) {
        return undefined;
      }
      const run = placeFor(conf, env, location).scripts?.find(name);
      return (r) => {
        if (run === undefined) {
          functionMissing(r, name);
        } else {
          requestObject(r).filterHead(run);
        }
        return DECLINED;
      };
    },
  },
  headerFilter(conf, env, location) {
    const name = conf.headerFilter;
    if (name === undefined) {
      return undefined;
    }
    const run = placeFor(conf, env, location).scripts?.find(name);
    if (run !== undefined) {
      return (r) => filterHead(r, run);
    }
    // As in nginx, there is no answer: a page that says so would come here, too.
    return (r) => {
      functionMissing(r, name);
      return FAILED;
    };
  },
  bodyFilter(conf, env, location) {
    const name = conf.bodyFilter;
    if (name === undefined) {
      return undefined;
    }
    const run = placeFor(conf, env, location).scripts?.find(name);
    const none = new MissingBodyStage(name);
    return (_r, next) => (run === undefined ? none : new JsBodyStage(run, conf.bodyText, next));
  },
});
