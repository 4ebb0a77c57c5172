// Over 400 lines: the directives that both protocols have, each a few lines.
import { append } from '../../shared/collection/append.js';
import { In } from '../../shared/config/context.js';
import { type Directive, inherit, type LinkContext, own, type SettingField } from '../../shared/config/define.js';
import type { Pos } from '../../shared/config/language/ast.js';
import { parseSize, parseTime } from '../../shared/config/language/units.js';
import { accepted, bits, complex, flag, int, msec, size, text } from '../../shared/config/slots.js';
import type { ComplexValue } from '../../shared/value/complex.js';
import type { Variable } from '../../shared/value/variables.js';
import type { SharedContext } from '../module.js';
import type { ClientTask } from '../task/client-task.js';
import { tryOptions } from '../tls/context.js';
import { TlsFileError } from '../tls/pem.js';
import { protocolWords, TLS } from '../tls/settings.js';
import { stateEntries, stateProblem } from './dict-state.js';
import { type FetchSettings, fetchContext, readProxy } from './fetch-settings.js';
import { readCertificateFunction, readHelloLine } from './handshake-scope.js';
import { type Init, readInit } from './init-directive.js';
import type { ScriptProtocol } from './ngx-object.js';
import { type Periodic, readPeriodic } from './periodic.js';
import { jsVariables } from './script-variables.js';
import { checkImports, type Import, type Preload } from './scripts.js';
import { dictKind } from './shared-dict.js';

/** The file that keeps a dictionary over restarts, and where the configuration names it. */
interface DictState {
  readonly name: string;
  readonly file: string;
  readonly type: 'string' | 'number';
  readonly pos: Pos;
}

/** What a location of `http` or a server of `stream` says about scripts. */
export interface ScriptSettings extends FetchSettings {
  imports: readonly Import[];
  folders: readonly string[];
  preloads: readonly Preload[];
  periodics: readonly Periodic[];
  /** What each worker calls before it serves. */
  inits: readonly Init[];
  /** The files of dictionaries that the block has. */
  states: readonly DictState[];
  /** Each request or session has modules of its own. */
  fresh: boolean;
}

/** What an inner block has comes behind what the outer ones have. */
const appended = <T>(): SettingField<readonly T[]> => ({
  initial: [],
  merge: (parent, child) => (child === undefined ? parent : [...parent, ...child]),
});

/** The defaults of {@link ScriptSettings}. nginx: ngx_js_merge_conf. */
export const scriptFields: { readonly [K in keyof ScriptSettings]: SettingField<ScriptSettings[K]> } = {
  imports: appended<Import>(),
  folders: appended<string>(),
  preloads: appended<Preload>(),
  periodics: own<readonly Periodic[]>([]),
  inits: own<readonly Init[]>([]),
  states: own<readonly DictState[]>([]),
  fresh: inherit(false),
  fetchTimeout: inherit(60_000),
  fetchBufferSize: inherit(16_384),
  fetchMaxResponse: inherit(1_048_576),
  fetchKeepalive: inherit(0),
  fetchKeepaliveRequests: inherit(1000),
  fetchKeepaliveTime: inherit(3_600_000),
  fetchKeepaliveTimeout: inherit(60_000),
  fetchProxy: inherit<ComplexValue<ClientTask> | undefined>(undefined),
  fetchProtocols: inherit<number>(TLS.TLS_1 | TLS.TLS_1_1 | TLS.TLS_1_2 | TLS.TLS_1_3),
  fetchCiphers: inherit('DEFAULT'),
  fetchVerify: inherit(true),
  fetchVerifyDepth: inherit(100),
  fetchTrustedCertificate: inherit(''),
};

/** How a protocol runs scripts. */
interface Protocol {
  /** Where most directives stand. */
  readonly anywhere: number;
  /** Where `js_periodic` stands. */
  readonly periodic: number;
  /** Where `js_shared_dict_zone` and `js_init` stand. */
  readonly main: number;
  /** Where what is about handshakes stands. */
  readonly server: number;
  readonly protocol: ScriptProtocol;
  /** The value of a variable of `js_set`; undefined when there is none. */
  readonly evaluate: (task: ClientTask, name: string) => string | undefined;
}

