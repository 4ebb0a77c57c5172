import type { Logger } from '../../shared/log/error-log.js';
import { ERROR, INFO, type Level, NOTICE, WARN } from '../../shared/log/level.js';
import { errnoText } from '../../shared/system/errno.js';
import { setTimer } from '../../shared/time/timer.js';
import type { AcmeZone, CertificatePair, OrderReport } from '../acme/acme-zone.js';
import type { Issuer, Order } from '../acme/settings.js';
import { belongTogether, type StateStore } from '../acme/state-folder.js';
import { type Authority, NoAccount } from './authority.js';
import { CertificateTask } from './certificate-task.js';
import { Stopped } from './pace.js';
import { AcmeProblem, Unreachable } from './problem.js';
import { type FailureKind, pauseAfter } from './schedule.js';

/** How many orders of an issuer are under way at a time. */
const AT_ONCE = 4;
/** Milliseconds between two looks at the clock: it may be set, and a machine may sleep, without a timer hearing of that. */
const LOOK = 15_000;

/**
 * Keeps the certificates of one issuer: gets them, renews them, stores them, and says in the log what fails. nginx-acme:
 * ngx_http_acme_main_loop.
 */
export class IssuerRunner {
  readonly #issuer: Issuer;
  readonly #zone: AcmeZone;
  readonly #state: StateStore;
  readonly #log: Logger;
  readonly #authority: Authority;
  readonly #earlier: ReadonlyMap<string, OrderReport>;
  readonly #tasks: CertificateTask[];
  /** Certificates that the configuration does not name, by their ids in the zone. */
  readonly #onDemand = new Map<string, CertificateTask>();
  /** The last failure to use the account, and how many there were in a row. */
  #noAccount: NoAccount | undefined = undefined;
  #noAccounts = 0;
  /** How often in a row the CA has had enough. */
  #limits = 0;
  /** Nothing is asked of the CA before; milliseconds of the wall clock. */
  #notBefore = 0;
  #timer: NodeJS.Timeout | undefined = undefined;
  #running = 0;
  #stopped = false;

  /** `authority` is made with what says its lines in the log; `earlier` has what another machine, which did this before, reported last. */
  constructor(
    issuer: Issuer,
    orders: readonly Order[],
    zone: AcmeZone,
    state: StateStore,
    log: Logger,
    authority: (say: (level: Level, message: string) => void) => Authority,
    earlier: ReadonlyMap<string, OrderReport> = new Map(),
  ) {
    this.#earlier = earlier;
    this.#issuer = issuer;
    this.#zone = zone;
    this.#state = state;
    this.#log = log;
    this.#authority = authority((level, message) => this.#say(level, message));
    this.#tasks = orders.map((order) => new CertificateTask(order, zone));
  }

  start(): void {
    for (const task of this.#tasks) {
      this.#takeUp(task);
    }
    this.#look();
  }

  /** The issuer's name. */
  get name(): string {
    return this.#issuer.name;
  }

