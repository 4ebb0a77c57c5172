import { OUTBOX_DDL } from '../fleet/outbox.js';

/** The tables that the fleet shares, with the columns that name their rows and those that are told. */
export const TABLES: Readonly<Record<string, readonly [name: string, ...columns: string[]]>> = {
  pairs: ['id', 'chain', 'key'],
  answers: ['name', 'answer', 'key'],
  kept: ['name', 'text'],
  reports: ['id', 'issuer', 'identifiers', 'state', 'notAfter', 'next', 'fails', 'error'],
};

const trigger = (table: string, event: 'INSERT' | 'UPDATE' | 'DELETE'): string => {
  const row = event === 'DELETE' ? 'old' : 'new';
  return `CREATE TRIGGER IF NOT EXISTS note_${table}_${event.toLowerCase()} AFTER ${event} ON ${table} BEGIN
    INSERT OR REPLACE INTO outbox (key) VALUES ('${table} ' || ${row}.${TABLES[table]![0]}); END;`;
};

/** What a zone has besides whose content is the fleet's. */
export const ACME_SYNC_DDL: string =
  OUTBOX_DDL +
  Object.keys(TABLES)
    .map((table) => (['INSERT', 'UPDATE', 'DELETE'] as const).map((event) => trigger(table, event)).join(''))
    .join('');
