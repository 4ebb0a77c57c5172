/** Whether the first bytes of two pieces of memory are the same: for so few that a loop is faster than a call. */
export function sameBytes(a: Uint8Array, b: Uint8Array, length: number): boolean {
  for (let i = 0; i < length; i++) {
    if (a[i] !== b[i]) {
      return false;
    }
  }
  return true;
}
