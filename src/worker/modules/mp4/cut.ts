import type { Span } from './times.js';

/** How a film is cut: the same for all its tracks. */
export interface Cut extends Span {
  /** Bytes of the file. */
  readonly fileSize: number;
  /** Tracks begin at the key frame before their start. */
  readonly startKeyFrame: boolean;
}

/** Milliseconds in units of which a second has `scale`, with nginx's 64 bits. */
export const scaled = (milliseconds: bigint, scale: number): bigint => BigInt.asUintN(64, milliseconds * BigInt(scale)) / 1000n;
