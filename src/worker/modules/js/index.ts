import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { ERROR as ERR } from '../../../shared/log/level.js';
import type { ClientTask } from '../../client/client-task.js';
import { AGAIN, DECLINED, ERROR, OK } from '../../client/codes.js';
import type { WorkerEnv } from '../../env.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { readBody } from '../../http/request/request-body.js';
import { HTTP_ANYWHERE, linkScripts, type ScriptSettings, scriptDirectives, scriptFields } from '../../js/directives.js';
import { startPeriodics } from '../../js/periodic.js';
import { RequestObject, requestObject } from '../../js/request-object.js';
import { installScripts, placeOf, type ScriptPlace } from '../../js/script-place.js';
import type { ScriptFunction } from '../../js/scripts.js';
import { bytesOf } from '../../js/text.js';
import { type Context, claimContent, defineModule, defineScope } from '../../module.js';
import { JsBodyStage } from './body-stage.js';

interface Settings extends ScriptSettings {
  content: string | undefined;
  access: string | undefined;
  headerFilter: string | undefined;
  bodyFilter: string | undefined;
  /** A body filter gets text, and not bytes. */
  bodyText: boolean;
}

const HANDLERS = In.LOCATION | In.LOCATION_IF | In.LIMIT_EXCEPT;

type HandlerField = 'content' | 'access' | 'headerFilter' | 'bodyFilter';

/** Stores the name of a function, which a block gives once. */
const once =
  (field: HandlerField) =>
  (conf: Partial<Settings>, node: Context['node'], ctx: Context): void => {
    if (conf[field] !== undefined) {
      ctx.reject('is duplicate');
    }
    conf[field] = node.args[0]!;
  };

const scope = defineScope<Settings>({
  fields: {
    ...scriptFields,
    content: inherit<string | undefined>(undefined),
    access: inherit<string | undefined>(undefined),
    headerFilter: inherit<string | undefined>(undefined),
    bodyFilter: inherit<string | undefined>(undefined),
    bodyText: inherit(true),
  },
  directives: {
    ...scriptDirectives({ anywhere: HTTP_ANYWHERE, periodic: In.LOCATION, main: In.HTTP, evaluate: callForValue }),
    js_content: {
      in: HANDLERS,
      args: 1,
      set(conf, node, ctx) {
        once('content')(conf, node, ctx);
        claimContent(ctx, 'js');
      },
    },
    js_access: { in: HANDLERS, args: 1, set: once('access') },
    js_header_filter: { in: HANDLERS, args: 1, set: once('headerFilter') },
    js_body_filter: {
      in: HANDLERS,
      args: [1, 2],
      set(conf, node, ctx) {
        const type = node.args[1] ?? 'buffer_type=string';
        if (type !== 'buffer_type=string' && type !== 'buffer_type=buffer') {
          ctx.fail(`unknown parameter "${type}"`, { arg: 1 });
        }
        once('bodyFilter')(conf, node, ctx);
        conf.bodyText = type === 'buffer_type=string';
      },
    },
  },
  link(conf, ctx) {
    linkScripts(conf, ctx, [
      ['js_content', conf.content],
      ['js_access', conf.access],
      ['js_header_filter', conf.headerFilter],
      ['js_body_filter', conf.bodyFilter],
    ]);
  },
});

const placeFor = (conf: Readonly<Settings>, env: WorkerEnv, location: LocationRuntime): ScriptPlace =>
  installScripts(location, conf, env, location.settings);

function missing(r: Request, name: string): number {
  r.log(ERR, `js function "${name}" not found`);
  return 500;
}

function phase(conf: Readonly<Settings>, env: WorkerEnv, location: LocationRuntime, name: string): PhaseHandler {
  const run = placeFor(conf, env, location).scripts?.find(name);
  if (run === undefined) {
    return (r) => missing(r, name);
  }
  // As in nginx, the body is there before a content handler begins.
  return (r) => {
    let now = true;
    let code: number = AGAIN;
    readBody(r, () => {
      if (now) {
        code = requestObject(r).runPhase('content', run);
      } else {
        const late = requestObject(r).runPhase('content', run);
        if (late !== AGAIN) {
          r.resume(late);
        }
      }
    });
    now = false;
    return code;
  };
}

/** The functions of `js_access`, by location. */
const accessNames = new WeakMap<LocationRuntime, string>();

// nginx: ngx_http_js_access_handler.
function accessPhase(location: LocationRuntime): PhaseHandler | undefined {
  const name = accessNames.get(location);
  if (name === undefined) {
    return undefined;
  }
  const run = placeOf(location)?.scripts?.find(name);
  return (r) => (r !== r.main ? DECLINED : run === undefined ? missing(r, name) : requestObject(r).runPhase('access', run));
}

/** The value of a variable of `js_set`. nginx: ngx_http_js_variable_set. */
function callForValue(task: ClientTask, name: string): string | undefined {
  const r = task as Request;
  const scripts = placeOf(r.location)?.scripts;
  if (scripts === undefined) {
    r.log(ERR, `no "js_import" directives found for "js_set" handler "${name}" in the current scope`);
    return undefined;
  }
  const run = scripts.find(name);
  if (run === undefined) {
    missing(r, name);
    return undefined;
  }
  return requestObject(r).value(run);
}

function filterHead(r: Request, run: ScriptFunction): number {
  return requestObject(r).filterHead(run) ? OK : ERROR;
}

/** Asks scripts whether a request may come in, before others do. nginx: ngx_http_js_access_handler. */
export const jsAccessModule = defineModule({
  name: 'js_access',
  phases: { access: (_conf, _env, location) => accessPhase(location) },
});

/** Runs JavaScript in the server. nginx: ngx_http_js_module. */
export const jsModule = defineModule({
  name: 'js',
  location: scope,
  installLocation(conf, location, env) {
    if (conf.imports.length > 0) {
      placeFor(conf, env, location);
    }
    if (conf.access !== undefined) {
      accessNames.set(location, conf.access);
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
          engineId: scripts?.id ?? 0,
          kind: 'http',
          shape: { http: server.http, server, location },
          find: (name) => scripts?.find(name),
        },
        env,
      );
    }
  },
  handler: (conf, env, location) => (conf.content === undefined ? undefined : phase(conf, env, location, conf.content)),
  headerFilter(conf, env, location) {
    const name = conf.headerFilter;
    if (name === undefined) {
      return undefined;
    }
    const run = placeFor(conf, env, location).scripts?.find(name);
    return run === undefined ? (r) => missing(r, name) : (r) => filterHead(r, run);
  },
  bodyFilter(conf, env, location) {
    const name = conf.bodyFilter;
    const run = name === undefined ? undefined : placeFor(conf, env, location).scripts?.find(name);
    return run === undefined ? undefined : (r, next) => new JsBodyStage(new RequestObject(r), run, conf.bodyText, next);
  },
});
