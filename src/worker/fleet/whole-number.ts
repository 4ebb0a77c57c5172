/** Whether a part of the store's answer is a whole number within bounds. */
export const isWholeNumber = (value: unknown, least: number, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
