import { randomBytes } from 'node:crypto';
import type { Logger } from '../../shared/log/error-log.js';
import { INFO, NOTICE, WARN } from '../../shared/log/level.js';
import { oneLine } from '../../shared/text/error-text.js';
import { setTimer } from '../../shared/time/timer.js';
import { storeKind } from '../../shared/zone/meter-kinds.js';
import { Meter } from '../../shared/zone/meters.js';
import { AcmeReplica, type ReplicaEvents } from '../acme/acme-replica.js';
import type { AcmeZone } from '../acme/acme-zone.js';
import { Replicas } from '../fleet/replicas.js';
import { Seals } from '../fleet/seals.js';
import type { SharedStoreSettings } from '../fleet/settings.js';
import { NOBODY, SharedStore, type StoreClient } from '../fleet/shared-store.js';
import { LEAD_SCRIPT, RESIGN_SCRIPT } from './lead-scripts.js';

/** A machine that does not renew the lead for so many milliseconds has lost it. */
const LEASE = 10_000;
/** So much earlier it takes it for lost itself, whatever its clock and its way to the store do. */
const MARGIN = 3000;
/** How often (milliseconds) it is looked whether all machines have taken over a change, and for how long. One that died counts, too. */
const LOOK = 50;
const PATIENCE = LEASE + 2000;

const pause = (): Promise<void> => new Promise((done) => void setTimer(done, LOOK).unref());

/** Who is told of what other machines have changed. */
export type FollowEvents = Pick<ReplicaEvents, 'pair' | 'kept'>;

/**
 * Decides which machine of a fleet asks CAs for certificates, and gives the others what it has got. The store holds the lead for some
 * seconds at a time; whoever had it and came too late can change nothing more there.
 */
export class FleetLead implements StoreClient {
  readonly #store: SharedStore;
  readonly #replicas: Replicas;
  readonly #replica: AcmeReplica;
  readonly #log: Logger;
  /** Keys of the store; see {@link LEAD_SCRIPT}. */
  readonly #key: string;
  readonly #seen: string;
  readonly #list: string;
  readonly #token: string;
  readonly #refused = new Set<string>();
  #askedAt = 0;
  /** When the store was asked that has told it last, and how many machines did not have the last change then. */
  #toldAt = 0;
  #behind = 0;
  /** The other machines that the store knew then. */
  #others: readonly string[] = [];
  #asking = false;
  /** Until when (milliseconds of this process) this machine leads. */
  #until = 0;
  #leading = false;
  /** The fleet has what this machine cannot read: it would order everything once more. */
  #foreign = false;
  #closed = false;

  constructor(settings: SharedStoreSettings, zone: AcmeZone, log: Logger, events: FollowEvents) {
    this.#log = log;
    // Workers count for the status.
    this.#store = new SharedStore(settings, log, new Meter(storeKind, settings.name, { add() {} }), true);
    this.#key = `sluice:{${settings.name}}:acme:lead`;
    this.#seen = `sluice:{${settings.name}}:acme:seen`;
    this.#list = `sluice:{${settings.name}}:acme:changes`;
    this.#token = `${settings.node}.${randomBytes(9).toString('base64url')}`;
    this.#replica = new AcmeReplica(zone.sql, new Seals(settings.keys, `certificates of ${settings.name}`), {
      ...events,
      leads: () => this.#leading,
      refused: (key, why, foreign) => this.#complain(key, why, foreign),
    });
    this.#replicas = new Replicas(this.#store, log, {
      part: 'acme:',
      guard: { key: this.#key, token: () => (this.leads ? this.#token : undefined), refused: () => this.#lose() },
    });
    this.#replicas.add(this.#replica);
    this.#store.start();
    this.#replicas.start();
  }

  /** This machine is the one that asks CAs. */
  get leads(): boolean {
    return this.#leading && performance.now() < this.#until && !this.#closed;
  }

  /** Asks for the lead, or keeps it. Is called each second. */
  renew(): void {
    if (this.#leading && !this.leads) {
      this.#lose();
    }
    if (this.#asking || this.#closed || this.#foreign) {
      return;
    }
    this.#asking = true;
    this.#askedAt = performance.now();
    const { ready, position } = this.#replicas;
    // What this machine does not know yet it might order once more. Whoever leads waits for it from now on, since it may serve already.
    this.#store.run(LEAD_SCRIPT, [this.#key, this.#seen, this.#list], [this.#token, LEASE, position, ready ? 1 : 0], this);
  }

  lost(): void {
    this.#asking = false;
  }

  understands(reply: unknown): boolean {
    return Array.isArray(reply) && (reply[0] === 0 || reply[0] === 1) && Number.isSafeInteger(reply[1]) && Array.isArray(reply[2]);
  }

  replied(reply: unknown): void {
    this.#asking = false;
    if (this.#closed) {
      return;
    }
    const [leads, behind, others] = reply as [number, number, string[]];
    if (leads !== 1) {
      this.#lose();
      return;
    }
    this.#toldAt = this.#askedAt;
    this.#behind = behind;
    this.#others = others;
    this.#until = this.#askedAt + LEASE - MARGIN;
    if (!this.#leading) {
      this.#leading = true;
      this.#log.log(NOTICE, `this machine gets certificates for the fleet "${this.#store.settings.name}"`);
    }
  }

  /** Resolves to the other machines that live when all of them have what was changed here, so that a CA may come to any. */
  async spread(): Promise<ReadonlySet<string>> {
    const end = performance.now() + PATIENCE;
    const goesOn = (): boolean => performance.now() < end && this.leads;
    while (goesOn() && this.#replica.outbox.first(1).length > 0) {
      await pause();
    }
    for (const sent = performance.now(); goesOn() && (this.#toldAt < sent || this.#behind > 0); ) {
      this.renew();
      await pause();
    }
    return new Set(this.#others);
  }

  /** Whether a machine has come that was not among those of {@link spread}: a CA may have asked it for what it did not have. */
  async hasGrown(machines: ReadonlySet<string>): Promise<boolean> {
    const now = performance.now();
    while (performance.now() < now + PATIENCE && this.leads && this.#toldAt < now) {
      this.renew();
      await pause();
    }
    return this.#others.some((one) => !machines.has(one));
  }

  close(): void {
    if (this.#closed) {
      return;
    }
    this.#replicas.close();
    this.#closed = true;
    if (this.#store.up) {
      this.#store.run(RESIGN_SCRIPT, [this.#key, this.#seen], [this.#token], NOBODY);
    }
    this.#store.close();
  }

  #lose(): void {
    if (!this.#leading) {
      return;
    }
    this.#leading = false;
    this.#until = 0;
    this.#log.log(NOTICE, `another machine gets certificates for the fleet "${this.#store.settings.name}" from now on`);
    this.#replicas.followAnew();
  }

  #complain(key: string, why: string, foreign: boolean): void {
    this.#foreign ||= foreign;
    const line = `${key} ${why}`;
    // Whoever writes to the store could go on for ever.
    if (!this.#refused.has(line) && this.#refused.size < 100) {
      const first = !this.#refused.has(why);
      this.#refused.add(line).add(why);
      this.#log.log(first ? WARN : INFO, `shared store "${this.#store.settings.name}": "${oneLine(key)}" is not taken over: ${why}`);
    }
  }
}
