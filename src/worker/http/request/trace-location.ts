import type { LocationRuntime } from './http-runtime.js';
import type { LocationInfo } from './location-info.js';
import type { Request } from './request.js';

/** A location that was thought of, and what became of it. */
export interface LookedAt {
  /** As it is written after the word. */
  readonly location: string;
  readonly verdict: string;
  readonly won: boolean;
}

/** A server may have thousands. */
const MOST = 200;

/** A location as it is written after the word. */
export function shownLocation({ kind, name, regex }: LocationInfo): string {
  switch (kind) {
    case 'exact':
      return `= ${name}`;
    case 'prefix-final':
      return `^~ ${name}`;
    case 'regex':
      return `~ ${regex?.pattern ?? name}`;
    default:
      return name;
  }
}

/** Notes which location was chosen, and for each other one why it was not. */
export function traceLocation(r: Request): void {
  const { trace, location: won, uri } = r;
  const way: LocationRuntime[] = [];
  for (let at: LocationRuntime | undefined = won; at !== undefined && at.info.kind !== 'root'; at = at.parent) {
    way.unshift(at);
  }
  const looked: LookedAt[] = [];
  let level = r.server.locations.all;
  for (const winner of [...way, undefined]) {
    const place = winner === undefined ? -1 : level.indexOf(winner);
    for (const [i, location] of level.entries()) {
      if (location.info.kind !== 'named' && looked.length < MOST) {
        const verdict = verdictOn(location.info, i, uri, winner?.info, place);
        looked.push({ location: shownLocation(location.info), verdict, won: location === winner });
      }
    }
    level = winner?.children?.all ?? [];
  }
  if (won.info.kind === 'root') {
    trace!.add(r, 'location', `no location for "${uri}": what stands in the server itself counts`, { in: won }, { looked });
    return;
  }
  const shown = shownLocation(won.info);
  const why = looked.findLast((each) => each.won)?.verdict ?? '';
  trace!.add(r, 'location', `location ${shown} for "${uri}": ${why}`, { in: won }, { location: shown, uri, looked });
}

function verdictOn(info: LocationInfo, place: number, uri: string, winner: LocationInfo | undefined, winnerPlace: number): string {
  const { kind, name } = info;
  const won = info === winner;
  if (kind === 'exact') {
    return won ? 'it is the URI exactly' : 'it is not the URI';
  }
  if (kind === 'prefix' || kind === 'prefix-final') {
    if (won) {
      return kind === 'prefix' ? 'the longest prefix, and no regular expression matches' : 'the longest prefix, with ^~';
    }
    if (!uri.startsWith(name)) {
      return 'the URI does not begin so';
    }
    switch (winner?.kind) {
      case 'exact':
        return 'an exact location comes first';
      case 'regex':
        return 'a regular expression comes before a prefix';
      default:
        return 'another prefix is longer';
    }
  }
  if (won) {
    return 'the first regular expression that matches';
  }
  switch (winner?.kind) {
    case 'exact':
      return 'not tried: an exact location comes first';
    case 'prefix-final':
      return 'not tried: ^~';
    case 'regex':
      return place < winnerPlace ? 'it does not match' : 'not tried: an earlier one matches';
    default:
      return 'it does not match';
  }
}
