import { parseTime } from '../../shared/config/language/units.js';
import { byteText, nativeText } from '../../shared/text/native-text.js';
import { streamPeerKind } from '../../shared/zone/meter-kinds.js';
import { addressText, parseBackendUrl } from '../address/backend-url.js';
import type { ProtocolRuntime } from '../task/protocol-runtime.js';
import { type AddedServer, applyMembership, type Membership } from '../upstream/balancing/membership.js';
import { DOWN, DRAINING, defaultPeerOptions, type Peer, UP } from '../upstream/balancing/peer.js';
import { FIRST_RESOLVED_ID } from '../upstream/group/dynamic-server.js';
import type { UpstreamGroup } from '../upstream/group/group.js';
import { groupsOf } from '../upstream/group/groups.js';
import { REMOVED } from '../upstream/group/server-changes.js';
import { type Answer, ApiRefusal, type Question } from './api-question.js';
import { changePeer, downOf, type PeerChange } from './peer-changes.js';
import { type Protocol, runtimeOf, type StatusSource } from './source.js';
import { groupName } from './upstreams.js';

const MAX_ROUTE = 32;
/** So much of a change is told in the log. */
const LONGEST_TEXT = 200;
/** The least id of a server that was added. */
const FIRST_ADDED_ID = 100_000;

/** What servers of `stream` do not have: sessions that stay with one. */
const OF_REQUESTS: readonly string[] = ['drain', 'route'];

type Fields = Readonly<Record<string, unknown>>;

/** Answers `http/upstreams/NAME/servers/`, the same of `stream`, and below it. undefined: the path is another one. */
export function answerServers(source: StatusSource, question: Question, path: string): Answer | undefined {
  const match = /^(http|stream)\/upstreams\/([^/]+)\/servers(?:\/([^/]*))?$/.exec(path);
  const runtime = match === null ? undefined : runtimeOf(source, match[1] as Protocol);
  return runtime === undefined ? undefined : answer(runtime, question, match![2]!, match![3]);
}

function answer(runtime: ProtocolRuntime, question: Question, name: string, item: string | undefined): Answer {
  const { method, write, body } = question;
  const ofStream = runtime.peerKind === streamPeerKind;
  const group = groupsOf(runtime).all.find((each) => each.set !== undefined && groupName(each) === name);
  if (group === undefined) {
    throw new ApiRefusal(404, 'UpstreamNotFound', 'upstream not found');
  }
  if (group.zone === undefined) {
    throw new ApiRefusal(400, 'UpstreamStatic', 'upstream is static');
  }
  group.shared?.refresh();
  const peer = item === undefined || item === '' ? undefined : peerOf(group, item);
  if (method === 'GET') {
    return { status: 200, body: peer === undefined ? serversOf(group, ofStream) : serverObject(group, peer, ofStream) };
  }
  if (!write || (method === 'POST') !== (peer === undefined)) {
    throw new ApiRefusal(405, 'MethodDisabled', 'method disabled');
  }
  const before = peer?.name;
  const did = change(group, peer, method, body, ofStream);
  tellFleet(runtime, group, before, (did.body as { readonly id?: number }).id, ofStream);
  return did;
}

function change(group: UpstreamGroup, peer: Peer | undefined, method: string, body: string | undefined, ofStream: boolean): Answer {
  switch (method) {
    case 'POST':
      return addServer(group, fieldsOf(body), ofStream);
    case 'PATCH': {
      const fields = fieldsOf(body);
      const did = `changes ${told(group, peer!)}: ${textOf(fields)}`;
      return { status: 200, body: serverObject(group, changeServer(group, peer!, fields, ofStream), ofStream), did };
    }
    case 'DELETE':
      removeServer(group, peer!);
      return { status: 200, body: serversOf(group, ofStream), did: `removes ${told(group, peer!)}` };
    default:
      throw new ApiRefusal(405, 'MethodDisabled', 'method disabled');
  }
}

/** Notes what has become of a server, for the other machines: `before` is its address, `id` what it is called now, if it is there. */
function tellFleet(
  runtime: ProtocolRuntime,
  group: UpstreamGroup,
  before: string | undefined,
  id: number | undefined,
  ofStream: boolean,
): void {
  if (group.changes === undefined) {
    return;
  }
  const peer = id === undefined ? undefined : peersOf(group).find((each) => each.id === id);
  const key = (name: string): string => `${group.name}\n${name}`;
  const notes: [key: string, text: string][] = [];
  if (before !== undefined && before !== peer?.name) {
    notes.push([key(before), REMOVED]);
  }
  if (peer !== undefined) {
    // Each is written out, so that the others need to know nothing of what it was.
    const { drain = false, ...shown } = serverObject(group, peer, ofStream) as { readonly drain?: boolean };
    notes.push([key(peer.name), JSON.stringify({ ...shown, ...(drain ? { drain } : {}), added: peer.added })]);
  }
  runtime.env.zones.open(group.changes).note(notes);
}

const told = ({ name }: UpstreamGroup, peer: Peer): string => `server ${peer.name} of upstream "${name}"`;

