import { nativeText } from '../../../shared/text/native-text.js';
import {
  CACHE,
  CACHE_STATUSES,
  COUNTED_METHODS,
  JS,
  jsKind,
  LIMIT,
  limitConnKind,
  limitReqKind,
  locationKind,
  PEER,
  RESOLVER,
  resolverKind,
  serverKind,
  streamLimitConnKind,
  TLS_METER,
  tlsKind,
  ZONE,
} from '../../../shared/zone/meter-kinds.js';
import type { Reading } from '../../../shared/zone/meters.js';
import { takeCertificates } from '../../status/certificates.js';
import { serviceObject, takeCaches } from '../../status/service.js';
import { metersOf, readings, type StatusSource } from '../../status/source.js';
import { groupName, takeGroups } from '../../status/upstreams.js';
import { SERVER_VERSION } from '../../version.js';
import { loginMetrics } from './login-metrics.js';
import { peerTlsMetrics } from './peer-tls-metrics.js';
import { type Labels, MetricsText } from './prometheus.js';
import { takeReport } from './report.js';
import { streamMetrics } from './stream-metrics.js';
import { totalMetrics } from './total-metrics.js';

/** All numbers as metrics for Prometheus, or in the form of OpenMetrics. */
export function metricsText(source: StatusSource, open: boolean): string {
  const text = new MetricsText(open);
  totalMetrics(text, takeReport(source));
  serviceMetrics(text, source);
  zoneMetrics(text, 'http', 'server', readings(source, serverKind));
  zoneMetrics(text, 'http_location', 'location', readings(source, locationKind));
  tlsMetrics(text, source);
  peerMetrics(text, source);
  cacheMetrics(text, source);
  limitMetrics(text, source);
  handlerMetrics(text, source);
  loginMetrics(text, source);
  streamMetrics(text, source);
  resolverMetrics(text, source);
  return text.end();
}

function serviceMetrics(text: MetricsText, source: StatusSource): void {
  const { generation, loadedAt, respawned, refused, refusedAt } = serviceObject(source);
  text.gauge('build_info', 'The version that runs; always 1.', [[{ version: SERVER_VERSION }, 1]]);
  text.gauge('config_generation', 'How many configurations have been loaded since the start.', [[{}, generation]]);
  text.gauge('config_last_load_timestamp_seconds', 'When the configuration in force was loaded.', [[{}, loadedAt / 1000]]);
  text.gauge(
    'config_last_reload_successful',
    'Whether the last reload took its configuration over; 0 after one that failed or was refused.',
    [[{}, refusedAt === 0 ? 1 : 0]],
  );
  text.counter('config_reloads_refused_total', 'Reloads that failed or were refused; the error log says why.', [[{}, refused]]);
  text.counter('processes_respawned_total', 'Processes that ended by themselves and were replaced.', [[{}, respawned]]);
}

/** Requests of virtual servers or of locations. */
function zoneMetrics(text: MetricsText, prefix: string, label: string, all: readonly Reading[]): void {
  const named = all.map((reading) => ({ labels: { [label]: nativeText(reading.name) } as Labels, ...reading }));
  const field = (at: number): [Labels, number][] => named.map(({ labels, values }) => [labels, values[at]!]);
  text.counter(
    `${prefix}_requests_total`,
    'Requests finished, by method.',
    named.flatMap(({ labels, values }) =>
      COUNTED_METHODS.map((method, i): [Labels, number] => [{ ...labels, method }, values[ZONE.methods + i]!]),
    ),
  );
  if (label === 'server') {
    text.gauge(
      `${prefix}_requests_processing`,
      'Requests that are being processed.',
      named.map(({ labels, values }) => [labels, Math.max(0, values[ZONE.processing]!)]),
    );
  }
  text.counter(
    `${prefix}_responses_total`,
    'Responses sent, by status.',
    named.flatMap(({ labels, codes }) => [...codes].map(([code, n]): [Labels, number] => [{ ...labels, code: String(code) }, n])),
  );
  text.counter(`${prefix}_requests_discarded_total`, 'Requests that ended without a response.', field(ZONE.discarded));
  text.counter(`${prefix}_received_bytes_total`, 'Bytes received from clients.', field(ZONE.received));
  text.counter(`${prefix}_sent_bytes_total`, 'Bytes sent to clients.', field(ZONE.sent));
  text.histogram(
    `${prefix}_request_duration_seconds`,
    'Time from the first byte of a request to the end of its response.',
    named.map(({ labels, values }) => [labels, values.subarray(ZONE.buckets), values[ZONE.time]!]),
  );
}