type Row = Directive<ScriptSettings, ClientTask>;

/** The words of `js_fetch_protocols`: none of what came before TLS. nginx: ngx_http_js_ssl_protocols. */
const { sslv2: _sslv2, sslv3: _sslv3, ...fetchProtocolWords } = protocolWords;

const checkSize = (ctx: SharedContext): void => void (parseSize(ctx.node.args[0]!) ?? ctx.reject('invalid value'));

const proxyValue: Row['set'] = complex('fetchProxy');

/** The directives that both protocols have. */
export function scriptDirectives({ anywhere, periodic, main, server, protocol, evaluate }: Protocol): Readonly<Record<string, Row>> {
  return {
    js_import: { in: anywhere, args: [1, 3], set: readImport },
    js_path: {
      in: anywhere,
      args: 1,
      set(conf, node, ctx) {
        conf.folders = append(conf.folders, ctx.path(node.args[0]!, 'conf'));
      },
    },
    js_set: {
      in: anywhere,
      args: [2, 3],
      set(_conf, node, ctx) {
        const [variable = '', name = '', nocache] = node.args;
        if (nocache !== undefined && nocache !== 'nocache') {
          ctx.fail(`unrecognized flag "${nocache}"`, { arg: 2 });
        }
        const functions = setFunctions(ctx.variables);
        const known = functions.get(variable.toLowerCase());
        if (known !== undefined && known !== name) {
          ctx.fail(`variable "${variable.slice(1)}" is redeclared with different function name`, { arg: 1 });
        }
        functions.set(variable.toLowerCase(), name);
        const cacheable = nocache === undefined;
        defineVariable(ctx, variable, { get: (task) => evaluate(task, name), cacheable, effects: !cacheable });
      },
    },
    js_var: {
      in: anywhere,
      args: [1, 2],
      set(_conf, node, ctx) {
        const value = node.args[1] === undefined ? undefined : ctx.complex(node.args[1]);
        defineVariable(ctx, node.args[0]!, { get: (task) => value?.eval(task) ?? '' });
        ctx.variables.slot(node.args[0]!.slice(1));
        jsVariables(ctx.variables).push(node.args[0]!.slice(1).toLowerCase());
      },
    },
    js_preload_object: { in: anywhere, args: [1, 3], set: readPreload },
    js_periodic: {
      in: periodic,
      args: 'any',
      set(conf, _node, ctx) {
        conf.periodics = append(conf.periodics, readPeriodic(ctx));
      },
    },
    js_init: {
      in: main,
      args: [1, 2],
      set(conf, _node, ctx) {
        conf.inits = append(conf.inits, readInit(ctx));
      },
    },
    js_client_hello: { in: server, args: 1, set: (_conf, _node, ctx) => readHelloLine(ctx) },
    js_ssl_certificate: { in: server, args: { min: 1 }, set: (_conf, _node, ctx) => readCertificateFunction(ctx) },
    js_engine: {
      in: anywhere,
      args: protocol === 'stream' ? [1, 2] : 1,
      set: accepted((ctx) => {
        const [name = ''] = ctx.node.args;
        if (!/^(?:njs|qjs)$/i.test(name)) {
          ctx.fail(`invalid value "${name}"`, { arg: 0 });
        }
      }),
    },
    js_context_reuse: {
      in: anywhere,
      args: 1,
      set(conf, node, ctx) {
        if (conf.fresh !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.fresh = node.args[0] === 'off' || (parseSize(node.args[0]!) ?? ctx.reject('invalid value')) === 0;
      },
    },
    js_context_reuse_max_size: { in: anywhere, args: 1, set: accepted(checkSize) },
    js_fetch_buffer_size: { in: anywhere, args: 1, set: size('fetchBufferSize') },
    js_fetch_max_response_buffer_size: { in: anywhere, args: 1, set: size('fetchMaxResponse') },
    js_fetch_timeout: { in: anywhere, args: 1, set: msec('fetchTimeout') },
    js_fetch_ciphers: { in: anywhere, args: 1, set: text('fetchCiphers') },
    js_fetch_protocols: { in: anywhere, args: { min: 1 }, set: bits('fetchProtocols', fetchProtocolWords) },
    js_fetch_verify: { in: anywhere, args: 'flag', set: flag('fetchVerify') },
    js_fetch_verify_depth: { in: anywhere, args: 1, set: int('fetchVerifyDepth') },
    js_fetch_trusted_certificate: {
      in: anywhere,
      args: 1,
      set(conf, node, ctx) {
        if (conf.fetchTrustedCertificate !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.fetchTrustedCertificate = node.args[0] === '' ? '' : ctx.path(node.args[0]!, 'conf');
      },
    },
    js_fetch_keepalive: { in: anywhere, args: 1, set: int('fetchKeepalive') },
    js_fetch_keepalive_requests: { in: anywhere, args: 1, set: int('fetchKeepaliveRequests') },
    js_fetch_keepalive_time: { in: anywhere, args: 1, set: msec('fetchKeepaliveTime') },
    js_fetch_keepalive_timeout: { in: anywhere, args: 1, set: msec('fetchKeepaliveTimeout') },
    js_fetch_proxy: {
      in: anywhere,
      args: 1,
      set(conf, node, ctx) {
        if (conf.fetchProxy !== undefined) {
          ctx.warn(`"js_fetch_proxy" stands here a second time: this line counts`);
          conf.fetchProxy = undefined;
        }
        proxyValue(conf, node, ctx);
        const { constant } = conf.fetchProxy!;
        const proxy = constant === undefined ? undefined : readProxy(constant);
        if (typeof proxy === 'string') {
          ctx.fail(`invalid proxy URL: ${constant}`, { arg: 0, hint: proxy });
        }
        if (constant === '') {
          ctx.fail('proxy host is empty in URL: ', { arg: 0 });
        }
      },
    },
    js_shared_dict_zone: { in: main, args: { min: 1 }, set: (conf, node, ctx) => readDict(conf, node, ctx, protocol) },
  };
}

/** Words that cannot name what a module imports. */
const RESERVED = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function ' +
    'if implements import in instanceof interface let new null package private protected public return static super switch this throw true ' +
    'try typeof undefined var void while with yield'
  ).split(' '),
);

