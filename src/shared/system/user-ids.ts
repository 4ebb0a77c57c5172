import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The numeric id of a user, by name; undefined when there is none. nginx: getpwnam. */
export function idOfUser(name: string): number | undefined {
  return idOf('passwd', name);
}

/** The numeric id of a group, by name; undefined when there is none. nginx: getgrnam. */
export function groupId(name: string): number | undefined {
  return idOf('group', name);
}

function idOf(database: 'passwd' | 'group', name: string): number | undefined {
  // A machine that lists no users has one nevertheless.
  return idIn(fileText(`/etc/${database}`), name) ?? idIn(directoryText(database, name), name) ?? (name === 'root' ? 0 : undefined);
}

function idIn(entries: string, name: string): number | undefined {
  for (const line of entries.split('\n')) {
    const [entry, , id] = line.split(':');
    if (entry === name && id !== undefined && /^\d+$/.test(id)) {
      return Number(id);
    }
  }
  return undefined;
}

function fileText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Asks the system's other sources (LDAP and the like), which only the C library can reach. */
function directoryText(database: string, name: string): string {
  // Programs cannot be asked about a NUL.
  if (name.includes('\0')) {
    return '';
  }
  return spawnSync('getent', [database, '--', name], { encoding: 'latin1' }).stdout ?? '';
}
