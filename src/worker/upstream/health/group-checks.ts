import { INFO, NOTICE, WARN } from '../../../shared/log/level.js';
import { setTimer } from '../../../shared/time/timer.js';
import type { WorkerEnv } from '../../env.js';
import type { ProtocolRuntime } from '../../task/protocol-runtime.js';
import { DOWN, HEALTHY, type Peer, UNHEALTHY, UNKNOWN } from '../balancing/peer.js';
import type { UpstreamGroup } from '../group/group.js';
import { checksOf, type HealthRecord, type HealthZone, type HealthZoneRef } from '../group/health-zone.js';
import type { CheckPlan, PeerCheck } from './peer-check.js';

/** How often (milliseconds) a worker looks whether the checks are its to make, and which peers there are. */
const LOOK_MS = 1000;
/** A worker that did not look for so long has lost the checks to another one. */
const LEASE_MS = 5000;

const NOTHING: HealthRecord = { health: UNKNOWN, checks: 0, fails: 0, unhealthy: 0, lastPassed: false, downSince: 0, downtime: 0 };

/**
 * The checks of a group's peers. All workers have this object; one of them at a time makes the checks, and what it finds reaches the
 * others' balancers through the group's zone.
 */
export class GroupChecks {
  readonly #group: UpstreamGroup;
  readonly #zone: HealthZone;
  /** What the group is called in the zone, where groups of `http` and of `stream` are. */
  readonly #key: string;
  readonly #env: WorkerEnv;
  readonly #plans: CheckPlan[] = [];
  readonly #checks = new Map<Peer, PeerCheck[]>();
  #records: Map<string, HealthRecord> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #leading = false;
  #stopped = false;
  /** The list of peers has changed in this tick. */
  #restarting = false;

  constructor(group: UpstreamGroup, zone: HealthZone, key: string, env: WorkerEnv) {
    this.#group = group;
    this.#key = key;
    this.#zone = zone;
    this.#env = env;
  }

  add(plan: CheckPlan): void {
    this.#plans.push(plan);
  }

  /** Begins, once all lines are known. */
  start(): void {
    const set = this.#group.set!;
    if (this.#plans.some(({ settings }) => settings.mandatory)) {
      const persistent = this.#plans.every(({ settings }) => !settings.mandatory || settings.persistent);
      const known = persistent ? this.#zone.read(this.#key) : new Map<string, HealthRecord>();
      const first = (peer: Peer): number => (known.get(peer.name)?.health === HEALTHY ? HEALTHY : UNKNOWN);
      set.beginWith(first);
      set.backup?.beginWith(first);
    }
    if (this.#env.rehearsing === undefined) {
      set.onChange = () => this.#changed();
      if (set.backup !== null) {
        set.backup.onChange = set.onChange;
      }
      this.#look();
    }
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#stopChecks();
  }

