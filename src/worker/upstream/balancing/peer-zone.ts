import type { PreparedStatement, Sql, TransactionHooks, ZoneKind, ZoneRef, ZoneStats } from '../../../shared/zone/kind.js';
import { monotonicMs } from '../../../shared/zone/monotonic.js';
import { countsOf, floatsOf, rowBytes } from '../../../shared/zone/row-bytes.js';
import { applyMembership, type Membership, membershipOf, NO_CHANGES } from './membership.js';
import type { Peer, PeerSet } from './peer.js';

/** The numbers of a peer that workers share, in the order they are stored. */
const FIELDS = [
  'effectiveWeight',
  'currentWeight',
  'fails',
  'accessed',
  'checked',
  'recoveredAt',
  'headerTime',
  'responseTime',
  'inflightTime',
  'inflightLast',
  'inflightChanged',
  'inflightRequests',
  'health',
  'down',
  'weight',
  'maxConns',
  'maxFails',
  'failTimeout',
  'slowStart',
] as const satisfies readonly (keyof Peer)[];

/** Places of peers that are gone are cleared when there are so many more of them than peers. */
const SPARE_PLACES = 64;

/**
 * `leads` names the worker that does the work which one worker does for all. `state` holds {@link FIELDS} of each peer in the order of
 * `keys`,
 * `held` one worker's connections to them in the same order.
 */
const DDL = `CREATE TABLE IF NOT EXISTS groups (name TEXT PRIMARY KEY, keys TEXT, state BLOB) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS held (name TEXT, worker INTEGER, conns BLOB, PRIMARY KEY (name, worker)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS members (name TEXT PRIMARY KEY, version INTEGER, text TEXT) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS leads (name TEXT PRIMARY KEY, worker INTEGER, until INTEGER) WITHOUT ROWID;`;

interface Statements {
  readonly read: PreparedStatement<[string, Uint8Array]>;
  readonly write: PreparedStatement<never>;
  readonly readHeld: PreparedStatement<[number, Uint8Array]>;
  readonly writeHeld: PreparedStatement<never>;
  readonly dropHeld: PreparedStatement<never>;
  readonly membersVersion: PreparedStatement<number>;
  readonly readMembers: PreparedStatement<string>;
  readonly writeMembers: PreparedStatement<never>;
  readonly readLead: PreparedStatement<[number, number]>;
  readonly writeLead: PreparedStatement<never>;
  readonly bytes: PreparedStatement<[number, number]>;
}

/** The `zone` of one or several groups. */
export class PeerZone {
  readonly sql: Sql;
  readonly worker: number;
  readonly statements: Statements;

  constructor(sql: Sql, worker: number) {
    this.sql = sql;
    this.worker = worker;
    this.statements = {
      read: sql.prepare('SELECT keys, state FROM groups WHERE name = ?'),
      write: sql.prepare('INSERT OR REPLACE INTO groups VALUES (?, ?, ?)'),
      readHeld: sql.prepare('SELECT worker, conns FROM held WHERE name = ?'),
      writeHeld: sql.prepare('INSERT OR REPLACE INTO held VALUES (?, ?, ?)'),
      dropHeld: sql.prepare('DELETE FROM held WHERE name = ?'),
      membersVersion: sql.prepare('SELECT version FROM members WHERE name = ?'),
      readMembers: sql.prepare('SELECT text FROM members WHERE name = ?'),
      writeMembers: sql.prepare('INSERT OR REPLACE INTO members VALUES (?, ?, ?)'),
      readLead: sql.prepare('SELECT worker, until FROM leads WHERE name = ?'),
      writeLead: sql.prepare('INSERT OR REPLACE INTO leads VALUES (?, ?, ?)'),
      bytes: sql.prepare(
        `SELECT count(*), CAST(total(length(keys) + length(state)) AS INTEGER)
          + (SELECT CAST(total(length(conns)) AS INTEGER) FROM held) + (SELECT CAST(total(length(text)) AS INTEGER) FROM members) FROM groups`,
      ),
    };
  }

  /** The groups in it, and the bytes of what is stored of them. */
  stats(): ZoneStats {
    const [entries, used] = this.statements.bytes.get() ?? [0, 0];
    return { entries, used, evictions: 0, rejections: 0 };
  }

  /** Takes or keeps a group's lead for so many milliseconds, unless another worker has it. For inside a transaction. */
  lead(name: string, ms: number): boolean {
    const now = monotonicMs();
    const [holder, until] = this.statements.readLead.get(name) ?? [this.worker, 0];
    if (holder !== this.worker && until > now) {
      return false;
    }
    this.statements.writeLead.run(name, this.worker, Math.ceil(now + ms));
    return true;
  }
}

export type PeerZoneRef = ZoneRef<PeerZone, undefined>;

