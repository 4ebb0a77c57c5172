/** The name under which errors of one reason in one location are counted. Neither has a line feed in it. */
export const reasonName = (reason: string, path: string): string => (path === '' ? reason : `${reason}\n${path.replaceAll('\n', ' ')}`);

/** The reason and the location's path; the path is empty where no location was chosen yet. */
export function partsOfReason(name: string): readonly [reason: string, path: string] {
  const end = name.indexOf('\n');
  return end === -1 ? [name, ''] : [name.slice(0, end), name.slice(end + 1)];
}
