// One class, because scripts see a dictionary as one object, and its statements are private to it.
import { replaceStateFile } from '../../shared/files/state-file.js';
import { byteText } from '../../shared/text/native-text.js';
import { setTimer } from '../../shared/time/timer.js';
import type { PreparedStatement, Sql, ZoneKind, ZoneStats } from '../../shared/zone/kind.js';
import { nowPatiently } from '../../shared/zone/patience.js';
import { slabCapacity, slabCost } from '../../shared/zone/slab.js';
import { crc32 } from '../digest/crc32.js';
import { noteKey, OUTBOX_DDL, Outbox } from '../fleet/outbox.js';
import type { ReplicaChange, ReplicaValue, ReplicaZone } from '../fleet/replica-zone.js';
import { type DictValue, dictStateText, type StateEntry, stateEntries, stateProblem } from './dict-state.js';
import { givenInteger, givenText } from './text.js';

/** What `js_shared_dict_zone` says of a dictionary. */
export interface DictData {
  readonly type: 'string' | 'number';
  /** Milliseconds that an entry lives; 0 for ever. */
  readonly timeout: number;
  /** A full dictionary forgets the oldest entries. */
  readonly evict: boolean;
  /** The complete path of a file that keeps the entries over restarts. */
  readonly state: string | undefined;
  /** The block that it stands in, whose scripts see it. */
  readonly protocol: 'http' | 'stream';
  /** All machines of a fleet have the entries. */
  readonly sync: boolean;
}

/** The dictionary is full. nginx: njs's SharedMemoryError. */
export class SharedMemoryError extends Error {
  override readonly name = 'SharedMemoryError';
}

type Value = DictValue;

/** Bytes that nginx stores beside key and value. */
const NODE = 64;
/** How often a zone that another process holds is asked for again: each time, SQLite waits a little itself. */
const TRIES = 2000;

// In nginx's order, by the checksum of the key. `state` has a row once the file of the state has been read.
const DDL =
  'CREATE TABLE IF NOT EXISTS dict (hash INTEGER, key TEXT, value ANY, expires REAL, cost INTEGER, PRIMARY KEY (hash, key)) WITHOUT ROWID, STRICT;' +
  'CREATE INDEX IF NOT EXISTS dict_expires ON dict (expires);' +
  'CREATE TABLE IF NOT EXISTS state (loaded INTEGER) STRICT;' +
  // What all entries take together: adding them up for each change would take longer the more there are.
  'CREATE TABLE IF NOT EXISTS taken (bytes INTEGER) STRICT;' +
  'INSERT INTO taken SELECT (SELECT CAST(total(cost) AS INTEGER) FROM dict) WHERE NOT EXISTS (SELECT 1 FROM taken);' +
  'CREATE TRIGGER IF NOT EXISTS dict_put AFTER INSERT ON dict BEGIN UPDATE taken SET bytes = bytes + new.cost; END;' +
  'CREATE TRIGGER IF NOT EXISTS dict_delete AFTER DELETE ON dict BEGIN UPDATE taken SET bytes = bytes - old.cost; END';

// An entry that has ended does so by itself everywhere.
const SYNC_DDL = `;${OUTBOX_DDL}
  CREATE TRIGGER IF NOT EXISTS dict_set AFTER INSERT ON dict BEGIN ${noteKey('new')} END;
  CREATE TRIGGER IF NOT EXISTS dict_gone AFTER DELETE ON dict WHEN old.expires IS NULL OR old.expires > unixepoch('subsec') * 1000
    BEGIN ${noteKey('old')} END;`;

/** How long changes wait before they are saved, in milliseconds. */
const SAVE_AFTER = 1000;

/** `ngx.shared.NAME`: values by key, exact over all workers. Each call is a transaction of its own. nginx: ngx_js_shared_dict.c. */
export class SharedDict {
  readonly #outbox: Outbox | undefined;
  readonly #name: string;
  readonly #capacity: number;
  readonly #type: DictData['type'];
  readonly #sql: Sql;
  readonly #data: DictData;
  readonly #room: number;
  readonly #get: PreparedStatement<[Value, number | null]>;
  readonly #put: PreparedStatement<never>;
  readonly #delete: PreparedStatement<never>;
  readonly #clear: PreparedStatement<never>;
  readonly #expire: PreparedStatement<never>;
  readonly #used: PreparedStatement<number>;
  readonly #count: PreparedStatement<number>;
  readonly #all: PreparedStatement<[string, Value, number | null]>;
  readonly #isLoaded: PreparedStatement<number>;
  readonly #setLoaded: PreparedStatement<never>;
  #saving: NodeJS.Timeout | undefined = undefined;
  #report: (message: string) => void = () => undefined;
  readonly #oldest: PreparedStatement<[number, string]>;

