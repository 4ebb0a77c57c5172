import { PEER, PLUS_BOUNDS } from '../../../shared/zone/meter-kinds.js';
import { now } from '../../task/at-work.js';
import type { Attempt } from '../balancing/attempt.js';
import { PEER_FAILED, type Peer } from '../balancing/peer.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Counts what became of an attempt that began at `start` (monotonic milliseconds); `state` is one of PEER_OK, PEER_NEXT, PEER_FAILED. */
export function countAttempt({ meter }: Peer, state: number, attempt: Attempt, u: UpstreamRequest, start: number): void {
  if (meter === null) {
    return;
  }
  const { values } = meter;
  values[PEER.active]!--;
  values[PEER.sent]! += attempt.bytesSent;
  values[PEER.received]! += attempt.bytesReceived;
  if (state === PEER_FAILED) {
    values[PEER.fails]!++;
  }
  if (attempt.headerTime !== -1) {
    const { status } = u.head;
    const ms = now() - start;
    const digit = Math.floor(status / 100);
    if (digit >= 1 && digit <= 5) {
      values[PEER.class1 + digit - 1]!++;
    }
    meter.code(status);
    values[PEER.headers]!++;
    values[PEER.headerTime]! += attempt.headerTime;
    values[PEER.responses]!++;
    values[PEER.responseTime]! += ms;
    values[PEER.plus + plusBucket(ms)]!++;
    meter.time(PEER.buckets, ms);
  }
  meter.touch();
}

/** The place of a time in NGINX Plus's histogram. */
export function plusBucket(ms: number): number {
  let i = 0;
  while (i < PLUS_BOUNDS.length && ms > PLUS_BOUNDS[i]!) {
    i++;
  }
  return i;
}
