import { nativeText } from '../../../shared/text/native-text.js';
import { purge } from '../../cache/purge.js';
import { wishesText } from '../../cache/purge-question.js';
import type { Request } from '../../http/request/request.js';
import { logChange } from '../../status/access.js';
import { changePeer } from '../../status/peer-changes.js';
import { cacheNamed, wishesOf } from '../../status/purges.js';
import type { StatusSource } from '../../status/source.js';
import { groupName, takeGroups } from '../../status/upstreams.js';
import { enter, leave } from '../../task/at-work.js';

/** What the page may ask for. */
interface Change {
  readonly action?: unknown;
  /** `stream`: the upstream is of that block. */
  readonly protocol?: unknown;
  readonly upstream?: unknown;
  readonly id?: unknown;
  readonly cache?: unknown;
  /** What is purged of it: one of these. */
  readonly key?: unknown;
  readonly prefix?: unknown;
  readonly tag?: unknown;
  readonly soft?: unknown;
}

/** Does what the page asks for, and calls back with what came of it. */
export function makeChange(r: Request, source: StatusSource, done: (text: string) => void): void {
  let change: Change;
  try {
    change = JSON.parse(r.body?.inMemory()?.toString() ?? '');
  } catch {
    done(refusal('the request is no JSON text'));
    return;
  }
  switch (change?.action) {
    case 'drain':
    case 'disable':
    case 'enable':
      done(turnPeer(r, source, change));
      return;
    case 'purge':
      purgeCache(r, source, change, done);
      return;
    default:
      done(refusal('unknown action'));
  }
}

const refusal = (text: string): string => JSON.stringify({ done: false, text });
const success = (text: string): string => JSON.stringify({ done: true, text });

/** What each action makes of a server, and how it is told. */
const TURNS = {
  drain: [{ drain: true }, 'drains', 'gets no new requests'],
  disable: [{ down: true }, 'disables', 'gets no new connections'],
  enable: [{ down: false, drain: false }, 'enables', 'is in use again'],
} as const;

function turnPeer(r: Request, source: StatusSource, { action, protocol, upstream, id }: Change): string {
  const ofStream = protocol === 'stream';
  const counted = takeGroups(source, ofStream ? 'stream' : 'http').find(({ group }) => groupName(group) === upstream);
  const found = counted?.peers.find(({ peer }) => peer.id === id);
  if (counted === undefined || found === undefined) {
    return refusal('there is no such server');
  }
  if (counted.group.zone === undefined) {
    return refusal('the group has no zone, so its servers cannot be changed');
  }
  if (ofStream && action === 'drain') {
    return refusal('a server of stream has no sessions that are its own');
  }
  const [change, does, told] = TURNS[action as keyof typeof TURNS];
  changePeer(counted.group, found.peer, change);
  logChange(r, `the dashboard ${does} ${found.peer.name} of upstream "${counted.group.name}"`);
  return success(`${nativeText(found.peer.name)} ${told}`);
}

function purgeCache(r: Request, source: StatusSource, { cache, key, prefix, tag, soft }: Change, done: (text: string) => void): void {
  const disk = cacheNamed(source, cache);
  if (disk === undefined) {
    done(refusal('there is no such cache'));
    return;
  }
  if (disk === null) {
    done(refusal('no location uses this cache'));
    return;
  }
  const wishes = wishesOf({ key, prefix, tag, soft });
  if (typeof wishes === 'string' || wishes[0]!.text === '') {
    done(refusal(typeof wishes === 'string' ? wishes : 'the text is empty'));
    return;
  }
  purge(disk, wishes, (entries) => {
    const before = enter(r);
    const many = `${entries} ${entries === 1 ? 'entry' : 'entries'}`;
    logChange(r, `the dashboard purges cache "${disk.name}" by ${wishesText(wishes)}: ${many}`);
    if (!r.finished) {
      done(entries === 0 ? refusal('there is no such entry') : success(`${many} ${soft === true ? 'became stale' : 'removed'}`));
    }
    leave(before);
  });
}