/** Backends' standing, shared by the workers of one configuration. nginx: ngx_http_upstream_zone_module. */
export const peerZone: ZoneKind<PeerZone, undefined> = {
  id: 'upstream',
  ddl: DDL,
  noreuse: true,
  open: (sql, _zone, worker) => new PeerZone(sql, worker),
  stats: (zone) => zone.stats(),
  release(sql, worker) {
    sql.prepare('DELETE FROM held WHERE worker = ?').run(worker);
    sql.prepare('DELETE FROM leads WHERE worker = ?').run(worker);
  },
};

/**
 * Brings the peers of a group in line with the zone inside each transaction that asks for it, and stores what the transaction
 * made of them. Outside of transactions the peers are as this worker saw them last.
 */
export class SharedPeers implements TransactionHooks {
  readonly #zone: PeerZone;
  readonly #set: PeerSet;
  #version = -1;
  /** Peers by their place in the zone; undefined for those that only other workers have. */
  #places: (Peer | undefined)[] = [];
  #keys = '';
  #loaded = false;
  /** The `epoch` of the tables in which this worker last looked for the members. */
  #epoch = -1;
  /** Which change of the members this worker knows. */
  #members = 0;
  /** What the members became by it. */
  #membership: Membership = NO_CHANGES;
  /** The members as of the latest transaction that was committed. */
  #keptMembers = 0;
  #keptMembership: Membership = NO_CHANGES;
  /** Connections of the other workers by place. */
  #others: Uint32Array = new Uint32Array(0);
  /** This worker's connections by place, as the transaction leaves them. */
  #held: Uint32Array = new Uint32Array(0);
  /** What this worker held before the transaction. */
  #heldBefore: Uint32Array = new Uint32Array(0);
  #stateBefore: Float64Array = new Float64Array(0);
  /** The zone does not have all places yet, or has too many. */
  #misplaced = false;

  constructor(zone: PeerZone, set: PeerSet) {
    this.#zone = zone;
    this.#set = set;
    zone.sql.hook(this);
  }

