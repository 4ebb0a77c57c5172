/** Places in the numbers that both threads see: how often the worker's thread has gone round, and the handler that it runs. */
export const BEAT = 0;
export const HANDLER = 1;
/** In the place of a handler's number: none runs. */
export const NOBODY = -1;

/** What the watchdog's thread is given. */
export interface WatchdogData {
  readonly state: Int32Array;
  /** Milliseconds between two looks. */
  readonly interval: number;
  /** Milliseconds for which the worker may be held. */
  readonly allowed: number;
  readonly logs: readonly WatchdogLog[];
}

/** An error log, by its path and by a descriptor for when the path may no longer be opened. */
export interface WatchdogLog {
  readonly path: string;
  readonly fd: number;
  readonly json: boolean;
}
