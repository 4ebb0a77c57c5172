import { ALERT, DEBUG, type Level } from '../../../shared/log/level.js';
import { setTimer } from '../../../shared/time/timer.js';
import type { ZoneJob, ZoneRef } from '../../../shared/zone/kind.js';
import { LIMIT, limitReqKind } from '../../../shared/zone/meter-kinds.js';
import type { Meters } from '../../../shared/zone/meters.js';
import { monotonicMs } from '../../../shared/zone/monotonic.js';
import type { WorkerEnv } from '../../env.js';
import type { LimitSettings } from '../../http/limits/limit-settings.js';
import { LimitedLocation } from '../../http/limits/limited-location.js';
import { endsWithClient, unwatchClient, watchClient } from '../../http/request/client-gone.js';
import type { Request } from '../../http/request/request.js';
import { printable, type Trace } from '../../http/request/trace.js';
import { lastingSlot } from '../../task/client-task.js';
import { asStatus, DECLINED } from '../../task/codes.js';
import { ADMITTED, BUSY, NO_ROOM, type RateData, RateDecision, type RateLimit, type RateZone, retryAfter, UNDECIDED } from './zone.js';

/** The merged settings of a location. */
export interface LimitReqSettings extends LimitSettings {
  limits: readonly { readonly zone: ZoneRef<RateZone, RateData>; readonly burst: number; readonly delay: number }[];
  retryAfter: boolean;
}

/** `$limit_req_status`; a request that has it is not counted again. nginx: r->main->limit_req_status. */
export const STATUS = lastingSlot<string>();
/** `$limit_req_retry_after`, in seconds. */
export const RETRY_AFTER = lastingSlot<number>();

/** The limits of a location. */
export class RequestLimits extends LimitedLocation<LimitReqSettings> {
  readonly limits: readonly RateLimit[];

  constructor(conf: Readonly<LimitReqSettings>, env: WorkerEnv, meters: Meters | null) {
    super(conf, env);
    this.limits = conf.limits.map(({ zone, burst, delay }) => {
      const opened = env.zones.open(zone);
      opened.meter = meters?.meter(limitReqKind, zone.name) ?? null;
      return { zone: opened, rate: zone.data.rate, burst, delay };
    });
  }
}

/** One request: it waits for the decision, and then perhaps for its delay. */
export class Decision extends RateDecision implements ZoneJob {
  readonly #r: Request;
  readonly #location: RequestLimits;
  readonly #keys: readonly string[];

  constructor(r: Request, location: RequestLimits, keys: readonly string[]) {
    super();
    this.#r = r;
    this.#location = location;
    this.#keys = keys;
  }

  work(): void {
    this.decide(this.#location.limits, this.#keys, monotonicMs());
  }

  after(): void {
    this.conclude();
  }

  /** Lets the request go on as it was decided. */
  conclude(): void {
    const r = this.#r;
    // The client may have left in the meantime; its request counts all the same.
    if (r.finished || r.main.finished) {
      return;
    }
    const { code } = this;
    if (r.trace !== null) {
      this.#trace(r.trace);
    }
    if (r.debugging) {
      r.log(DEBUG, `limit_req[${this.#location.limits.findIndex(({ zone }) => zone === this.limit!.zone)}]: ${code} ${this.#excess()}`);
    }
    if (code === ADMITTED) {
      this.#countPassed();
      if (this.delay > 0) {
        this.#delay();
      } else {
        this.#proceed('PASSED');
      }
      return;
    }
    if (code === BUSY) {
      this.#log(this.#location.conf.logLevel, `limiting requests${this.#dryRun()}, excess: ${this.#excess()} by zone`);
    } else if (code === UNDECIDED) {
      this.#log(this.#location.conf.logLevel, `limiting requests${this.#dryRun()}, the shared store is lost, by zone`);
    } else if (code === NO_ROOM) {
      this.#location.env.log.log(ALERT, `could not allocate node in limit_req zone "${this.limit!.zone.name}"`);
    }
    this.#refuse();
  }

  #note(status: string): void {
    const r = this.#r;
    STATUS.set(r, status);
    r.main.spans?.event('limit_req', status, this.limit === undefined || status === 'PASSED' ? '' : this.limit.zone.name);
  }

