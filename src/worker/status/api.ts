import { byteText, nativeText } from '../../shared/text/native-text.js';
import {
  backendTlsKind,
  cacheKind,
  JS,
  jsKind,
  LIMIT,
  limitConnKind,
  limitReqKind,
  locationKind,
  type MeterKind,
  RESOLVER,
  resolverKind,
  serverKind,
  serviceKind,
  streamLimitConnKind,
  streamServerKind,
  tlsKind,
} from '../../shared/zone/meter-kinds.js';
import { emptyReading, type Reading } from '../../shared/zone/meters.js';
import type { StreamRuntime } from '../stream/session/runtime.js';
import { tlsSlot } from '../tls/server-tls.js';
import type { TlsServer } from '../tls/tls-address.js';
import { meterName } from '../upstream/group/group.js';
import { SERVER_VERSION } from '../version.js';
import { insistCounted } from './api-question.js';
import {
  cacheObject,
  connectionsObject,
  requestsObject,
  resetConnections,
  resetRequests,
  serviceObject,
  slabsObject,
  takeCaches,
  workerObject,
  workersOf,
} from './service.js';
import { metersOf, type Protocol, readings, runtimeOf, type StatusSource } from './source.js';
import { groupName, groupObject, takeGroups } from './upstreams.js';
import { allTlsObject, locationObject, serverObject, streamServerObject } from './zones.js';

/** What stands at a path of the API. */
export interface ApiEndpoint {
  /** One object. */
  readonly one?: (source: StatusSource) => object;
  /** Objects by name; what the error says when there is none of a name. */
  readonly all?: (source: StatusSource) => Record<string, object>;
  readonly missing?: readonly [code: string, text: string];
  /** All of them are shown as a list. */
  readonly list?: true;
  /** Begins to count anew; with a name in collections. */
  readonly reset?: (source: StatusSource, name: string | undefined) => void;
}

const byName = <T extends { readonly name: string }>(all: readonly T[], show: (item: T) => object): Record<string, object> =>
  Object.fromEntries(all.map((item) => [nativeText(item.name), show(item)]));

const resetMeters =
  (kind: MeterKind) =>
  (source: StatusSource, name: string | undefined): void => {
    insistCounted(metersOf(source).reset(kind, name === undefined ? undefined : byteText(name)));
  };

const handlerObject = ({ values }: Reading): object => ({
  runs: values[JS.runs],
  errors: values[JS.errors],
  timeouts: values[JS.timeouts],
  time: values[JS.time],
  longest: values[JS.longest],
});

const limitObject =
  (delays: boolean) =>
  ({ values }: Reading): object => ({
    passed: values[LIMIT.passed]!,
    ...(delays ? { delayed: values[LIMIT.delayed]! } : {}),
    rejected: values[LIMIT.rejected]!,
    ...(delays ? { delayed_dry_run: values[LIMIT.delayedDryRun]! } : {}),
    rejected_dry_run: values[LIMIT.rejectedDryRun]!,
  });

function resolverObject({ values }: Reading): object {
  const n = (names: readonly (keyof typeof RESOLVER)[]): object => Object.fromEntries(names.map((name) => [name, values[RESOLVER[name]]!]));
  return {
    requests: n(['name', 'srv', 'addr']),
    responses: n(['noerror', 'formerr', 'servfail', 'nxdomain', 'notimp', 'refused', 'timedout', 'unknown']),
  };
}

function nginxObject(source: StatusSource): object {
  const { generation, loadedAt } = serviceObject(source);
  return {
    version: SERVER_VERSION,
    build: `sluice-${SERVER_VERSION}`,
    ...(source.address === undefined ? {} : { address: source.address }),
    generation,
    load_timestamp: new Date(loadedAt).toISOString(),
    timestamp: new Date().toISOString(),
    pid: process.pid,
    ppid: process.ppid,
  };
}

/** The names of the servers of a block that speak TLS. */
const withTls = (servers: readonly TlsServer[]): ReadonlySet<string | undefined> =>
  new Set(servers.filter((server) => server.conf(tlsSlot).ready).map(({ zone }) => zone?.name));

const serversByName = (source: StatusSource): Record<string, object> => {
  const secure = withTls(source.http.servers);
  return byName(readings(source, serverKind), (reading) => serverObject(reading, secure.has(reading.name)));
};

const streamServersByName = (source: StatusSource): Record<string, object> => {
  const secure = withTls((source.http.stream as StreamRuntime | undefined)?.servers ?? []);
  return byName(readings(source, streamServerKind), (reading) => streamServerObject(reading, secure.has(reading.name)));
};

