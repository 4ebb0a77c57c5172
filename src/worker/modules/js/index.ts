import { In } from '../../../shared/config/context.js';
import { type Field, inherit, type Scope } from '../../../shared/config/define.js';
import { parseSize, parseTime } from '../../../shared/config/language/units.js';
import { msec } from '../../../shared/config/slots.js';
import { ERROR as ERR, type Level } from '../../../shared/log/level.js';
import { jsKind } from '../../../shared/zone/meter-kinds.js';
import { AGAIN, ERROR, OK } from '../../client/codes.js';
import type { WorkerEnv } from '../../env.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { readBody } from '../../http/request/request-body.js';
import { type ContentKind, findHandler, webHandler } from '../../js/handlers/content-handler.js';
import { openGlobals } from '../../js/handlers/fetch-handler.js';
import { HandlerStats } from '../../js/handlers/handler-stats.js';
import { IsolatePool } from '../../js/handlers/isolate-pool.js';
import { isolatedHandler } from '../../js/handlers/isolate-run.js';
import { Watchdog } from '../../js/handlers/watchdog.js';
import { jsVariables, RequestObject, requestObject } from '../../js/request-object.js';
import { checkImports, type Import, type ScriptFunction, ScriptLibrary, type Scripts, trialScripts } from '../../js/scripts.js';
import { dictKind } from '../../js/shared-dict.js';
import { exceptionText, Task } from '../../js/task.js';
import { bytesOf } from '../../js/text.js';
import { type Context, claimContent, defineModule, defineScope } from '../../module.js';
import { NGINX_VERSION } from '../../version.js';
import { JsBodyStage } from './body-stage.js';

interface Settings {
  imports: readonly Import[];
  folders: readonly string[];
  content: string | undefined;
  access: string | undefined;
  headerFilter: string | undefined;
  bodyFilter: string | undefined;
  /** A body filter gets text, and not bytes. */
  bodyText: boolean;
  /** What the content handler is called as. */
  contentKind: ContentKind;
  /** Milliseconds that a handler may keep its client waiting; 0: for ever. */
  timeout: number;
  /** The content handler runs in threads of its own. */
  isolation: Isolation | undefined;
}

/** Modules that `-t` has run, by the list of imports. */
const tried = new WeakMap<readonly Import[], Scripts | null>();

/**
 * Runs the modules as a worker would at its start, and looks whether they have the functions that are named. njs finds out about a missing
 * one when a request comes, which is why that is only a warning.
 */
function tryHandlers(conf: Readonly<Settings>, ctx: LinkContext): void {
  let scripts = tried.get(conf.imports);
  if (scripts === null) {
    return;
  }
  if (scripts === undefined) {
    tried.set(conf.imports, null);
    try {
      scripts = trialScripts(conf.imports, [...conf.folders, conf.imports[0]!.confFolder], NGINX_VERSION);
    } catch (error) {
      ctx.fail(`js_import: ${exceptionText(error).replaceAll(/\s*\n\s*/g, ' ')}`);
    }
    tried.set(conf.imports, scripts);
  }
  const kind = conf.isolation === undefined ? conf.contentKind : 'fetch';
  if (conf.content !== undefined && findHandler(scripts, conf.content, kind) === undefined) {
    if (kind !== 'r') {
      ctx.fail(`js handler "${conf.content}" not found`);
    }
    ctx.warn(`js function "${conf.content}" not found`);
  }
  for (const name of [conf.access, conf.headerFilter, conf.bodyFilter]) {
    if (name !== undefined && scripts.find(name) === undefined) {
      ctx.warn(`js function "${name}" not found`);
    }
  }
}