  constructor(sql: Sql, name: string, bytes: number, data: DictData) {
    this.#outbox = data.sync ? new Outbox(sql) : undefined;
    this.#name = name;
    this.#capacity = bytes;
    this.#type = data.type;
    this.#sql = sql;
    this.#data = data;
    this.#room = slabCapacity(bytes);
    this.#get = sql.prepare('SELECT value, expires FROM dict WHERE hash = ? AND key = ? AND (expires IS NULL OR expires > ?)');
    this.#put = sql.prepare('INSERT OR REPLACE INTO dict (hash, key, value, expires, cost) VALUES (?, ?, ?, ?, ?)');
    this.#delete = sql.prepare('DELETE FROM dict WHERE hash = ? AND key = ?');
    this.#clear = sql.prepare('DELETE FROM dict');
    this.#expire = sql.prepare('DELETE FROM dict WHERE expires <= ?');
    this.#used = sql.prepare('SELECT bytes FROM taken');
    this.#count = sql.prepare('SELECT count(*) FROM dict WHERE expires IS NULL OR expires > ?');
    this.#all = sql.prepare('SELECT key, value, expires FROM dict WHERE expires IS NULL OR expires > ? ORDER BY hash, key LIMIT ?');
    this.#oldest = sql.prepare('SELECT hash, key FROM dict ORDER BY expires LIMIT 16');
    this.#isLoaded = sql.prepare('SELECT loaded FROM state LIMIT 1');
    this.#setLoaded = sql.prepare('INSERT INTO state (loaded) VALUES (1)');
    showMembers(this);
  }

  /** The block whose scripts see it. */
  static protocolOf(dict: SharedDict): DictData['protocol'] {
    return dict.#data.protocol;
  }

  get name(): string {
    return this.#name;
  }

  get capacity(): number {
    return this.#capacity;
  }

  get type(): DictData['type'] {
    return this.#type;
  }

