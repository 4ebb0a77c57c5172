import type { Level } from './level.js';

/** One place that lines are written to: an `error_log` directive. */
export interface LogTarget {
  readonly level: Level;
  /** True for one JSON object a line. */
  readonly json: boolean;
  /** Full path of the file that the lines go to; empty for standard error. Undefined where they go elsewhere. */
  readonly path?: string;
  /** Takes one complete line. */
  write(level: Level, line: string): void;
  /** Lets go of what belongs to this target alone. */
  close?(): void;
}
