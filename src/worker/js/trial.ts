import type { LinkContext } from '../../shared/config/define.js';
import type { ClientTask } from '../task/client-task.js';
import { NGINX_VERSION } from '../version.js';
import { importPlace, type ScriptSettings } from './directives.js';
import type { ScriptProtocol } from './ngx-object.js';
import { type Import, placesOf, problemText, type Scripts, trialScripts } from './scripts.js';

/** Modules that `-t` has run, by the list of imports; null: they cannot be run. */
const tried = new WeakMap<readonly Import[], Scripts | null>();

/**
 * Runs the modules of a block as a worker would at its start. What they throw is an error of the configuration, told once: undefined
 * stands for modules that failed before.
 */
export function tryModules(conf: Readonly<ScriptSettings>, ctx: LinkContext<ClientTask>, protocol: ScriptProtocol): Scripts | undefined {
  const known = tried.get(conf.imports);
  if (known !== undefined) {
    return known ?? undefined;
  }
  tried.set(conf.imports, null);
  const folders = [conf.imports[0]!.confFolder, ...conf.folders];
  const scripts = trialScripts(conf.imports, folders, conf.preloads, NGINX_VERSION, protocol);
  const { failure } = scripts;
  if (failure !== undefined) {
    const place = importPlace(conf.imports.find(({ name }) => name === failure.name));
    ctx.fail(`js_import: ${problemText(failure.error)}`, place, placesOf(failure.error));
  }
  for (const one of conf.imports) {
    for (const member of scripts.emptyMembers(one.name)) {
      ctx.warn(`"${member}" of js module "${one.name}" is undefined once the module is loaded`, importPlace(one));
    }
  }
  tried.set(conf.imports, scripts);
  return scripts;
}

/**
 * Looks whether modules have the functions that directives name. njs finds out about a missing one when a request comes, which is why
 * that is only a warning; a function of `js_init` is missed by each worker's start.
 */
export function tryFunctions(
  scripts: Scripts,
  conf: Readonly<ScriptSettings>,
  names: readonly (string | undefined)[],
  ctx: LinkContext<ClientTask>,
): void {
  for (const { name, pos } of conf.inits) {
    if (scripts.find(name) === undefined) {
      ctx.fail(`js function "${name}" not found`, pos);
    }
  }
  for (const name of names) {
    if (name !== undefined && scripts.find(name) === undefined) {
      ctx.warn(`js function "${name}" not found`);
    }
  }
}
