import type { HealthZoneRef } from '../../upstream/group/health-zone.js';

/** One `health_check` line. Times are milliseconds. */
export interface CheckSettings {
  readonly interval: number;
  /** Each check is delayed by a random part of this. */
  readonly jitter: number;
  /** Checks in a row that make a peer unhealthy, or healthy again. */
  readonly fails: number;
  readonly passes: number;
  readonly uri: string;
  /** Name of a `match` block; empty: any status from 200 to 399 will do. */
  readonly match: string;
  /** A peer gets no request before its first check is over. */
  readonly mandatory: boolean;
  /** A reload does not make a healthy peer wait. */
  readonly persistent: boolean;
  /** Port to ask instead of the peer's own; 0: the peer's. */
  readonly port: number;
  /** How long a connection serves checks; 0: each has its own. */
  readonly keepaliveTime: number;
  readonly zone: HealthZoneRef;
}
