import type { Block } from '../shared/config/block.js';
import type { Loaded } from '../shared/config/load.js';
import type { WorkerEnv } from './env.js';
import type { AnyModule, Made, Slots } from './module.js';
import type { ClientTask } from './task/client-task.js';
import type { ProtocolRuntime } from './task/protocol-runtime.js';
import type { LocationSlot, ServerSlot } from './task/settings-slot.js';

/** A module's settings at a block of its protocol. */
export const settingsOf = (loaded: Loaded<ClientTask>, { location }: AnyModule, block: Block): object =>
  location === undefined ? {} : loaded.settings(location, block);

/** What one slot holds, at every place. */
interface Row {
  readonly module: AnyModule;
  readonly index: number;
  /** What is kept of a module's settings. */
  keep(conf: object): unknown;
}

/**
 * Makes the lists of settings that locations and servers have, as `slot` and `serverSlot` of modules say. Places that have the same may
 * share one list: there may be fifty thousand.
 */
export class SettingsLists {
  readonly #rows: readonly Row[];

  /** `slotOf` tells which slot of a module is meant. */
  constructor(modules: readonly AnyModule[], slotOf: (module: AnyModule) => Slot | undefined, env: WorkerEnv, protocol: ProtocolRuntime) {
    this.#rows = modules.flatMap((module) => {
      const slot = slotOf(module);
      return slot === undefined ? [] : [rowOf(module, slot, env, protocol)];
    });
  }

  /** The settings at a place; `other`: a list that is taken where it has the same. */
  list(confOf: (module: AnyModule) => object, other: readonly unknown[] | undefined): readonly unknown[] {
    const confs: unknown[] = [];
    let same = other !== undefined;
    for (const { module, index, keep } of this.#rows) {
      confs[index] = keep(confOf(module));
      same &&= confs[index] === other![index];
    }
    return same ? other! : confs;
  }
}

type Slot = NonNullable<Slots<object, object>['slot'] | Slots<object, object>['serverSlot']>;

const isMade = (slot: Slot): slot is Made<LocationSlot<never>, object> | Made<ServerSlot<never>, object> => 'make' in slot;

function rowOf(module: AnyModule, slot: Slot, env: WorkerEnv, protocol: ProtocolRuntime): Row {
  if (!isMade(slot)) {
    return { module, index: slot.index, keep: (conf) => conf };
  }
  const known = new Map<object, unknown>();
  return {
    module,
    index: slot.slot.index,
    keep(conf) {
      let value = known.get(conf);
      if (value === undefined) {
        known.set(conf, (value = slot.make(conf, env, protocol)));
      }
      return value;
    },
  };
}
