import type { ClientTask } from '../../task/client-task.js';
import type { Attempt } from './attempt.js';
import type { Peer } from './peer.js';

/** {@link Picker.next}: the choice is being made; `picked` of the asker is called with it later. */
export const PICKING = 1;

/** Waits for a choice that could not be made at once. */
export interface PickerOwner {
  picked(peer: Peer | null): void;
}

/** Chooses a group's peers for one request, attempt by attempt. nginx: ngx_peer_connection_t with its get and free. */
export interface Picker {
  /** How many more peers may be asked. */
  tries: number;
  /** The peer that a sticky session asks for, by its `sid`. */
  hint?: string | undefined;
  /** The group's name, shown when no peer is to be had. */
  readonly groupName: string;
  /** The next peer to ask, null when none is available, or PICKING. */
  next(owner: PickerOwner): Peer | null | typeof PICKING;
  /** Gives a peer back; `state` is one of PEER_OK, PEER_NEXT and PEER_FAILED. */
  done(peer: Peer, state: number, attempt: Attempt | null): void;
  /** The balancer wants to be told of each connection; otherwise only of those to peers that failed before. */
  readonly timesConnections?: boolean;
  /** A session's connection to the peer is there. nginx: pc->notify of stream. */
  connected?(peer: Peer, attempt: Attempt | null): void;
  /** The response head of the attempt at hand has come, or a session's first byte. nginx: pc->notify. */
  headerReceived?(peer: Peer, attempt: Attempt): void;
}

/** A way to choose peers. */
export interface Balancer {
  begin(r: ClientTask): Picker;
}
