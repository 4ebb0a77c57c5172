import type { CheckSettings } from '../../upstream/health/settings.js';

/** One `health_check` line of `stream`. */
export interface StreamCheckSettings extends CheckSettings {
  readonly udp: boolean;
}
