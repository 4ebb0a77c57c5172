/** What a table has under a name that somebody else gives; undefined for `constructor` and the like, which every object has. */
export const ownValue = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
