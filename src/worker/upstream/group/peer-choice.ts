import { PEER } from '../../../shared/zone/meter-kinds.js';
import { now } from '../../task/at-work.js';
import type { ClientTask } from '../../task/client-task.js';
import { Attempt } from '../balancing/attempt.js';
import { PICKING, type Picker, type PickerOwner } from '../balancing/balancer.js';
import { PEER_OK, type Peer } from '../balancing/peer.js';
import type { UpstreamGroup } from './group.js';

/**
 * The choice of peers for a request or a session, one attempt after another. What is done with a peer, those know who extend it. nginx:
 * ngx_peer_connection_t.
 */
export abstract class PeerChoice implements PickerOwner {
  abstract readonly r: ClientTask;
  protected group: UpstreamGroup | undefined = undefined;
  protected picker: Picker | null = null;
  /** The peer at hand; null while there is none. */
  protected chosen: Peer | null = null;
  /** Name of the latest peer, for logs. */
  name: string | undefined = undefined;
  unix = false;
  /** The local address of the latest connection, for logs. */
  boundTo = '';
  /** The name for SNI and verification, unless a setting gives another. */
  tlsName = '';
  attempt: Attempt | null = null;
  /** What `$upstream_*` tell, attempt by attempt; an entry without a peer stands between two rounds. */
  attempts: Attempt[] | null = null;
  /** Monotonic milliseconds when the first peer was chosen, and when the latest was. */
  startTime = 0;
  protected attemptStart = 0;
  protected cancelResolve: (() => void) | null = null;

  /** Nobody waits for a peer any more. */
  protected abstract readonly over: boolean;
  /** How many peers are asked at most; 0: as many as there are. */
  protected abstract readonly mostTries: number;
  /** The attempt at hand, if there is one, has ended. */
  protected abstract endAttempt(now: number): void;
  /** Asks the peer that was chosen. */
  protected abstract ask(peer: Peer, now: number): void;
  /** No peer can be asked. */
  protected abstract noPeer(now: number): void;

  /** The name of a backend was looked up: there is nothing to cancel any more. */
  nameResolved(): void {
    this.cancelResolve = null;
  }

  /** Says what the backend is called in TLS, where nothing has said it yet. */
  defaultTlsName(name: string): void {
    if (this.tlsName === '') {
      this.tlsName = name;
    }
  }

  /** Says what the backend is called in TLS. */
  useTlsName(name: string): void {
    this.tlsName = name;
  }

  /** Says from which address the connection is made. */
  bindTo(address: string): void {
    this.boundTo = address;
  }

  /** Chooses among a group's peers from now on. */
  useGroup(group: UpstreamGroup): void {
    this.group = group;
    this.defaultTlsName(group.name);
    this.usePicker(group.balancer.begin(this.r));
  }

  /** Chooses with this picker from now on. */
  usePicker(picker: Picker): void {
    this.picker = picker;
    const time = now();
    this.startTime = time;
    const { mostTries } = this;
    if (mostTries !== 0 && picker.tries > mostTries) {
      picker.tries = mostTries;
    }
    this.choose(time);
  }

  /** Begins an attempt. nginx: ngx_http_upstream_connect, ngx_stream_proxy_connect. */
  protected choose(now: number): void {
    this.endAttempt(now);
    const attempt = new Attempt();
    attempt.connectTime = -1;
    attempt.headerTime = -1;
    attempt.responseTime = -1;
    this.attempt = attempt;
    // Most requests make one attempt: an array that grows takes room for many.
    if (this.attempts === null) {
      this.attempts = [attempt];
    } else {
      this.attempts.push(attempt);
    }
    this.attemptStart = now;
    this.pick(this.picker!, now);
  }

  /** Asks a picker for the next peer. */
  protected pick(picker: Picker, now: number): void {
    const peer = picker.next(this);
    if (peer !== PICKING) {
      this.#use(peer, now);
    }
  }

  picked(peer: Peer | null): void {
    this.#use(peer, now());
  }

  #use(peer: Peer | null, now: number): void {
    if (this.over) {
      if (peer !== null) {
        this.picker!.done(peer, PEER_OK, null);
      }
    } else if (peer === null) {
      this.noPeer(now);
    } else {
      this.chosen = peer;
      this.name = peer.name;
      this.unix = peer.port === 0;
      this.attempt!.peer = peer.name;
      countChoice(peer);
      this.ask(peer, now);
    }
  }

  /** The attempt at hand is one at the whole group, of which no peer can be asked. */
  protected blameGroup(): void {
    const { groupName } = this.picker!;
    this.attempt!.peer = groupName;
    this.name = groupName;
    this.unix = false;
  }
}

/** Counts that a peer was chosen. */
function countChoice({ meter }: Peer): void {
  if (meter === null) {
    return;
  }
  const { values } = meter;
  values[PEER.active]!++;
  values[PEER.requests]!++;
  values[PEER.selected] = Date.now();
  meter.touch();
}
