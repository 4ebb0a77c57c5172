import { nativeText } from '../../../shared/text/native-text.js';
import { quantile } from '../../../shared/zone/histogram.js';
import { locationKind, PEER, serverKind, streamServerKind, ZONE } from '../../../shared/zone/meter-kinds.js';
import type { Reading } from '../../../shared/zone/meters.js';
import { answerApi } from '../../status/api-answer.js';
import { takeCertificates } from '../../status/certificates.js';
import { historyOf } from '../../status/history.js';
import { reasonsSince } from '../../status/history-series.js';
import { takeKeyvals } from '../../status/keyvals.js';
import { serviceObject } from '../../status/service.js';
import { type Protocol, readings, type StatusSource } from '../../status/source.js';
import { storeObject, takeStore } from '../../status/store.js';
import { groupName, takeGroups } from '../../status/upstreams.js';
import { SERVER_VERSION } from '../../version.js';

const MINUTES_OF_REASONS = 5;
/** How many pairs of a keyval zone are shown, at most. */
const MOST_PAIRS = 50;

/** All that the page shows but the charts of the past: one JSON document. */
export function stateText(source: StatusSource, { write, config }: { readonly write: boolean; readonly config: boolean }): string {
  const { http, env } = source;
  const api = (path: string): unknown => answerApi(source, { method: 'GET', path: `9/${path}`, fields: undefined, write: false })!.body;
  const now = Date.now();
  const { history } = historyOf(http);
  const store = takeStore(source);
  return JSON.stringify({
    now,
    version: SERVER_VERSION,
    write,
    config,
    workers_configured: env.workers,
    history: history !== undefined,
    service: serviceObject(source),
    connections: api('connections'),
    requests: api('http/requests'),
    workers: api('workers'),
    zones: env.zones.stats().map(({ ref, stats }) => ({ name: nativeText(ref.name), kind: ref.kind.id, size: ref.bytes, ...stats })),
    servers: withTimes(api('http/server_zones') as Record<string, object>, readings(source, serverKind)),
    locations: withTimes(api('http/location_zones') as Record<string, object>, readings(source, locationKind)),
    upstreams: withPeerTimes(api('http/upstreams') as Record<string, { readonly peers: object[] }>, source),
    stream: http.stream === undefined ? null : streamState(source, api),
    keyvals: takeKeyvals(source, MOST_PAIRS),
    caches: api('http/caches'),
    limit_reqs: api('http/limit_reqs'),
    limit_conns: api('http/limit_conns'),
    resolvers: api('resolvers'),
    ssl: api('ssl'),
    certificates: takeCertificates(source),
    fleet: store === undefined ? null : storeObject(store),
    reasons: history === undefined ? [] : reasonsSince(history, Math.floor(now / 1000) - MINUTES_OF_REASONS * 60),
  });
}

/** The state of the `stream` block. */
function streamState(source: StatusSource, api: (path: string) => unknown): object {
  return {
    servers: withTimes(api('stream/server_zones') as Record<string, object>, readings(source, streamServerKind)),
    upstreams: withPeerTimes(api('stream/upstreams') as Record<string, { readonly peers: object[] }>, source, 'stream'),
    limit_conns: api('stream/limit_conns'),
  };
}

/** Adds the histogram of times; the page makes quantiles of what was added since it asked last. */
function withTimes(objects: Record<string, object>, all: readonly Reading[]): Record<string, object> {
  return Object.fromEntries(
    all.map(({ name, values }) => [
      nativeText(name),
      { ...objects[nativeText(name)], time: values[ZONE.time]!, buckets: [...values.subarray(ZONE.buckets)] },
    ]),
  );
}

function withPeerTimes(
  objects: Record<string, { readonly peers: object[] }>,
  source: StatusSource,
  protocol: Protocol = 'http',
): Record<string, object> {
  return Object.fromEntries(
    takeGroups(source, protocol).map((counted) => {
      const name = groupName(counted.group);
      const object = objects[name]!;
      const peers = object.peers.map((peer, i) => {
        const times = counted.peers[i]?.reading.values.subarray(PEER.buckets);
        return {
          ...peer,
          p95: times === undefined ? 0 : Math.round(quantile(times, 0.95) * 10) / 10,
          time: counted.peers[i]?.reading.values[PEER.responseTime] ?? 0,
          buckets: times === undefined ? [] : [...times],
          meter: nativeText(counted.peers[i]?.reading.name ?? ''),
        };
      });
      return [name, { ...object, peers }];
    }),
  );
}
