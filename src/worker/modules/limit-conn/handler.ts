import { CRIT, DEBUG } from '../../../shared/log/level.js';
import { setTimer } from '../../../shared/time/timer.js';
import type { ZoneJob, ZoneRef } from '../../../shared/zone/kind.js';
import { LIMIT, type MeterKind } from '../../../shared/zone/meter-kinds.js';
import type { Meters } from '../../../shared/zone/meters.js';
import type { WorkerEnv } from '../../env.js';
import type { LimitSettings } from '../../http/limits/limit-settings.js';
import { LimitedLocation } from '../../http/limits/limited-location.js';
import { endsWithClient, unwatchClient, watchClient } from '../../http/request/client-gone.js';
import type { Request } from '../../http/request/request.js';
import { printable } from '../../http/request/trace.js';
import { type ClientTask, lastingSlot } from '../../task/client-task.js';
import { AGAIN, asStatus, DECLINED, type Result } from '../../task/codes.js';
import { CONTESTED, type ConnData, type ConnZone, ENTERED, FULL } from './zone.js';

/** The merged settings of a location. */
export interface Settings extends LimitSettings {
  limits: readonly { readonly zone: ZoneRef<ConnZone, ConnData>; readonly max: number }[];
}

/** `$limit_conn_status`; a request or session that has it is not counted again. nginx: r->main->limit_conn_status. */
export const STATUS = lastingSlot<string>();

const holdsPlace = (task: object): boolean => STATUS.get(task as ClientTask) === 'PASSED';

/** Longer keys are not counted. */
const MAX_KEY = 255;

/**
 * A client may send its next request to another worker before the first worker has recorded that the previous one ended. A request that
 * only other workers' connections put over the limit is therefore tried again after each of these pauses (milliseconds) before it is
 * refused. The long ones are for busy machines, where a worker may have to wait for a processor between its response and the record.
 */
const RETRY_PAUSES = [3, 5, 12, 30];

/** Builds the handler of a location that has limits. nginx: ngx_http_limit_conn_handler, ngx_stream_limit_conn_handler. */
export function limitConnections(
  conf: Readonly<Settings>,
  env: WorkerEnv,
  meters: Meters | null,
  kind: MeterKind,
): (task: ClientTask) => Result {
  const location = new LocationLimits(conf, env, meters, kind);
  return (r) => {
    if (STATUS.get(r) !== undefined) {
      return DECLINED;
    }
    const values = location.keysOf(r, MAX_KEY);
    if (values === undefined) {
      return DECLINED;
    }
    const entry = new Entry(r, location, values);
    if (entry.enterNow()) {
      return DECLINED;
    }
    location.scope.submit(entry);
    return AGAIN;
  };
}

class LocationLimits extends LimitedLocation<Settings> {
  readonly zones: readonly ConnZone[];

  constructor(conf: Readonly<Settings>, env: WorkerEnv, meters: Meters | null, kind: MeterKind) {
    super(conf, env);
    this.zones = conf.limits.map(({ zone, max }) => {
      const opened = env.zones.open(zone);
      opened.limit(max);
      opened.meter = meters?.meter(kind, zone.name) ?? null;
      return opened;
    });
  }
}

/** One request: it waits for the decision, and is then counted until it ends. */
class Entry implements ZoneJob {
  readonly #r: ClientTask;
  readonly #location: LocationLimits;
  readonly #keys: readonly string[];
  #code = ENTERED;
  /** Index of the limit that refused the request. */
  #refusing = 0;
  #tries = 0;
  /** The request of the same connection that the refused one waits for. */
  #former: ClientTask | undefined = undefined;

  constructor(r: ClientTask, location: LocationLimits, keys: readonly string[]) {
    this.#r = r;
    this.#location = location;
    this.#keys = keys;
  }