/** The first import under a name that another one has. */
function importedTwice(imports: readonly Import[]): Import | undefined {
  const names = new Set<string>();
  return imports.find(({ name }) => names.has(name) || !names.add(name));
}

const functionsOf = new WeakMap<object, Map<string, string>>();

/** The functions of `js_set`, by their variables in lower case. */
function setFunctions(variables: object): Map<string, string> {
  let known = functionsOf.get(variables);
  if (known === undefined) {
    functionsOf.set(variables, (known = new Map()));
  }
  return known;
}

/** Where in the configuration a module is imported. */
const importPlaces = new WeakMap<Import, Pos>();

/** Where a module is imported; undefined for none, and after the configuration was read. */
export const importPlace = (one: Import | undefined): Pos | undefined => (one === undefined ? undefined : importPlaces.get(one));

/** Lists of modules that blocks have in common and that can be loaded, with the lists of preloaded objects with which they were tried. */
const checked = new WeakMap<readonly Import[], Set<readonly Preload[]>>();
/** Lists of modules that blocks have in common and that cannot be loaded. */
const broken = new WeakSet<readonly Import[]>();

/** Whether the modules of a block have not been looked at with its preloaded objects; from now on they have. */
function isNew({ imports, preloads }: Readonly<ScriptSettings>): boolean {
  let known = checked.get(imports);
  if (known === undefined) {
    checked.set(imports, (known = new Set()));
  }
  return !known.has(preloads) && known.add(preloads) !== undefined;
}

