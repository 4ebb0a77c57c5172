let lost = 0;

/** Counts lines of logs that this process could not write or send, whichever log they were for. */
export function countLost(lines: number): void {
  lost += lines;
}

/** How many lines of its logs this process has lost. */
export const linesLost = (): number => lost;

/** How many lines a text has, a last one without its end included. */
export function linesIn(text: string): number {
  let lines = 0;
  for (let at = 0; at < text.length; lines++) {
    const end = text.indexOf('\n', at);
    at = end < 0 ? text.length : end + 1;
  }
  return lines;
}
