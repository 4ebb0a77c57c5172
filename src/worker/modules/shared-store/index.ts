import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import { MACHINES_BYTES, MACHINES_ZONE, type MachinesZoneRef, machinesZone } from '../../fleet/machines-zone.js';
import type { SealedZone, SharedStoreSettings } from '../../fleet/settings.js';
import { defineModule, defineScope } from '../../module.js';
import { readStore } from './read-store.js';

interface Settings {
  store: SharedStoreSettings | undefined;
  /** Where it is kept what the machines tell of themselves. */
  machines: MachinesZoneRef | undefined;
}

/** The scope itself, for the code that starts a process with the store. */
export const sharedStoreScope = defineScope<Settings>({
  fields: { store: own<SharedStoreSettings | undefined>(undefined), machines: own<MachinesZoneRef | undefined>(undefined) },
  directives: {
    shared_store: {
      in: In.MAIN,
      args: 1,
      block: 'entries',
      set(conf, node, ctx) {
        if (conf.store !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.store = readStore(node, ctx);
        conf.machines = ctx.zone(machinesZone, MACHINES_ZONE, { bytes: MACHINES_BYTES, data: undefined });
      },
    },
  },
  link(conf, ctx) {
    for (const { name, data, pos } of ctx.zones.all()) {
      const { sync, sealed, said } = (data ?? {}) as { sync?: boolean } & Partial<Omit<SealedZone, 'sync'>>;
      if (sync !== true) {
        continue;
      }
      const what = said ?? `"sync" of the zone "${name}"`;
      if (conf.store === undefined) {
        ctx.warn(`${what} has no effect without "shared_store": its state stays on this machine`, pos);
      } else if (sealed && conf.store.keys.length === 0) {
        ctx.fail(`${what} needs "encryption_key_file" in "shared_store"`, pos);
      }
    }
  },
});

/** A store that the machines of a fleet share. Ours. */
export const sharedStoreModule = defineModule({
  name: 'shared_store',
  process: sharedStoreScope,
});
