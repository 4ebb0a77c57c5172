import type { AnyZoneRef } from './kind.js';

/** Which files hold the zones of one configuration. The master sends it to each worker. */
export interface ZonePlan {
  /** The run directory; undefined when none could be made: then every worker counts for itself. */
  readonly directory: string | undefined;
  /** Zone name to file name. */
  readonly files: Readonly<Record<string, string>>;
}

/** Zones of a configuration with the file of each. */
export interface PlannedZone {
  readonly ref: AnyZoneRef;
  readonly file: string;
}

/**
 * Decides which zones a new configuration takes over from the old one: those with the same name, kind and size, of which some kinds
 * make nothing. The others get new files from `newFile`. Returns the message that refuses the configuration, in nginx's words, when a
 * zone has no size or is keyed by something else than before. nginx: the shared memory part of ngx_init_cycle.
 */
export function reconcileZones(
  old: readonly PlannedZone[],
  refs: readonly AnyZoneRef[],
  newFile: (name: string) => string,
): PlannedZone[] | string {
  const planned: PlannedZone[] = [];
  for (const ref of refs) {
    if (ref.bytes === 0) {
      return `zero size shared memory zone "${ref.name}"`;
    }
    const before = old.find((zone) => zone.ref.name === ref.name);
    const fits = before?.ref.kind.id === ref.kind.id && (before.ref.bytes === ref.bytes || ref.kind.anySize === true);
    if (before !== undefined && fits && ref.kind.noreuse !== true) {
      const conflict = ref.kind.conflict?.(ref.name, before.ref.data, ref.data);
      if (conflict !== undefined) {
        return conflict;
      }
      planned.push({ ref, file: before.file });
    } else {
      planned.push({ ref, file: newFile(ref.name) });
    }
  }
  return planned;
}
