import type { Subject } from '../value/subject.js';
import type { VariableTable } from '../value/variables.js';
import type { ModuleScopes } from './define.js';
import type { ForeignDirective, NativeModule } from './foreign.js';

/** What a protocol's modules add to the language. */
export interface Language<R extends Subject> {
  readonly modules: readonly ModuleScopes<R>[];
  /** The module of nginx that has this directive and that sluice lacks; undefined when nginx has no such directive. */
  missingModule(directive: string): string | undefined;
  /** What does the same, or a part of it, in place of a directive of nginx that is missing; empty where nothing does. */
  missingInstead(directive: string): string;
  /** The third-party module that has this directive; undefined for an unknown directive. */
  foreignDirective(directive: string): ForeignDirective | undefined;
  /** What is known of a module that `load_module` names, by the name of its file without `.so`. */
  nativeModule(object: string): NativeModule | undefined;
  /** Defines the variables that exist without any directive. */
  defineVariables(http: VariableTable<R>, stream: VariableTable<R>): void;
}
