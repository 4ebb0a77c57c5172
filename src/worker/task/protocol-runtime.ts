import type { Scope } from '../../shared/config/define.js';
import { ALERT, ERROR } from '../../shared/log/level.js';
import type { VariableTable } from '../../shared/value/variables.js';
import type { MeterKind } from '../../shared/zone/meter-kinds.js';
import type { Meters } from '../../shared/zone/meters.js';
import type { WorkerEnv } from '../env.js';
import type { Resolver } from '../resolver/resolver.js';
import type { ClientTask } from './client-task.js';

/** An `http {}` or `stream {}` block as it runs, as far as both are the same. */
export interface ProtocolRuntime {
  readonly env: WorkerEnv;
  /** What counts for the status; null where nobody asks. */
  readonly meters: Meters | null;
  /** What peers of its groups are counted as. */
  readonly peerKind: MeterKind;
  /** By what the configuration says of each. */
  readonly resolvers: Map<object, Resolver>;
  /** What other rooms keep for the whole block, by the key of {@link runtimePart}. */
  readonly parts: Map<object, unknown>;
  /** The variables of the block. */
  readonly variables: VariableTable<ClientTask>;
  /** The merged settings of a scope at the level of the whole block. */
  mainSettings<C extends object>(scope: Scope<C, ClientTask>): Readonly<C>;
}

/**
 * A thing that each `http` and `stream` block has one of, made when it is first asked for: so a room above this one keeps what is its own.
 */
export function runtimePart<T>(make: () => T): (runtime: ProtocolRuntime) => T {
  const key = {};
  return (runtime) => {
    let part = runtime.parts.get(key) as T | undefined;
    if (part === undefined) {
      runtime.parts.set(key, (part = make()));
    }
    return part;
  };
}

/** Has the table tell each task's own log what goes wrong with variables. */
export function reportVariables(variables: VariableTable<ClientTask>): void {
  variables.reportTo({
    cycle: (task, name) => task.log(ERROR, `cycle while evaluating variable "${name}"`),
    regexFailed: (task, message) => task.log(ALERT, message),
  });
}
