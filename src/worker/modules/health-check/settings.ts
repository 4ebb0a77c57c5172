import type { CheckSettings } from '../../upstream/health/settings.js';

/** One `health_check` line of `http`. Without a `match` block any status from 200 to 399 will do. */
export interface HttpCheckSettings extends CheckSettings {
  readonly uri: string;
  /** How long a connection serves checks, in milliseconds; 0: each has its own. */
  readonly keepaliveTime: number;
  /** What is asked of servers of gRPC; undefined: the URI is asked for. */
  readonly grpc: { readonly service: string; readonly status: number } | undefined;
}
