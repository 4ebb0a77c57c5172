import { LocationSlot } from '../request/location-slot.js';

/** The longest piece of a body that is sent in one frame, in bytes. */
export const chunkSizeSlot = new LocationSlot<{ readonly http2ChunkSize: number }>();
