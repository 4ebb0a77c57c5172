import type { Language } from '../shared/config/language-contract.js';
import { type SharedVariable, scopesOf } from './module.js';
import { foreignDirective, missingInstead, missingModule, nativeModule } from './modules/foreign.js';
import { modules } from './modules/index.js';
import type { ClientTask } from './task/client-task.js';

/** The configuration language with the directives and variables of all modules. */
export const language: Language<ClientTask> = {
  modules: modules.map(scopesOf),
  missingModule,
  missingInstead,
  foreignDirective,
  nativeModule,
  defineVariables(http, stream) {
    for (const module of modules) {
      for (const variable of module.variables ?? []) {
        http.define(variable as SharedVariable);
      }
      for (const variable of module.stream?.variables ?? []) {
        stream.define(variable as SharedVariable);
      }
    }
  },
};
