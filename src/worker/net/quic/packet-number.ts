/** The number of a packet whose last bytes are `truncated`, after `largest` was the largest one (RFC 9000, A.3). */
export function wholeNumber(largest: number, truncated: number, length: number): number {
  const window = 256 ** length;
  const expected = largest + 1;
  const candidate = expected - (expected % window) + truncated;
  if (candidate <= expected - window / 2) {
    return candidate + window;
  }
  return candidate > expected + window / 2 && candidate >= window ? candidate - window : candidate;
}

/** How many bytes of a number are sent when the peer has acknowledged `acked`, or -1 for none (RFC 9000, A.2). */
export function numberLength(number: number, acked: number): number {
  const distance = number - acked;
  return distance < 0x80 ? 1 : distance < 0x8000 ? 2 : distance < 0x800000 ? 3 : 4;
}