/** `js_isolation thread`: how many threads, and how many MiB each may use. */
interface Isolation {
  readonly threads: number;
  readonly memory: number;
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const HANDLERS = In.LOCATION | In.LOCATION_IF | In.LIMIT_EXCEPT;

/** What an inner block has comes behind what the outer ones have. */
const appended = <T>(): Field<readonly T[]> => ({
  initial: [],
  merge: (parent, child) => (child === undefined ? parent : [...parent, ...child]),
});

type HandlerField = 'content' | 'access' | 'headerFilter' | 'bodyFilter';

const HANDLER_FIELDS: readonly (readonly [HandlerField, string])[] = [
  ['content', 'js_content'],
  ['access', 'js_access'],
  ['headerFilter', 'js_header_filter'],
  ['bodyFilter', 'js_body_filter'],
];

/** Stores the name of a function, which a block gives once. */
const once =
  (field: HandlerField) =>
  (conf: Partial<Settings>, node: Context['node'], ctx: Context): void => {
    if (conf[field] !== undefined) {
      ctx.reject('is duplicate');
    }
    conf[field] = node.args[0]!;
  };

type LinkContext = Parameters<NonNullable<Scope<Settings, Request>['link']>>[1];

/** Lists of modules that blocks have in common and that can be loaded. */
const checked = new WeakSet<readonly Import[]>();

const scope = defineScope<Settings>({
  fields: {
    imports: appended<Import>(),
    folders: appended<string>(),
    content: inherit<string | undefined>(undefined),
    access: inherit<string | undefined>(undefined),
    headerFilter: inherit<string | undefined>(undefined),
    bodyFilter: inherit<string | undefined>(undefined),
    bodyText: inherit(true),
    contentKind: inherit<ContentKind>('r'),
    timeout: inherit(60_000),
    isolation: inherit<Isolation | undefined>(undefined),
  },
  directives: {
    js_import: { in: ANYWHERE, args: [1, 3], set: readImport },
    js_path: {
      in: ANYWHERE,
      args: 1,
      set(conf, node, ctx) {
        conf.folders = [...(conf.folders ?? []), ctx.path(node.args[0]!, 'conf')];
      },
    },
    js_set: {
      in: ANYWHERE,
      args: [2, 3],
      set(_conf, node, ctx) {
        const [variable = '', name = '', nocache] = node.args;
        if (nocache !== undefined && nocache !== 'nocache') {
          ctx.fail(`unrecognized flag "${nocache}"`, { arg: 2 });
        }
        defineVariable(ctx, variable, (r) => callForValue(r, name), nocache === undefined);
      },
    },
    js_var: {
      in: ANYWHERE,
      args: [1, 2],
      set(_conf, node, ctx) {
        const value = node.args[1] === undefined ? undefined : ctx.complex(node.args[1]);
        defineVariable(ctx, node.args[0]!, (r) => value?.eval(r) ?? '', true);
        jsVariables(ctx.variables).push(node.args[0]!.slice(1).toLowerCase());
      },
    },
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
    js_isolation: { in: ANYWHERE, args: { min: 1 }, set: readIsolation },
    js_timeout: { in: ANYWHERE, args: 1, set: msec('timeout') },
    js_access: {
      in: ANYWHERE | In.LOCATION_IF | In.LIMIT_EXCEPT,
      args: 1,
      set: once('access'),
    },
    js_header_filter: {
      in: HANDLERS,
      args: 1,
      set: once('headerFilter'),
    },
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
    js_shared_dict_zone: { in: In.HTTP, args: { min: 1 }, set: readDict },
  },
  link(conf, ctx) {
    if (ctx.checking && conf.imports.length > 0 && !checked.has(conf.imports)) {
      checked.add(conf.imports);
      tried.set(conf.imports, null);
      try {
        checkImports(conf.imports, [...conf.folders, conf.imports[0]!.confFolder]);
      } catch (error) {
        ctx.fail(`js_import: ${(error as Error).message.split('\n')[0]}`);
      }
      tried.delete(conf.imports);
    }
    if (ctx.testing && conf.imports.length > 0) {
      tryHandlers(conf, ctx);
    }
    if (conf.isolation !== undefined && conf.content !== undefined && conf.contentKind === 'node') {
      ctx.fail(`"node_handler" cannot run with "js_isolation thread", which runs handlers of the kind "fetch"`);
    }
    for (const [field, directive] of HANDLER_FIELDS) {
      if (conf[field] !== undefined && conf.imports.length === 0) {
        const named = field === 'content' && conf.contentKind === 'node' ? 'node_handler' : directive;
        ctx.fail(`no imports defined for "${named}" "${conf[field]}"`);
      }
    }
  },
});

function readIsolation(conf: Partial<Settings>, node: Context['node'], ctx: Context): void {
  const [where, ...rest] = node.args;
  let threads = 2;
  let memory = 0;
  if ('isolation' in conf) {
    ctx.reject('is duplicate');
  }
  if (where !== 'thread' && where !== 'off') {
    ctx.fail(`invalid value "${where}"`, { arg: 0, hint: 'write `thread` or `off`' });
  }
  for (const [i, text] of rest.entries()) {
    const [name, value = ''] = text.split('=');
    if (name === 'threads' && /^[1-9]\d?$/.test(value)) {
      threads = Number(value);
    } else if (name === 'memory' && (parseSize(value) ?? 0) >= 16 * 1024 * 1024) {
      memory = Math.floor(parseSize(value)! / (1024 * 1024));
    } else {
      ctx.fail(`invalid parameter "${text}"`, { arg: i + 1 });
    }
  }
  conf.isolation = where === 'off' ? undefined : { threads, memory };
}

/** Settings of the worker as a whole. */
interface MainSettings {
  /** Milliseconds for which JavaScript may hold a worker; 0: for ever. */
  blockTimeout: number;
}

const mainScope = defineScope<MainSettings>({
  fields: { blockTimeout: inherit(0) },
  directives: { js_block_timeout: { in: In.HTTP, args: 1, set: msec('blockTimeout') } },
});

function readImport(conf: Partial<Settings>, node: Context['node'], ctx: Context): void {
  const [first = '', from, path] = node.args;
  if (path !== undefined && from !== 'from') {
    ctx.fail(`invalid parameter "${from}"`, { arg: 1 });
  }
  const file = path ?? first;
  const name = path === undefined ? /([^/]*?)(?:\.[mc]?[jt]s)?$/.exec(file)![1]! : first;
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) {
    ctx.fail(`cannot extract export name from file path "${file}", use extended "from" syntax`, { arg: 0 });
  }
  conf.imports = [...(conf.imports ?? []), { name, file, confFolder: ctx.path('', 'conf') }];
}

