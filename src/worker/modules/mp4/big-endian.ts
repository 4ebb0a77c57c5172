const HIGH = 2 ** 32;

/** The 32 bits at a place. Faster than Buffer's own, which check each place; callers know that it is inside. */
export const u32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;

/** The 64 bits at a place; exact up to 2^53, and some number above that for greater ones. */
export const u64 = (bytes: Uint8Array, at: number): number => u32(bytes, at) * HIGH + u32(bytes, at + 4);

/** The 64 bits at a place, all of them. */
export const bigU64 = (bytes: Uint8Array, at: number): bigint => (BigInt(u32(bytes, at)) << 32n) | BigInt(u32(bytes, at + 4));

/** Writes the lower 32 bits of a whole number, which may be negative. */
export function putU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** Writes a whole number, which may be negative, as 64 bits. */
export function putU64(bytes: Uint8Array, at: number, value: number): void {
  putU32(bytes, at, Math.floor(value / HIGH) >>> 0);
  putU32(bytes, at + 4, value >>> 0);
}

/** Writes the lower 64 bits. */
export function putBigU64(bytes: Uint8Array, at: number, value: bigint): void {
  putU32(bytes, at, Number(BigInt.asUintN(32, value >> 32n)));
  putU32(bytes, at + 4, Number(BigInt.asUintN(32, value)));
}

/** Adds a whole number, which may be negative, to the 64 bits at a place. */
export function addToU64(bytes: Uint8Array, at: number, value: number): void {
  const low = u32(bytes, at + 4) + (value >>> 0);
  const high = u32(bytes, at) + (Math.floor(value / HIGH) >>> 0) + (low >= HIGH ? 1 : 0);
  putU32(bytes, at, high >>> 0);
  putU32(bytes, at + 4, low >>> 0);
}
