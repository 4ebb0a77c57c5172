/**
 * Returns the first `count` 32-bit words of pi's fraction, which Blowfish starts from. They are computed, by Machin's formula
 * in fixed point, rather than listed: 1042 words take some 20 ms, once.
 */
export function piWords(count: number): Uint32Array {
  const guard = 64n;
  const bits = BigInt(count) * 32n;
  const one = 1n << (bits + guard);
  const pi = 16n * arctanOfInverse(5n, one) - 4n * arctanOfInverse(239n, one);
  const fraction = ((pi - 3n * one) >> guard).toString(16).padStart(count * 8, '0');
  return Uint32Array.from({ length: count }, (_, i) => Number.parseInt(fraction.slice(8 * i, 8 * i + 8), 16));
}

function arctanOfInverse(x: bigint, one: bigint): bigint {
  const square = x * x;
  let power = one / x;
  let sum = power;
  for (let n = 3n; power !== 0n; n += 2n) {
    power /= -square;
    sum += power / n;
  }
  return sum;
}
