import { CRIT, DEBUG } from '../../../shared/log/level.js';
import { setTimer } from '../../../shared/time/timer.js';
import type { ZoneJob } from '../../../shared/zone/kind.js';
import { LIMIT, type MeterKind } from '../../../shared/zone/meter-kinds.js';
import type { WorkerEnv } from '../../env.js';
import { endsWithClient, unwatchClient, watchClient } from '../../http/request/client-gone.js';
import type { Request } from '../../http/request/request.js';
import { printable } from '../../http/request/trace.js';
import { type ClientTask, lastingSlot } from '../../task/client-task.js';
import { AGAIN, asStatus, DECLINED, type Result } from '../../task/codes.js';
import type { ProtocolRuntime } from '../../task/protocol-runtime.js';
import type { FleetPlace, FleetPlaces, PlaceAsker } from './fleet-places.js';
import { ConnectionLimits, type LimitConnSettings } from './location-limits.js';
import { CONTESTED, ENTERED, FULL, LIMITED } from './zone.js';

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

/** The pause (milliseconds) where machines count together. */
const FLEET_PAUSE = 12;
/** The fleet's store is lost, and nothing else decides. */
const UNDECIDED = 4;
const NONE: readonly FleetPlace[] = [];

/** Builds the handler of a location that has limits. nginx: ngx_http_limit_conn_handler, ngx_stream_limit_conn_handler. */
export function limitConnections(
  conf: Readonly<LimitConnSettings>,
  env: WorkerEnv,
  runtime: ProtocolRuntime,
  kind: MeterKind,
): (task: ClientTask) => Result {
  const location = new ConnectionLimits(conf, env, runtime, kind);
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

/** One request: it waits for the decision, and is then counted until it ends. */
class Entry implements ZoneJob, PlaceAsker {
  readonly #r: ClientTask;
  readonly #location: ConnectionLimits;
  readonly #keys: readonly string[];
  #code = ENTERED;
  /** Index of the limit that refused the request. */
  #refusing = 0;
  #tries = 0;
  /** The request's places among those of the fleet. */
  places: readonly FleetPlace[] = NONE;
  /** The store has been asked once more after it refused. */
  #askedAgain = false;
  /** The request of the same connection that the refused one waits for. */
  #former: ClientTask | undefined = undefined;

  constructor(r: ClientTask, location: ConnectionLimits, keys: readonly string[]) {
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
    const { fleet } = this.#location;
    if (fleet !== undefined) {
      this.places = this.#placesOfFleet(fleet);
      if (!fleet.areFree(this.places)) {
        return false;
      }
      fleet.take(this.places);
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
    const { zones } = this.#location;
    this.#code = ENTERED;
    this.#former = undefined;
    for (let i = 0; i < zones.length; i++) {
      if (this.#keys[i] === '') {
        continue;
      }
      this.#code = zones[i]!.enter(this.#keys[i]!, this.#maxOf(i));
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
    const { fleet } = this.#location;
    if (fleet === undefined) {
      this.#entered();
      return;
    }
    this.places = this.#placesOfFleet(fleet);
    if (this.places.length === 0) {
      this.#entered();
    } else if (fleet.store.up) {
      fleet.ask(this);
    } else {
      this.undecided();
    }
  }

  placed(): void {
    this.#entered();
  }

  full(place: number): void {
    const { fleet, shared } = this.#location;
    const r = this.#r;
    // As with other workers: a machine may not have said yet that a request of this client ended.
    if (!this.#askedAgain && !r.finished && !r.main.finished) {
      this.#askedAgain = true;
      setTimer(() => fleet!.ask(this), FLEET_PAUSE);
      return;
    }
    this.#leaveZones();
    let left = place;
    this.#refusing = shared.findIndex((name, i) => name !== undefined && this.#keys[i] !== '' && left-- === 0);
    this.#code = LIMITED;
    this.#refuseUnlessGone();
  }

  undecided(): void {
    const fleet = this.#location.fleet!;
    const { store } = fleet;
    if (store.settings.failure === 'local') {
      store.countLocal();
      fleet.take(this.places);
      this.#entered();
      return;
    }
    this.#leaveZones();
    this.#refusing = this.#location.shared.findIndex((name) => name !== undefined);
    this.#code = UNDECIDED;
    this.#refuseUnlessGone();
  }

  #refuseUnlessGone(): void {
    if (!this.#r.finished && !this.#r.main.finished) {
      this.#refuse();
    }
  }

  #entered(): void {
    const r = this.#r;
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

  #placesOfFleet(fleet: FleetPlaces): FleetPlace[] {
    const { shared, conf } = this.#location;
    const places: FleetPlace[] = [];
    for (let i = 0; i < shared.length; i++) {
      if (shared[i] !== undefined && this.#keys[i] !== '') {
        places.push({ held: fleet.held(shared[i]!, this.#keys[i]!), max: conf.limits[i]!.max });
      }
    }
    return places;
  }

  /** How many this machine may hold: a part of the limit while the store is lost. */
  #maxOf(limit: number): number {
    const { conf, fleet, shared } = this.#location;
    const { max } = conf.limits[limit]!;
    return fleet === undefined || fleet.store.up || shared[limit] === undefined
      ? max
      : Math.max(1, Math.floor(max / fleet.store.settings.divisor));
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
    this.#leaveZones();
    if (this.places.length > 0) {
      this.#location.fleet!.leave(this.places);
    }
  }

  #leaveZones(): void {
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
    if (this.#code === UNDECIDED) {
      r.log(conf.logLevel, `limiting connections${conf.dryRun ? ', dry run,' : ''}, the shared store is lost, by zone "${name}"`);
    } else if (this.#code !== FULL) {
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
