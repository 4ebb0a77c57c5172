import type { Outbox } from './outbox.js';

/** What a key has: a text, and how many milliseconds it still lives; 0 for ever. */
export interface ReplicaValue {
  readonly text: string;
  readonly life: number;
}

/** A change of a key; without a value it is removed. */
export interface ReplicaChange {
  readonly key: string;
  readonly value: ReplicaValue | undefined;
}

/** A zone whose content all machines of a fleet have, each in a copy of its own. */
export interface ReplicaZone {
  /** The name under which the fleet knows it. */
  readonly replicaName: string;
  readonly outbox: Outbox;
  /** What a key has now. */
  current(key: string): ReplicaValue | undefined;
  /** Takes over what others have changed, but for keys whose own change is still to be sent: that one will come later. */
  takeOver(changes: readonly ReplicaChange[]): void;
  /** All keys that there are. */
  replicaKeys(): readonly string[];
}