function tlsMetrics(text: MetricsText, source: StatusSource): void {
  const values = metersOf(source).read(tlsKind).get('')?.values;
  if (values !== undefined) {
    text.counter('tls_handshakes_total', 'TLS handshakes with clients, by result.', [
      [{ result: 'ok' }, values[TLS_METER.handshakes]!],
      [{ result: 'failed' }, values[TLS_METER.failed]!],
    ]);
    text.counter('tls_session_reuses_total', 'TLS handshakes that resumed a session.', [[{}, values[TLS_METER.reuses]!]]);
  }
  text.gauge(
    'tls_certificate_not_after_timestamp_seconds',
    'When a certificate ends.',
    takeCertificates(source).map(({ server, subject, serial, notAfter }) => [{ server, subject, serial }, notAfter / 1000]),
  );
}

function peerMetrics(text: MetricsText, source: StatusSource): void {
  const groups = takeGroups(source);
  const peers = groups.flatMap(({ group, peers }) =>
    peers.map(({ peer, reading }) => ({ labels: { upstream: groupName(group), peer: nativeText(peer.name) } as Labels, ...reading })),
  );
  const field = (at: number): [Labels, number][] => peers.map(({ labels, values }) => [labels, values[at]!]);
  text.gauge(
    'upstream_keepalive_connections',
    'Connections to the servers of a group that are kept and not in use.',
    groups.map(({ group, idle }) => [{ upstream: groupName(group) }, idle]),
  );
  text.counter('upstream_peer_requests_total', 'Requests passed to the server.', field(PEER.requests));
  text.counter(
    'upstream_peer_responses_total',
    'Responses of the server, by status.',
    peers.flatMap(({ labels, codes }) => [...codes].map(([code, n]): [Labels, number] => [{ ...labels, code: String(code) }, n])),
  );
  text.counter('upstream_peer_sent_bytes_total', 'Bytes sent to the server.', field(PEER.sent));
  text.counter('upstream_peer_received_bytes_total', 'Bytes received from the server.', field(PEER.received));
  text.counter('upstream_peer_failures_total', 'Attempts at the server that failed.', field(PEER.fails));
  text.counter('upstream_peer_unavailable_total', 'How often the server was left alone because of its failures.', field(PEER.unavail));
  text.histogram(
    'upstream_peer_response_duration_seconds',
    'Time from the choice of the server to the end of its response.',
    peers.map(({ labels, values }) => [labels, values.subarray(PEER.buckets), values[PEER.responseTime]!]),
  );
  peerTlsMetrics(text, 'upstream_peer', peers);
}

