import type { Request } from '../../http/request/request.js';
import { logChange } from '../../status/access.js';
import { changePeer } from '../../status/peer-changes.js';
import { takeCaches } from '../../status/service.js';
import type { StatusSource } from '../../status/source.js';
import { utf8 } from '../../status/source.js';
import { groupName, takeGroups } from '../../status/upstreams.js';

/** What the page may ask for. */
interface Change {
  readonly action?: unknown;
  /** `stream`: the upstream is of that block. */
  readonly protocol?: unknown;
  readonly upstream?: unknown;
  readonly id?: unknown;
  readonly cache?: unknown;
  readonly key?: unknown;
}

/** Does what the page asks for, and says what came of it. */
export function changeText(r: Request, source: StatusSource): string {
  let change: Change;
  try {
    change = JSON.parse(r.body?.inMemory()?.toString() ?? '');
  } catch {
    return refusal('the request is no JSON text');
  }
  switch (change?.action) {
    case 'drain':
    case 'disable':
    case 'enable':
      return turnPeer(r, source, change);
    case 'purge':
      return purge(r, source, change);
    default:
      return refusal('unknown action');
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
  return success(`${utf8(found.peer.name)} ${told}`);
}

function purge(r: Request, source: StatusSource, { cache, key }: Change): string {
  const found = takeCaches(source).find(({ name }) => utf8(name) === cache);
  if (found === undefined || typeof key !== 'string' || key === '') {
    return refusal('there is no such cache');
  }
  const { disk } = found.index;
  if (disk === undefined) {
    return refusal('no location uses this cache');
  }
  const removed = disk.purgeKey(Buffer.from(key).toString('latin1'));
  logChange(r, `the dashboard purges a key of cache "${found.name}": ${removed ? 'removed' : 'not there'}`);
  return removed ? success('the entry was removed') : refusal('there is no entry with this key');
}
