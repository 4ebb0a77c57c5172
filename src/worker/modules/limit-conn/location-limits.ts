import type { ZoneRef } from '../../../shared/zone/kind.js';
import type { MeterKind } from '../../../shared/zone/meter-kinds.js';
import type { WorkerEnv } from '../../env.js';
import type { SharedStore } from '../../fleet/shared-store.js';
import { storeKey } from '../../fleet/store-key.js';
import type { LimitSettings } from '../../http/limits/limit-settings.js';
import { LimitedLocation } from '../../http/limits/limited-location.js';
import { type ProtocolRuntime, runtimePart } from '../../task/protocol-runtime.js';
import { FleetPlaces } from './fleet-places.js';
import type { ConnData, ConnZone } from './zone.js';

/** The merged settings of a location. */
export interface LimitConnSettings extends LimitSettings {
  limits: readonly { readonly zone: ZoneRef<ConnZone, ConnData>; readonly max: number }[];
}

const part = runtimePart<{ places: FleetPlaces | undefined }>(() => ({ places: undefined }));

/** The places of an `http` or `stream` block. */
function placesOf(env: WorkerEnv, runtime: ProtocolRuntime, store: SharedStore, kind: MeterKind): FleetPlaces {
  const own = part(runtime);
  if (own.places === undefined) {
    const places = new FleetPlaces(store, kind.id);
    own.places = places;
    env.onClose(() => places.close());
  }
  return own.places;
}

/** The limits of a location, or of a server of `stream`. */
export class ConnectionLimits extends LimitedLocation<LimitConnSettings> {
  readonly zones: readonly ConnZone[];
  /** The way to the store; undefined where all limits are this machine's alone. */
  readonly fleet: FleetPlaces | undefined;
  /** What keys of the store have of each zone; undefined for those of this machine alone. */
  readonly shared: readonly (string | undefined)[];

  constructor(conf: Readonly<LimitConnSettings>, env: WorkerEnv, runtime: ProtocolRuntime, kind: MeterKind) {
    super(conf, env);
    const { meters } = runtime;
    const { store } = env;
    this.shared = conf.limits.map(({ zone }) => (store !== undefined && zone.data.sync ? storeKey(zone.name) : undefined));
    if (store !== undefined && this.shared.some((name) => name !== undefined)) {
      this.fleet = placesOf(env, runtime, store, kind);
    }
    this.zones = conf.limits.map(({ zone, max }) => {
      const opened = env.zones.open(zone);
      opened.limit(max);
      opened.meter = meters?.meter(kind, zone.name) ?? null;
      return opened;
    });
  }
}
