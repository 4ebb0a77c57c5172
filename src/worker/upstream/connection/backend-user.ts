import type { Level } from '../../../shared/log/level.js';
import type { ClientTask } from '../../task/client-task.js';

/** Whoever connects to backends for a request or session, as far as the connections themselves are concerned. */
export interface BackendUser {
  readonly r: ClientTask;
  /** The peer at hand. */
  readonly peer: {
    readonly name: string | undefined;
    readonly unix: boolean;
    /** The local address of the latest connection, for logs. */
    readonly boundTo: string;
    bindTo(address: string): void;
    /** The name for SNI and verification. */
    readonly tlsName: string;
    useTlsName(name: string): void;
  };
  log(level: Level, message: string): void;
}
