import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

/** What can come to a zone's file, given its path. */
export type ZoneHarms = Readonly<Record<string, (path: string) => void>>;

/** The newest file of each zone in a service's folder; those alone whose name begins so. */
export function zoneFiles(run: string, begin = ''): string[] {
  const newest = new Map<string, [number: number, name: string]>();
  for (const name of readdirSync(run)) {
    const [, zone, number] = /^(.*)\.(\d+)$/.exec(name) ?? [];
    if (zone?.startsWith(begin) && Number(number) >= (newest.get(zone)?.[0] ?? 0)) {
      newest.set(zone, [Number(number), name]);
    }
  }
  return [...newest.values()].map(([, name]) => join(run, name));
}

/** Does it, unless a worker has just replaced the file: it may have found the harm done so far. */
function whileThere(work: () => void): void {
  try {
    work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw error;
    }
  }
}

/** Harm to whole files. */
export const fileHarms: ZoneHarms = {
  removed: (path) => whileThere(() => rmSync(path)),
  emptied: (path) =>
    whileThere(() => {
      truncateSync(path, 0);
      truncateSync(`${path}-wal`, 0);
    }),
  overwritten: (path) =>
    whileThere(() => {
      for (const [file, byte] of [
        [path, 0xa5],
        [`${path}-wal`, 0x5a],
      ] as const) {
        truncateSync(file, 0);
        writeFileSync(file, Buffer.alloc(20_000, byte), { flag: 'r+' });
      }
    }),
};

const tables = (db: Database.Database): string[] =>
  db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").pluck().all() as string[];
const columns = (db: Database.Database, table: string): string[] =>
  (db.pragma(`table_info(${table})`) as { readonly name: string; readonly pk: number }[])
    .filter(({ pk }) => pk === 0)
    .map(({ name }) => name);

/**
 * Opens the file as another process of the service would, and waits for its lock: one that has read cannot write once another process has
 * written. One that an earlier harm has made useless, and nobody has met since, stays.
 */
const inside = (harm: (db: Database.Database) => void) => (path: string) => {
  const db = new Database(path, { timeout: 5000 });
  try {
    db.transaction(harm).immediate(db);
  } catch (error) {
    if (!/^SQLITE_(IOERR|CORRUPT|NOTADB)/.test((error as { readonly code: string }).code)) {
      throw error;
    }
  } finally {
    db.close();
  }
};

const setAll = (value: string) =>
  inside((db) => {
    for (const table of tables(db)) {
      for (const column of columns(db, table)) {
        try {
          db.exec(`UPDATE OR IGNORE ${table} SET ${column} = ${value}`);
        } catch {
          // The table takes values of one type only.
        }
      }
    }
  });

/** Runs a statement for each table, whose name stands for `%`. */
const eachTable = (statement: string) =>
  inside((db) => {
    for (const table of tables(db)) {
      db.exec(statement.replaceAll('%', table));
    }
  });

/** Harm that leaves a sound database. */
export const insideHarms: ZoneHarms = {
  'bytes of odd length': setAll("x'0102030405'"),
  'numbers that are none': setAll("x'ffffffffffffffff'"),
  'cut JSON': setAll(`'{"added":['`),
  'other JSON': setAll(`'{"added":[{}],"removed":[],"last":1,"addresses":[{}],"validUntil":1}'`),
  nothing: setAll('NULL'),
  'no rows': eachTable('DELETE FROM %'),
  'other columns': eachTable('DROP TABLE %; CREATE TABLE % (something TEXT)'),
  'no keys': eachTable('CREATE TABLE harmed AS SELECT * FROM %; DROP TABLE %; ALTER TABLE harmed RENAME TO %'),
  'no tables': eachTable('DROP TABLE %'),
};
