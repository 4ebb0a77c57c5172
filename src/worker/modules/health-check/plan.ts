import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { LocationBackend } from '../../upstream/exchange/location-backend.js';
import type { ResponseTest } from './match.js';
import type { HttpCheckSettings } from './settings.js';

/** So much of a body is looked at. */
export const MAX_BODY: number = 256 * 1024;

/** What a check needs to know about the line that asks for it. */
export interface HttpCheckPlan {
  readonly settings: HttpCheckSettings;
  readonly location: LocationRuntime;
  readonly backend: LocationBackend;
  readonly test: ResponseTest;
}
