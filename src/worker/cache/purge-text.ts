/**
 * What is purged: entries of a key, of all keys that begin so, or with a tag, that are not younger than a time (milliseconds). `soft`: they
 * stay, and are stale from then on.
 */
export interface Purge {
  readonly what: 'key' | 'prefix' | 'tag';
  readonly text: string;
  readonly soft: boolean;
  readonly at: number;
}

/** A purge as machines tell each other of it. */
export const purgeText = ({ what, text, soft }: Omit<Purge, 'at'>): string => `${soft ? 'soft-' : ''}${what} ${text}`;

/** The reverse; undefined for a text of another version. */
export function purgeOf(line: string, at: number): Purge | undefined {
  const space = line.indexOf(' ');
  const word = line.slice(0, space);
  const soft = word.startsWith('soft-');
  const what = soft ? word.slice(5) : word;
  return what === 'key' || what === 'prefix' || what === 'tag' ? { what, text: line.slice(space + 1), soft, at } : undefined;
}