/** What a request said, for the log. */
const textOf = (fields: Fields): string => byteText(JSON.stringify(fields)).slice(0, LONGEST_TEXT);

export const peersOf = ({ set }: UpstreamGroup): readonly Peer[] => [...set!.peers, ...(set!.backup?.peers ?? [])];
const serversOf = (group: UpstreamGroup, ofStream: boolean): object[] => peersOf(group).map((peer) => serverObject(group, peer, ofStream));

function peerOf(group: UpstreamGroup, item: string): Peer {
  if (!/^\d{1,10}$/.test(item)) {
    throw new ApiRefusal(400, 'UpstreamBadServerId', 'invalid server ID');
  }
  const found = peersOf(group).find(({ id }) => id === Number(item));
  if (found === undefined) {
    throw new ApiRefusal(404, 'UpstreamServerNotFound', `server with ID "${item}" does not exist`);
  }
  return found;
}

function serverObject(group: UpstreamGroup, peer: Peer, ofStream: boolean): object {
  return {
    id: peer.id,
    server: nativeText(peer.name),
    weight: peer.weight,
    max_conns: peer.maxConns,
    max_fails: peer.maxFails,
    fail_timeout: `${peer.failTimeout}s`,
    slow_start: peer.slowStart % 1000 === 0 ? `${peer.slowStart / 1000}s` : `${peer.slowStart}ms`,
    ...(ofStream ? {} : { route: peer.hasRoute ? nativeText(peer.sid) : '' }),
    backup: isBackup(group, peer),
    down: (peer.down & DOWN) !== 0,
    ...((peer.down & DRAINING) === 0 ? {} : { drain: true }),
  };
}

export function fieldsOf(body: string | undefined): Fields {
  let fields: unknown;
  try {
    fields = JSON.parse(body ?? '');
  } catch {
    throw new ApiRefusal(415, 'JsonError', 'JSON error');
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw new ApiRefusal(400, 'UpstreamConfFormatError', 'an object is expected');
  }
  for (const value of Object.values(fields)) {
    if (typeof value === 'object') {
      throw new ApiRefusal(400, 'UpstreamConfFormatError', 'nested object or list');
    }
  }
  return fields as Fields;
}

/** Reads what a request says of a server but where it is and which of its sort. */
function changeOf(fields: Fields, ofStream: boolean): PeerChange {
  const change: { -readonly [K in keyof PeerChange]: PeerChange[K] } = {};
  for (const [name, value] of Object.entries(fields)) {
    if (ofStream && OF_REQUESTS.includes(name)) {
      throw new ApiRefusal(400, 'UpstreamConfFormatError', `unknown parameter "${name}"`);
    }
    switch (name) {
      case 'weight':
        change.weight = integer(value, 1, 'UpstreamBadWeight', name);
        break;
      case 'max_conns':
        change.maxConns = integer(value, 0, 'UpstreamBadMaxConns', name);
        break;
      case 'max_fails':
        change.maxFails = integer(value, 0, 'UpstreamBadMaxFails', name);
        break;
      case 'fail_timeout':
        change.failTimeout = time(value, 's', 'UpstreamBadFailTimeout', name);
        break;
      case 'slow_start':
        change.slowStart = time(value, 'ms', 'UpstreamBadSlowStart', name);
        break;
      case 'down':
      case 'drain':
        change[name] = boolean(value, name);
        break;
      default:
        if (!['server', 'backup', 'route'].includes(name)) {
          throw new ApiRefusal(400, 'UpstreamConfFormatError', `unknown parameter "${name}"`);
        }
    }
  }
  return change;
}

/** Where a server is, as a group's line would have it. */
type Place = Pick<AddedServer, 'server' | 'name' | 'address' | 'port'>;

function placeOf(server: unknown, ofStream: boolean): Place {
  if (typeof server !== 'string' || server === '') {
    throw new ApiRefusal(400, 'UpstreamConfFormatError', 'missing "server" argument');
  }
  const url = parseBackendUrl(byteText(server), { defaultPort: ofStream ? 0 : 80, uriPart: false });
  if (typeof url === 'string' || (url.family !== 'unix' && url.address === undefined)) {
    throw new ApiRefusal(400, 'UpstreamBadAddress', `${typeof url === 'string' ? url : 'an address is expected'} in "${server}"`);
  }
  if (ofStream && url.noPort) {
    throw new ApiRefusal(400, 'UpstreamBadAddress', `no port in server "${server}"`);
  }
  const unix = url.family === 'unix';
  return {
    server: url.url,
    name: unix ? `unix:${url.host}` : addressText(url.address!, url.port),
    address: unix ? url.host : url.address!,
    port: unix ? 0 : url.port,
  };
}

function routeOf({ route = '' }: Fields): string {
  if (typeof route !== 'string' || Buffer.byteLength(route) > MAX_ROUTE) {
    throw new ApiRefusal(400, 'UpstreamBadRoute', 'route is too long');
  }
  return byteText(route);
}