/** Checks what only shows when all is read; `handlers` are the functions that directives name. False: the modules cannot be loaded. */
export function linkScripts(
  conf: Readonly<ScriptSettings>,
  ctx: LinkContext<ClientTask>,
  handlers: readonly (readonly [directive: string, name: string | undefined])[],
): boolean {
  if (ctx.checking && conf.imports.length > 0 && !broken.has(conf.imports) && isNew(conf)) {
    broken.add(conf.imports);
    const again = importedTwice(conf.imports);
    if (again !== undefined) {
      ctx.fail(`SyntaxError: "${again.name}" has already been declared`, importPlace(again));
    }
    checkImports(conf.imports, [conf.imports[0]!.confFolder, ...conf.folders], conf.preloads, (problem, at, related) =>
      ctx.fail(problem, importPlace(at), related),
    );
    broken.delete(conf.imports);
  }
  if (ctx.checking && conf.states.length > 0) {
    checkStates(conf, ctx);
  }
  if (conf.imports.length === 0) {
    checkWithoutImports(conf, ctx, handlers);
  }
  const own = conf.fetchTrustedCertificate !== '' || conf.fetchCiphers !== 'DEFAULT';
  if (ctx.checking && own) {
    try {
      if (conf.fetchCiphers === '') {
        // Node takes it for no choice.
        throw new TlsFileError('SSL_CTX_set_cipher_list("") failed (SSL: error:0A0000B9:SSL routines::no cipher match)');
      }
      tryOptions({ ciphers: conf.fetchCiphers, ecdhCurve: 'auto', dhparam: undefined }, ctx.named);
      fetchContext(conf, ctx.named);
    } catch (error) {
      const { message } = error as Error;
      ctx.fail(error instanceof TlsFileError ? message : `SSL_CTX_set_cipher_list("${conf.fetchCiphers}") failed (SSL: ${message})`);
    }
  }
  return !broken.has(conf.imports);
}

function checkStates(conf: Readonly<ScriptSettings>, ctx: LinkContext<ClientTask>): void {
  for (const { name, file, type, pos } of conf.states) {
    // As in nginx, the server does not begin with less than there was.
    try {
      stateEntries(name, file, type);
    } catch (error) {
      ctx.fail(stateProblem(error), pos);
    }
  }
}

function checkWithoutImports(
  conf: Readonly<ScriptSettings>,
  ctx: LinkContext<ClientTask>,
  handlers: readonly (readonly [directive: string, name: string | undefined])[],
): void {
  if (handlers.length === 0 && conf.inits.length === 0 && conf.periodics.length === 0) {
    return;
  }
  for (const [directive, name] of [...handlers, ...conf.inits.map((init) => ['js_init', init.name] as const)]) {
    if (name !== undefined) {
      ctx.fail(`no imports defined for "${directive}" "${name}", use "js_import" directive`);
    }
  }
  for (const { name } of conf.periodics) {
    // nginx says so when the time has come.
    ctx.warn(`no "js_import" directives found for "js_periodic" handler "${name}" in the current scope`);
  }
}

function readImport(conf: Partial<ScriptSettings>, node: SharedContext['node'], ctx: SharedContext): void {
  const [first = '', from, path] = node.args;
  if (path !== undefined && from !== 'from') {
    ctx.fail(`invalid parameter "${from}"`, { arg: 1 });
  }
  const file = path ?? first;
  const name = path === undefined ? /([^/]*)\.[mc]?[jt]s$/.exec(file)?.[1] : first;
  checkName(name, 'export', file, ctx);
  if (RESERVED.has(name)) {
    ctx.fail(`SyntaxError: Unexpected token "${name}"`, { arg: 0 });
  }
  const one: Import = { name, file, confFolder: ctx.path('', 'conf') };
  importPlaces.set(one, node.pos);
  conf.imports = append(conf.imports, one);
}

/** Whether code can use a name, which `file` may have given. nginx: ngx_js_import. */
function checkName(name: string | undefined, what: 'export' | 'global', file: string, ctx: SharedContext): asserts name is string {
  if (name === undefined) {
    ctx.fail(`cannot extract export name from file path "${file}", use extended "from" syntax`, { arg: 0 });
  }
  if (name === '') {
    ctx.fail(`empty ${what} name`, { arg: 0 });
  }
  if (!/^[A-Za-z_]/.test(name)) {
    ctx.fail(`cannot start with "${name[0]}" in ${what} name "${name}"`, { arg: 0 });
  }
  const wrong = /\W/.exec(name);
  if (wrong !== null) {
    ctx.fail(`invalid character "${wrong[0]}" in ${what} name "${name}"`, { arg: 0 });
  }
  if (file.includes("'")) {
    ctx.fail(`invalid character "'" in file path "${file}"`, { arg: ctx.node.args.length - 1 });
  }
}

