/**
 * Bytes that are read, and passed on, at a time. The kernel sends at most 64 KB with their head as one segment: 64 KB leave as one that is
 * full and one of a few bytes, which costs as much again.
 */
export const SEGMENT: number = 60 * 1024;
