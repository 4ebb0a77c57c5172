import { quantile } from '../../shared/zone/histogram.js';
import { STORE, storeKind } from '../../shared/zone/meter-kinds.js';
import { type Machine, machineObject, machinesZone } from '../fleet/machines-zone.js';
import { readings, type StatusSource } from './source.js';

/** The store that this machine shares with others, as its workers see it. */
export interface StoreReport {
  readonly name: string;
  /** The machine's name among those of the fleet. */
  readonly node: string;
  /** Whether all workers have the store, some, or none. */
  readonly state: 'up' | 'partly' | 'lost';
  /** How many workers have it. */
  readonly up: number;
  readonly values: Float64Array;
  /** All machines of the fleet, this one among them. */
  readonly machines: readonly Machine[];
}

/** What the workers tell of the store; undefined without one. */
export function takeStore(source: StatusSource): StoreReport | undefined {
  const { store, workers } = source.env;
  const reading = store === undefined ? undefined : readings(source, storeKind).find(({ name }) => name === store.settings.name);
  if (store === undefined || reading === undefined) {
    return undefined;
  }
  const { values } = reading;
  const up = Math.max(0, values[STORE.up]!);
  const { name, node } = store.settings;
  const [zone] = source.env.zones.ofKind(machinesZone).values();
  return { machines: zone?.all() ?? [], name, node, state: up >= workers ? 'up' : up > 0 ? 'partly' : 'lost', up, values };
}

/** The state of the store as it stands in a JSON document. */
export function storeObject({ name, node, state, up, values, machines }: StoreReport): object {
  const ms = (q: number): number => Math.round(quantile(values.subarray(STORE.buckets), q) * 1000) / 1000;
  return {
    name,
    node,
    state,
    workers_up: up,
    calls: values[STORE.calls]!,
    errors: values[STORE.errors]!,
    timeouts: values[STORE.timeouts]!,
    losses: values[STORE.losses]!,
    decided_locally: values[STORE.local]!,
    refused_without_question: values[STORE.known]!,
    round_trip_ms: { median: ms(0.5), p99: ms(0.99) },
    machines: machines.map(machineObject),
  };
}
