import type { Logger } from '../../../shared/log/error-log.js';
import { WARN } from '../../../shared/log/level.js';
import type { ZoneJob } from '../../../shared/zone/kind.js';
import { monotonicMs } from '../../../shared/zone/monotonic.js';
import { md5Hex } from '../../digest/md5.js';
import type { StickySession, StickyZone } from './zone.js';

/** A use of a session is stored when the stored one is older than this part of the timeout. */
const GRAIN = 100;

/** What the workers know of the sessions of one group. */
export class Sessions {
  readonly zone: StickyZone;
  readonly #name: string;
  readonly #log: Logger;
  /** What this worker has learned, but not stored yet. */
  readonly #learned = new Map<string, Learn>();

  constructor(zone: StickyZone, name: string, log: Logger) {
    this.zone = zone;
    this.#name = name;
    this.#log = log;
  }

  /** The key of a session's name. nginx: ngx_http_upstream_sticky_sess_init_key. */
  key(id: string): string {
    return md5Hex(id);
  }

  /** What is known of a session. Costs one read; the other requests of the tick need no lock. */
  find(key: string): StickySession | undefined {
    const learned = this.#learned.get(key);
    if (learned?.create) {
      return { sid: learned.sid, last: monotonicMs() };
    }
    return this.zone.sql.read(() => this.zone.find(key));
  }

  /**
   * Binds a session to a server. `before` is what {@link find} returned, if it was called. A new session is stored at once, so that the
   * client finds it in every worker once it has the response; a use is recorded at the end of the tick.
   */
  learn(key: string, sid: string, create: boolean, before: StickySession | undefined): void {
    const { sql, timeout } = this.zone;
    if (before === undefined && !create && this.find(key) === undefined) {
      return;
    }
    const stays = before?.sid === sid;
    if (stays && monotonicMs() - before.last < timeout / GRAIN) {
      return;
    }
    const job = new Learn(this, key, sid, create);
    if (!stays && sql.now(() => job.work())) {
      job.after();
      return;
    }
    this.#learned.set(key, job);
    sql.submit(job);
  }

  stored(job: Learn, fitted: boolean): void {
    if (this.#learned.get(job.key) === job) {
      this.#learned.delete(job.key);
    }
    if (fitted) {
      return;
    }
    this.#log.log(WARN, `could not allocate node in sticky session zone "${this.#name}", expiring least recently used session`);
  }
}

/** Stores what was learned. */
class Learn implements ZoneJob {
  readonly #sessions: Sessions;
  readonly key: string;
  readonly sid: string;
  readonly create: boolean;
  #fitted = true;

  constructor(sessions: Sessions, key: string, sid: string, create: boolean) {
    this.#sessions = sessions;
    this.key = key;
    this.sid = sid;
    this.create = create;
  }

  work(): void {
    this.#fitted = this.#sessions.zone.learn(this.key, this.sid, this.create);
  }

  after(): void {
    this.#sessions.stored(this, this.#fitted);
  }
}
