/** Bytes of plain text in a whole record, and what a record adds to them (TLS 1.3: a head of 5, a tag of 16, and a byte). */
const RECORD = 16384;
const ADDED = 22;

/** How much plain text so many encrypted bytes hold, if records are full. */
export const plainLength = (encrypted: number): number => Math.max(0, encrypted - Math.ceil(encrypted / (RECORD + ADDED)) * ADDED);
