import type { MeterKind } from '../../shared/zone/meter-kinds.js';
import type { Meters, Reading } from '../../shared/zone/meters.js';
import { emptyReading } from '../../shared/zone/meters.js';
import type { WorkerEnv } from '../env.js';
import type { HttpRuntime } from '../http/request/http-runtime.js';
import type { ProtocolRuntime } from '../task/protocol-runtime.js';

/** Where the status pages have their numbers from. Whoever answers a request settles the counters first. */
export interface StatusSource {
  readonly http: HttpRuntime;
  readonly env: WorkerEnv;
  /** The address of the server that was asked. */
  readonly address?: string;
}

/** The blocks whose groups and zones the API shows apart. */
export type Protocol = 'http' | 'stream';

/** A block as it runs; undefined where the configuration has none. */
export const runtimeOf = ({ http }: StatusSource, protocol: Protocol): ProtocolRuntime | undefined =>
  protocol === 'http' ? http : http.stream;

/** The meters, with this worker's numbers published. */
export function metersOf({ env }: StatusSource): Meters {
  const { counters } = env.zones;
  counters.flush();
  return counters.meters;
}

/** What all workers have counted of a kind, for the things that the configuration has; in its order. */
export function readings(source: StatusSource, kind: MeterKind): Reading[] {
  const meters = metersOf(source);
  const all = meters.read(kind);
  return meters.names(kind).map((name) => all.get(name) ?? emptyReading(kind, name));
}
