import type { Language } from '../shared/config/load.js';
import type { Request } from './http/request/request.js';
import { scopesOf } from './module.js';
import { modules } from './modules/index.js';
import { missing } from './modules/missing.js';

/** The configuration language with the directives and variables of all modules. */
export const language: Language<Request> = {
  modules: modules.map(scopesOf),
  missingModule: (directive) => Object.entries(missing).find(([, names]) => names.includes(directive))?.[0],
  defineVariables(http) {
    for (const module of modules) for (const variable of module.variables ?? []) http.define(variable);
  },
};