const resetGroup =
  (protocol: Protocol) =>
  (source: StatusSource, name: string | undefined): void => {
    const meters = metersOf(source);
    const { peerKind } = runtimeOf(source, protocol)!;
    for (const { group, peers } of takeGroups(source, protocol)) {
      if (name !== undefined && groupName(group) !== name) {
        continue;
      }
      for (const { peer, backup } of peers) {
        insistCounted(meters.reset(peerKind, meterName(group.name, backup, peer.name)));
      }
    }
  };

const groupsByName =
  (protocol: Protocol) =>
  (source: StatusSource): Record<string, object> =>
    Object.fromEntries(takeGroups(source, protocol).map((counted) => [groupName(counted.group), groupObject(counted, protocol)]));

/** The numbers of a kind that has no names. */
const total = (source: StatusSource, kind: MeterKind): Float64Array =>
  (metersOf(source).read(kind).get('') ?? emptyReading(kind, '')).values;

/** The endpoints of the API below its version, by their paths. NGINX Plus: ngx_http_api_module. */
export const endpoints: ReadonlyMap<string, ApiEndpoint> = new Map<string, ApiEndpoint>([
  ['nginx', { one: nginxObject }],
  [
    'processes',
    {
      one: (source) => ({ respawned: serviceObject(source).respawned }),
      reset(source) {
        metersOf(source).change(serviceKind, '', (values) => {
          values[1] = 0;
        });
      },
    },
  ],
  ['connections', { one: connectionsObject, reset: resetConnections }],
  // Slots of an allocator, which are all that could be counted anew, are nothing that these zones have.
  ['slabs', { all: slabsObject, missing: ['SlabNotFound', 'slab not found'], reset: () => {} }],
  ['http/requests', { one: requestsObject, reset: resetRequests }],
  ['http/server_zones', { all: serversByName, missing: ['ServerZoneNotFound', 'server zone not found'], reset: resetMeters(serverKind) }],
  [
    'http/location_zones',
    {
      all: (source) => byName(readings(source, locationKind), locationObject),
      missing: ['LocationZoneNotFound', 'location zone not found'],
      reset: resetMeters(locationKind),
    },
  ],
  [
    'http/caches',
    {
      all: (source) => byName(takeCaches(source), cacheObject),
      missing: ['CacheNotFound', 'cache not found'],
      reset: resetMeters(cacheKind),
    },
  ],
  [
    'js/handlers',
    {
      all: (source) => byName(readings(source, jsKind), handlerObject),
      missing: ['JsHandlerNotFound', 'js handler not found'],
      reset: resetMeters(jsKind),
    },
  ],
  [
    'http/limit_conns',
    {
      all: (source) => byName(readings(source, limitConnKind), limitObject(false)),
      missing: ['LimitConnNotFound', 'limit_conn not found'],
      reset: resetMeters(limitConnKind),
    },
  ],
  [
    'http/limit_reqs',
    {
      all: (source) => byName(readings(source, limitReqKind), limitObject(true)),
      missing: ['LimitReqNotFound', 'limit_req not found'],
      reset: resetMeters(limitReqKind),
    },
  ],
  [
    'http/upstreams',
    {
      all: groupsByName('http'),
      missing: ['UpstreamNotFound', 'upstream not found'],
      reset: resetGroup('http'),
    },
  ],
  [
    'stream/server_zones',
    {
      all: streamServersByName,
      missing: ['ServerZoneNotFound', 'server zone not found'],
      reset: resetMeters(streamServerKind),
    },
  ],
  [
    'stream/limit_conns',
    {
      all: (source) => byName(readings(source, streamLimitConnKind), limitObject(false)),
      missing: ['LimitConnNotFound', 'limit_conn not found'],
      reset: resetMeters(streamLimitConnKind),
    },
  ],
  [
    'stream/upstreams',
    {
      all: groupsByName('stream'),
      missing: ['UpstreamNotFound', 'upstream not found'],
      reset: resetGroup('stream'),
    },
  ],
  [
    'resolvers',
    {
      all: (source) => byName(readings(source, resolverKind), resolverObject),
      missing: ['ResolverZoneNotFound', 'resolver zone not found'],
      reset: resetMeters(resolverKind),
    },
  ],
  [
    'ssl',
    {
      one: (source) => allTlsObject(total(source, tlsKind), total(source, backendTlsKind)),
      reset(source) {
        insistCounted(metersOf(source).reset(tlsKind));
        insistCounted(metersOf(source).reset(backendTlsKind));
      },
    },
  ],
  [
    'workers',
    {
      all: (source) => Object.fromEntries(workersOf(source).map((worker, id) => [String(id), workerObject(worker, id)])),
      missing: ['WorkerNotFound', 'worker not found'],
      list: true,
      reset(source) {
        resetConnections(source);
        resetRequests(source);
      },
    },
  ],
]);
