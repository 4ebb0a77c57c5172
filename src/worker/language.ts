import type { Language } from '../shared/config/load.js';
import type { Request } from './http/request/request.js';
import { scopesOf } from './module.js';
import { foreignDirective, missingModule, nativeModule } from './modules/foreign.js';
import { modules } from './modules/index.js';

/** The configuration language with the directives and variables of all modules. */
export const language: Language<Request> = {
  modules: modules.map(scopesOf),
  missingModule,
  foreignDirective,
  nativeModule,
  defineVariables(http) {
    for (const module of modules) {
      for (const variable of module.variables ?? []) {
        http.define(variable);
      }
    }
  },
};