  /** The peers are others: the worker that makes the checks begins with the new ones at once. */
  #changed(): void {
    if (this.#leading && !this.#restarting) {
      this.#restarting = true;
      setImmediate(() => {
        this.#restarting = false;
        this.#lead(this.#leading);
      });
    }
  }

  #look(): void {
    if (this.#stopped) {
      return;
    }
    this.#timer = setTimer(() => this.#look(), LOOK_MS).unref();
    const { shared } = this.#group;
    if (shared === undefined) {
      this.#lead(true);
    } else {
      shared.lead(LEASE_MS, (leads) => this.#lead(leads));
    }
  }

  #lead(leads: boolean): void {
    if (this.#stopped) {
      return;
    }
    if (!leads) {
      if (this.#leading) {
        this.#stopChecks();
      }
      this.#leading = false;
      return;
    }
    const begins = !this.#leading;
    this.#leading = true;
    const { set } = this.#group;
    const peers = [...set!.peers, ...(set!.backup?.peers ?? [])].filter((peer) => peer.down !== DOWN);
    if (begins) {
      this.#records = this.#zone.read(this.#key);
      const names = new Set(peers.map((peer) => peer.name));
      for (const name of this.#records.keys()) {
        if (!names.has(name)) {
          this.#zone.drop(this.#key, name);
        }
      }
    }
    for (const [peer, checks] of this.#checks) {
      if (peers.includes(peer)) {
        continue;
      }
      for (const check of checks) {
        check.stop();
      }
      this.#checks.delete(peer);
      this.#zone.drop(this.#key, peer.name);
    }
    for (const peer of peers) {
      if (this.#checks.has(peer)) {
        continue;
      }
      this.#checks.set(
        peer,
        this.#plans.map((plan) => plan.check(peer, peer.health, (check, failure) => this.#checked(check, failure))),
      );
    }
  }

  #stopChecks(): void {
    for (const checks of this.#checks.values()) {
      for (const check of checks) {
        check.stop();
      }
    }
    this.#checks.clear();
  }

  #checked(check: PeerCheck, failure: string | undefined): void {
    const { peer, settings } = check;
    const about = `health check${settings.match === '' ? '' : ` "${settings.match}"`} of peer ${peer.name} in upstream "${this.#group.name}"`;
    if (failure === undefined) {
      check.fails = 0;
      if (++check.passes >= settings.passes) {
        check.verdict = HEALTHY;
      }
    } else {
      check.passes = 0;
      if (++check.fails >= settings.fails) {
        check.verdict = UNHEALTHY;
      }
      this.#env.log.log(INFO, `a check failed while ${failure}, ${about}`);
    }
    const verdicts = this.#checks.get(peer)!.map(({ verdict }) => verdict);
    const health = verdicts.includes(UNHEALTHY) ? UNHEALTHY : verdicts.includes(UNKNOWN) ? UNKNOWN : HEALTHY;
    const before = this.#records.get(peer.name) ?? NOTHING;
    const changed = health !== peer.health;
    const record: HealthRecord = {
      health,
      checks: before.checks + 1,
      fails: before.fails + (failure === undefined ? 0 : 1),
      unhealthy: before.unhealthy + (changed && health === UNHEALTHY ? 1 : 0),
      lastPassed: failure === undefined,
      ...downOf(before, health),
    };
    this.#records.set(peer.name, record);
    this.#zone.write(this.#key, peer.name, record);
    if (!changed) {
      return;
    }
    if (health === UNHEALTHY) {
      this.#env.log.log(WARN, `peer is unhealthy while ${failure ?? 'another check fails'}, ${about}`);
    } else if (health === HEALTHY) {
      this.#env.log.log(NOTICE, `peer is healthy, ${about}`);
    }
    this.#setHealth(peer, health);
  }

  #setHealth(peer: Peer, health: number): void {
    const set = (): void => {
      this.#group.set?.rotation?.settle();
      if (health === HEALTHY && peer.health === UNHEALTHY && peer.slowStart !== 0) {
        peer.recoveredAt = Date.now();
      }
      peer.health = health;
    };
    const { shared } = this.#group;
    if (shared === undefined) {
      set();
    } else {
      shared.change(set);
    }
  }
}

/** How long the peer has been out of use, with what the latest check says. */
function downOf({ downSince, downtime }: HealthRecord, health: number): Pick<HealthRecord, 'downSince' | 'downtime'> {
  const now = Date.now();
  if (health !== HEALTHY) {
    return { downSince: downSince || now, downtime };
  }
  return { downSince: 0, downtime: downSince === 0 ? downtime : downtime + Math.max(0, now - downSince) };
}

/**
 * The checks of a group, which several lines may ask for. They begin once the whole configuration is made, and end when the worker
 * leaves.
 */
export function groupChecks(runtime: ProtocolRuntime, group: UpstreamGroup, zone: HealthZoneRef, key: string, env: WorkerEnv): GroupChecks {
  const known = checksOf(runtime).get(group);
  if (known !== undefined) {
    return known as GroupChecks;
  }
  const made = new GroupChecks(group, env.zones.open(zone), key, env);
  checksOf(runtime).set(group, made);
  env.onDrain(() => made.stop());
  setImmediate(() => made.start());
  return made;
}
