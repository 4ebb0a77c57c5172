/** What is purged: entries of a key, or of all keys that begin so, that are not younger than a time (milliseconds). */
export interface Purge {
  readonly what: 'key' | 'prefix';
  readonly text: string;
  readonly at: number;
}

/** A purge as machines tell each other of it. */
export const purgeText = (what: Purge['what'], text: string): string => `${what} ${text}`;

/** The reverse; undefined for a text of another version. */
export function purgeOf(line: string, at: number): Purge | undefined {
  const space = line.indexOf(' ');
  const what = line.slice(0, space);
  return what === 'key' || what === 'prefix' ? { what, text: line.slice(space + 1), at } : undefined;
}
