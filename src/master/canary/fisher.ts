/**
 * How probable it is that chance alone puts as many events into the first of two samples, or more, when both come from the same source:
 * the upper tail of the hypergeometric distribution, Fisher's exact test with one side. The probability is exact for any sizes, and at
 * most as small as it says for samples that are drawn from one source.
 */
export function fisherGreater(events1: number, total1: number, events2: number, total2: number): number {
  const events = events1 + events2;
  const total = total1 + total2;
  if (events1 <= 0 || total1 === 0 || total2 === 0 || events === total) {
    return 1;
  }
  const most = Math.min(events, total1);
  // The first term by logarithms, each further one from the one before it.
  let term = Math.exp(logChoose(total1, events1) + logChoose(total2, events - events1) - logChoose(total, events));
  let sum = term;
  for (let k = events1; k < most; k++) {
    term *= ((total1 - k) * (events - k)) / ((k + 1) * (total2 - events + k + 1));
    sum += term;
    if (term < sum * 1e-12) {
      break;
    }
  }
  return Math.min(1, sum);
}

const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k);

const SMALL = smallFactorials(64);

function smallFactorials(count: number): readonly number[] {
  const all = [0];
  while (all.length < count) {
    all.push(all.at(-1)! + Math.log(all.length));
  }
  return all;
}

/** Stirling's series, which is right to twelve digits from here on. */
function logFactorial(n: number): number {
  if (n < SMALL.length) {
    return SMALL[n]!;
  }
  return (n + 0.5) * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * n) - 1 / (360 * n ** 3) + 1 / (1260 * n ** 5);
}
