import { randomInt, X509Certificate } from 'node:crypto';
import type { PreparedStatement, Sql } from '../../shared/zone/kind.js';
import { nowPatiently } from '../../shared/zone/patience.js';
import { Outbox } from '../fleet/outbox.js';
import type { ReplicaChange, ReplicaValue, ReplicaZone } from '../fleet/replica-zone.js';
import type { Seals } from '../fleet/seals.js';
import type { CertificatePair } from './acme-zone.js';
import { belongTogether } from './state-folder.js';
import { TABLES } from './sync-ddl.js';

/** So long (milliseconds) an answer to a challenge stays where whoever put it there has died. */
const ANSWER_LIFE = 600_000;
/** The longest text that is taken over, sealed. */
const MAX_TEXT = 512 * 1024;
const TRIES = 1000;

/** What its owner is told. */
export interface ReplicaEvents {
  /** This machine changes the fleet's state, and does not follow it. */
  leads(): boolean;
  /** There is another certificate. */
  pair(id: string, pair: CertificatePair): void;
  /** There is another text among those that are kept. */
  kept(name: string, text: string): void;
  /** A text of the store is of no use; `foreign`: it is encrypted with a key that this machine does not have. */
  refused(key: string, why: string, foreign: boolean): void;
}

interface Table {
  readonly read: PreparedStatement<(string | number)[]>;
  readonly write: PreparedStatement<never>;
  readonly drop: PreparedStatement<never>;
  readonly keys: PreparedStatement<string>;
}

type Cells = (string | number)[];

const startOf = (chain: string): number => Date.parse(new X509Certificate(chain).validFrom);

/** The content of an ACME zone as the store has it: sealed, each row by itself. */
export class AcmeReplica implements ReplicaZone {
  readonly replicaName = 'acme';
  readonly outbox: Outbox;
  readonly #sql: Sql;
  readonly #seals: Seals;
  readonly #events: ReplicaEvents;
  readonly #tables: ReadonlyMap<string, Table>;

  constructor(sql: Sql, seals: Seals, events: ReplicaEvents) {
    this.#sql = sql;
    this.#seals = seals;
    this.#events = events;
    this.outbox = new Outbox(sql);
    this.#tables = new Map(
      Object.entries(TABLES).map(([table, [name, ...columns]]) => {
        const all = table === 'pairs' ? [name, 'version', ...columns] : [name, ...columns];
        return [
          table,
          {
            read: sql.prepare(`SELECT ${[...columns, name].join(', ')} FROM ${table} WHERE ${name} = ?`),
            write: sql.prepare(`INSERT OR REPLACE INTO ${table} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})`),
            drop: sql.prepare(`DELETE FROM ${table} WHERE ${name} = ?`),
            keys: sql.prepare(`SELECT ${name} FROM ${table}`),
          },
        ] as const;
      }),
    );
  }

  current(key: string): ReplicaValue | undefined {
    const [table, name] = split(key);
    const cells = this.#sql.read(() => this.#tables.get(table)?.read.get(name));
    const text = cells && this.#seals.seal(key, Buffer.from(JSON.stringify(cells.slice(0, -1))));
    return text === undefined ? undefined : { text, life: table === 'answers' ? ANSWER_LIFE : 0 };
  }

  replicaKeys(): readonly string[] {
    const all = (): string[] => [...this.#tables].flatMap(([table, { keys }]) => keys.all().map((name) => `${table} ${name}`));
    // Answers are for the moment.
    return (this.#sql.read(all) ?? []).filter((key) => !key.startsWith('answers '));
  }

  takeOver(changes: readonly ReplicaChange[]): void {
    let told: (() => void)[] = [];
    const work = (): void => {
      told = [];
      const leads = this.#events.leads();
      for (const { key, value } of changes) {
        if (leads && this.outbox.has(key)) {
          continue;
        }
        const then = value === undefined ? this.#remove(key, leads) : this.#put(key, value.text);
        if (then !== undefined) {
          told.push(then);
        }
      }
    };
    if (!nowPatiently(this.#sql, work, TRIES)) {
      throw new Error('the zone of ACME is held by another process');
    }
    for (const tell of told) {
      tell();
    }
  }

  /** What a machine could not get again stays where it is: certificates, accounts. For inside a transaction. */
  #remove(key: string, leads: boolean): undefined {
    const [table, name] = split(key);
    if (table === 'answers' || table === 'reports' || (table === 'kept' && name.endsWith('.order'))) {
      this.#tables.get(table)!.drop.run(name);
      this.outbox.forget(key);
    } else if (leads && this.#tables.has(table)) {
      this.outbox.note(key);
    }
    return undefined;
  }

  /** For inside a transaction. Gives what is to be told after it. */
  #put(key: string, text: string): (() => void) | undefined {
    const [table, name] = split(key);
    const known = this.#tables.get(table);
    const cells = known && this.#open(table, key, text);
    if (known === undefined || cells === undefined) {
      return undefined;
    }
    const present = known.read.get(name)?.slice(0, -1);
    if (present !== undefined && cells.every((cell, i) => cell === present[i])) {
      this.outbox.forget(key);
      return undefined;
    }
    if (table === 'pairs') {
      const pair = { chain: cells[0] as string, key: cells[1] as string };
      const why = whyNoPair(pair, present);
      if (why !== undefined) {
        this.#events.refused(key, why, false);
        return undefined;
      }
      known.write.run(name, randomInt(2 ** 48 - 1), pair.chain, pair.key);
      this.outbox.forget(key);
      return () => this.#events.pair(name, pair);
    }
    known.write.run(name, ...cells);
    this.outbox.forget(key);
    return table === 'kept' ? () => this.#events.kept(name, cells[0] as string) : undefined;
  }

  #open(table: string, key: string, text: string): Cells | undefined {
    const bytes = text.length > MAX_TEXT ? 'damaged' : this.#seals.open(key, text);
    if (typeof bytes === 'string') {
      const foreign = bytes === 'foreign';
      this.#events.refused(key, foreign ? 'it is encrypted with a key that this machine does not have' : 'it came to harm', foreign);
      return undefined;
    }
    const cells = JSON.parse(bytes.toString()) as Cells;
    return cells.length === TABLES[table]!.length - 1 ? cells : undefined;
  }
}

/** Why a certificate of the store is of no use; undefined where it is. An older one may have been put back by somebody. */
function whyNoPair(pair: CertificatePair, present: Cells | undefined): string | undefined {
  if (!belongTogether(pair)) {
    return 'it is no certificate with its key';
  }
  const known = present && { chain: String(present[0]), key: String(present[1]) };
  return known !== undefined && belongTogether(known) && startOf(known.chain) > startOf(pair.chain)
    ? 'it is older than the one that is in use'
    : undefined;
}

function split(key: string): readonly [table: string, name: string] {
  const space = key.indexOf(' ');
  return [key.slice(0, space), key.slice(space + 1)];
}
