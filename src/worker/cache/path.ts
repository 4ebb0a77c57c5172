/**
 * The path of a cache file: its name is the digest of the key, its folders are cut from the digest's end. nginx:
 * ngx_create_hashed_filename.
 */
export function cacheFilePath(folder: string, levels: readonly number[], hash: string): string {
  let path = folder;
  let end = hash.length;
  for (let i = 0; i < levels.length; i++) {
    const start = end - levels[i]!;
    path += `/${hash.slice(start, end)}`;
    end = start;
  }
  return `${path}/${hash}`;
}

/** Whether a file of a cache folder is an entry. */
export const isEntryName = (name: string): boolean => name.length === 32 && /^[0-9a-f]{32}$/.test(name);

/** The name of a file that is still being written; the process's number in it tells a later start whether it was left behind. */
export const tempName = (hash: string, pid: number, n: number): string => `${hash}.${pid}.${n}.tmp`;

/** The number of the process that wrote a temporary file of the cache; undefined for any other file. */
export function tempOwner(name: string): number | undefined {
  const found = /^[0-9a-f]{32}\.(\d+)\.\d+\.tmp$/.exec(name);
  return found === null ? undefined : Number(found[1]);
}
