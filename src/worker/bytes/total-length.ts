/** How many bytes some pieces have. */
export const totalLength = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);
