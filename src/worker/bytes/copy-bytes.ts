/** Up to this size a loop copies faster than a call does. */
const BY_HAND = 64;

/** Copies the bytes `from..to` into other memory, which has room for them. Returns the place behind them. */
export function copyBytes(bytes: Uint8Array, from: number, to: number, into: Uint8Array, at: number): number {
  const size = to - from;
  if (size > BY_HAND) {
    into.set(size === bytes.length ? bytes : bytes.subarray(from, to), at);
    return at + size;
  }
  for (let i = from; i < to; i++) {
    into[at++] = bytes[i]!;
  }
  return at;
}
