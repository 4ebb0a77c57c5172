import { COUNTED_METHODS, reasonKind, ZONE } from '../../../shared/zone/meter-kinds.js';
import type { Meter } from '../../../shared/zone/meters.js';
import { countUse } from '../../cache/count-use.js';
import type { HttpRuntime, LocationRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { METHOD } from '../../http/syntax/method.js';
import { reasonName } from '../../status/reason-name.js';
import { DECLINED, OK } from '../../task/codes.js';
import { commonReason } from './common-reason.js';

const OTHER = COUNTED_METHODS.length - 1;

/** Counts that a server's request has begun. */
export function countBegin(zone: Meter): PhaseHandler {
  return (r) => {
    r.zone = zone;
    zone.values[ZONE.processing]!++;
    zone.touch();
    return DECLINED;
  };
}

/**
 * Counts requests that are over, for their server and for their location; undefined where neither counts them. `counted`: false where they
 * count for nothing.
 */
export function countRequests(server: Meter | null, location: Meter | null, http: HttpRuntime, counted: boolean): PhaseHandler | undefined {
  if (server === null && location === null && http.meters === null) {
    return undefined;
  }
  return (r) => {
    if (r !== r.main) {
      return OK;
    }
    const ms = performance.now() - r.startTime;
    // A request that was refused while its head was read has not begun there.
    if (r.zone !== null) {
      r.zone.values[ZONE.processing]!--;
      r.zone.touch();
    }
    if (!counted) {
      return OK;
    }
    const counting = r.server.zone;
    if (counting !== null) {
      count(counting, r, ms);
    }
    if (location !== null) {
      count(location, r, ms);
    }
    if (r.upstream !== null) {
      countUse(r);
    }
    if (r.reason !== '') {
      http.meters?.meter(reasonKind, reasonName(commonReason(r.reason), pathOf(r.location))).count(0);
    }
    return OK;
  };
}

/** The location's path, as the configuration has it: what clients ask for is not among the figures. Empty outside of locations. */
function pathOf({ info, parent }: LocationRuntime): string {
  switch (info.kind) {
    case 'root':
      return '';
    case 'nameless':
      return parent === undefined ? '' : pathOf(parent);
    case 'regex':
      return `~ ${info.name}`;
    default:
      return info.name;
  }
}

function count(meter: Meter, r: Request, ms: number): void {
  const { values } = meter;
  values[ZONE.requests]!++;
  values[ZONE.received]! += r.requestLength;
  values[ZONE.sent]! += r.bytesSent;
  values[ZONE.methods + placeOf(r.methodBit)]!++;
  const status = r.errStatus !== 0 ? r.errStatus : r.out.status;
  if (r.bytesSent === 0) {
    values[ZONE.discarded]!++;
  } else {
    const digit = Math.floor(status / 100);
    if (digit >= 1 && digit <= 5) {
      values[ZONE.class1 + digit - 1]!++;
    }
    meter.code(status);
  }
  values[ZONE.time]! += ms;
  meter.time(ZONE.buckets, ms);
  meter.touch();
}

function placeOf(method: number): number {
  switch (method) {
    case METHOD.GET:
      return 0;
    case METHOD.HEAD:
      return 1;
    case METHOD.POST:
      return 2;
    case METHOD.PUT:
      return 3;
    case METHOD.DELETE:
      return 4;
    case METHOD.PATCH:
      return 5;
    case METHOD.OPTIONS:
      return 6;
    default:
      return OTHER;
  }
}
