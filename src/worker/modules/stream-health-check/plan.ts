import type { StreamBackend } from '../../upstream/health/stream-backend.js';
import type { StreamMatch } from './match.js';
import type { StreamCheckSettings } from './settings.js';

/** What a check needs to know about the line that asks for it. */
export interface StreamCheckPlan {
  readonly settings: StreamCheckSettings;
  readonly backend: StreamBackend;
  /** How long a check may take, in milliseconds. */
  readonly timeout: number;
  readonly match: StreamMatch | undefined;
}