function defineVariable(ctx: Context, text: string, get: (r: Request) => string | undefined, cacheable: boolean): void {
  if (!text.startsWith('$')) {
    ctx.fail(`invalid variable name "${text}"`, { arg: 0, hint: `write \`$${text}\`` });
  }
  const name = text.slice(1);
  if (!ctx.variables.define({ name, changeable: true, cacheable, get })) {
    ctx.fail(`the duplicate "${name}" variable`);
  }
  ctx.variables.slot(name);
}

function readDict(_conf: Partial<Settings>, node: Context['node'], ctx: Context): void {
  let name = '';
  let bytes = 0;
  let timeout = 0;
  let evict = false;
  let type: 'string' | 'number' = 'string';
  for (const [arg, text] of node.args.entries()) {
    const zone = /^zone=([^:]*):(.*)$/.exec(text);
    const time = /^timeout=(.*)$/.exec(text);
    if (zone !== null) {
      name = zone[1]!;
      bytes = parseSize(zone[2]!) ?? -1;
      if (name === '') {
        ctx.fail(`invalid zone name "${text}"`, { arg });
      }
      if (bytes < 8 * 4096) {
        ctx.fail(bytes < 0 ? `invalid zone size "${zone[2]}"` : `zone "${name}" is too small`, { arg });
      }
    } else if (time !== null) {
      timeout = parseTime(time[1]!, 'ms') ?? -1;
      if (timeout <= 0) {
        ctx.fail(`invalid timeout value "${time[1]}"`, { arg });
      }
    } else if (text === 'evict') {
      evict = true;
    } else if (text === 'type=number' || text === 'type=string') {
      type = text === 'type=number' ? 'number' : 'string';
    } else {
      ctx.fail(`invalid parameter "${text}"`, { arg });
    }
  }
  if (name === '') {
    ctx.reject('must have "zone" parameter');
  }
  if (evict && timeout === 0) {
    ctx.fail('evict requires timeout=');
  }
  if (ctx.zone(dictKind, name).bytes > 0) {
    ctx.fail(`shared zone "${name}" is already declared`);
  }
  ctx.zone(dictKind, name, { bytes, data: { type, timeout, evict } });
}