  /** Counts the request without a transaction, if connections of this worker that just ended leave room in all zones. */
  enterNow(): boolean {
    const { zones } = this.#location;
    for (let i = 0; i < zones.length; i++) {
      if (this.#keys[i] !== '' && !zones[i]!.hasPlace(this.#keys[i]!)) {
        return false;
      }
    }
    for (let i = 0; i < zones.length; i++) {
      if (this.#keys[i] !== '') {
        zones[i]!.enterNow(this.#keys[i]!);
      }
    }
    this.#hold();
    return true;
  }

  work(): void {
    const { zones, conf } = this.#location;
    this.#code = ENTERED;
    this.#former = undefined;
    for (let i = 0; i < zones.length; i++) {
      if (this.#keys[i] === '') {
        continue;
      }
      this.#code = zones[i]!.enter(this.#keys[i]!, conf.limits[i]!.max);
      if (this.#code === ENTERED) {
        continue;
      }
      this.#refusing = i;
      this.#former = this.#code === FULL ? undefined : this.#formerOfConnection();
      if (this.#former === undefined && !this.#mayRetry()) {
        zones[i]!.reject();
      }
      for (let j = 0; j < i; j++) {
        if (this.#keys[j] !== '') {
          zones[j]!.undo(this.#keys[j]!);
        }
      }
      return;
    }
  }

  after(): void {
    const r = this.#r;
    if (this.#code !== ENTERED) {
      if (r.finished || r.main.finished) {
        return;
      }
      if (this.#waitsForFormer()) {
        return;
      }
      if (this.#mayRetry()) {
        setTimer(() => this.#location.scope.submit(this), RETRY_PAUSES[this.#tries++]!);
      } else {
        this.#refuse();
      }
      return;
    }
    // The client may have left in the meantime.
    if (r.main.finished) {
      this.#leave();
      return;
    }
    this.#hold();
    if (!r.finished) {
      r.resume(DECLINED);
    }
  }

  #trace(outcome: string): void {
    const { trace } = this.#r as Request;
    if (trace == null) {
      return;
    }
    const { zones, conf } = this.#location;
    for (let i = 0; i < zones.length; i++) {
      const key = this.#keys[i]!;
      const { name } = zones[i]!;
      const text =
        key === '' ? 'the key is empty, so that nothing is counted' : `key ${printable(key)}, at most ${conf.limits[i]!.max}: ${outcome}`;
      const where = { in: (this.#r as Request).location, directive: 'limit_conn' };
      trace.add(
        this.#r as Request,
        'limit',
        `limit_conn zone ${name}, ${text}`,
        where,
        key === '' ? { zone: name } : { zone: name, key: printable(key), outcome },
      );
    }
  }

  #hold(): void {
    this.#trace('passed');
    if (this.#r.debugging) {
      for (const { name } of this.#location.zones) {
        this.#r.log(DEBUG, `limit conn: zone "${name}"`);
      }
    }
    const { zones } = this.#location;
    for (let i = 0; i < zones.length; i++) {
      if (this.#keys[i] !== '') {
        zones[i]!.meter?.count(LIMIT.passed);
      }
    }
    this.#note('PASSED', '');
    this.#r.main.onFinish(() => this.#leave());
  }

  #note(status: string, zone: string): void {
    STATUS.set(this.#r, status);
    this.#r.main.spans?.event('limit_conn', status, zone);
  }

  /**
   * A request of the same connection that holds a place though its client has the whole response: a copy for a cache or a mirror may go on
   * behind it. Over HTTP/1 the next request is not read before that has ended; over HTTP/2 it waits here.
   */
  #formerOfConnection(): ClientTask | undefined {
    const former = this.#r.connection.answered?.(holdsPlace) as ClientTask | undefined;
    return former?.finished === false ? former : undefined;
  }

  #waitsForFormer(): boolean {
    const former = this.#former;
    if (former === undefined) {
      return false;
    }
    this.#former = undefined;
    // Another request's end, in the same tick, may have ended it.
    if (former.finished) {
      this.#location.scope.submit(this);
      return true;
    }
    const r = this.#r as Request;
    const goOn = (): void => {
      unwatchClient(r, endsWithClient);
      this.#location.scope.submit(this);
    };
    former.onFinish(goOn);
    // Clients that reset what waits leave nothing behind.
    r.onFinish(() => (former as Request).forget(goOn));
    watchClient(r, endsWithClient);
    return true;
  }

  #mayRetry(): boolean {
    return this.#code === CONTESTED && this.#tries < RETRY_PAUSES.length;
  }

  #leave(): void {
    const { zones } = this.#location;
    for (let i = 0; i < zones.length; i++) {
      if (this.#keys[i] !== '') {
        zones[i]!.leave(this.#keys[i]!);
      }
    }
  }

  #refuse(): void {
    const r = this.#r;
    const { conf, zones, env } = this.#location;
    const { name } = zones[this.#refusing]!;
    this.#trace(`refused with ${conf.status}`);
    if (this.#code !== FULL) {
      r.log(conf.logLevel, `limiting connections${conf.dryRun ? ', dry run,' : ''} by zone "${name}"`);
    } else {
      env.log.log(CRIT, `ngx_slab_alloc() failed: no memory in limit_conn_zone "${name}"`);
    }
    zones[this.#refusing]!.meter?.count(conf.dryRun ? LIMIT.rejectedDryRun : LIMIT.rejected);
    if (conf.dryRun) {
      this.#note('REJECTED_DRY_RUN', name);
      r.resume(DECLINED);
      return;
    }
    this.#note('REJECTED', name);
    r.resume(asStatus(conf.status));
  }
}
