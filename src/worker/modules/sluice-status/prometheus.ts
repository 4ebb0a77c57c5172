import type { Report } from './report.js';

/** The media type of the text format of metrics. */
export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** The report in the text format of Prometheus. */
export function prometheusText({ totals, workers, zones, upstreams }: Report): string {
  const perZone = (value: (zone: Report['zones'][number]) => number): Sample[] =>
    zones.map((zone) => [{ zone: zone.name, kind: zone.kind }, value(zone)]);
  return [
    metric('connections_accepted_total', 'counter', 'Client connections accepted.', [[{}, totals.accepts]]),
    metric('connections_handled_total', 'counter', 'Client connections taken on.', [[{}, totals.handled]]),
    metric('connections_dropped_total', 'counter', 'Client connections closed at once for want of room.', [
      [{}, totals.accepts - totals.handled],
    ]),
    metric('connections_active', 'gauge', 'Client connections open now.', [[{}, totals.active]]),
    metric('connections', 'gauge', 'Client connections open now, by what they are doing.', [
      [{ state: 'reading' }, totals.reading],
      [{ state: 'writing' }, totals.writing],
      [{ state: 'waiting' }, totals.waiting],
    ]),
    metric('requests_total', 'counter', 'Requests begun.', [[{}, totals.requests]]),
    metric('responses_total', 'counter', 'Requests finished, by the class of their status.', [
      [{ class: '1xx' }, totals.c1xx],
      [{ class: '2xx' }, totals.c2xx],
      [{ class: '3xx' }, totals.c3xx],
      [{ class: '4xx' }, totals.c4xx],
      [{ class: '5xx' }, totals.c5xx],
      [{ class: 'none' }, totals.abandoned],
    ]),
    metric(
      'worker_connections_active',
      'gauge',
      'Client connections open now, by worker process.',
      workers.map((worker) => [{ pid: String(worker.worker) }, worker.active]),
    ),
    metric(
      'worker_requests_total',
      'counter',
      'Requests begun, by worker process.',
      workers.map((worker) => [{ pid: String(worker.worker) }, worker.requests]),
    ),
    metric(
      'zone_size_bytes',
      'gauge',
      'Size of the shared zone as configured.',
      perZone((zone) => zone.size),
    ),
    metric(
      'zone_used_bytes',
      'gauge',
      'Room taken by the entries of the shared zone.',
      perZone((zone) => zone.used),
    ),
    metric(
      'zone_entries',
      'gauge',
      'Entries in the shared zone.',
      perZone((zone) => zone.entries),
    ),
    metric(
      'zone_evictions_total',
      'counter',
      'Entries forgotten because the shared zone was full.',
      perZone((zone) => zone.evictions),
    ),
    metric(
      'zone_rejections_total',
      'counter',
      'Requests refused by the shared zone.',
      perZone((zone) => zone.rejections),
    ),
    ...upstreamMetrics(upstreams),
  ].join('');
}

/** A peer's state is 1 under its name, so that an alert can ask for a state. */
function upstreamMetrics(upstreams: Report['upstreams']): string[] {
  const all = upstreams.flatMap(({ name, peers }) => peers.map((peer) => ({ labels: { upstream: name, peer: peer.address }, peer })));
  const checked = all.flatMap(({ labels, peer: { checks } }) => (checks === undefined ? [] : [{ labels, checks }]));
  return [
    metric(
      'upstream_peer_state',
      'gauge',
      'What the server of a group is doing.',
      all.map(({ labels, peer }) => [{ ...labels, state: peer.state }, 1]),
    ),
    metric(
      'upstream_peer_active',
      'gauge',
      'Connections to the server that are in use.',
      all.map(({ labels, peer }) => [labels, peer.active]),
    ),
    metric(
      'upstream_peer_fails',
      'gauge',
      'Failures that count against max_fails.',
      all.map(({ labels, peer }) => [labels, peer.fails]),
    ),
    metric(
      'upstream_peer_health_checks_total',
      'counter',
      'Health checks made.',
      checked.map(({ labels, checks }) => [labels, checks.checks]),
    ),
    metric(
      'upstream_peer_health_checks_failed_total',
      'counter',
      'Health checks that failed.',
      checked.map(({ labels, checks }) => [labels, checks.fails]),
    ),
    metric(
      'upstream_peer_health_checks_unhealthy_total',
      'counter',
      'How often health checks found the server unhealthy.',
      checked.map(({ labels, checks }) => [labels, checks.unhealthy]),
    ),
  ];
}

function metric(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  if (samples.length === 0) {
    return '';
  }
  const full = `sluice_${name}`;
  const lines = samples.map(([labels, value]) => `${full}${labelText(labels)} ${value}\n`).join('');
  return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines}`;
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
