// What is different about two texts, line by line.

export interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
  /** The number of the line in the text that it is in; of a line of both, in the second one. */
  readonly number: number;
}

/** More lines than so many that differ are shown as taken away and added all together. */
const MOST = 3000;

/** The second text's lines, with those of the first that are no longer there. */
export function compareLines(before: string, after: string): Line[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    start++;
  }
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) {
    end++;
  }
  const same = (from: number, to: number): Line[] => b.slice(from, to).map((text, i) => ({ sign: ' ', text, number: from + i + 1 }));
  return [
    ...same(0, start),
    ...between(a.slice(start, a.length - end), b.slice(start, b.length - end), start),
    ...same(b.length - end, b.length),
  ];
}

function between(a: readonly string[], b: readonly string[], start: number): Line[] {
  const taken = (i: number): Line => ({ sign: '-', text: a[i]!, number: start + i + 1 });
  const added = (j: number): Line => ({ sign: '+', text: b[j]!, number: start + j + 1 });
  if (a.length * b.length > MOST * MOST) {
    return [...a.map((_, i) => taken(i)), ...b.map((_, j) => added(j))];
  }
  // How many lines are the same from here on: the longest common subsequence.
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] =
        a[i] === b[j] ? common[(i + 1) * width + j + 1]! + 1 : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: ' ', text: b[j]!, number: start + j + 1 });
      i++;
      j++;
    } else if (i < a.length && (j === b.length || common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      lines.push(taken(i++));
    } else {
      lines.push(added(j++));
    }
  }
  return lines;
}

/** The changed lines with some around them; an empty list for the same texts. `undefined` stands for lines that are left out. */
export function hunks(lines: readonly Line[], around = 3): (Line | undefined)[] {
  const near = new Set<number>();
  for (const [i, { sign }] of lines.entries()) {
    if (sign !== ' ') {
      for (let at = i - around; at <= i + around; at++) {
        near.add(at);
      }
    }
  }
  const found: (Line | undefined)[] = [];
  for (const [i, line] of lines.entries()) {
    if (near.has(i)) {
      found.push(line);
    } else if (found.length > 0 && found.at(-1) !== undefined) {
      found.push(undefined);
    }
  }
  return found;
}