  /**
   * Takes care of the certificates of these orders, too, and no more of those that were wanted before. False: one of the latter is under
   * way, and is given up with a later call.
   */
  want(orders: readonly Order[]): boolean {
    const ids = new Set(orders.map(({ zoneId }) => zoneId));
    let done = true;
    for (const [id, task] of this.#onDemand) {
      if (ids.has(id)) {
        continue;
      }
      if (task.running) {
        done = false;
        continue;
      }
      this.#onDemand.delete(id);
      this.#tasks.splice(this.#tasks.indexOf(task), 1);
      this.#zone.forgetReport(id);
    }
    const known = new Set(this.#tasks.map(({ order }) => order.zoneId));
    const fresh = orders.filter(({ zoneId }) => !known.has(zoneId));
    for (const order of fresh) {
      const task = new CertificateTask(order, this.#zone);
      this.#onDemand.set(order.zoneId, task);
      this.#tasks.push(task);
      this.#takeUp(task);
    }
    if (fresh.length > 0) {
      this.#look();
    }
    return done;
  }

  /** Goes on with what an earlier run has left behind of a certificate. */
  #takeUp(task: CertificateTask): void {
    const { id, zoneId } = task.order;
    const found = this.#zone.pair(zoneId, undefined);
    const known = found !== undefined && belongTogether(found) ? found : undefined;
    const stored = known ?? this.#state.readPair(id);
    if (stored !== undefined) {
      if (known === undefined) {
        this.#zone.setPair(zoneId, stored);
      }
      task.restore(stored);
    }
    const before = this.#earlier.get(zoneId);
    if (before?.state === 'failing' && before.next > Date.now() && (stored === undefined || task.renews)) {
      task.inherit(before);
    }
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#authority.stop();
  }

  /** Begins what is due, and comes back when something else may be. */
  #look(): void {
    if (this.#stopped) {
      return;
    }
    clearTimeout(this.#timer);
    const now = Date.now();
    const idle = this.#tasks.filter(({ running }) => !running).sort((a, b) => a.next - b.next);
    for (const task of idle) {
      if (this.#running >= AT_ONCE || task.next > now || this.#notBefore > now) {
        break;
      }
      this.#begin(task);
    }
    const next = Math.max(this.#notBefore, idle.find(({ running }) => !running)?.next ?? Number.POSITIVE_INFINITY);
    const pause = this.#running >= AT_ONCE ? LOOK : Math.min(LOOK, Math.max(0, next - Date.now()));
    this.#timer = setTimer(() => this.#lookAgain(), pause).unref();
  }

  #lookAgain(): void {
    const reported = new Set(this.#zone.reports().map(({ id }) => id));
    for (const task of this.#tasks) {
      // One that runs may just have got another certificate.
      if (!task.running) {
        task.mendZone(reported);
      }
    }
    this.#look();
  }

  #begin(task: CertificateTask): void {
    this.#running++;
    task.running = true;
    void this.#work(task)
      .catch((error: unknown) => this.#failed(task, error as Error))
      .then(() => {
        task.running = false;
        if (--this.#running === 0) {
          this.#authority.rest();
        }
        this.#look();
      });
  }

  async #work(task: CertificateTask): Promise<void> {
    if (!task.renews) {
      await this.#askRenewal(task);
    }
    if (task.renews) {
      await this.#renew(task);
    }
  }

  async #renew(task: CertificateTask): Promise<void> {
    const { order } = task;
    const pair: CertificatePair = await this.#authority.certificate(order, task.renewalId);
    try {
      this.#state.writePair(order.id, pair);
      this.#authority.stored(order);
    } catch (error) {
      this.#say(WARN, `writing certificate to state directory failed (${errnoText(error)})`, order);
    }
    this.#limits = this.#noAccounts = 0;
    await new Promise<void>((done) => this.#zone.setPair(order.zoneId, pair, done));
    const next = task.issued(pair);
    this.#say(NOTICE, `certificate issued, renewal scheduled at ${shown(next)}`, order);
  }

  /** Asks the CA when it wants a certificate renewed (RFC 9773). nginx-acme: ngx_acme_update_renewal_info. */
  async #askRenewal(task: CertificateTask): Promise<void> {
    const { renewalId, order } = task;
    try {
      const info = renewalId === undefined ? undefined : await this.#authority.renewalInfo(renewalId);
      if (info === undefined) {
        task.noRenewalInfo();
      } else if (task.suggested(info, info.askAgain)) {
        const see = info.explanation === undefined ? '' : `, see ${info.explanation} for details`;
        this.#say(INFO, `CA suggested renewal window: ${shown(info.start)} - ${shown(info.end)}${see}`, order);
      } else {
        this.#say(WARN, 'invalid renewal window while updating renewal info', order);
      }
    } catch (error) {
      if (error instanceof NoAccount) {
        throw error;
      }
      if (!this.#stopped) {
        task.notTold(this.#kindOf(error));
        this.#say(WARN, `${(error as Error).message} while updating renewal info`, order);
      }
    }
  }

  #failed(task: CertificateTask, error: Error): void {
    if (error instanceof Stopped || this.#stopped) {
      return;
    }
    if (error instanceof NoAccount) {
      this.#withoutAccount(error);
      return;
    }
    if (error instanceof AcmeProblem && error.limited) {
      this.#limited(error);
      task.held(error.message, this.#notBefore);
    } else {
      task.failed(error.message, this.#kindOf(error));
    }
    const next = Math.max(task.next, this.#notBefore);
    this.#say(levelOf(error), `${error.message} while updating certificate, next attempt at ${shown(next)}`, task.order);
  }

  /** All tasks that are under way get the same failure, which counts once. */
  #withoutAccount(error: NoAccount): void {
    if (error === this.#noAccount) {
      return;
    }
    this.#noAccount = error;
    this.#noAccounts++;
    const { cause } = error;
    if (cause instanceof AcmeProblem && cause.limited) {
      this.#limited(cause);
    } else {
      this.#notBefore = Math.max(this.#notBefore, Date.now() + pauseAfter(this.#noAccounts, this.#kindOf(cause)));
    }
    for (const task of this.#tasks) {
      task.held(error.message, this.#notBefore);
    }
    this.#say(levelOf(cause), `${error.message}, next attempt at ${shown(this.#notBefore)}`);
  }

  /** Lets the CA alone for as long as it asks for, and for all certificates. */
  #limited({ retryAfter }: AcmeProblem): void {
    this.#limits++;
    const pause = retryAfter === undefined ? pauseAfter(this.#limits, 'refused') : Math.max(retryAfter, 1000);
    this.#notBefore = Math.max(this.#notBefore, Date.now() + pause);
  }

  #kindOf(error: unknown): FailureKind {
    if (!this.#authority.foreign || error instanceof Unreachable || (error instanceof AcmeProblem && error.passing)) {
      return 'passing';
    }
    return error instanceof AcmeProblem && error.final ? 'final' : 'refused';
  }

  #say(level: Level, message: string, order?: Order): void {
    this.#log.log(level, `${message}, acme issuer: "${this.#issuer.name}"${order === undefined ? '' : `, order: "${order.id}"`}`);
  }
}

/** What nothing but another configuration helps against is an error. */
const levelOf = (error: Error): Level => (error instanceof AcmeProblem && error.final ? ERROR : WARN);

const shown = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