// nginx: ngx_js_preload_object.
function readPreload(conf: Partial<ScriptSettings>, node: SharedContext['node'], ctx: SharedContext): void {
  const [first = '', from, path] = node.args;
  if (path !== undefined && from !== 'from') {
    ctx.fail(`invalid parameter "${from}"`, { arg: 1 });
  }
  const file = path ?? first;
  const name = path === undefined ? /([^/]*)\.json$/.exec(file)?.[1] : first;
  checkName(name, 'global', file, ctx);
  conf.preloads = append(conf.preloads, { name, file: ctx.path(file, 'conf') });
}

/** Defines a variable. One of `js_set` that only scripts ask for has no slot: as in nginx, it is computed each time, and not assigned. */
function defineVariable(ctx: SharedContext, given: string, rest: Pick<Variable<ClientTask>, 'get' | 'cacheable' | 'effects'>): void {
  if (!given.startsWith('$') || given === '$') {
    ctx.fail(`invalid variable name "${given}"`, { arg: 0, hint: `write \`$${given}\`` });
  }
  const name = given.slice(1);
  if (!ctx.variables.define({ name, changeable: true, ...rest })) {
    ctx.fail(`the duplicate "${name}" variable`);
  }
}

// nginx: ngx_js_shared_dict_zone.
function readDict(conf: Partial<ScriptSettings>, node: SharedContext['node'], ctx: SharedContext, protocol: ScriptProtocol): void {
  let name = '';
  let bytes = 0;
  let timeout = 0;
  let evict = false;
  let type: 'string' | 'number' = 'string';
  let state: string | undefined;
  let sync = false;
  for (const [arg, given] of node.args.entries()) {
    const zone = /^zone=([^:]*):(.*)$/.exec(given);
    const time = /^timeout=(.*)$/.exec(given);
    if (zone !== null) {
      name = zone[1]!;
      bytes = parseSize(zone[2]!) ?? -1;
      if (name === '') {
        ctx.fail(`invalid zone name "${given}"`, { arg });
      }
      if (bytes < 8 * 4096) {
        ctx.fail(bytes < 0 ? `invalid zone size "${given}"` : `zone "${given}" is too small`, { arg });
      }
    } else if (time !== null) {
      timeout = parseTime(time[1]!, 'ms') ?? -1;
      if (timeout < 0) {
        ctx.fail(`invalid timeout value "${given}"`, { arg });
      }
    } else if (given.startsWith('type=') && !/^type=(?:number|string)$/.test(given)) {
      ctx.fail(`invalid dict type "${given.slice('type='.length)}"`, { arg });
    } else if (given.startsWith('zone=')) {
      ctx.fail(`invalid zone size "${given}"`, { arg });
    } else if (given.startsWith('evict')) {
      evict = true;
    } else if (given === 'sync') {
      sync = true;
    } else if (given === 'type=number' || given === 'type=string') {
      type = given === 'type=number' ? 'number' : 'string';
    } else if (given.startsWith('state=') && given.length > 'state='.length) {
      state = ctx.path(given.slice('state='.length));
    } else {
      // nginx passes over it without a word.
      ctx.warn(`unknown parameter "${given}" is ignored`, { arg });
    }
  }
  if (name === '') {
    ctx.fail('"js_shared_dict_zone" must have "zone" parameter');
  }
  if (evict && timeout === 0) {
    ctx.fail('evict requires timeout=');
  }
  const known = ctx.zone(dictKind, name);
  if (known.bytes > 0 && known.data?.protocol !== protocol) {
    ctx.fail(`the shared memory zone "${name}" is already declared for a different use`);
  }
  if (known.bytes === bytes) {
    ctx.fail(`duplicate zone "${name}"`);
  }
  if (state !== undefined) {
    conf.states = append(conf.states, { name, file: state, type, pos: node.pos });
  }
  ctx.zone(dictKind, name, { bytes, data: { type, timeout, evict, state, protocol, sync } });
}

/** Contexts of `http` and of `stream` for {@link scriptDirectives}. */
export const HTTP_ANYWHERE: number = In.HTTP | In.SERVER | In.LOCATION;
export const STREAM_ANYWHERE: number = In.STREAM | In.STREAM_SERVER;