  toJSON(): object {
    return { capacity: this.#capacity, name: this.#name, type: this.#type };
  }

  get [Symbol.toStringTag](): string {
    return 'SharedDict';
  }

  get(key: unknown): Value | undefined {
    return this.#do(() => this.#get.get(hashOf(key), givenText(key), Date.now())?.[0]);
  }

  has(key: unknown): boolean {
    return this.#do(() => this.#get.get(hashOf(key), givenText(key), Date.now())) !== undefined;
  }

  /** Milliseconds that an entry still lives. */
  ttl(key: unknown): number | undefined {
    if (this.#data.timeout === 0) {
      throw new TypeError('shared dict must be declared with timeout');
    }
    return this.#do(() => {
      const now = Date.now();
      const expires = this.#get.get(hashOf(key), givenText(key), now)?.[1];
      return expires === undefined || expires === null ? undefined : Math.ceil(expires - now);
    });
  }

  set(key: unknown, value: unknown, timeout?: unknown): this {
    const entry = this.#entry(value, timeout);
    this.#change(() => this.#write(givenText(key), entry.value, entry.expires));
    return this;
  }

  add(key: unknown, value: unknown, timeout?: unknown): boolean {
    const entry = this.#entry(value, timeout);
    return this.#change(() => {
      if (this.#get.get(hashOf(key), givenText(key), Date.now()) !== undefined) {
        return false;
      }
      this.#write(givenText(key), entry.value, entry.expires);
      return true;
    });
  }

  replace(key: unknown, value: unknown, timeout?: unknown): boolean {
    const entry = this.#entry(value, timeout);
    return this.#change(() => {
      if (this.#get.get(hashOf(key), givenText(key), Date.now()) === undefined) {
        return false;
      }
      this.#write(givenText(key), entry.value, entry.expires);
      return true;
    });
  }

  incr(key: unknown, delta: unknown, initial?: unknown, timeout?: unknown): number {
    if (this.type !== 'number') {
      throw new TypeError('shared dict is not a number dict');
    }
    const step = numberOf(delta, 'delta');
    const first = initial === undefined ? 0 : numberOf(initial, 'init value');
    const { expires } = this.#entry(0, timeout);
    return this.#change(() => {
      const known = this.#get.get(hashOf(key), givenText(key), Date.now());
      const value = Number(known?.[0] ?? first) + step;
      this.#write(givenText(key), value, timeout === undefined && known !== undefined ? known[1] : expires);
      return value;
    });
  }

  pop(key: unknown): Value | undefined {
    return this.#change(() => {
      const value = this.#get.get(hashOf(key), givenText(key), Date.now())?.[0];
      this.#delete.run(hashOf(key), givenText(key));
      return value;
    });
  }

  delete(key: unknown): boolean {
    return this.#change(() => {
      const known = this.#get.get(hashOf(key), givenText(key), Date.now()) !== undefined;
      this.#delete.run(hashOf(key), givenText(key));
      return known;
    });
  }

  clear(): void {
    this.#change(() => this.#clear.run());
  }

  size(): number {
    return this.#do(() => this.#count.one(Date.now()));
  }

  keys(...most: unknown[]): string[] {
    return this.#do(() => this.#all.all(Date.now(), mostOf(most)).map(([key]) => key));
  }

  items(...most: unknown[]): [string, Value][] {
    return this.#do(() => this.#all.all(Date.now(), mostOf(most)).map(([key, value]) => [key, value]));
  }

  freeSpace(): number {
    return this.#do(() => Math.max(0, this.#room - this.#used.one()));
  }

  stats(): ZoneStats {
    const read = this.#sql.read(() => ({ entries: this.#count.one(Date.now()), used: this.#used.one() }));
    return { entries: read?.entries ?? 0, used: read?.used ?? 0, evictions: 0, rejections: 0 };
  }

  /**
   * Reads the entries that the file of the state has, if no worker has before; to be called once a worker has begun. `report` is told of
   * what cannot be read or written. nginx: ngx_js_dict_init_zone.
   */
  restore(report: (message: string) => void): void {
    this.#report = report;
    const { state, timeout } = this.#data;
    if (state === undefined) {
      return;
    }
    this.#do(() => {
      if (this.#isLoaded.get() !== undefined) {
        return;
      }
      this.#setLoaded.run();
      const now = Date.now();
      for (const { key, value, expire } of this.#readState(state)) {
        const expires = timeout === 0 ? null : expire === 0 ? now + timeout : expire;
        if (expires === null || expires > now) {
          this.#write(key, value, expires);
        }
      }
      this.#saveSoon();
    });
  }

  /** The dictionary as the machines of a fleet keep it the same; undefined for one of this machine alone. */
  replica(): ReplicaZone | undefined {
    const outbox = this.#outbox;
    return outbox === undefined
      ? undefined
      : {
          replicaName: `js:${this.#name}`,
          outbox,
          current: (key) => this.#current(key),
          takeOver: (changes) => this.#do(() => this.#takeOver(changes, outbox)),
          replicaKeys: () => this.#do(() => this.#all.all(Date.now(), -1).map(([key]) => key)),
        };
  }

  #current(key: string): ReplicaValue | undefined {
    const row = this.#sql.read(() => this.#get.get(hashOf(key), key, Date.now()));
    const life = row === undefined || row[1] === null ? 0 : Math.max(1, Math.ceil(row[1] - Date.now()));
    return row === undefined ? undefined : { text: String(row[0]), life };
  }

  #takeOver(changes: readonly ReplicaChange[], outbox: Outbox): void {
    for (const { key, value } of changes) {
      if (outbox.has(key)) {
        continue;
      }
      const given = value === undefined || this.#type === 'string' ? value?.text : Number(value.text);
      if (given === undefined || Number.isNaN(given)) {
        this.#delete.run(hashOf(key), key);
      } else {
        try {
          this.#write(key, given, value!.life === 0 ? null : Date.now() + value!.life);
        } catch (error) {
          if (!(error instanceof SharedMemoryError)) {
            throw error;
          }
          this.#report(`shared dict zone "${this.#name}" has no room for all entries of the shared store`);
        }
      }
      outbox.forget(key);
    }
    this.#saveSoon();
  }

  #readState(file: string): readonly StateEntry[] {
    try {
      return stateEntries(this.name, file, this.#type);
    } catch (error) {
      this.#report(stateProblem(error));
      return [];
    }
  }

  #saveSoon(): void {
    if (this.#data.state !== undefined && this.#saving === undefined) {
      this.#saving = setTimer(() => this.save(), SAVE_AFTER);
      this.#saving.unref();
    }
  }

  /** Writes the entries to the file of the state if they have changed in this worker. nginx: ngx_js_dict_save. */
  save(): void {
    const { state } = this.#data;
    if (state === undefined || this.#saving === undefined) {
      return;
    }
    clearTimeout(this.#saving);
    this.#saving = undefined;
    const write = (): void => replaceStateFile(state, Buffer.from(dictStateText(this.#all.all(Date.now(), -1))), { onDisk: 'after' });
    try {
      // In the transaction: else what another worker has written meanwhile, which is newer, could be replaced by this.
      this.#do(write);
    } catch (error) {
      this.#report(`failed to save the state of shared dict zone "${this.name}": ${(error as Error).message}`);
    }
  }

  #change<T>(work: () => T): T {
    const result = this.#do(work);
    this.#saveSoon();
    return result;
  }

  #entry(value: unknown, timeout: unknown): { readonly value: Value; readonly expires: number | null } {
    if (typeof value !== this.type || Number.isNaN(value)) {
      throw new TypeError(`${this.type} value is expected`);
    }
    const life = timeout === undefined ? this.#data.timeout : numberOf(timeout, 'timeout');
    if (timeout !== undefined && this.#data.timeout === 0) {
      throw new TypeError('shared dict must be declared with timeout');
    }
    if (timeout !== undefined && !(life >= 1)) {
      throw new TypeError('timeout must be greater than or equal to 1');
    }
    return { value: value as Value, expires: life === 0 ? null : Date.now() + life };
  }

  #write(key: string, value: Value, expires: number | null): void {
    const cost = slabCost(NODE + Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0));
    const hash = hashOf(key);
    this.#delete.run(hash, key);
    if (this.#used.one() + cost > this.#room) {
      this.#expire.run(Date.now());
      this.#makeRoom(cost);
    }
    this.#put.run(hash, key, value, expires, cost);
  }

  #makeRoom(cost: number): void {
    while (this.#used.one() + cost > this.#room) {
      const oldest = this.#data.evict ? this.#oldest.all() : [];
      if (oldest.length === 0) {
        throw new SharedMemoryError('out of shared memory');
      }
      for (const [hash, key] of oldest) {
        this.#delete.run(hash, key);
      }
    }
  }

  /** Runs a transaction, waiting for other processes that hold the zone. What it throws is thrown on, and changes nothing. */
  #do<T>(work: () => T): T {
    let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
    const guarded = (): void => {
      try {
        outcome = { value: work() };
      } catch (error) {
        outcome = { error };
      }
    };
    nowPatiently(this.#sql, guarded, TRIES);
    if (outcome === undefined) {
      throw new SharedMemoryError('the shared dictionary is held by another process');
    }
    if ('error' in outcome) {
      throw outcome.error;
    }
    return outcome.value;
  }
}