/** The functions of each location of this worker. */
const scriptsOf = new WeakMap<LocationRuntime, Scripts>();
const libraries = new WeakMap<WorkerEnv, ScriptLibrary>();

function libraryOf(env: WorkerEnv): ScriptLibrary {
  let library = libraries.get(env);
  if (library === undefined) {
    const dicts = env.zones.ofKind(dictKind);
    openGlobals();
    library = new ScriptLibrary({
      log: { log: (level: Level, message: string) => env.log.log(level, message) },
      prefix: env.prefix,
      confPrefix: env.confPrefix,
      confFile: env.confFile,
      workerId: env.slot,
      version: NGINX_VERSION,
      dict: (name) => dicts.get(name),
      dictNames: () => [...dicts.keys()],
    });
    libraries.set(env, library);
  }
  return library;
}

function scriptsFor(conf: Readonly<Settings>, env: WorkerEnv, location: LocationRuntime): Scripts {
  let scripts = scriptsOf.get(location);
  if (scripts === undefined) {
    scripts = libraryOf(env).scripts(conf.imports, [...conf.folders, env.confPrefix]);
    scriptsOf.set(location, scripts);
  }
  return scripts;
}

function missing(r: Request, name: string): number {
  r.log(ERR, `js function "${name}" not found`);
  return 500;
}

/** What ends a worker that a handler holds, where `js_block_timeout` is set. */
const watchdogs = new WeakMap<WorkerEnv, Watchdog>();

/** The threads of this worker, by what they load. */
const pools = new WeakMap<WorkerEnv, Map<string, IsolatePool>>();

function poolFor(conf: Readonly<Settings>, { threads, memory }: Isolation, env: WorkerEnv): IsolatePool {
  let known = pools.get(env);
  if (known === undefined) {
    pools.set(env, (known = new Map()));
  }
  const folders = [...conf.folders, env.confPrefix];
  const key = JSON.stringify([conf.imports, folders, threads, memory, conf.timeout]);
  let pool = known.get(key);
  if (pool === undefined) {
    const { prefix, confPrefix, confFile, slot } = env;
    const data = { imports: conf.imports, folders, prefix, confPrefix, confFile, workerId: slot, version: NGINX_VERSION };
    const own = new IsolatePool(
      { threads, memory, block: blockTimeouts.get(env) ?? conf.timeout, data },
      { log: (level, message) => env.log.log(level, message) },
    );
    known.set(key, (pool = own));
    env.onClose(() => own.close());
  }
  return pool;
}

/** `js_block_timeout`, where it is set. */
const blockTimeouts = new WeakMap<WorkerEnv, number>();

/** The counters of a handler. */
const statsOf = (env: WorkerEnv, name: string): HandlerStats =>
  new HandlerStats(name, env.zones.counters.meters.meter(jsKind, name), watchdogs.get(env));

/** The content handler, whatever it is called as. */
function contentHandler(conf: Readonly<Settings>, env: WorkerEnv, location: LocationRuntime, name: string): PhaseHandler {
  if (conf.isolation !== undefined) {
    return isolatedHandler({ name, timeout: conf.timeout, stats: statsOf(env, name) }, poolFor(conf, conf.isolation, env));
  }
  const handler = findHandler(scriptsFor(conf, env, location), name, conf.contentKind);
  if (handler === undefined) {
    return (r) => missing(r, name);
  }
  if (handler.kind === 'r') {
    return phase(conf, env, location, 'content', name);
  }
  return webHandler(handler, { name, timeout: conf.timeout, stats: statsOf(env, name) });
}

