import { LocationSlot } from '../../task/settings-slot.js';

/** The URI or `@name` that requests are sent to once their response is over. */
export const postActionSlot = new LocationSlot<{ readonly target: string | undefined }>();