/** What scripts find in a dictionary: as in njs, members of its own. */
const MEMBERS = 'add capacity clear freeSpace delete incr items get has keys name pop replace set size ttl type'.split(' ');

function showMembers(dict: SharedDict): void {
  for (const name of MEMBERS) {
    const value = dict[name as keyof SharedDict];
    Object.defineProperty(dict, name, {
      value,
      enumerable: true,
      writable: typeof value === 'function',
      configurable: typeof value === 'function',
    });
  }
}

/** How many entries a script wants to see: 1024 unless told. @throws TypeError for what is no number. */
function mostOf(given: readonly unknown[]): number {
  return given.length === 0 ? 1024 : givenInteger(given[0]);
}

/** A number of a script's; NaN is none, which would spoil what it is added to. */
function numberOf(value: unknown, what: string): number {
  if (typeof value !== 'number' || Number.isNaN(value)) {
    throw new TypeError(`${what} is not a number`);
  }
  return value;
}
const hashOf = (key: unknown): number => crc32(byteText(givenText(key)));

/** The zones of `js_shared_dict_zone`. */
export const dictKind: ZoneKind<SharedDict, DictData> = {
  id: 'js_shared_dict',
  ddl: DDL,
  moreDdl: (data) => (data?.sync ? SYNC_DDL : ''),
  open: (sql, zone) => new SharedDict(sql, zone.name, zone.bytes, zone.data!),
  stats: (dict) => dict.stats(),
  // nginx: ngx_js_dict_init_zone.
  conflict(name, before, after) {
    if (after.timeout > 0 && before.timeout === 0) {
      return `js_shared_dict_zone "${name}" uses timeout ${after.timeout} while previously it did not use timeout`;
    }
    return after.type === before.type ? undefined : `js_shared_dict_zone "${name}" had previously a different type`;
  },
};
