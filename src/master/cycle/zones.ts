import type { Configuration } from '../../shared/config/configuration.js';
import type { Logger } from '../../shared/log/error-log.js';
import type { ZonePlan } from '../../shared/zone/plan.js';
import type { ZoneSet } from '../../shared/zone/zone-set.js';
import { workerUid } from './worker-uid.js';

/** The shared zones of the service. The database library is loaded with the first configuration that is to be served. */
export class MasterZones {
  readonly #log: Logger;
  #set: ZoneSet | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Makes the zones for the workers of a configuration. Rejects with an Error for the log, in nginx's words, when they contradict the
   * zones in use.
   */
  async prepare(configuration: Configuration): Promise<ZonePlan> {
    if (this.#set === undefined) {
      const { ZoneSet } = await import('../../shared/zone/zone-set.js');
      const set = new ZoneSet(configuration.process.zoneDirectory, workerUid(configuration), this.#log);
      process.once('exit', () => set.close());
      this.#set = set;
    }
    const plan = this.#set.prepare(configuration.zones);
    if (typeof plan === 'string') {
      throw new Error(plan);
    }
    return plan;
  }

  /** This plan is the one in force. */
  commit(plan: ZonePlan | undefined): void {
    if (plan !== undefined) {
      this.#set?.commit(plan);
    }
  }

  /** No process works with this plan any more. */
  retire(plan: ZonePlan | undefined): void {
    if (plan !== undefined) {
      this.#set?.retire(plan);
    }
  }

  /** The lines of logs that this process loses are counted, beside those of its workers. */
  countLines(): void {
    this.#set?.countLines();
  }

  /** A reload failed or was refused. */
  refused(): void {
    this.#set?.refused();
  }

  /** Every worker accepts. */
  ready(): void {
    this.#set?.ready();
  }

  /** The server has been told to end. */
  ending(): void {
    this.#set?.ending();
  }

  /** A worker that ended by itself is replaced. */
  respawned(): void {
    this.#set?.respawned();
  }

  /** Gives back what a process held that has ended. */
  release(pid: number): void {
    this.#set?.releaseWorker(pid);
  }
}
