import { ServerSlot } from '../../task/settings-slot.js';

/** How a server speaks HTTP/3. */
export interface Http3Settings {
  /** HTTP/3 is spoken, and HTTP/0.9 over QUIC, with clients that ask for it. */
  http3: boolean;
  http3Hq: boolean;
  /** How many requests of one connection are served at a time. */
  http3MaxConcurrentStreams: number;
  /** How many bytes are kept of each stream in either direction. */
  http3StreamBufferSize: number;
}

export const http3Slot = new ServerSlot<Readonly<Http3Settings>>();
