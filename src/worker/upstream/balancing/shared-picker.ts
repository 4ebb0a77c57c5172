import type { ZoneJob } from '../../../shared/zone/kind.js';
import { nowInNewest } from '../../../shared/zone/patience.js';
import { enter, leave } from '../../task/at-work.js';
import type { ClientTask } from '../../task/client-task.js';
import type { Attempt } from './attempt.js';
import { type Balancer, PICKING, type Picker, type PickerOwner } from './balancer.js';
import type { Membership } from './membership.js';
import { PEER_OK, type Peer, type PeerSet } from './peer.js';
import { type PeerZone, SharedPeers } from './peer-zone.js';

/** How often, a millisecond apart, the zone is tried for somebody who wants to read of the peers. */
const REFRESH_TRIES = 5;

/** Lets a group's choices be made with what all workers know of the peers. */
export class SharedBalancer implements Balancer {
  readonly zone: PeerZone;
  readonly set: PeerSet;
  readonly shared: SharedPeers;
  readonly #inner: Balancer;

  constructor(inner: Balancer, set: PeerSet, zone: PeerZone) {
    this.#inner = inner;
    this.set = set;
    this.zone = zone;
    this.shared = new SharedPeers(zone, set);
  }

  begin(r: ClientTask): SharedPicker {
    return new SharedPicker(this, r, this.#inner.begin(r));
  }

  /** A picker that works inside the zone's transactions alone. */
  beginInner(r: ClientTask): Picker {
    return this.#inner.begin(r);
  }

  /** Brings this worker's view of the peers up to date, unless the zone stays busy. */
  refresh(): void {
    nowInNewest(this.zone.sql, () => this.shared.load(), REFRESH_TRIES);
  }

  /** Changes the peers for all workers at once. False: the zone stayed busy, and nothing was done. */
  changeNow(change: () => void): boolean {
    const work = (): void => {
      this.shared.load();
      change();
    };
    return nowInNewest(this.zone.sql, work);
  }

  /** Changes the peers for all workers. `change` may run again after a rollback. */
  change(change: () => void): void {
    this.zone.sql.submit(new Change(this.shared, change));
  }

  /**
   * Changes the members of the group for all workers, by what they are; `then` runs in the same transaction. `change` may return undefined
   * to leave them. False: the zone stayed busy, and nothing was done.
   */
  changeMembers(change: (now: Membership) => Membership | undefined, then: () => void = () => {}): boolean {
    const work = (): void => {
      this.shared.load();
      const changed = change(this.set.membership);
      if (changed !== undefined) {
        this.shared.changeMembers(changed);
        then();
      }
    };
    return nowInNewest(this.zone.sql, work);
  }

  /**
   * Takes or keeps for `ms` the lead in work that one worker does for all; calls `then` with whether this worker has it, once the
   * peers are up to date.
   */
  lead(ms: number, then: (leads: boolean) => void): void {
    let leads = false;
    this.zone.sql.submit({
      work: () => {
        this.shared.load();
        leads = this.zone.lead(this.set.name, ms);
      },
      after: () => then(leads),
    });
  }
}

/** Lets another picker work inside the zone's transactions. */
class SharedPicker implements Picker {
  tries: number;
  readonly groupName: string;
  readonly balancer: SharedBalancer;
  readonly r: ClientTask;
  inner: Picker;
  /** The list of peers that the inner picker began with. */
  #version: number;

  constructor(balancer: SharedBalancer, r: ClientTask, inner: Picker) {
    this.balancer = balancer;
    this.r = r;
    this.inner = inner;
    this.tries = inner.tries;
    this.groupName = inner.groupName;
    this.#version = balancer.set.config.version;
  }

  /** Begins anew when another worker has changed the list of peers: the inner picker would find none in it. */
  renew(): void {
    const { version } = this.balancer.set.config;
    if (version === this.#version) {
      return;
    }
    this.#version = version;
    const { hint } = this;
    this.inner = this.balancer.beginInner(this.r);
    if (hint !== undefined) {
      this.inner.hint = hint;
    }
  }

  get hint(): string | undefined {
    return this.inner.hint;
  }

  set hint(hint: string | undefined) {
    this.inner.hint = hint;
  }

  next(owner: PickerOwner): typeof PICKING {
    this.balancer.zone.sql.submit(new Pick(this, owner));
    return PICKING;
  }

  done(peer: Peer, state: number, attempt: Attempt | null): void {
    const { set, zone } = this.balancer;
    this.tries = set.single ? 0 : Math.max(this.tries - 1, 0);
    const job = new Change(this.balancer.shared, () => this.inner.done(peer, state, attempt));
    // A place that others wait for, or a failure that they should know of, is told at once.
    if (state !== PEER_OK || peer.maxConns !== 0) {
      zone.sql.submit(job);
    } else {
      zone.sql.defer(job);
    }
  }

  connected(peer: Peer, attempt: Attempt | null): void {
    if (peer.fails !== 0 || this.inner.timesConnections) {
      this.balancer.zone.sql.submit(new Change(this.balancer.shared, () => this.inner.connected?.(peer, attempt)));
    }
  }

  headerReceived(peer: Peer, attempt: Attempt): void {
    const { inner } = this;
    if (inner.headerReceived !== undefined) {
      this.balancer.zone.sql.submit(new Change(this.balancer.shared, () => inner.headerReceived!(peer, attempt)));
    }
  }
}

/** The choice of one peer. */
class Pick implements ZoneJob, PickerOwner {
  readonly #picker: SharedPicker;
  readonly #owner: PickerOwner;
  #made = false;
  #peer: Peer | null = null;

  constructor(picker: SharedPicker, owner: PickerOwner) {
    this.#picker = picker;
    this.#owner = owner;
  }

  work(): void {
    this.#picker.balancer.shared.load();
    // The transaction was undone, but not what the request remembers of it.
    if (this.#made) {
      if (this.#peer !== null) {
        this.#peer.conns++;
      }
      return;
    }
    this.#made = true;
    this.#picker.renew();
    this.#peer = this.#picker.inner.next(this) as Peer | null;
  }

  after(): void {
    const before = enter(this.#picker.r);
    this.#owner.picked(this.#peer);
    leave(before);
  }

  picked(): void {}
}

/** A change of a peer's standing. */
class Change implements ZoneJob {
  readonly #shared: SharedPeers;
  readonly #change: () => void;

  constructor(shared: SharedPeers, change: () => void) {
    this.#shared = shared;
    this.#change = change;
  }

  work(): void {
    this.#shared.load();
    this.#change();
  }

  after(): void {}
}
