import type { Idle } from '../../connections/idle-queue.js';
import type { ConnectionHost } from '../connection/connection-host.js';
import type { Request } from '../request/request.js';

/** A connection is at work for its first open stream: nobody may close it for a new connection. */
export function beginStreams(host: ConnectionHost, connection: Idle): void {
  host.counters.waiting--;
  host.idle.remove(connection);
}

/** A request has begun on a stream. */
export function countBegun(host: ConnectionHost): void {
  const { counters } = host;
  counters.writing++;
  counters.requests++;
  counters.changed();
}

/** A stream's request is over. */
export function countOver(host: ConnectionHost, r: Request): void {
  host.counters.writing--;
  host.countStatus(r);
}

/** No stream of a connection is open any more. */
export function endStreams(host: ConnectionHost): void {
  host.counters.waiting++;
  host.counters.changed();
}
