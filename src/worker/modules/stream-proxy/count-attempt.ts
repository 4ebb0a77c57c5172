import { PEER } from '../../../shared/zone/meter-kinds.js';
import type { Attempt } from '../../upstream/balancing/attempt.js';
import { PEER_FAILED, type Peer } from '../../upstream/balancing/peer.js';
import { plusBucket } from '../../upstream/exchange/count-attempt.js';

/** Counts what went from and to a peer, in bytes since this was called last. */
export function countTransfer({ meter }: Peer, from: number, to: number): void {
  if (meter !== null) {
    meter.values[PEER.received]! += from;
    meter.values[PEER.sent]! += to;
    meter.touch();
  }
}

/** Counts what became of an attempt that took so long (milliseconds); `state` is PEER_OK or PEER_FAILED. */
export function countSessionAttempt({ meter }: Peer, state: number, { connectTime, headerTime }: Attempt, ms: number): void {
  if (meter === null) {
    return;
  }
  const { values } = meter;
  values[PEER.active]!--;
  if (state === PEER_FAILED) {
    values[PEER.fails]!++;
  }
  if (connectTime !== -1) {
    values[PEER.connects]!++;
    values[PEER.connectTime]! += connectTime;
  }
  if (headerTime !== -1) {
    values[PEER.headers]!++;
    values[PEER.headerTime]! += headerTime;
    values[PEER.responses]!++;
    values[PEER.responseTime]! += ms;
    values[PEER.plus + plusBucket(ms)]!++;
    meter.time(PEER.buckets, ms);
  }
  meter.touch();
}