function refuseSecond(group: UpstreamGroup, name: string): void {
  if (peersOf(group).some((peer) => peer.name === name)) {
    throw new ApiRefusal(409, 'EntryExists', 'entry exists');
  }
}

const isBackup = ({ set }: UpstreamGroup, peer: Peer): boolean => set!.backup?.peers.includes(peer) ?? false;

/** Adds a server. */
export function addServer(group: UpstreamGroup, fields: Fields, ofStream: boolean): Answer {
  const { backup = false } = fields;
  const place = placeOf(fields.server, ofStream);
  const route = routeOf(fields);
  if (boolean(backup, 'backup') && group.set!.backup === null) {
    throw new ApiRefusal(400, 'UpstreamNoBackup', `upstream "${nativeText(group.name)}" has no backup`);
  }
  refuseSecond(group, place.name);
  const change = changeOf(fields, ofStream);
  const { down: _down, drain: _drain, ...numbers } = change;
  const options = { ...defaultPeerOptions, ...numbers, route, down: downOf(UP, change) };
  let id = 0;
  changeMembers(group, (now) => {
    id = nextSerial(now);
    return { ...now, added: [...now.added, { ...place, id, serial: id, backup: backup === true, options }], last: id };
  });
  const peer = peerOf(group, String(id));
  return { status: 201, body: serverObject(group, peer, ofStream), did: `adds ${told(group, peer)}` };
}

/** Numbers begin behind all lines that a group can have, and none is given twice. */
const nextSerial = ({ last }: Membership): number => Math.max(FIRST_ADDED_ID, last + 1);

/** Changes a server; returns the peer that it is then: another address or route makes another one, with the same id. */
export function changeServer(group: UpstreamGroup, peer: Peer, fields: Fields, ofStream: boolean): Peer {
  const change = changeOf(fields, ofStream);
  const backup = isBackup(group, peer);
  if (fields.backup !== undefined && boolean(fields.backup, 'backup') !== backup) {
    throw new ApiRefusal(400, 'UpstreamConfFormatError', '"backup" cannot be changed');
  }
  const route = peer.hasRoute ? peer.sid : '';
  const newRoute = fields.route === undefined ? route : routeOf(fields);
  const place = fields.server === undefined ? undefined : placeOf(fields.server, ofStream);
  const moves = place !== undefined && place.name !== peer.name;
  if (!moves && newRoute === route) {
    changePeer(group, peer, change);
    return peer;
  }
  if (peer.id >= FIRST_RESOLVED_ID) {
    throw new ApiRefusal(400, 'UpstreamServerImmutable', `server "${peer.id}" address is immutable`);
  }
  if (moves) {
    refuseSecond(group, place.name);
  }
  const { down: _down, drain: _drain, ...numbers } = change;
  const { server, name, address, port, weight, maxConns, maxFails, failTimeout, slowStart } = peer;
  const made: Omit<AddedServer, 'serial'> = {
    ...(place ?? { server, name, address, port }),
    id: peer.id,
    backup,
    options: {
      ...{ weight, maxConns, maxFails, failTimeout, slowStart },
      ...numbers,
      route: newRoute,
      down: downOf(peer.down, change),
    },
  };
  changeMembers(group, (now) => ({
    added: [...now.added.filter(({ id }) => id !== peer.id), { ...made, serial: nextSerial(now) }],
    removed: peer.added || now.removed.includes(peer.id) ? now.removed : [...now.removed, peer.id],
    last: nextSerial(now),
  }));
  return peerOf(group, String(peer.id));
}

/** Takes a server away. */
export function removeServer(group: UpstreamGroup, peer: Peer): void {
  if (peer.id >= FIRST_RESOLVED_ID) {
    throw new ApiRefusal(400, 'UpstreamServerImmutable', `server "${peer.id}" not removable`);
  }
  changeMembers(group, (now) =>
    peer.added ? { ...now, added: now.added.filter(({ id }) => id !== peer.id) } : { ...now, removed: [...now.removed, peer.id] },
  );
}

function changeMembers({ set, shared, state }: UpstreamGroup, change: (now: Membership) => Membership): void {
  if (shared === undefined) {
    applyMembership(set!, change(set!.membership));
    return;
  }
  if (!shared.changeMembers(change, () => state?.write(set!))) {
    throw new ApiRefusal(503, 'UpstreamOutOfMemory', 'the zone is busy');
  }
}

function integer(value: unknown, least: number, code: string, name: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least) {
    throw new ApiRefusal(400, code, `invalid "${name}"`);
  }
  return value;
}

function time(value: unknown, unit: 's' | 'ms', code: string, name: string): number {
  const read = typeof value === 'number' || typeof value === 'string' ? parseTime(String(value), unit) : undefined;
  if (read === undefined) {
    throw new ApiRefusal(400, code, `invalid "${name}"`);
  }
  return read;
}

function boolean(value: unknown, name: string): boolean {
  if (typeof value !== 'boolean') {
    throw new ApiRefusal(400, 'UpstreamConfFormatError', `invalid "${name}" value`);
  }
  return value;
}
