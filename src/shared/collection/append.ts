/**
 * A list with one more item, as long as it needs to be: `[...list, item]` has room for sixteen more, and settings have lists of one or
 * two items by the ten thousand.
 */
export const append = <T>(list: readonly T[] | null | undefined, item: T): T[] => list?.concat([item]) ?? [item];
