/** No bytes: the one Buffer of length 0 that all share, since nothing can be written into it. */
export const EMPTY: Buffer = Buffer.alloc(0);