  #trace(trace: Trace): void {
    const { limits, conf } = this.#location;
    const dry = conf.dryRun ? ', dry run' : '';
    for (let i = 0; i < limits.length; i++) {
      const key = this.#keys[i]!;
      const { zone } = limits[i]!;
      const decides = limits[i]!.zone === this.limit?.zone;
      const where = { in: this.#r.location, directive: 'limit_req' };
      if (key === '') {
        trace.add(this.#r, 'limit', `limit_req zone ${zone.name}: the key is empty, so that nothing is counted`, where, {
          zone: zone.name,
        });
        continue;
      }
      const outcome = decides && this.code !== ADMITTED ? 'refused' : decides && this.delay > 0 ? 'delayed' : 'passed';
      const how = outcome === 'refused' ? `refused with ${conf.status}` : outcome === 'delayed' ? `delayed by ${this.delay} ms` : 'passed';
      const excess = decides ? `, excess ${this.#excess()}` : '';
      const shown = `limit_req zone ${zone.name}, key ${printable(key)}: ${how}${excess}${dry}`;
      trace.add(this.#r, 'limit', shown, where, { zone: zone.name, key: printable(key), outcome });
    }
  }

  #proceed(status: string): void {
    this.#note(status);
    this.#r.resume(DECLINED);
  }

  #refuse(): void {
    const r = this.#r;
    const { conf } = this.#location;
    const { code, excess, limit } = this;
    if (code === BUSY) {
      RETRY_AFTER.set(r, Math.max(1, Math.ceil(retryAfter(excess, limit!) / 1000)));
    }
    limit!.zone.meter?.count(conf.dryRun ? LIMIT.rejectedDryRun : LIMIT.rejected);
    if (conf.dryRun) {
      this.#proceed('REJECTED_DRY_RUN');
      return;
    }
    this.#note('REJECTED');
    if (conf.retryAfter && code === BUSY) {
      r.out.add('Retry-After', String(RETRY_AFTER.get(r)));
    }
    r.resume(asStatus(conf.status));
  }

  #delay(): void {
    const r = this.#r;
    const { conf } = this.#location;
    // One level below that of refusals. nginx: delay_log_level
    this.#log(Math.min(conf.logLevel + 1, 7) as Level, `delaying request${this.#dryRun()}, excess: ${this.#excess()}, by zone`);
    if (conf.dryRun) {
      this.#proceed('DELAYED_DRY_RUN');
      return;
    }
    this.#note('DELAYED');
    const timer = setTimer(goOn, this.delay, r);
    r.onFinish(() => clearTimeout(timer));
    watchClient(r, endsWithClient);
  }

  /** The limit that delays the request counts that; the others count that it passed. */
  #countPassed(): void {
    const { limits, conf } = this.#location;
    for (let i = 0; i < limits.length; i++) {
      const delays = this.delay > 0 && limits[i]!.zone === this.limit?.zone;
      if (this.#keys[i] !== '') {
        limits[i]!.zone.meter?.count(!delays ? LIMIT.passed : conf.dryRun ? LIMIT.delayedDryRun : LIMIT.delayed);
      }
    }
  }

  #log(level: Level, text: string): void {
    this.#r.log(level, `${text} "${this.limit!.zone.name}"`);
  }

  #dryRun(): string {
    return this.#location.conf.dryRun ? ', dry run' : '';
  }

  #excess(): string {
    const { excess } = this;
    return `${Math.floor(excess / 1000)}.${String(excess % 1000).padStart(3, '0')}`;
  }
}

// nginx: ngx_http_limit_req_delay.
function goOn(r: Request): void {
  unwatchClient(r, endsWithClient);
  r.resume(DECLINED);
}
