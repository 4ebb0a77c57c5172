import { memoryOf, processStat } from '../../../shared/system/process-stat.js';
import { nativeText } from '../../../shared/text/native-text.js';
import { STORE } from '../../../shared/zone/meter-kinds.js';
import type { StoreReport } from '../../status/store.js';
import type { MetricsText } from './prometheus.js';
import type { Report } from './report.js';

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** The numbers about the whole server, its workers, zones and peers. */
export function totalMetrics(text: MetricsText, { totals, workers, zones, upstreams, orders, store }: Report): void {
  if (store !== undefined) {
    storeMetrics(text, store);
  }
  const perZone = (value: (zone: Report['zones'][number]) => number): Sample[] =>
    zones.map((zone) => [{ zone: zone.name, kind: zone.kind }, value(zone)]);
  text.counter('connections_accepted_total', 'Client connections accepted.', [[{}, totals.accepts]]);
  text.counter('connections_handled_total', 'Client connections taken on.', [[{}, totals.handled]]);
  text.counter('connections_dropped_total', 'Client connections closed at once for want of room.', [[{}, totals.accepts - totals.handled]]);
  text.gauge('connections_active', 'Client connections open now.', [[{}, totals.active]]);
  text.gauge('connections', 'Client connections open now, by what they are doing.', [
    [{ state: 'reading' }, totals.reading],
    [{ state: 'writing' }, totals.writing],
    [{ state: 'waiting' }, totals.waiting],
  ]);
  text.counter('requests_total', 'Requests begun.', [[{}, totals.requests]]);
  text.counter('responses_total', 'Requests finished, by the class of their status.', [
    [{ class: '1xx' }, totals.c1xx],
    [{ class: '2xx' }, totals.c2xx],
    [{ class: '3xx' }, totals.c3xx],
    [{ class: '4xx' }, totals.c4xx],
    [{ class: '5xx' }, totals.c5xx],
    [{ class: 'none' }, totals.abandoned],
  ]);
  text.gauge(
    'worker_connections_active',
    'Client connections open now, by worker process.',
    workers.map((worker) => [{ pid: String(worker.worker) }, worker.active]),
  );
  text.counter(
    'worker_requests_total',
    'Requests begun, by worker process.',
    workers.map((worker) => [{ pid: String(worker.worker) }, worker.requests]),
  );
  const perProcess = (value: (pid: number) => number | undefined): Sample[] =>
    workers.flatMap(({ worker }) => {
      const found = value(Math.abs(worker));
      return found === undefined ? [] : [[{ pid: String(Math.abs(worker)) }, found]];
    });
  text.counter(
    'worker_cpu_seconds_total',
    'Processor time used, by worker process.',
    perProcess((pid) => processStat(pid)?.cpu),
  );
  text.gauge('worker_memory_bytes', 'Memory held, by worker process.', perProcess(memoryOf));
  text.gauge(
    'worker_event_loop_delay_max_seconds',
    'How late a worker process did what was due, at worst in the last half minute.',
    workers.map(({ worker, delayMax }) => [{ pid: String(Math.abs(worker)) }, delayMax / 1e6]),
  );
  text.gauge(
    'worker_event_loop_delay_p99_seconds',
    'How late a worker process did what was due, in 99 of 100 cases at most, in the last half minute.',
    workers.map(({ worker, delay99 }) => [{ pid: String(Math.abs(worker)) }, delay99 / 1e6]),
  );
  text.counter('log_lines_lost_total', 'Lines that the master and worker processes could not write to a log, or send to syslog.', [
    [{}, totals.linesLost],
  ]);
  text.gauge(
    'zone_size_bytes',
    'Size of the shared zone as configured.',
    perZone((zone) => zone.size),
  );
  text.gauge(
    'zone_used_bytes',
    'Room taken by the entries of the shared zone.',
    perZone((zone) => zone.used),
  );
  text.gauge(
    'zone_entries',
    'Entries in the shared zone.',
    perZone((zone) => zone.entries),
  );
  text.counter(
    'zone_evictions_total',
    'Entries forgotten because the shared zone was full.',
    perZone((zone) => zone.evictions),
  );
  text.counter(
    'zone_rejections_total',
    'Requests refused by the shared zone.',
    perZone((zone) => zone.rejections),
  );
  upstreamMetrics(text, upstreams);
  orderMetrics(text, orders);
}

