/**
 * The candidate a mistyped word most likely means, or undefined if none is near. Near is one edit for every three letters, at most
 * three (Damerau-Levenshtein); letter case and `-` for `_` cost nothing. Among equally near ones that with the longest common start wins.
 */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = reduced(word);
  let limit = Math.min(3, Math.floor(wanted.length / 3));
  let best: string | undefined;
  let bestPrefix = -1;
  for (const candidate of candidates) {
    const offered = reduced(candidate);
    if (candidate === word || Math.abs(offered.length - wanted.length) > limit) {
      continue;
    }
    const distance = editDistance(wanted, offered);
    const prefix = commonPrefix(wanted, offered);
    if (distance < limit || (distance === limit && prefix > bestPrefix)) {
      limit = distance;
      best = candidate;
      bestPrefix = prefix;
    }
  }
  return best;
}

function reduced(word: string): string {
  return word.toLowerCase().replaceAll('-', '_');
}

function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) {
    length++;
  }
  return length;
}

/** Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
