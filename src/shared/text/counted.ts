/** A number of things in words: `1 file`, `2 files`. */
export const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
