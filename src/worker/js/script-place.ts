import { ERROR } from '../../shared/log/level.js';
import { onDemandOf } from '../acme/on-demand.js';
import type { WorkerEnv } from '../env.js';
import type { ClientTask } from '../task/client-task.js';
import { resolverSlot } from '../task/resolver-slot.js';
import { LocationSlot } from '../task/settings-slot.js';
import { NGINX_VERSION } from '../version.js';
import type { ScriptSettings } from './directives.js';
import { FetchScope, type Lookup } from './fetch-settings.js';
import type { ScriptProtocol } from './ngx-object.js';
import { type ScriptFunction, ScriptLibrary, type Scripts } from './scripts.js';
import { dictKind, SharedDict } from './shared-dict.js';
import { bytesOf } from './text.js';

/** What scripts are at one location of `http` or server of `stream`. */
export interface ScriptPlace {
  /** undefined where nothing is imported. */
  readonly scripts: Scripts | undefined;
  readonly fetchScope: FetchScope;
}

/** A location of `http` or a server of `stream`, as far as its scripts know it. */
export interface Scripted {
  conf<C>(slot: LocationSlot<C>): C;
  put<C>(slot: LocationSlot<C>, settings: NoInfer<C>): void;
}

const placeSlot = new LocationSlot<ScriptPlace | undefined>();

/** What scripts are at a location or server; undefined where none were asked for yet. */
export const placeOf = (at: Pick<Scripted, 'conf'>): ScriptPlace | undefined => at.conf(placeSlot);

const libraries = new WeakMap<WorkerEnv, ScriptLibrary>();

function libraryOf(env: WorkerEnv): ScriptLibrary {
  let library = libraries.get(env);
  if (library === undefined) {
    const dicts = env.zones.ofKind(dictKind);
    for (const dict of dicts.values()) {
      dict.restore((message) => env.log.log(ERROR, bytesOf(message)));
      const replica = dict.replica();
      if (replica !== undefined) {
        env.replicas?.add(replica);
      }
      env.onClose(() => dict.save());
    }
    library = new ScriptLibrary({
      log: { log: (level, message) => env.log.log(level, bytesOf(message)) },
      prefix: env.prefix,
      confPrefix: env.confPrefix,
      confFile: env.confFile,
      workerId: env.slot,
      version: NGINX_VERSION,
      argv: [env.compatible ? 'nginx' : 'sluice', '-p', env.prefix, '-c', env.confFile],
      errorLog: env.errorLogPath,
      onDemand: () => onDemandOf(env),
      dict(name, protocol) {
        const dict = dicts.get(name);
        return dict !== undefined && SharedDict.protocolOf(dict) === protocol ? dict : undefined;
      },
      dictNames: (protocol) => [...dicts].filter(([, dict]) => SharedDict.protocolOf(dict) === protocol).map(([name]) => name),
    });
    libraries.set(env, library);
  }
  return library;
}

/** What the scripts of these settings are. */
export function makeScriptPlace(conf: Readonly<ScriptSettings>, env: WorkerEnv, lookup: Lookup, protocol: ScriptProtocol): ScriptPlace {
  const { imports, folders, preloads, fresh } = conf;
  return {
    scripts: imports.length === 0 ? undefined : libraryOf(env).scripts(imports, [env.confPrefix, ...folders], preloads, protocol, fresh),
    fetchScope: new FetchScope(conf, env.named, lookup),
  };
}

/** Makes what scripts are at a location or server, once. */
export function installScripts(at: Scripted, conf: Readonly<ScriptSettings>, env: WorkerEnv, protocol: ScriptProtocol): ScriptPlace {
  let place = placeOf(at);
  if (place === undefined) {
    at.put(placeSlot, (place = makeScriptPlace(conf, env, at.conf(resolverSlot), protocol)));
  }
  return place;
}

/** Says that a function of the configuration is in no script. */
export function functionMissing(task: ClientTask, name: string): void {
  task.log(ERROR, `js function "${name}" not found`);
}

/** The function that gives a variable of `js_set` its value. Where there is none, a line of the log says why. */
export function valueFunction(task: ClientTask, at: Scripted, name: string): ScriptFunction | undefined {
  const scripts = placeOf(at)?.scripts;
  if (scripts === undefined) {
    task.log(ERROR, `no "js_import" directives found for "js_set" handler "${name}" in the current scope`);
    return undefined;
  }
  const run = scripts.find(name);
  if (run === undefined) {
    functionMissing(task, name);
  }
  return run;
}