  begin(): void {
    this.#loaded = false;
    if (this.#members !== this.#keptMembers) {
      // The transaction before was rolled back.
      this.#members = this.#keptMembers;
      this.#membership = this.#keptMembership;
      applyMembership(this.#set, this.#membership);
    }
  }

  /** Reads the group's state. For inside a transaction; the first call in it does the work. */
  load(): void {
    if (this.#loaded) {
      return;
    }
    this.#loaded = true;
    const { statements, worker } = this.#zone;
    const name = this.#set.name;
    this.#loadMembers();
    const row = statements.read.get(name);
    const stored = floatsOf(row?.[1]);
    // A row that came to harm is none: it is written again from what this worker knows.
    const sound =
      row !== undefined && typeof row[0] === 'string' && stored.length === placesIn(row[0]) * FIELDS.length && areStates(stored);
    const keys = sound ? row[0] : '';
    let state = sound ? stored : new Float64Array(0);
    if (!sound || keys !== this.#keys || this.#version !== this.#set.config.version) {
      state = this.#place(keys, state);
    }
    const places = this.#places;
    const others = new Uint32Array(places.length);
    for (const [holder, bytes] of statements.readHeld.all(name)) {
      if (holder === worker) {
        continue;
      }
      const conns = countsOf(bytes);
      for (let i = 0; i < conns.length && i < others.length; i++) {
        others[i]! += conns[i]!;
      }
    }
    this.#others = others;
    const before = new Float64Array(places.length * FIELDS.length);
    before.set(state.subarray(0, before.length));
    // Another worker has changed what the balancing method adds up.
    let recount = false;
    for (let i = 0; i < places.length; i++) {
      const peer = places[i];
      if (peer === undefined) {
        continue;
      }
      peer.conns = others[i]! + this.#heldBefore[i]!;
      const at = i * FIELDS.length;
      // A place that no worker has stored anything for.
      if (at >= state.length) {
        continue;
      }
      const { down, weight } = peer;
      for (let field = 0; field < FIELDS.length; field++) {
        peer[FIELDS[field]!] = state[at + field]!;
      }
      if (peer.down !== down || peer.weight !== weight) {
        recount = true;
      }
    }
    if (recount) {
      this.#set.count();
      this.#set.backup?.count();
    }
    this.#stateBefore = before;
    this.#misplaced = state.length !== before.length || this.#keys !== keys;
  }

  /** Brings the peers in line with the latest change of the members. */
  #loadMembers(): void {
    const { statements } = this.#zone;
    const { name } = this.#set;
    const found = statements.membersVersion.get(name) ?? 0;
    const members = Number.isSafeInteger(found) && found < Number.MAX_SAFE_INTEGER ? found : 0;
    const { epoch } = this.#zone.sql;
    // In another file the same number may stand for another change: two workers may have made one each after the last file was left.
    const isOther = epoch !== this.#epoch && members > 0;
    this.#epoch = epoch;
    if (members > this.#members || (members === this.#members && isOther)) {
      const membership = membershipOf(statements.readMembers.get(name));
      this.#members = members;
      if (membership !== undefined) {
        this.#membership = membership;
        applyMembership(this.#set, membership);
        return;
      }
      // It came to harm. What this worker knows takes its place, as a change of which the others hear.
      this.#members++;
    } else if (members === this.#members) {
      return;
    }
    // Otherwise the zone is another one than before: it begins with what this worker knows.
    statements.writeMembers.run(name, this.#members, JSON.stringify(this.#membership));
  }

  /** Adds or removes peers, for all workers. For inside a transaction, after {@link load}. */
  changeMembers(membership: Membership): void {
    this.#members++;
    this.#membership = membership;
    this.#zone.statements.writeMembers.run(this.#set.name, this.#members, JSON.stringify(membership));
    applyMembership(this.#set, membership);
  }

  /** Finds the places of the peers, after the peers or the places changed. Returns the state in the order of the places. */
  #place(keys: string, state: Float64Array): Float64Array {
    const own = keyed(this.#set);
    const known = keys === '' ? [] : keys.split('\n');
    const wasHeld = new Map<Peer, number>();
    for (const [i, peer] of this.#places.entries()) {
      if (peer !== undefined) {
        wasHeld.set(peer, this.#heldBefore[i]!);
      }
    }
    const added = [...own.keys()].filter((key) => !known.includes(key));
    let stored = state;
    let all = [...known, ...added];
    if (known.length > 2 * own.size + SPARE_PLACES) {
      // The other workers store what they hold again with their next transaction.
      this.#zone.statements.dropHeld.run(this.#set.name);
      all = all.filter((key) => own.has(key));
      const packed = new Float64Array(all.filter((key) => known.includes(key)).length * FIELDS.length);
      let at = 0;
      for (const key of all) {
        const from = known.indexOf(key) * FIELDS.length;
        if (from < 0) {
          continue;
        }
        packed.set(state.subarray(from, from + FIELDS.length), at);
        at += FIELDS.length;
      }
      stored = packed;
    }
    this.#places = all.map((key) => own.get(key));
    this.#keys = all.join('\n');
    this.#version = this.#set.config.version;
    this.#heldBefore = new Uint32Array(all.length);
    for (const [i, peer] of this.#places.entries()) {
      this.#heldBefore[i] = peer === undefined ? 0 : (wasHeld.get(peer) ?? 0);
    }
    return stored;
  }

  end(): void {
    if (!this.#loaded) {
      return;
    }
    const { statements, worker } = this.#zone;
    const places = this.#places;
    const state = new Float64Array(places.length * FIELDS.length);
    state.set(this.#stateBefore);
    const held = new Uint32Array(places.length);
    for (let i = 0; i < places.length; i++) {
      const peer = places[i];
      if (peer === undefined) {
        continue;
      }
      held[i] = Math.max(peer.conns - this.#others[i]!, 0);
      for (let field = 0; field < FIELDS.length; field++) {
        state[i * FIELDS.length + field] = peer[FIELDS[field]!];
      }
    }
    this.#held = held;
    if (this.#misplaced || !same(state, this.#stateBefore)) {
      statements.write.run(this.#set.name, this.#keys, rowBytes(state));
    }
    statements.writeHeld.run(this.#set.name, worker, rowBytes(held));
  }

  committed(): void {
    if (this.#loaded) {
      this.#heldBefore = this.#held;
      this.#keptMembers = this.#members;
      this.#keptMembership = this.#membership;
    }
  }
}

const DOWN = FIELDS.indexOf('down');
const WEIGHT = FIELDS.indexOf('weight');

/** Whether these numbers can be states of peers: bytes of anything else are numbers, too. */
function areStates(numbers: Float64Array): boolean {
  for (let at = 0; at < numbers.length; at += FIELDS.length) {
    const down = numbers[at + DOWN]!;
    const weight = numbers[at + WEIGHT]!;
    if (down >>> 0 !== down || weight >>> 0 !== weight) {
      return false;
    }
  }
  return true;
}

/** How many places these keys name. */
const placesIn = (keys: string): number => (keys === '' ? 0 : keys.split('\n').length);

/** Peers by what they are known by in all workers: the set, the address, and which of several lines with it. */
function keyed(set: PeerSet): Map<string, Peer> {
  const all = new Map<string, Peer>();
  for (const [which, peers] of [set.peers, set.backup?.peers ?? []].entries()) {
    for (const peer of peers) {
      // One that comes back does not take over what was known of the one that was removed.
      const first = `${which} ${peer.name}${peer.added ? ` #${peer.serial}` : ''}`;
      let key = first;
      for (let n = 2; all.has(key); n++) {
        key = `${first} ${n}`;
      }
      all.set(key, peer);
    }
  }
  return all;
}

function same(a: Float64Array, b: Float64Array): boolean {
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i]) {
      return false;
    }
  }
  return true;
}
