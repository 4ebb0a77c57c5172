/** What a CRC of 32 bits takes each byte for. `polynomial`: with its lowest power in the highest bit. */
export function crcTable(polynomial: number): Int32Array {
  const table = new Int32Array(256);
  // A byte of several bits is the sum of those of one bit.
  for (let bit = 128, c = 1; bit > 0; bit >>= 1) {
    c = c & 1 ? (c >>> 1) ^ polynomial : c >>> 1;
    for (let i = 0; i < 256; i += 2 * bit) {
      table[bit + i] = c ^ table[i]!;
    }
  }
  return table;
}