function phase(
  conf: Readonly<Settings>,
  env: WorkerEnv,
  location: LocationRuntime,
  stage: 'content' | 'access',
  name: string,
): PhaseHandler {
  const found = scriptsFor(conf, env, location).find(name);
  if (found === undefined) {
    return (r) => missing(r, name);
  }
  const stats = statsOf(env, name);
  const run = stats.counted(found);
  const limit = { name, timeout: conf.timeout, timedOut: () => stats.timedOut() };
  if (stage === 'access') {
    return (r) => requestObject(r).runPhase(stage, run, limit);
  }
  // As in nginx, the body is there before a content handler begins.
  return (r) => {
    let now = true;
    let code: number = AGAIN;
    readBody(r, () => {
      if (now) {
        code = requestObject(r).runPhase(stage, run, limit);
      } else {
        const late = requestObject(r).runPhase(stage, run, limit);
        if (late !== AGAIN) {
          r.resume(late);
        }
      }
    });
    now = false;
    return code;
  };
}

/** The value of a variable of `js_set`. */
function callForValue(r: Request, name: string): string | undefined {
  const scripts = scriptsOf.get(r.location);
  const run = scripts?.find(name);
  if (run === undefined) {
    if (scripts === undefined) {
      r.log(ERR, `no "js_import" directives found for "js_set" handler "${name}" in the current scope`);
    } else {
      missing(r, name);
    }
    return undefined;
  }
  const object = requestObject(r);
  const before = object.stage;
  object.stage = 'variable';
  object.returnValue = undefined;
  let failed = false;
  const task = new Task(object, { settled() {}, failed: () => (failed = true) });
  const result = task.run(() => run(object));
  object.stage = before;
  if (failed) {
    return undefined;
  }
  const value = object.returnValue ?? result;
  return value === undefined || value === null ? undefined : bytesOf(value);
}

function filterHead(r: Request, run: ScriptFunction): number {
  const object = requestObject(r);
  const before = object.stage;
  object.stage = 'headers';
  try {
    run(object);
    return OK;
  } catch (error) {
    r.log(ERR, `js exception: ${exceptionText(error)}`);
    return ERROR;
  } finally {
    object.stage = before;
  }
}

/** Runs JavaScript in the server. nginx: ngx_http_js_module. */
export const jsModule = defineModule({
  name: 'js',
  main: mainScope,
  installMain({ blockTimeout }, _http, env) {
    if (blockTimeout > 0) {
      const watchdog = new Watchdog(blockTimeout, env.log);
      blockTimeouts.set(env, blockTimeout);
      watchdogs.set(env, watchdog);
      env.onClose(() => watchdog.close());
    }
  },
  location: scope,
  installLocation(conf, location, env) {
    // What runs apart from the worker is not loaded into it.
    if (conf.imports.length > 0 && conf.isolation === undefined) {
      scriptsFor(conf, env, location);
    }
  },
  phases: { access: (conf, env, location) => (conf.access === undefined ? undefined : phase(conf, env, location, 'access', conf.access)) },
  handler: (conf, env, location) => (conf.content === undefined ? undefined : contentHandler(conf, env, location, conf.content)),
  headerFilter(conf, env, location) {
    const name = conf.headerFilter;
    const run = name === undefined ? undefined : scriptsFor(conf, env, location).find(name);
    return name === undefined ? undefined : run === undefined ? (r) => missing(r, name) : (r) => filterHead(r, run);
  },
  bodyFilter(conf, env, location) {
    const name = conf.bodyFilter;
    const run = name === undefined ? undefined : scriptsFor(conf, env, location).find(name);
    return run === undefined ? undefined : (r, next) => new JsBodyStage(new RequestObject(r), run, conf.bodyText, next);
  },
});
