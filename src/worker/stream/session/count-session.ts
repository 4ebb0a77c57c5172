import { ZONE } from '../../../shared/zone/meter-kinds.js';
import { PHASES } from './runtime.js';
import type { StreamSession } from './session.js';
import { STATUS_OK } from './status.js';

/** Counts that a session has begun. */
export function countBegin(s: StreamSession): void {
  const { zone } = s.server;
  if (zone !== null) {
    s.zone = zone;
    zone.values[ZONE.processing]!++;
    zone.touch();
  }
}

/** Counts what has gone between the client and us since this was called last: connections of `stream` may last for days. */
export function countBytes(s: StreamSession): void {
  const { zone } = s.server;
  if (zone === null) {
    return;
  }
  const { bytesReceived, bytesSent } = s;
  zone.values[ZONE.received]! += bytesReceived - s.countedReceived;
  zone.values[ZONE.sent]! += bytesSent - s.countedSent;
  s.countedReceived = bytesReceived;
  s.countedSent = bytesSent;
  zone.touch();
}

/** Counts a session that is over with a status, for the server that its client's TLS has chosen by then. */
export function countSession(s: StreamSession, status: number): void {
  const begun = s.zone;
  if (begun !== null) {
    s.zone = null;
    begun.values[ZONE.processing]!--;
    begun.touch();
  }
  const { zone } = s.server;
  if (zone === null) {
    return;
  }
  countBytes(s);
  const { values } = zone;
  values[ZONE.requests]!++;
  // Clients that leave before anything is done with what they send get no status.
  if (status === STATUS_OK && s.phase < PHASES.length) {
    values[ZONE.discarded]!++;
  } else {
    values[ZONE.class1 + Math.floor(status / 100) - 1]!++;
  }
  const ms = performance.now() - s.acceptedAt;
  values[ZONE.time]! += ms;
  zone.time(ZONE.buckets, ms);
}