/** A peer's state is 1 under its name, so that an alert can ask for a state. */
function upstreamMetrics(text: MetricsText, upstreams: Report['upstreams']): void {
  const all = upstreams.flatMap(({ name, peers }) =>
    peers.map((peer) => ({ labels: { upstream: name, peer: nativeText(peer.address) }, peer })),
  );
  const checked = all.flatMap(({ labels, peer: { checks } }) => (checks === undefined ? [] : [{ labels, checks }]));
  text.gauge(
    'upstream_peer_state',
    'What the server of a group is doing.',
    all.map(({ labels, peer }) => [{ ...labels, state: peer.state }, 1]),
  );
  text.gauge(
    'upstream_peer_active',
    'Connections to the server that are in use.',
    all.map(({ labels, peer }) => [labels, peer.active]),
  );
  text.gauge(
    'upstream_peer_fails',
    'Failures that count against max_fails.',
    all.map(({ labels, peer }) => [labels, peer.fails]),
  );
  text.counter(
    'upstream_peer_health_checks_total',
    'Health checks made.',
    checked.map(({ labels, checks }) => [labels, checks.checks]),
  );
  text.counter(
    'upstream_peer_health_checks_failed_total',
    'Health checks that failed.',
    checked.map(({ labels, checks }) => [labels, checks.fails]),
  );
  text.counter(
    'upstream_peer_health_checks_unhealthy_total',
    'How often health checks found the server unhealthy.',
    checked.map(({ labels, checks }) => [labels, checks.unhealthy]),
  );
}

/** Certificates that an issuer is asked for. */
function orderMetrics(text: MetricsText, orders: Report['orders']): void {
  const per = (value: (order: Report['orders'][number]) => number): Sample[] =>
    orders.map((order) => [{ issuer: nativeText(order.issuer), identifiers: order.identifiers }, value(order)]);
  text.gauge(
    'certificate_not_after_timestamp_seconds',
    'When a certificate of an issuer ends; 0 while there is none.',
    per(({ notAfter }) => Math.floor(notAfter / 1000)),
  );
  text.gauge(
    'certificate_next_attempt_timestamp_seconds',
    'When it is renewed, or tried for again.',
    per(({ next }) => Math.floor(next / 1000)),
  );
  text.gauge(
    'certificate_fails',
    'Failed attempts since it was issued.',
    per(({ fails }) => fails),
  );
}

function storeMetrics(text: MetricsText, { name, up, values }: StoreReport): void {
  const one = (value: number, more = {}): Sample => [{ store: name, ...more }, value];
  text.gauge('store_workers_up', 'Workers that have the shared store.', [one(up)]);
  text.counter('store_calls_total', 'Questions to the shared store.', [one(values[STORE.calls]!)]);
  text.counter('store_failures_total', 'Questions to the shared store that failed, by reason.', [
    one(values[STORE.errors]!, { reason: 'error' }),
    one(values[STORE.timeouts]!, { reason: 'timeout' }),
  ]);
  text.counter('store_losses_total', 'How often a worker lost the shared store.', [one(values[STORE.losses]!)]);
  text.counter('store_local_decisions_total', 'Decisions of this machine alone, without the shared store.', [one(values[STORE.local]!)]);
  text.counter('store_known_refusals_total', 'Refusals by what the shared store had said before.', [one(values[STORE.known]!)]);
  text.histogram('store_call_duration_seconds', 'Time until the shared store answered.', [
    [{ store: name }, values.subarray(STORE.buckets), values[STORE.time]!],
  ]);
}