function cacheMetrics(text: MetricsText, source: StatusSource): void {
  const caches = takeCaches(source).map((cache) => ({ ...cache, name: nativeText(cache.name), size: cache.index.state().size }));
  const byStatus = (at: number): [Labels, number][] =>
    caches.flatMap(({ name, reading }) =>
      CACHE_STATUSES.map((status, i): [Labels, number] => [{ cache: name, status: status.toLowerCase() }, reading.values[at + i]!]),
    );
  text.gauge(
    'cache_size_bytes',
    'Bytes on the disk.',
    caches.map(({ name, size }) => [{ cache: name }, size]),
  );
  text.gauge(
    'cache_max_size_bytes',
    'The greatest size that is configured.',
    caches.filter(({ def }) => Number.isFinite(def.maxSize)).map(({ name, def }) => [{ cache: name }, def.maxSize]),
  );
  text.counter('cache_responses_total', 'Responses by what the cache had for them.', byStatus(CACHE.responses));
  text.counter('cache_response_bytes_total', 'Bytes of those responses.', byStatus(CACHE.bytes));
  text.counter('cache_responses_written_total', 'Responses that were stored.', byStatus(CACHE.responsesWritten));
  text.counter('cache_written_bytes_total', 'Bytes that were stored.', byStatus(CACHE.bytesWritten));
  const purges = caches.flatMap(({ name, index }) =>
    index.marks
      .counts()
      .map(({ what, soft, ...counted }) => ({ ...counted, labels: { cache: name, by: what, mode: soft ? 'soft' : 'hard' } })),
  );
  text.counter(
    'cache_purges_total',
    'Purges by what they named, of this machine and of others.',
    purges.map(({ labels, purges }): [Labels, number] => [labels, purges]),
  );
  text.counter(
    'cache_purged_entries_total',
    'Entries that they have removed or made stale.',
    purges.map(({ labels, entries }): [Labels, number] => [labels, entries]),
  );
}

const LIMIT_RESULTS = [
  ['passed', LIMIT.passed],
  ['delayed', LIMIT.delayed],
  ['rejected', LIMIT.rejected],
  ['delayed_dry_run', LIMIT.delayedDryRun],
  ['rejected_dry_run', LIMIT.rejectedDryRun],
] as const;

function limitMetrics(text: MetricsText, source: StatusSource): void {
  const results = (all: readonly Reading[], delays: boolean): [Labels, number][] =>
    all.flatMap(({ name, values }) =>
      LIMIT_RESULTS.filter(([result]) => delays || !result.startsWith('delayed')).map(([result, at]): [Labels, number] => [
        { zone: nativeText(name), result },
        values[at]!,
      ]),
    );
  text.counter('limit_req_requests_total', 'Requests by what a limit of requests decided.', results(readings(source, limitReqKind), true));
  text.counter(
    'limit_conn_requests_total',
    'Requests by what a limit of connections decided.',
    results(readings(source, limitConnKind), false),
  );
  text.counter(
    'stream_limit_conn_sessions_total',
    'Sessions of stream by what a limit of connections decided.',
    results(readings(source, streamLimitConnKind), false),
  );
}

function handlerMetrics(text: MetricsText, source: StatusSource): void {
  const all = readings(source, jsKind);
  const samples = (at: number, unit = 1): [Labels, number][] =>
    all.map(({ name, values }) => [{ handler: nativeText(name) }, values[at]! / unit]);
  text.counter('js_runs_total', 'Runs of a handler in JavaScript.', samples(JS.runs));
  text.counter('js_errors_total', 'Runs of a handler that failed.', samples(JS.errors));
  text.counter('js_timeouts_total', 'Runs of a handler that took longer than js_timeout.', samples(JS.timeouts));
  text.counter('js_seconds_total', 'Time that a handler ran before it returned or waited.', samples(JS.time, 1000));
}

function resolverMetrics(text: MetricsText, source: StatusSource): void {
  const all = readings(source, resolverKind);
  const places = Object.entries(RESOLVER);
  const samples = (label: string, from: number, to: number): [Labels, number][] =>
    all.flatMap(({ name, values }) =>
      places.slice(from, to).map(([word, at]): [Labels, number] => [{ resolver: nativeText(name), [label]: word }, values[at]!]),
    );
  text.counter('resolver_requests_total', 'Questions to a resolver, by type.', samples('type', 0, RESOLVER.noerror));
  text.counter('resolver_responses_total', 'Outcomes of questions to a resolver.', samples('result', RESOLVER.noerror, places.length));
}
