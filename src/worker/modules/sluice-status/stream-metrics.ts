import { nativeText } from '../../../shared/text/native-text.js';
import { PEER, streamServerKind, ZONE } from '../../../shared/zone/meter-kinds.js';
import { readings, type StatusSource } from '../../status/source.js';
import { groupName, takeGroups } from '../../status/upstreams.js';
import { peerTlsMetrics } from './peer-tls-metrics.js';
import type { Labels, MetricsText } from './prometheus.js';

type Sample = readonly [labels: Labels, value: number];

/** The classes of a session's status that there are. */
const CLASSES = [2, 4, 5];

/** Sessions of `stream` by server, and connections to its backends. */
export function streamMetrics(text: MetricsText, source: StatusSource): void {
  serverMetrics(text, source);
  peerMetrics(text, source);
}

function serverMetrics(text: MetricsText, source: StatusSource): void {
  const servers = readings(source, streamServerKind).map(({ name, values }) => ({ labels: { server: nativeText(name) }, values }));
  const field = (at: number): Sample[] => servers.map(({ labels, values }) => [labels, Math.max(0, values[at]!)]);
  text.gauge('stream_sessions_processing', 'Sessions that are under way.', field(ZONE.processing));
  text.counter(
    'stream_sessions_total',
    'Sessions that have ended, by the class of their status.',
    servers.flatMap(({ labels, values }) =>
      CLASSES.map((digit): Sample => [{ ...labels, class: `${digit}xx` }, values[ZONE.class1 + digit - 1]!]),
    ),
  );
  text.counter('stream_sessions_discarded_total', 'Sessions whose client left before anything was done.', field(ZONE.discarded));
  text.counter('stream_received_bytes_total', 'Bytes received from clients.', field(ZONE.received));
  text.counter('stream_sent_bytes_total', 'Bytes sent to clients.', field(ZONE.sent));
  text.histogram(
    'stream_session_duration_seconds',
    'Time from the beginning of a session to its end.',
    servers.map(({ labels, values }) => [labels, values.subarray(ZONE.buckets), values[ZONE.time]!]),
  );
}

function peerMetrics(text: MetricsText, source: StatusSource): void {
  const all = takeGroups(source, 'stream').flatMap(({ group, peers }) =>
    peers.map(({ peer, state, reading: { values } }) => ({
      labels: { upstream: groupName(group), peer: nativeText(peer.name) } as Labels,
      state,
      values,
    })),
  );
  const peers = all.map(({ labels, values }) => ({ labels, values }));
  text.gauge(
    'stream_upstream_peer_state',
    'What the server of a group is doing.',
    all.map(({ labels, state }) => [{ ...labels, state }, 1]),
  );
  const field = (at: number, unit = 1): Sample[] => peers.map(({ labels, values }) => [labels, Math.max(0, values[at]! / unit)]);
  text.gauge('stream_upstream_peer_active', 'Connections to the server.', field(PEER.active));
  text.counter('stream_upstream_peer_connections_total', 'Sessions passed to the server.', field(PEER.requests));
  text.counter('stream_upstream_peer_sent_bytes_total', 'Bytes sent to the server.', field(PEER.sent));
  text.counter('stream_upstream_peer_received_bytes_total', 'Bytes received from the server.', field(PEER.received));
  text.counter('stream_upstream_peer_failures_total', 'Attempts at the server that failed.', field(PEER.fails));
  text.counter(
    'stream_upstream_peer_unavailable_total',
    'How often the server was left alone because of its failures.',
    field(PEER.unavail),
  );
  text.counter('stream_upstream_peer_connects_total', 'Connections made.', field(PEER.connects));
  text.counter('stream_upstream_peer_connect_seconds_total', 'Time that they took to make.', field(PEER.connectTime, 1000));
  text.counter('stream_upstream_peer_first_bytes_total', 'Connections on which the server has sent something.', field(PEER.headers));
  text.counter('stream_upstream_peer_first_byte_seconds_total', 'Time until its first byte.', field(PEER.headerTime, 1000));
  text.histogram(
    'stream_upstream_peer_session_duration_seconds',
    'Time from the choice of the server to the end of the session.',
    peers.map(({ labels, values }) => [labels, values.subarray(PEER.buckets), values[PEER.responseTime]!]),
  );
  peerTlsMetrics(text, 'stream_upstream_peer', peers);
}
