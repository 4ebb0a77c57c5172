import { LocationSlot, ServerSlot } from '../../task/settings-slot.js';

/** How a server speaks HTTP/2. */
export interface Http2Settings {
  /** HTTP/2 is spoken with clients that ask for it. */
  readonly http2: boolean | undefined;
  /** How many requests of one connection are served at a time. */
  readonly http2MaxConcurrentStreams: number;
  /** How much of a body may come on a stream before somebody reads it, in bytes. */
  readonly http2BodyPrereadSize: number;
}

export const http2Slot = new ServerSlot<Http2Settings>();

/** The longest piece of a body that is sent in one frame, in bytes. */
export const chunkSizeSlot = new LocationSlot<{ readonly http2ChunkSize: number }>();
